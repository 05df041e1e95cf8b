"""One book's files, checked and turned into rows of the graph's tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gutengraph_core import tables
from gutengraph_core.errors import StoreError
from gutengraph_core.files import sha256
from gutengraph_core.graph.schema import (
    BOOK_LINKS,
    INTERACTS_PAIRS,
    LABELS,
    NOTIONS,
    RELATION_TYPES,
    WALKED,
    node_table,
)
from gutengraph_core.library import BookRecord, Library

FILES = ("nodes.parquet", "edges.parquet", "evidence.parquet", "merges.parquet")
_SCHEMAS = dict(zip(FILES, (tables.NODES, tables.EDGES, tables.EVIDENCE, tables.MERGES), strict=True))
_PLACES = pa.schema(
    [f for f in tables.CHUNKS if f.name in ("id", "gutenberg_id", "chunk_index", "chapter", "start", "end")]
)
_LATER = frozenset(("raw",))
"""Columns that a book built by an earlier version lacks and can do without: null."""
_DAMPING, _ITERATIONS = 0.85, 60
"""60 steps leave an error under .85^60 = .00006 of a share."""
_SHOWN = 3
"""Examples in a message: enough to find the fault, short enough to read."""

TableKey = tuple[str, str, str]
"""(table, from, to); from and to are '' for a node table."""


@dataclass
class StagedBook:
    """What one book adds to every table of the graph."""

    book: int
    dimension: int
    """Of its nodes' vectors; 0 where it has no nodes."""
    hashes: dict[str, str]
    rows: dict[TableKey, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, key: TableKey, row: dict[str, Any]) -> None:
        self.rows.setdefault(key, []).append(row)


def is_complete(record: BookRecord) -> bool:
    """Whether the book's record says that all four files of its graph are whole."""
    return all(record.graph_sha256.get(name) for name in FILES)


def stage_book(library: Library, record: BookRecord) -> StagedBook:
    """Read and check a book's four graph files and its chunks.

    Raises StoreError where a file is not the one its build recorded, lacks a column, or does not fit the
    others.
    """
    book = record.id
    found = {name: _read(library, record, name) for name in FILES}
    chunks = _table(library, book, "chunks.parquet", _PLACES)
    staged = StagedBook(book, 0, {name: record.graph_sha256[name] for name in FILES})

    staged.add(("Book", "", ""), _book_row(record))
    passages = _stage_passages(staged, chunks)
    edges = found["edges.parquet"].to_pylist()
    labels = _stage_nodes(staged, found["nodes.parquet"].to_pylist(), edges)
    _stage_edges(staged, edges, labels)
    _stage_mentions(staged, found["evidence.parquet"], labels, passages)
    return staged


def degrees(edges: list[dict[str, Any]]) -> dict[str, int]:
    """Distinct neighbours of each node over the walked relationships, a loop not counted."""
    neighbours: dict[str, set[str]] = {}
    for edge in edges:
        a, b = edge["source"], edge["target"]
        if a != b:
            neighbours.setdefault(a, set()).add(b)
            neighbours.setdefault(b, set()).add(a)
    return {node: len(others) for node, others in neighbours.items()}


def centralities(edges: list[dict[str, Any]]) -> dict[str, float]:
    """PageRank of each node over the walked relationships, taken as undirected and once a pair; the shares of a book add
    up to 1.

    By power iteration with the usual damping of .85 (Brin and Page, 1998).
    """
    pairs = sorted({tuple(sorted((e["source"], e["target"]))) for e in edges if e["source"] != e["target"]})
    nodes = sorted({node for pair in pairs for node in pair})
    if not nodes:
        return {}
    row = {node: i for i, node in enumerate(nodes)}
    ends = np.array([[row[a], row[b]] for a, b in pairs])
    sources, targets = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    out = np.bincount(sources, minlength=len(nodes))
    rank = np.full(len(nodes), 1 / len(nodes))
    for _ in range(_ITERATIONS):
        given = np.bincount(targets, weights=rank[sources] / out[sources], minlength=len(nodes))
        rank = (1 - _DAMPING) / len(nodes) + _DAMPING * given
    return {node: round(float(share), 6) for node, share in zip(nodes, rank, strict=True)}


def _damaged(book: int, what: str) -> StoreError:
    return StoreError(what, remedy=f"Run `gutengraph build {book} --force`.", book=book)


def _read(library: Library, record: BookRecord, name: str) -> pa.Table:
    path = library.path(record.id, f"graph/{name}")
    if path.exists() and sha256(path) != record.graph_sha256[name]:
        raise _damaged(record.id, f"graph/{name} is not the file that its build recorded.")
    return _table(library, record.id, f"graph/{name}", _SCHEMAS[name])


def _table(library: Library, book: int, name: str, schema: pa.Schema) -> pa.Table:
    """The columns of `schema`, in its types."""
    path = library.path(book, name)
    try:
        present = pq.read_schema(path).names
        absent = [column for column in schema.names if column not in present]
        if missing := [column for column in absent if column not in _LATER]:
            raise _damaged(book, f"{name} lacks the columns {', '.join(missing)}.")
        table = pq.read_table(path, columns=[n for n in schema.names if n in present], memory_map=False)
        for column in absent:
            table = table.append_column(column, pa.nulls(table.num_rows, schema.field(column).type))
        return table.select(schema.names).cast(schema)
    except FileNotFoundError:
        raise _damaged(book, f"{name} is missing.") from None
    except (pa.ArrowException, OSError) as error:
        raise _damaged(book, f"{name} cannot be read ({error}).") from error


def _book_row(record: BookRecord) -> dict[str, Any]:
    return {
        "id": str(record.id),
        "gutenberg_id": record.id,
        "title": record.title,
        "authors": record.authors,
        "subjects": record.subjects,
        "language": record.language,
        "kind": record.kind,
    }


def _stage_passages(staged: StagedBook, chunks: pa.Table) -> dict[str, str]:
    """Chunk id -> passage id."""
    passages: dict[str, str] = {}
    for row in chunks.to_pylist():
        passages[row["id"]] = f"{staged.book}:p{row['chunk_index']:06d}"
        staged.add(
            ("Passage", "", ""),
            {
                "id": passages[row["id"]],
                "gutenberg_id": row["gutenberg_id"],
                "chapter": row["chapter"],
                "start": row["start"],
                "end": row["end"],
                "chunk_id": row["id"],
            },
        )
    return passages


def _stage_nodes(
    staged: StagedBook, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]
) -> dict[str, str]:
    """Node id -> label."""
    book = staged.book
    degree, central = degrees(edges), centralities(edges)
    labels: dict[str, str] = {}
    for node in nodes:
        key, label = node["id"], node["label"]
        if label not in LABELS and label not in NOTIONS:
            raise _damaged(book, f"Node {key} has the unknown label {label!r}.")
        if not key.startswith(f"{book}:") or key in labels:
            raise _damaged(
                book, f"Node id {key} is {'given twice' if key in labels else 'not of this book'}."
            )
        vector = node["embedding"]
        if not vector:
            raise _damaged(book, f"Node {key} has no vector: the book's graph was built without an embedder.")
        if staged.dimension not in (0, len(vector)):
            raise _damaged(book, f"Node {key} has {len(vector)} dimensions, others have {staged.dimension}.")
        staged.dimension = len(vector)
        labels[key] = label
        row = {name: node.get(name) for name in node_table(label).properties}
        if label in NOTIONS:
            staged.add((label, "", ""), row)
            continue
        row |= {"degree": degree.get(key, 0), "centrality": central.get(key, 0.0)}
        staged.add((label, "", ""), row)
        link, from_node = BOOK_LINKS[label]
        ends = (label, "Book") if from_node else ("Book", label)
        pair = (key, str(book)) if from_node else (str(book), key)
        staged.add((link, *ends), {"source": pair[0], "target": pair[1]})
    return labels


def _stage_edges(staged: StagedBook, edges: list[dict[str, Any]], labels: dict[str, str]) -> None:
    book = staged.book
    for edge in edges:
        source, target, rel, kind = edge["source"], edge["target"], edge["rel"], edge["type"]
        shown = f"Edge {source} {kind} {target}"
        for end in (source, target):
            if end not in labels:
                raise _damaged(book, f"{shown}: {end} is no node of this book.")
        if kind not in RELATION_TYPES:
            raise _damaged(book, f"{shown}: the type is not in the schema.")
        pair = (labels[source], labels[target])
        fits = pair == ("Character", "Character") if rel == "RELATED_TO" else pair in INTERACTS_PAIRS
        if rel not in WALKED or not fits:
            raise _damaged(book, f"{shown}: the schema has no {rel} from {pair[0]} to {pair[1]}.")
        row = {k: v for k, v in edge.items() if k != "rel"}
        staged.add((rel, *pair), row)


def _stage_mentions(
    staged: StagedBook, evidence: pa.Table, labels: dict[str, str], passages: dict[str, str]
) -> None:
    columns = (evidence.column("entity").to_pylist(), evidence.column("chunk_id").to_pylist())
    counted = Counter(zip(*columns, strict=True))
    lost = sorted({entity for entity, _ in counted if entity not in labels})
    if lost:
        raise _damaged(
            staged.book, f"Mentions of {', '.join(lost[:_SHOWN])}, which are no nodes of this book."
        )
    astray = sorted({str(chunk) for _, chunk in counted if chunk not in passages})
    if astray:
        raise _damaged(staged.book, f"Mentions in {', '.join(astray[:_SHOWN])}, which chunks.parquet lacks.")
    resting: dict[str, list[str]] = {}
    for (entity, chunk), count in counted.items():
        if labels[entity] in NOTIONS:
            resting.setdefault(entity, []).append(passages[chunk])
            continue
        row = {"source": entity, "target": passages[chunk], "count": count}
        staged.add(("MENTIONED_IN", labels[entity], "Passage"), row)
    for entity, label in labels.items():
        if label in NOTIONS:
            if entity not in resting:
                raise _damaged(staged.book, f"{label} {entity} rests on no passage.")
            ends = {"source": str(staged.book), "target": entity}
            staged.add((NOTIONS[label], "Book", label), {**ends, "passages": sorted(resting[entity])})
