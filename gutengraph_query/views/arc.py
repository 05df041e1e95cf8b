"""A book's story arc: its passages in reading order, and how glad or sad each is by two measures."""

from __future__ import annotations

from pydantic import BaseModel, Field, ValidationError

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
    """Where a chapter begins: `chunk` is a place in `chunks`, `start` one in the body."""

    chapter: int
    title: str
    chunk: int
    start: int


class Arc(BaseModel):
    """The whole arc, or as much as chapter `up_to` has told."""

    chunks: list[ArcPoint]
    chapters: list[ArcChapter]


def arc(library: Library, book: int, *, up_to: int | None = None) -> Arc:
    """Read `arcs.json`. Raises UnknownBook; NotBuilt if it is not there or of an older form."""
    record = library.record(book)
    path = library.path(book, "arcs.json")
    try:
        found = Arc.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise _missing(book, "Its story arc is not there yet.") from None
    except ValidationError:
        raise _missing(book, "Its story arc was drawn by an older version.") from None
    if up_to is not None and found.chunks:
        limit = last_told(record, up_to, found.chunks[-1].start + 1)
        found.chunks = [p for p in found.chunks if p.start < limit]
        found.chapters = [c for c in found.chapters if c.start < limit]
    for chapter in found.chapters:
        chapter.title = " ".join(chapter.title.split())
    return found


def _missing(book: int, what: str) -> NotBuilt:
    return NotBuilt(what, remedy=f"Run `gutengraph build {book}`.", book=book)
