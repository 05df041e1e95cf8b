"""What is read of the graph: nodes with their vectors, relations, mentions; and how their rows are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.errors import StoreError
from gutengraph_core.graph import schema


@dataclass(frozen=True)
class Node:
    """A node that the text mentions. `standing`, `role`, `gender` are Characters', `kind` is the others'."""

    id: str
    label: str
    name: str
    aliases: tuple[str, ...]
    standing: str
    role: str | None
    gender: str | None
    kind: str
    mentions: int
    windows: int
    degree: int

    @property
    def book(self) -> int:
        return book_of(self.id)


@dataclass(frozen=True)
class Edge:
    """One relation: `source` is TYPE `target`."""

    source: str
    source_name: str
    target: str
    target_name: str
    rel: str
    type: str
    quote: str
    start: int
    end: int
    chapter: int
    how: str
    confidence: float

    @property
    def book(self) -> int:
        return book_of(self.source)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.source, self.type, self.target

    @property
    def line(self) -> str:
        """`Ahab -[CAPTAIN_OF]-> Pequod`."""
        return schema.line(self.source_name, self.type, self.target_name)

    def other(self, node: str) -> str:
        """The id of the end that is not `node`."""
        return self.target if node == self.source else self.source

    def name(self, node: str) -> str:
        """The name of the end `node`."""
        return self.source_name if node == self.source else self.target_name


@dataclass(frozen=True)
class PassageMention:
    """How often a node is mentioned in one passage."""

    chunk_id: str
    chapter: int
    start: int
    end: int
    count: int


@dataclass(frozen=True)
class NodeVectors:
    """All nodes with their vectors: row i of `matrix` (unit length, float32) belongs to `nodes[i]`."""

    nodes: list[Node]
    matrix: Matrix

    @cached_property
    def row(self) -> dict[str, int]:
        """Node id -> row."""
        return {node.id: i for i, node in enumerate(self.nodes)}

    def cosines(self, query: Matrix) -> Matrix:
        """float32 [len(nodes)]: cosine of each node with a unit `query` [dimension].

        Raises StoreError if the dimensions differ.
        """
        if not self.nodes:
            return np.zeros(0, dtype=np.float32)
        if query.shape != self.matrix.shape[1:]:
            raise other_dimension(query, self.matrix.shape[1])
        return self.matrix @ query

    def nearest(self, query: Matrix, *, book: int | None, limit: int) -> list[tuple[Node, float]]:
        """The `limit` nodes (of `book`) with the highest cosine, best first, each with it. Raises StoreError as `cosines`."""
        cosines = self.cosines(query)
        rows = np.arange(len(self.nodes))
        if book is not None:
            rows = np.array([i for i, node in enumerate(self.nodes) if node.book == book], dtype=np.intp)
        best = rows[np.argsort(-cosines[rows], kind="stable")][:limit]
        return [(self.nodes[i], float(cosines[i])) for i in best]


def other_dimension(query: Matrix, dimension: int) -> StoreError:
    return StoreError(
        f"The query has {query.shape[0]} dimensions, the graph's nodes {dimension}.",
        remedy="Set GUTENGRAPH_EMBEDDING to what the library was built with.",
    )


def book_of(node: str) -> int:
    """The book of a node id."""
    return int(node.partition(":")[0])


_PLAIN = ("id", "name", "aliases", "mentions", "windows", "degree")
_CHARACTERS = ("standing", "role", "gender")


def node_columns(variable: str, label: str = "Character") -> str:
    """What `node_of` needs of a node, as the columns of a RETURN."""
    own = _CHARACTERS if label == "Character" else ("kind",)
    columns = [f"{variable}.{name} AS {name}" for name in (*_PLAIN, *own)]
    return ", ".join([f"label({variable}) AS label", *columns])


def node_of(row: dict[str, Any]) -> Node:
    return Node(
        id=row["id"],
        label=row["label"],
        name=row["name"],
        aliases=tuple(row["aliases"] or ()),
        standing=row.get("standing") or "",
        role=row.get("role"),
        gender=row.get("gender"),
        kind=row.get("kind") or "",
        mentions=row["mentions"] or 0,
        windows=row["windows"] or 0,
        degree=row["degree"],
    )


EDGE_COLUMNS = (
    "a.id AS source, a.name AS source_name, b.id AS target, b.name AS target_name, label(r) AS rel, "
    "r.type AS type, r.quote AS quote, r.start AS start, r.`end` AS `end`, r.chapter AS chapter, "
    "r.how AS how, r.confidence AS confidence"
)


def edge_of(row: dict[str, Any]) -> Edge:
    return Edge(**row)
