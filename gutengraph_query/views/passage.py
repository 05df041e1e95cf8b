"""A place of a book in its chapter: whole paragraphs, the quote marked, who is there, what stands before and after."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, Field

from gutengraph_core.errors import NotBuilt, UnknownPlace
from gutengraph_core.files import read_text
from gutengraph_core.graph.read import Graph
from gutengraph_core.library import BookRecord, Chapter, Library
from gutengraph_query.views.appearances import appearances

LONGEST = 20_000
"""Characters of one page: a chapter that is one paragraph must not become one."""
_PARAGRAPH = re.compile(r"\S.*?(?=\n[^\S\n]*\n|\Z)", re.DOTALL)
_FULL_LINE = 50
"""Prose is wrapped at about 70 characters: shorter lines are verse, letters' heads, lists."""


class Piece(BaseModel):
    """A stretch of text, in or outside the quote."""

    text: str
    marked: bool


class Paragraph(BaseModel):
    """One paragraph. Line ends of prose are spaces; those of verse stay."""

    start: int
    end: int
    verse: bool
    pieces: list[Piece]


class Present(BaseModel):
    """Somebody or something mentioned on the page."""

    id: str
    label: str
    name: str
    mentions: int


class Place(BaseModel):
    """A stretch of the body."""

    start: int
    end: int


class Page(BaseModel):
    """A place with what stands around it in its chapter."""

    book: int
    title: str
    authors: list[str]
    chapter: int
    chapter_title: str
    part: str
    start: int
    end: int
    paragraphs: list[Paragraph]
    present: list[Present]
    previous: Place | None = Field(description="The paragraph before the page, in whichever chapter.")
    next: Place | None = Field(description="The paragraph after it; none beyond `up_to`.")


def page(
    library: Library,
    graph: Graph | None,
    book: int,
    start: int,
    end: int | None = None,
    *,
    around: int = 2,
    up_to: int | None = None,
) -> Page:
    """The paragraphs that hold body[start:end], and `around` more of the chapter on both sides.

    Raises UnknownBook, NotBuilt, and UnknownPlace beyond the end of the book or after chapter `up_to`.
    """
    record = library.record(book)
    path = library.path(book, "body.txt")
    try:
        found = path.stat()
    except FileNotFoundError:
        raise NotBuilt(
            "Its text has not been read yet.", remedy=f"Run `gutengraph build {book}`.", book=book
        ) from None
    body, paragraphs = _read(path, found.st_mtime_ns, found.st_size)
    limit = last_told(record, up_to, len(body))
    if start >= limit:
        where = (
            "after the chapter that you have read to" if start < len(body) else "beyond the end of the book"
        )
        raise UnknownPlace(
            f"Character {start:,} lies {where}.",
            remedy=f"Give a place below {limit:,}" + (", or a later chapter." if up_to is not None else "."),
            book=book,
        )
    end = max(start + 1, min(end if end is not None else start + 1, limit))
    chapter = chapter_at(record, start)
    inside = [
        i for i, (a, b) in enumerate(paragraphs)
        if chapter is None or chapter.start <= a < chapter.end
    ]  # fmt: skip
    starts = [paragraphs[i][0] for i in inside]
    first = inside[max(0, bisect_right(starts, start) - 1)]
    last = max(first, inside[max(0, bisect_right(starts, end - 1) - 1)])
    low, high = max(inside[0], first - around), min(inside[-1], last + around)
    while paragraphs[high][1] - paragraphs[low][0] > LONGEST and high > last:
        high -= 1
    shown = paragraphs[low : high + 1]
    present = _present(library, graph, book, shown[0][0], shown[-1][1], up_to)
    return Page(
        book=book,
        title=record.title,
        authors=record.authors,
        chapter=chapter.index if chapter else 0,
        chapter_title=" ".join(chapter.title.split()) if chapter else "",
        part=" ".join(chapter.part.split()) if chapter else "",
        start=start,
        end=end,
        paragraphs=[_paragraph(body, a, min(b, limit), start, end) for a, b in shown if a < limit],
        present=present,
        previous=_place(paragraphs, low - 1),
        next=_place(paragraphs, high + 1, limit),
    )


def chapter_at(record: BookRecord, offset: int) -> Chapter | None:
    """The chapter that holds a character of the body."""
    return next((c for c in record.chapters if c.start <= offset < c.end), None)


def last_told(record: BookRecord, up_to: int | None, length: int) -> int:
    """One past the last character of chapter `up_to`."""
    if up_to is None or not record.chapters:
        return length
    return max((c.end for c in record.chapters if c.index <= up_to), default=0)


@lru_cache(maxsize=8)
def _read(path: Path, mtime_ns: int, size: int) -> tuple[str, list[tuple[int, int]]]:
    body = read_text(path)
    return body, [m.span() for m in _PARAGRAPH.finditer(body)]


def _place(paragraphs: list[tuple[int, int]], index: int, limit: int | None = None) -> Place | None:
    if not 0 <= index < len(paragraphs) or (limit is not None and paragraphs[index][0] >= limit):
        return None
    return Place(start=paragraphs[index][0], end=paragraphs[index][1])


def _paragraph(body: str, start: int, end: int, mark_start: int, mark_end: int) -> Paragraph:
    lines = body[start:end].split("\n")
    verse = len(lines) > 1 and sum(len(line) >= _FULL_LINE for line in lines[:-1]) * 2 < len(lines) - 1
    a, b = min(max(mark_start, start), end), min(max(mark_end, start), end)
    parts = [(body[start:a], False), (body[a:b], True), (body[b:end], False)]
    pieces = [Piece(text=t if verse else t.replace("\n", " "), marked=marked) for t, marked in parts if t]
    return Paragraph(start=start, end=end, verse=verse, pieces=pieces)


def _present(
    library: Library, graph: Graph | None, book: int, start: int, end: int, up_to: int | None
) -> list[Present]:
    if graph is None or book not in graph.books:
        return []
    try:
        seen = appearances(library, book)
    except NotBuilt:  # the text can be read before the graph is there
        return []
    rows, nodes = graph.vectors.row, graph.vectors.nodes
    found = []
    for node_id, count in seen.within(start, end).most_common():
        if node_id in rows:
            node = nodes[rows[node_id]]
            name = seen.by_node[node_id].shown_name(node.name, up_to)
            found.append(Present(id=node_id, label=node.label, name=name, mentions=count))
    return found
