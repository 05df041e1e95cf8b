"""The themes and the atmosphere of a book with the passages they rest on, and the joins of names with theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from gutengraph_core.errors import NotBuilt
from gutengraph_core.graph.read import Graph
from gutengraph_core.library import Library
from gutengraph_query.views.appearances import appearances
from gutengraph_query.views.passage import chapter_at, last_told

_KINDS: tuple[tuple[Literal["theme", "atmosphere"], str, str], ...] = (
    ("theme", "HAS_THEME", "Theme"),
    ("atmosphere", "HAS_ATMOSPHERE", "Atmosphere"),
)


class Support(BaseModel):
    """A passage that a theme rests on."""

    chapter: int
    start: int
    end: int


class Notion(BaseModel):
    """A theme or an atmosphere."""

    kind: Literal["theme", "atmosphere"]
    name: str
    passages: list[Support]


class Merge(BaseModel):
    """Two names that were taken for one person's, and why."""

    entity: str
    name: str
    a: str
    b: str
    rule: str
    quote: str
    chapter: int | None
    start: int | None
    end: int | None


def notions(graph: Graph, book: int, *, up_to: int | None = None) -> list[Notion]:
    """Themes first. With `up_to`, only those that a passage told by then supports. Raises StoreError."""
    found = []
    for kind, rel, label in _KINDS:
        rows = graph.rows(
            f"MATCH (b:Book {{gutenberg_id: $book}})-[r:{rel}]->(t:{label}) "
            "RETURN t.name AS name, r.passages AS passages ORDER BY t.name",
            {"book": book},
        )
        for row in rows:
            places = _supports(graph, row["passages"] or [], up_to)
            if places or up_to is None:
                found.append(Notion(kind=kind, name=row["name"], passages=places))
    return found


def _supports(graph: Graph, ids: Sequence[str], up_to: int | None) -> list[Support]:
    rows = graph.rows(
        "MATCH (p:Passage) WHERE p.id IN $ids OR p.chunk_id IN $ids "
        "RETURN p.chapter AS chapter, p.start AS start, p.`end` AS `end` ORDER BY p.start",
        {"ids": list(ids)},
    )
    return [Support(**row) for row in rows if up_to is None or row["chapter"] <= up_to]


def merges(library: Library, book: int, *, up_to: int | None = None) -> list[Merge]:
    """Every join of two names, with the words it rests on. With `up_to`, only joins of names met by then.

    Raises UnknownBook, NotBuilt.
    """
    import pyarrow.parquet as pq

    record = library.record(book)
    seen = appearances(library, book).by_node
    try:
        rows = pq.read_table(library.path(book, "graph/merges.parquet")).to_pylist()
    except FileNotFoundError:
        raise NotBuilt(
            "Its graph has not been built yet.", remedy=f"Run `gutengraph build {book}`.", book=book
        ) from None
    names = _names(library, book)
    limit = last_told(record, up_to, 1 << 62)
    found = []
    for row in rows:
        node = seen.get(row["entity"])
        if up_to is not None:
            met = set(node.names(up_to)) if node else set()
            if not {row["a"], row["b"]} <= met or (row["start"] or 0) >= limit:
                continue
        placed = row["start"] is not None
        chapter = chapter_at(record, row["start"]) if placed else None
        name = names.get(row["entity"], row["a"])
        found.append(
            Merge(
                entity=row["entity"],
                name=node.shown_name(name, up_to) if node else name,
                a=row["a"],
                b=row["b"],
                rule=row["rule"],
                quote=row["quote"] or "",
                chapter=chapter.index if chapter else None,
                start=row["start"],
                end=row["end"],
            )
        )
    return found


def _names(library: Library, book: int) -> dict[str, str]:
    import pyarrow.parquet as pq

    table = pq.read_table(library.path(book, "graph/nodes.parquet"), columns=["id", "name"])
    return dict(zip(table["id"].to_pylist(), table["name"].to_pylist(), strict=True))
