"""The portrait: one call a member of the cast, from the passages that tell most of him or her."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from gutengraph_core.graph.schema import CHARACTER_TYPES, ROLES, SOCIAL_CLASSES

CAP = 320
"""Tokens of a reply: seven fields, of them four of a sentence each."""


class Portrait(BaseModel):
    """What a reply says of one person. An empty text: the passages do not tell."""

    model_config = ConfigDict(extra="forbid")

    role: str
    gender: str
    character_type: str
    social_class: str
    motivation: str
    motivation_quote: str
    arc: str
    arc_quote: str


_TASK = (
    "Passages from a book follow, in the order of the book. Describe the character named below as these passages show him or her.\n"
    "role: one of {roles}.\n"
    "gender: M or F.\n"
    "character_type: one of {types}.\n"
    "social_class: one of {classes}.\n"
    "motivation: what the character wants, in at most twelve words; motivation_quote: the words of a passage that show it, copied exactly.\n"
    "arc: how the character changes, in at most twelve words; arc_quote: the words of a passage that show it, copied exactly.\n"
    "Leave a field empty where the passages do not tell. Use nothing that you know of the book from elsewhere."
)


def portrait_prompt(name: str, also: Sequence[str], passages: Sequence[str]) -> str:
    """The prompt for one person, called `name` and `also` so."""
    task = _TASK.format(roles=_listed(ROLES), types=_listed(CHARACTER_TYPES), classes=_listed(SOCIAL_CLASSES))
    called = f" (also called {', '.join(also)})" if also else ""
    texts = "\n\n".join(f"[{n}] {text}" for n, text in enumerate(passages, start=1))
    return f"{task}\n\nCharacter: {name}{called}\n\nPassages:\n{texts}"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)
