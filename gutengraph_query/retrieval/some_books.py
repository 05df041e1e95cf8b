"""The graph as somebody sees it who asks about some of its books only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.records import Edge, NodeVectors, PassageMention, book_of
from gutengraph_core.graph.versions import Manifest


class SomeBooks:
    """A graph without the nodes and relations of all other books. Stands in for `Graph`."""

    def __init__(self, graph: Graph, books: frozenset[int]) -> None:
        self._graph = graph
        self._books = books

    @property
    def version(self) -> int:
        return self._graph.version

    @property
    def manifest(self) -> Manifest:
        return self._graph.manifest

    @property
    def books(self) -> list[int]:
        return [book for book in self._graph.books if book in self._books]

    def rows(self, cypher: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Rows whose `id` is a node, or a book, among these. Raises StoreError if Kuzu refuses."""
        return [row for row in self._graph.rows(cypher, parameters) if book_of(row["id"]) in self._books]

    def edges_of(
        self,
        nodes: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        book: int | None = None,
        statements: list[str] | None = None,
    ) -> list[Edge]:
        """See `Graph.edges_of`."""
        found = self._graph.edges_of(nodes, types=types, book=book, statements=statements)
        return [edge for edge in found if edge.book in self._books]

    def passages_at(self, book: int, places: Sequence[int]) -> list[str]:
        return self._graph.passages_at(book, places) if book in self._books else []

    def mention_passages(self, node: str, *, limit: int) -> list[PassageMention]:
        """See `Graph.mention_passages`."""
        return self._graph.mention_passages(node, limit=limit) if book_of(node) in self._books else []

    @cached_property
    def vectors(self) -> NodeVectors:
        """Their nodes with their vectors."""
        whole = self._graph.vectors
        kept = [i for i, node in enumerate(whole.nodes) if node.book in self._books]
        return NodeVectors([whole.nodes[i] for i in kept], whole.matrix[np.array(kept, dtype=np.intp)])
