"""The list: the classic way of finding names, one JSON object a window."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from gutengraph_core import names
from gutengraph_core.llm.compiled import Demo, with_demos
from gutengraph_core.llm.profile import Style


class NameList(BaseModel):
    """The names of one window."""

    model_config = ConfigDict(extra="forbid")

    people: list[str]
    places: list[str]
    objects: list[str]


# Original text. Its names must be told apart from a book's own: what comes back of them is a leak.
_EXAMPLE_TEXT = (
    "Thessaly Crane had left Ostermouth before the tide turned, and Mr. Pellinger was at the window when her cart went by. "
    '"She has taken the Almagest," he said to Dorcas, "and the whole of Quenland will hear of it."'
)
_EXAMPLE = NameList(
    people=["Thessaly Crane", "Mr. Pellinger", "Dorcas"],
    places=["Ostermouth", "Quenland"],
    objects=["Almagest"],
)

EXAMPLE_KEYS: frozenset[str] = frozenset(
    names.key(name) for name in (*_EXAMPLE.people, *_EXAMPLE.places, *_EXAMPLE.objects)
)

LIST_TASK = (
    "List every proper name in the text, exactly as it is written there: the names of people, of places (towns, countries, houses, "
    "ships), and of objects (books, things with a name of their own). No pronouns, no descriptions. Name each once."
)


_EXHAUSTIVE = (
    "Go through the text sentence by sentence and leave nobody out: also who is only spoken of, spoken to, or named once; a person with a "
    "title counts under the title and name as they stand. If the text has several names for one person, list each of them."
)


def compiled_list_prompt(text: str, *, instructions: str, demos: Sequence[Demo]) -> str:
    """The prompt for one window as an optimiser sets it, for instruct and base models alike."""
    return with_demos(instructions, demos, text, given_label="Text", reply_label="Names")


def names_of(demos: Sequence[Demo]) -> frozenset[str]:
    """Keys of all names in worked examples: what comes back of them is a leak, as with the prompt's own example."""
    return frozenset(names.key(name) for demo in demos for listed in demo.reply.values() for name in listed)


def list_prompt(text: str, *, instruct: bool, style: Style = "terse") -> str:
    """The prompt for one window. An instruct model is told the task and shown an example.

    A base model is asked a question and shown none: with one example of its own it copied the example's names
    in 42 of 43
    windows (F1 .03, and .07 with three examples, against .37 without).
    """
    if instruct:
        example = json.dumps(_EXAMPLE.model_dump(), ensure_ascii=False)
        task = f"{LIST_TASK} {_EXHAUSTIVE}" if style == "exhaustive" else LIST_TASK
        return f"{task}\n\nExample\nText: {_EXAMPLE_TEXT}\nNames: {example}\n\nText: {text}\nNames:"
    more = f"{_EXHAUSTIVE} " if style == "exhaustive" else ""
    return (
        f"Text:\n{text}\n\nWho are the people named in this text, which places does it name, and which objects? "
        f"{more}Answer as JSON:\n"
    )
