"""A body cut at its chapter borders, with nothing left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_core.library import Chapter


@dataclass(frozen=True)
class Section:
    """`body[start:end]`, which belongs to one chapter."""

    chapter: int
    start: int
    end: int


def split_sections(body: str, chapters: Sequence[Chapter]) -> list[Section]:
    """The body as consecutive sections, one a chapter; together they are the whole body.

    What lies between two chapters goes to the first of them; what stands before the first is chapter 0. A
    stretch of white space alone joins its neighbour, since a chunk or window of nothing is of no use.
    """
    if not body:
        return []
    borders = {0: 0}
    for chapter in sorted(chapters, key=lambda c: (c.start, c.index)):
        if 0 <= chapter.start < len(body):
            borders[chapter.start] = chapter.index
    starts = sorted(borders)
    sections: list[Section] = []
    lead = 0  # where white space that awaits the next section starts
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        if body[start:end].isspace():
            if sections:
                last = sections[-1]
                sections[-1] = Section(last.chapter, last.start, end)
                lead = end
            continue
        sections.append(Section(borders[start], lead, end))
        lead = end
    return sections or [Section(borders[0], 0, len(body))]
