"""One book's graph: nodes, edges, evidence and merges as four tables, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from gutengraph_core.embedding.protocol import Embedder
from gutengraph_core.library import BookRecord, Library
from gutengraph_core.settings import Settings


@dataclass(frozen=True)
class BookGraph:
    """The four tables, the orphans (G15) and the counts that a step reports."""

    nodes: pa.Table
    edges: pa.Table
    evidence: pa.Table
    merges: pa.Table
    orphan_twins: list[tuple[str, str]]
    """(orphan's id, connected node's id) with the same letters: an error to be mended upstream."""
    orphans: list[str]
    """Genuine ones: nodes without any relation, kept with their mentions."""
    counts: dict[str, int]
    """cast, mentioned, locations, objects, relations, stated, orphans, orphan_twins, …"""


def build_book_graph(
    *,
    record: BookRecord,
    body: str,
    windows: pa.Table,
    chunks: pa.Table,
    entities: pa.Table,
    merges: pa.Table,
    settings: Settings,
    embedder: Embedder | None = None,
) -> BookGraph:
    """Enrich the entities, find their relations and assemble the graph. The same input gives the same tables.

    `entities` and `merges` are what `filter_entities` gave; `chunks` needs `id`, `start` and `end`.
    Without an `embedder` the nodes' embeddings are null.
    """
    raise NotImplementedError


def write_book_graph(library: Library, book: int, graph: BookGraph) -> dict[str, str]:
    """Write `graph/{nodes,edges,evidence,merges}.parquet`, each atomically, then their sha256 into `book.json`.

    The hashes are cleared first and set last: a graph whose hashes stand is whole. Returns file name -> sha256.
    """
    raise NotImplementedError
