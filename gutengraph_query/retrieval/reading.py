"""The graph as somebody may see it who has read a book up to some chapter: nothing that comes later leaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gutengraph_core import names
from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.records import Edge, Node, NodeVectors, PassageMention
from gutengraph_core.graph.versions import Manifest


class ReadGraph:
    """One book of a graph without what its chapters after `chapter` tell. Stands in for `Graph`.

    Nodes that nobody has mentioned yet are gone, a name or alias that does not stand in `text` (what has been
    read) is not told, and an edge whose quote comes later does not exist. An event that is named in the graph's own
    words ('death of …') is left out unless these stand in the text: the name may tell how it ended. Which nodes are *near* a question is
    still computed with the whole book's vectors: it orders what is shown and shows nothing itself.
    """

    def __init__(self, graph: Graph, *, book: int, chapter: int, text: str) -> None:
        self._graph = graph
        self._book = book
        self._chapter = chapter
        self._told = f" {' '.join(names.words(text))} "

    @property
    def version(self) -> int:
        return self._graph.version

    @property
    def manifest(self) -> Manifest:
        return self._graph.manifest

    @property
    def books(self) -> list[int]:
        return [self._book]

    def rows(self, cypher: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Rows whose `id` is a node that may be told of. Raises StoreError if Kuzu refuses."""
        return [row for row in self._graph.rows(cypher, parameters) if row["id"] in self.vectors.row]

    def edges_of(
        self,
        nodes: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        book: int | None = None,
        statements: list[str] | None = None,
    ) -> list[Edge]:
        """See `Graph.edges_of`; only those that have been read, under the names that have."""
        found = self._graph.edges_of(nodes, types=types, book=self._book, statements=statements)
        row, known = self.vectors.row, self.vectors.nodes
        return [
            replace(
                edge,
                source_name=known[row[edge.source]].name,
                target_name=known[row[edge.target]].name,
            )
            for edge in found
            if edge.chapter <= self._chapter and edge.source in row and edge.target in row
        ]

    def passages_at(self, book: int, places: Sequence[int]) -> list[str]:
        return self._graph.passages_at(book, places)

    def mention_passages(self, node: str, *, limit: int) -> list[PassageMention]:
        """See `Graph.mention_passages`."""
        found = self._graph.mention_passages(node, limit=limit)
        return [mention for mention in found if mention.chapter <= self._chapter]

    @cached_property
    def vectors(self) -> NodeVectors:
        """The nodes met so far, renamed, with their vectors."""
        met = {
            row["id"]
            for row in self._graph.rows(
                "MATCH (n)-[:MENTIONED_IN]->(p:Passage) WHERE p.gutenberg_id = $book AND p.chapter <= $chapter "
                "RETURN DISTINCT n.id AS id",
                {"book": self._book, "chapter": self._chapter},
            )
        }
        whole = self._graph.vectors
        kept = [(i, self._renamed(n)) for i, n in enumerate(whole.nodes) if n.id in met]
        nodes = [(i, node) for i, node in kept if node is not None]
        return NodeVectors(
            [n for _, n in nodes], whole.matrix[np.array([i for i, _ in nodes], dtype=np.intp)]
        )

    def _renamed(self, node: Node) -> Node | None:
        """Under the first of its names that has been read; None if none has."""
        read = [name for name in dict.fromkeys((node.name, *node.aliases)) if self._stands(name)]
        return replace(node, name=read[0], aliases=tuple(read), role=None) if read else None

    def _stands(self, name: str) -> bool:
        return f" {' '.join(names.words(name))} " in self._told
