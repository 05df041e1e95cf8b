"""Gold standards: what a novel's cast, places, relations and questions really are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from gutengraph_core import names
from gutengraph_core.errors import SettingsError

Importance = Literal["major", "intermediate", "minor"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class GoldCharacter(_Model):
    """A character with every name and alias that the text has."""

    name: str
    aliases: tuple[str, ...] = ()
    also_accept: tuple[str, ...] = ()
    """Full names a reader would use that may not occur in the text."""
    importance: Importance = "minor"


class GoldPlace(_Model):
    """A place; the lists are short, for recall only."""

    name: str
    also_accept: tuple[str, ...] = ()


class GoldRelation(_Model):
    """Read: a is TYPE b."""

    a: str
    type: str
    b: str


class GoldQuestion(_Model):
    """A question and what its answer must hold."""

    id: str
    mode: str
    question: str
    accept_any: tuple[str, ...]
    min_match: int = 1
    quote: str = ""
    answer_in_quote: bool = True


class GoldBook(_Model):
    """`novels/<id>.json` with the questions of `questions/<id>.json`, if there are any."""

    gutenberg_id: int
    title: str = ""
    characters: tuple[GoldCharacter, ...] = ()
    places: tuple[GoldPlace, ...] = ()
    relations: tuple[GoldRelation, ...] = ()
    questions: tuple[GoldQuestion, ...] = ()


class _Questions(_Model):
    questions: tuple[GoldQuestion, ...] = ()


def load_gold(folder: Path) -> list[GoldBook]:
    """Every book of a gold folder, by number. Raises SettingsError if there is none or one cannot be read."""
    files = sorted((folder / "novels").glob("*.json"), key=lambda p: (len(p.stem), p.stem))
    if not files:
        raise SettingsError(
            f"{folder} holds no gold standard.", remedy="It needs novels/<id>.json, and questions/<id>.json."
        )
    return [_load(path, folder / "questions" / path.name) for path in files]


def _load(novel: Path, questions: Path) -> GoldBook:
    try:
        book = GoldBook.model_validate_json(novel.read_bytes())
        if not questions.exists():
            return book
        asked = _Questions.model_validate_json(questions.read_bytes())
    except ValidationError as error:
        raise SettingsError(
            f"The gold standard of {novel.stem} cannot be read ({error.errors()[0]['msg']}).",
            remedy=f"Correct {novel} or {questions}.",
        ) from error
    return book.model_copy(update={"questions": asked.questions})


class Matcher:
    """Which gold persons (or places) a name is of: by its words, else by its words without titles if that fits one
    only."""

    def __init__(self, gold: Iterable[tuple[str, Iterable[str]]]) -> None:
        self._exact: dict[str, set[str]] = {}
        self._untitled: dict[str, set[str]] = {}
        for owner, spellings in gold:
            for spelling in spellings:
                self._exact.setdefault(names.key(spelling), set()).add(owner)
                self._untitled.setdefault(names.key(names.split_title(spelling)[1]), set()).add(owner)

    def exact(self, name: str) -> set[str]:
        """The gold names of those who bear `name` as it stands."""
        return self._exact.get(names.key(name), set())

    def untitled(self, name: str) -> set[str]:
        """The one who bears it but for titles; empty if several do."""
        owners = self._untitled.get(names.key(names.split_title(name)[1]), set())
        return owners if len(owners) == 1 else set()

    def of_name(self, name: str) -> set[str]:
        """The gold persons that one name is of."""
        return self.exact(name) or self.untitled(name)

    def of_names(self, all_names: Iterable[str]) -> set[str]:
        """The gold persons that any of an entry's names is of."""
        return {owner for name in all_names for owner in self.of_name(name)}


def character_matcher(book: GoldBook) -> Matcher:
    return Matcher((c.name, (c.name, *c.aliases, *c.also_accept)) for c in book.characters)


def place_matcher(book: GoldBook) -> Matcher:
    return Matcher((p.name, (p.name, *p.also_accept)) for p in book.places)
