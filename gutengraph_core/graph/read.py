"""Reading the published graph: one version opened read-only, and a reader that follows the pointer."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import numpy as np
import pyarrow as pa

from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.errors import StoreError
from gutengraph_core.graph import schema, versions
from gutengraph_core.graph.build import MAX_DB, index_name
from gutengraph_core.graph.engine import kuzu
from gutengraph_core.library import Library

BUFFER_POOL = 128 << 20
"""Bytes Kuzu may hold while reading: a question touches a few thousand rows."""

_ANY = ":".join(schema.LABELS)
_WALKED = "|".join(schema.WALKED)
_ATTEMPTS = 3
_SLICE = 4096
"""Nodes read at once with their vectors: 6 MB of 384 dimensions."""


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
            raise _other_dimension(query, self.matrix.shape[1])
        return self.matrix @ query

    def nearest(self, query: Matrix, *, book: int | None, limit: int) -> list[tuple[Node, float]]:
        """The `limit` nodes (of `book`) with the highest cosine, best first, each with it. Raises StoreError as `cosines`."""
        cosines = self.cosines(query)
        rows = np.arange(len(self.nodes))
        if book is not None:
            rows = np.array([i for i, node in enumerate(self.nodes) if node.book == book], dtype=np.intp)
        best = rows[np.argsort(-cosines[rows], kind="stable")][:limit]
        return [(self.nodes[i], float(cosines[i])) for i in best]


def _other_dimension(query: Matrix, dimension: int) -> StoreError:
    return StoreError(
        f"The query has {query.shape[0]} dimensions, the graph's nodes {dimension}.",
        remedy="Set GUTENGRAPH_EMBEDDING to what the library was built with.",
    )


def book_of(node: str) -> int:
    """The book of a node id."""
    return int(node.partition(":")[0])


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
            f"RETURN {_node_columns('n')} ORDER BY n.standing, n.mentions DESC, n.id",
            {"book": book},
        )
        return [_node(row) for row in rows]

    def relations(self, book: int) -> list[Edge]:
        """The relations of a book, surest first; of one confidence in the order of the text."""
        cypher = (
            f"MATCH (a:{_ANY})-[r:{_WALKED}]->(b:{_ANY}) WHERE starts_with(a.id, $prefix) "
            f"RETURN {_EDGE_COLUMNS} ORDER BY r.confidence DESC, r.start, a.id, b.id, r.type"
        )
        return [_edge(row) for row in self.rows(cypher, {"prefix": f"{book}:"})]

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
        for end in ("a", "b"):
            where = f"{end}.id IN $nodes"
            if types is not None:
                where += " AND r.type IN $types"
            if book is not None:
                where += " AND starts_with(a.id, $prefix)"
            cypher = f"MATCH (a:{_ANY})-[r:{_WALKED}]->(b:{_ANY}) WHERE {where} RETURN {_EDGE_COLUMNS}"
            parameters = {"nodes": list(nodes), "types": list(types or ()), "prefix": f"{book}:"}
            used = {name: value for name, value in parameters.items() if f"${name}" in cypher}
            if statements is not None:
                statements.append(inlined(cypher, used))
            for row in self.rows(cypher, used):
                edge = _edge(row)
                edges[(*edge.key, edge.start)] = edge
        return sorted(edges.values(), key=lambda e: (-e.confidence, e.source, e.target, e.type, e.start))

    def mention_passages(self, node: str, *, limit: int) -> list[PassageMention]:
        """The passages that mention `node`, most mentions first."""
        rows = self.rows(
            f"MATCH (n:{_ANY})-[m:MENTIONED_IN]->(p:Passage) WHERE n.id = $node "
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
            columns = _node_columns("n", label)
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
                nodes += [_node(row) for row in table.drop_columns(["embedding"]).to_pylist()]
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
            raise _other_dimension(query, self.manifest.dimension)
        found: list[tuple[Node, float]] = []
        for label in self.manifest.vector_index:
            cypher = (
                f"CALL QUERY_VECTOR_INDEX('{label}', '{index_name(label)}', $query, $limit) "
                f"RETURN {_node_columns('node', label)}, distance"
            )
            for row in self.rows(cypher, {"query": query.tolist(), "limit": limit}):
                cosine = 1.0 - row.pop("distance")
                found.append((_node(row), cosine))
        return sorted(found, key=lambda pair: (-pair[1], pair[0].id))[:limit]


class PublishedGraph:
    """Follows the pointer: `current()` is the newest published version, opened once and shared."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._open: Graph | None = None

    def current(self) -> Graph:
        """The published version. Whoever holds an older one may finish with it.

        Raises NotBuilt if nothing was ever published, StoreError if the graph cannot be opened.
        """
        with self._lock:
            for _ in range(_ATTEMPTS):
                version = versions.require(self._library)
                if self._open is not None and self._open.version == version.number:
                    return self._open
                try:
                    self._open = Graph(version)
                except FileNotFoundError:
                    continue  # two builds ended between reading the pointer and opening: read it again
                return self._open
        raise StoreError(
            f"The graph under {self._library.graph_dir} is gone whenever it is opened.",
            remedy="Run `gutengraph build` again to publish a fresh graph.",
        )


def _refused(cypher: str, error: RuntimeError) -> StoreError:
    return StoreError(
        f"Kuzu refused `{cypher[:120]}` ({error}).", remedy="Report it with the question that led here."
    )


def _close(database: kuzu.Database, hold: IO[bytes]) -> None:
    database.close()
    hold.close()


_PLAIN = ("id", "name", "aliases", "mentions", "windows", "degree")
_CHARACTERS = ("standing", "role", "gender")


def _node_columns(variable: str, label: str = "Character") -> str:
    own = _CHARACTERS if label == "Character" else ("kind",)
    columns = [f"{variable}.{name} AS {name}" for name in (*_PLAIN, *own)]
    return ", ".join([f"label({variable}) AS label", *columns])


def _node(row: dict[str, Any]) -> Node:
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


_EDGE_COLUMNS = (
    "a.id AS source, a.name AS source_name, b.id AS target, b.name AS target_name, label(r) AS rel, "
    "r.type AS type, r.quote AS quote, r.start AS start, r.`end` AS `end`, r.chapter AS chapter, "
    "r.how AS how, r.confidence AS confidence"
)


def _edge(row: dict[str, Any]) -> Edge:
    return Edge(**row)


def inlined(cypher: str, parameters: dict[str, Any]) -> str:
    """The statement with its parameters written out, for people to read and to run again."""
    return re.sub(
        r"\$(\w+)", lambda m: _literal(parameters[m[1]]) if m[1] in parameters else m.group(), cypher
    )


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value)
