"""What `gutengraph characters` and `gutengraph relations` list, read from the published graph."""

from __future__ import annotations

from typing import TypedDict

from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.records import Edge
from gutengraph_query.brains import Brains


class CharacterRow(TypedDict):
    name: str
    aliases: list[str]
    standing: str
    role: str | None
    gender: str | None
    mentions: int
    windows: int


class RelationRow(TypedDict):
    """Read: a is TYPE b."""

    a: str
    type: str
    b: str
    quote: str
    start: int
    end: int
    chapter: int
    how: str
    confidence: float


def characters(here: Brains, book: int) -> list[CharacterRow]:
    """The characters of a book, cast before mentioned, most mentioned first. Raises UnknownBook, NotBuilt."""
    return [
        CharacterRow(
            name=node.name,
            aliases=list(node.aliases),
            standing=node.standing,
            role=node.role,
            gender=node.gender,
            mentions=node.mentions,
            windows=node.windows,
        )
        for node in graph_with(here, book).characters(book)
    ]


def relations(here: Brains, book: int) -> list[RelationRow]:
    """RELATED_TO and INTERACTS_WITH of a book, surest first. Raises UnknownBook, NotBuilt."""
    return [
        relation_row(edge, a=edge.source_name, b=edge.target_name)
        for edge in graph_with(here, book).relations(book)
    ]


def relation_row(edge: Edge, *, a: str, b: str) -> RelationRow:
    """A relation for people, its ends under the names that they may be told."""
    return RelationRow(
        a=a,
        type=edge.type,
        b=b,
        quote=edge.quote,
        start=edge.start,
        end=edge.end,
        chapter=edge.chapter,
        how=edge.how,
        confidence=round(edge.confidence, 4),
    )


def graph_with(here: Brains, book: int) -> Graph:
    """The published graph, if it has the book. Raises UnknownBook, NotBuilt with the reason."""
    here.check_book(book)
    gap = here.graph_gap(book)
    if gap is not None:
        raise gap
    return here.published()
