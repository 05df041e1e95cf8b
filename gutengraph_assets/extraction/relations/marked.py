"""A sentence with its names replaced by marks, so that patterns can be written over people and places.

'<P3>' is the third mention of the stretch, a man or woman; '<L4>' a place; '<V5>' a vessel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Entity, Mention, Person

_STRAIGHT = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "—": "-", "–": "-", "<": " ", ">": " ", "_": " "}
)
_SPACE = re.compile(r"\s+")
PERSON = r"<P(\d+)>"
PLACE = r"<L(\d+)>"
VESSEL = r"<V(\d+)>"


class Named(NamedTuple):
    """A mention and whom it names."""

    mention: Mention
    entity: Entity


@dataclass(frozen=True)
class Marked:
    """One sentence. `text` is one line, quotes straight, dashes '-', names as marks."""

    index: int
    start: int
    end: int
    text: str
    named: tuple[Named, ...]
    quoted: bool
    """Whether it begins inside a quotation."""
    body: str
    """The whole body, for `offset`."""

    def offset(self, position: int) -> int:
        """Where in the body the character at `position` of `text` stands; a mark's is its name's first."""
        at, walked = self.start, 0
        marks = {named.mention.start: (number, named) for number, named in enumerate(self.named)}
        spaced = True  # leading white space is stripped
        while walked < position and at < self.end:
            if at in marks:
                number, named = marks[at]
                length = len(f"<{_letter(named.entity)}{number}>")
                if walked + length > position:
                    return at
                walked, at, spaced = walked + length, named.mention.end, False
                continue
            space = self.body[at].translate(_STRAIGHT).isspace()
            walked += not (space and spaced)
            spaced = space
            at += 1
        while at < self.end and at not in marks and spaced and self.body[at].translate(_STRAIGHT).isspace():
            at += 1
        return at

    def person(self, mark: str) -> Person:
        entity = self.named[int(mark)].entity
        assert isinstance(entity, Person)
        return entity

    def entity(self, mark: str) -> Entity:
        return self.named[int(mark)].entity


def mark_sentences(text: BookText, entities: Sequence[Entity]) -> Iterator[Marked]:
    """Every sentence of the book, those without names too, in order."""
    named = sorted(
        (Named(mention, entity) for entity in entities for mention in entity.mentions),
        key=lambda n: n.mention.start,
    )
    at = 0
    for index, (start, end) in enumerate(text.sentences):
        while at < len(named) and named[at].mention.start < start:
            at += 1
        inside = []
        while at < len(named) and named[at].mention.end <= end:
            inside.append(named[at])
            at += 1
        marked = _mark(text.body, start, end, inside)
        yield Marked(index, start, end, marked, tuple(inside), text.quoted(start + 1), text.body)


def _mark(body: str, start: int, end: int, named: Sequence[Named]) -> str:
    parts = []
    at = start
    for number, (mention, entity) in enumerate(named):
        parts.append(body[at : mention.start].translate(_STRAIGHT))
        parts.append(f"<{_letter(entity)}{number}>")
        at = mention.end
    parts.append(body[at:end].translate(_STRAIGHT))
    return _SPACE.sub(" ", "".join(parts)).strip()


def _letter(entity: Entity) -> str:
    if entity.label == "Character":
        return "P"
    if entity.kind == "vessel":
        return "V"
    return "L" if entity.label == "Location" else "O"
