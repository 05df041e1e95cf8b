"""A book's story arc: its passages in reading order, and how glad or sad each is by two measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from gutengraph_core.errors import NotBuilt
from gutengraph_core.library import Library
from gutengraph_query.views.passage import last_told


class ArcPoint(BaseModel):
    """One passage of the arc."""

    chunk_id: str
    chapter: int
    start: int
    x: float = Field(description="Its place on the path through the embedding space.")
    y: float
    lexicon: float = Field(description="-1 sad to 1 glad, by a word list.")
    embedding: float = Field(description="-1 sad to 1 glad, by the embedding model.")


class ArcChapter(BaseModel):
    """Where a chapter begins, counted in passages."""

    passage: int
    chapter: int
    title: str


class Arc(BaseModel):
    """The whole arc, or as much as chapter `up_to` has told."""

    chunks: list[ArcPoint]
    chapters: list[ArcChapter]


def arc(library: Library, book: int, *, up_to: int | None = None) -> Arc:
    """Read `arcs.json` with the places of `chunks.parquet`. Raises UnknownBook, NotBuilt."""
    record = library.record(book)
    points, titles = _points(library, book), {c.index: " ".join(c.title.split()) for c in record.chapters}
    if up_to is not None and points:
        limit = last_told(record, up_to, points[-1].start + 1)
        points = [p for p in points if p.start < limit]
    starts = [i for i, p in enumerate(points) if i == 0 or points[i - 1].chapter != p.chapter]
    chapters = [
        ArcChapter(passage=i, chapter=points[i].chapter, title=titles.get(points[i].chapter, ""))
        for i in starts
    ]
    return Arc(chunks=points, chapters=chapters)


def _points(library: Library, book: int) -> list[ArcPoint]:
    numbers, chunks = library.path(book, "arcs.json"), library.path(book, "chunks.parquet")
    if not numbers.exists() or not chunks.exists():
        raise _missing(book, "Its story arc is not there yet.")
    try:
        drawn = json.loads(numbers.read_text(encoding="utf-8"))
        rows = list(zip(drawn["path"], drawn["lexicon"], drawn["embedding"], strict=True))
    except (ValueError, KeyError, TypeError):
        raise _missing(book, "Its story arc cannot be read.") from None
    places = _places(chunks)
    if len(rows) != len(places):
        raise _missing(book, "Its story arc belongs to an earlier build.")
    return [
        ArcPoint(**place, x=x, y=y, lexicon=lexicon, embedding=embedding)
        for place, ((x, y), lexicon, embedding) in zip(places, rows, strict=True)
    ]


def _places(path: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=["id", "chapter", "start", "chunk_index"]).sort_by("chunk_index")
    return [
        {"chunk_id": row["id"], "chapter": row["chapter"], "start": row["start"]} for row in table.to_pylist()
    ]


def _missing(book: int, what: str) -> NotBuilt:
    return NotBuilt(what, remedy=f"Run `gutengraph build {book}`.", book=book)
