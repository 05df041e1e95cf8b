"""Three weights of schema for one task, from names alone to a sheet for each character."""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict


class Answer(Protocol):
    """What every weight's reply offers: the people it names."""

    def named(self) -> list[str]: ...


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Names(_Closed):
    """The lightest: who is named."""

    people: list[str]

    def named(self) -> list[str]:
        return self.people


class _Typed(_Closed):
    name: str
    kind: Literal["person", "place", "object"]


class NamesWithKind(_Closed):
    """Everything named, each with its kind."""

    names: list[_Typed]

    def named(self) -> list[str]:
        return [one.name for one in self.names if one.kind == "person"]


class _Sheet(_Closed):
    name: str
    role: str
    motive: str
    arc: str


class CharacterSheets(_Closed):
    """The heaviest: a sheet a character."""

    characters: list[_Sheet]

    def named(self) -> list[str]:
        return [one.name for one in self.characters]


Weight = Literal["names", "names and kind", "role, motive, arc"]

WEIGHTS: dict[Weight, tuple[type[Names] | type[NamesWithKind] | type[CharacterSheets], str]] = {
    "names": (Names, "Who are the people named in this text?"),
    "names and kind": (
        NamesWithKind,
        "Which people, places and objects are named in this text, and which of them is each?",
    ),
    "role, motive, arc": (
        CharacterSheets,
        "Who are the people named in this text, and what is the role, the motive and the arc of each?",
    ),
}


def cliff_prompt(text: str, weight: Weight) -> str:
    """The text first and the question last, in the form that served a base model best (see the list's prompt)."""
    return f"Text:\n{text}\n\n{WEIGHTS[weight][1]} Use each name as the text has it, once. Answer as JSON:\n"


def reading_prompt(text: str, opening: str) -> str:
    """The control: is the sentence with this opening still within reach? It is to be gone on with, word for word."""
    return f'Text:\n{text}\n\nOne sentence of the text begins with "{opening}". The whole sentence is: "{opening}'
