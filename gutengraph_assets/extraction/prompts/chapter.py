"""The chapter: one call a chapter, from the windows in which most of the cast stand."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from gutengraph_assets.extraction.notions.vocabulary import ATMOSPHERES, THEMES
from gutengraph_core.graph.schema import EVENT_KINDS

CAP = 640
"""Tokens of a reply: three events of about ninety, four notions of about sixty, and the braces."""


class ToldEvent(BaseModel):
    """Something that happens."""

    model_config = ConfigDict(extra="forbid")

    name: str
    kind: str
    quote: str
    people: list[str]
    place: str


class ToldNotion(BaseModel):
    """A theme or an atmosphere with the words that show it."""

    model_config = ConfigDict(extra="forbid")

    name: str
    quote: str


class ChapterReading(BaseModel):
    """What a reply says of one chapter."""

    model_config = ConfigDict(extra="forbid")

    events: list[ToldEvent]
    themes: list[ToldNotion]
    atmospheres: list[ToldNotion]


_TASK = (
    "A part of a chapter follows. Say what happens in it, and what it is about.\n"
    "events: at most three things that really happen in this text and change something for somebody. name: at most six words "
    "('the death of' somebody, 'the ball at' a place); kind: one of {kinds}; quote: the words of the text that tell it, copied exactly; "
    "people: who takes part, by the names that the text has; place: where, by its name in the text, or empty.\n"
    "themes: at most two, from {themes}; atmospheres: at most two, from {atmospheres}; each with a quote copied exactly.\n"
    "Leave a list empty where the text gives nothing for it. Use nothing that you know of the book from elsewhere."
)


def chapter_prompt(text: str) -> str:
    """The prompt for one part of a chapter."""
    task = _TASK.format(
        kinds=", ".join(EVENT_KINDS), themes=", ".join(THEMES), atmospheres=", ".join(ATMOSPHERES)
    )
    return f"{task}\n\nText:\n{text}"
