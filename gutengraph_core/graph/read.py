"""One published version of the graph, opened read-only, and what is asked of it."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import cached_property
from typing import IO, Any

import numpy as np
import pyarrow as pa

from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.errors import StoreError
from gutengraph_core.graph import schema, versions
from gutengraph_core.graph.build import MAX_DB, index_name
from gutengraph_core.graph.engine import kuzu
from gutengraph_core.graph.inlined import inlined
from gutengraph_core.graph.records import (
    EDGE_COLUMNS,
    Edge,
    Node,
    NodeVectors,
    PassageMention,
    book_of,
    edge_of,
    node_columns,
    node_of,
    other_dimension,
)

BUFFER_POOL = 128 << 20
"""Bytes Kuzu may hold while reading: a question touches a few thousand rows."""

_ANY = ":".join(schema.LABELS)
"""Of any label. Never with a list to be a member of (IN, list_contains): Kuzu 0.11.3 then gives some rows twice, others not
at all, and ids with letters of their neighbours once the graph holds an Event (tests/contract/test_one_label_contract.py). So
ids are joined to an UNWIND, and types are chosen in Python."""
_WALKED = "|".join(schema.WALKED)
_SLICE = 4096
"""Nodes read at once with their vectors: 6 MB of 384 dimensions."""


class Graph:
    """One published version. It keeps answering from that version for as long as it is referenced.

    Safe for several threads: each call uses its own connection.
    """

    def __init__(self, version: versions.Version) -> None:
        """Raises FileNotFoundError if the version was removed meanwhile, StoreError if it will not open."""
        hold = version.hold()
        try:
            if not version.database.exists():
                raise FileNotFoundError(version.database)
            self.version = version.number
            self.manifest = version.manifest()
            self._database = kuzu.Database(
                str(version.database), read_only=True, buffer_pool_size=BUFFER_POOL, max_db_size=MAX_DB
            )
        except RuntimeError as error:
            hold.close()
            raise StoreError(
                f"{version.database} cannot be opened ({error}).",
                remedy="Run `gutengraph build` again to publish a fresh graph.",
            ) from error
        except BaseException:
            hold.close()
            raise
        self.close = weakref.finalize(self, _close, self._database, hold)

    @property
    def books(self) -> list[int]:
        """The books in it, by number."""
        return sorted(self.manifest.books)

    def rows(self, cypher: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Run one trusted statement. Raises StoreError if Kuzu refuses it."""
        connection = kuzu.Connection(self._database)
        try:
            result = connection.execute(cypher, parameters or {})
            if isinstance(result, list):
                raise TypeError("one statement gives one result")
            columns = result.get_column_names()
            rows = [dict(zip(columns, row, strict=True)) for row in result.get_all()]
            result.close()
            return rows
        except RuntimeError as error:
            raise _refused(cypher, error) from error
        finally:
            connection.close()

    def characters(self, book: int) -> list[Node]:
        """The characters of a book, cast before mentioned, most mentioned first."""
        rows = self.rows(
            "MATCH (n:Character)-[:APPEARS_IN]->(b:Book {gutenberg_id: $book}) "
            f"RETURN {node_columns('n')} ORDER BY n.standing, n.mentions DESC, n.id",
            {"book": book},
        )
        return [node_of(row) for row in rows]

    def relations(self, book: int) -> list[Edge]:
        """The relations of a book, surest first; of one confidence in the order of the text."""
        edges = [
            edge_of(row)
            for label in schema.LABELS  # one at a time: see `_ANY`
            for row in self.rows(
                f"MATCH (a:{label})-[r:{_WALKED}]->(b:{_ANY}) WHERE starts_with(a.id, $prefix) "
                f"RETURN {EDGE_COLUMNS}",
                {"prefix": f"{book}:"},
            )
        ]
        return sorted(edges, key=lambda e: (-e.confidence, e.start, e.source, e.target, e.type))

    def edges_of(
        self,
        nodes: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        book: int | None = None,
        statements: list[str] | None = None,
    ) -> list[Edge]:
        """Every RELATED_TO and INTERACTS_WITH edge that touches one of `nodes`, either way, once each.

        With `types`, only those; with `book`, only its own. What was run is appended to `statements`.
        """
        edges: dict[tuple[str, str, str, int], Edge] = {}
        # Both ends of an edge are of one book.
        wanted = [node for node in dict.fromkeys(nodes) if book is None or book_of(node) == book]
        if not wanted:
            return []
        only = f" // of these {', '.join(types)}" if types is not None else ""
        for end in ("a", "b"):
            cypher = (
                f"UNWIND $nodes AS node MATCH (a:{_ANY})-[r:{_WALKED}]->(b:{_ANY}) "
                f"WHERE {end}.id = node RETURN {EDGE_COLUMNS}"
            )
            used = {"nodes": wanted}
            if statements is not None:
                statements.append(inlined(cypher, used) + only)
            for row in self.rows(cypher, used):
                edge = edge_of(row)
                if types is None or edge.type in types:
                    edges[(*edge.key, edge.start)] = edge
        return sorted(edges.values(), key=lambda e: (-e.confidence, e.source, e.target, e.type, e.start))

    def mention_passages(self, node: str, *, limit: int) -> list[PassageMention]:
        """The passages that mention `node`, most mentions first."""
        rows = self.rows(
            f"UNWIND [$node] AS node MATCH (n:{_ANY})-[m:MENTIONED_IN]->(p:Passage) WHERE n.id = node "
            "RETURN p.chunk_id AS chunk_id, p.chapter AS chapter, p.start AS start, p.`end` AS `end`, "
            "m.count AS count ORDER BY m.count DESC, p.start LIMIT $limit",
            {"node": node, "limit": limit},
        )
        return [PassageMention(**row) for row in rows]

    def passages_at(self, book: int, places: Sequence[int]) -> list[str]:
        """Chunk ids of the passages in which the offsets `places` of a book lie, in the order of `places`."""
        rows = self.rows(
            "UNWIND $places AS place MATCH (p:Passage) "
            "WHERE p.gutenberg_id = $book AND p.start <= place AND p.`end` > place "
            "RETURN place AS place, min(p.chunk_id) AS chunk_id",
            {"places": list(places), "book": book},
        )
        found = {row["place"]: row["chunk_id"] for row in rows}
        return list(dict.fromkeys(found[place] for place in places if place in found))

    @cached_property
    def vectors(self) -> NodeVectors:
        """Every Character, Location, Object and Event with its vector, by id."""
        nodes: list[Node] = []
        blocks: list[Matrix] = []
        for label in schema.LABELS:
            columns = node_columns("n", label)
            for low, high in self._slices(label):
                table = self._table(
                    f"MATCH (n:{label}) WHERE offset(id(n)) >= $low AND offset(id(n)) < $high "
                    f"RETURN {columns}, n.embedding AS embedding",
                    {"low": low, "high": high},
                )
                if not table.num_rows:
                    continue
                flat = table["embedding"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
                blocks.append(flat.reshape(table.num_rows, -1).astype(np.float32, copy=False))
                nodes += [node_of(row) for row in table.drop_columns(["embedding"]).to_pylist()]
        if not blocks:
            return NodeVectors([], np.zeros((0, self.manifest.dimension), dtype=np.float32))
        order = sorted(range(len(nodes)), key=lambda i: (schema.LABELS.index(nodes[i].label), nodes[i].id))
        return NodeVectors([nodes[i] for i in order], np.vstack(blocks)[order])

    def _slices(self, label: str) -> list[tuple[int, int]]:
        """Ranges of offsets that together hold a table: a result lies in the buffer pool as a whole."""
        (row,) = self.rows(f"MATCH (n:{label}) RETURN max(offset(id(n))) AS last")
        last = -1 if row["last"] is None else row["last"]
        return [(low, low + _SLICE) for low in range(0, last + 1, _SLICE)]

    def _table(self, cypher: str, parameters: dict[str, Any]) -> pa.Table:
        """The result of a trusted statement as Arrow: a hundred times faster than rows where it holds vectors."""
        connection = kuzu.Connection(self._database)
        try:
            result = connection.execute(cypher, parameters)
            if isinstance(result, list):
                raise TypeError("one statement gives one result")
            table = result.get_as_arrow(_SLICE)
            result.close()
            return table
        except RuntimeError as error:
            raise _refused(cypher, error) from error
        finally:
            connection.close()

    def nearest(self, query: Matrix, *, book: int | None, limit: int) -> list[tuple[Node, float]]:
        """The `limit` nodes with the highest cosine to a unit `query` [dimension], best first, each with it.

        By the vector index where the graph has one (approximate) and no book is given; else by a scan, which is exact.
        Raises StoreError if the dimensions differ.
        """
        if self.manifest.vector_index and book is None:
            return self._by_index(query, limit)
        return self.vectors.nearest(query, book=book, limit=limit)

    def _by_index(self, query: Matrix, limit: int) -> list[tuple[Node, float]]:
        if query.shape != (self.manifest.dimension,):
            raise other_dimension(query, self.manifest.dimension)
        found: list[tuple[Node, float]] = []
        for label in self.manifest.vector_index:
            cypher = (
                f"CALL QUERY_VECTOR_INDEX('{label}', '{index_name(label)}', $query, $limit) "
                f"RETURN {node_columns('node', label)}, distance"
            )
            for row in self.rows(cypher, {"query": query.tolist(), "limit": limit}):
                cosine = 1.0 - row.pop("distance")
                found.append((node_of(row), cosine))
        return sorted(found, key=lambda pair: (-pair[1], pair[0].id))[:limit]


def _refused(cypher: str, error: RuntimeError) -> StoreError:
    return StoreError(
        f"Kuzu refused `{cypher[:120]}` ({error}).", remedy="Report it with the question that led here."
    )


def _close(database: kuzu.Database, hold: IO[bytes]) -> None:
    database.close()
    hold.close()
