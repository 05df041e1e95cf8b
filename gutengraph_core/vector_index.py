"""The indices of the table of chunks: built after ingestion, measured against brute force, and kept tidy."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from gutengraph_core.chunk_store import TEXT_INDEX, store_failures
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.errors import StoreError
from gutengraph_core.index_size import (
    ITERATIONS,
    SAMPLE_PER_CENTROID,
    partitions_for,
    probes_for,
    sub_vectors_for,
)
from gutengraph_core.maintenance import KEPT
from gutengraph_core.table_queries import VECTOR
from gutengraph_core.vectors import ChunkTable

if TYPE_CHECKING:
    from lancedb.table import LanceTable

VECTOR_INDEX = "embedding_idx"

SAMPLE = 100
"""Queries with which recall is measured."""

QUERY_WORDS = 30
"""Longest query made of a sentence: about what a long question has."""

TRAINED_SHARE = 0.5
"""An index that holds less of the rows than this is trained anew: its cells were made for another library."""

_SEED = 20_261


@dataclass(frozen=True)
class IndexReport:
    """What the indices are, as measured after building. `bytes_per_vector`: of the index, or of the flat
    scan.
    """

    kind: Literal["ivf_pq", "flat"]
    rows: int
    indexed_rows: int
    text_indexed_rows: int
    partitions: int
    sub_vectors: int
    probes: int
    recall_at_10: float
    bytes_per_vector: float
    seconds: float
    note: str


def build_index(
    table: ChunkTable, *, min_rows: int, embed_query: Callable[[str], Matrix] | None = None
) -> IndexReport:
    """Bring the full-text index up to date, and the vectors' IVF-PQ index if there are `min_rows` rows.

    An index is trained once, and again when it holds less than half of the rows; until then new rows are sorted
    into its cells. Recall is measured with what `embed_query` makes of sentences from the passages, as a
    reader would ask; without it, with stored vectors. Below that a flat scan is exact and fast, an older index is dropped, and the note says so. Unused
    versions are cleaned away without disturbing readers. The caller holds the writers' lock
    (`ChunkTable.build_index` does). Raises StoreError if an index does not cover every row afterwards.
    """
    started = time.monotonic()
    lance = table.lance
    with store_failures("indexed"):
        rows = int(lance.count_rows())
        flat = rows < min_rows
        for name in sorted(_names(lance) - {TEXT_INDEX}) if flat else ():
            lance.drop_index(name)
        if not flat and _indexed(lance, VECTOR_INDEX) < TRAINED_SHARE * rows:
            train(lance, rows, table.identity.dimension)
        lance.optimize(cleanup_older_than=KEPT)
        text_rows = _verified(lance, TEXT_INDEX, rows)
        indexed = 0 if flat else _verified(lance, VECTOR_INDEX, rows)
    dimension = table.identity.dimension
    return IndexReport(
        kind="flat" if flat else "ivf_pq",
        rows=rows,
        indexed_rows=indexed,
        text_indexed_rows=text_rows,
        partitions=0 if flat else partitions_for(rows),
        sub_vectors=0 if flat else sub_vectors_for(dimension),
        probes=0 if flat else probes_for(partitions_for(rows)),
        recall_at_10=1.0 if flat else recall_at_10(table, embed_query),
        bytes_per_vector=4.0 * dimension if flat else _size(lance) / rows,
        seconds=time.monotonic() - started,
        note=_note(rows, min_rows),
    )


def recall_at_10(
    table: ChunkTable, embed_query: Callable[[str], Matrix] | None = None, *, sample: int = SAMPLE
) -> float:
    """Share of the ten nearest rows, by brute force, that the index finds too, over a fixed random sample of
    passages: with the longest sentence of each as a query, or without `embed_query` its stored vector.
    """
    with store_failures("searched"):
        total = int(table.lance.count_rows())
        places = np.random.default_rng(_SEED).choice(total, min(sample, total), replace=False)
        taken = table.lance.take_offsets(sorted(int(p) for p in places)).select(["text", VECTOR]).to_list()
    found = wanted = 0
    for row in taken:
        query = np.asarray(row[VECTOR], dtype=np.float32)
        if embed_query is not None:
            query = embed_query(_longest_sentence(row["text"]))
        exact = set(table.nearest_ids(query, k=10, exact=True))
        found += len(exact & set(table.nearest_ids(query, k=10, exact=False)))
        wanted += len(exact)
    return found / wanted


def _longest_sentence(text: str) -> str:
    words = max((part.split() for part in re.split(r"[.!?]\s", text)), key=len)
    return " ".join(words[:QUERY_WORDS])


def train(lance: LanceTable, rows: int, dimension: int) -> None:
    """Train an IVF-PQ index of the right size over the vectors, in place of an older one, and let filters by
    book, author and kind find their rows without a scan.
    """
    from lancedb.index import Bitmap, BTree, IvfPq, LabelList

    config = IvfPq(
        distance_type="cosine",
        num_partitions=partitions_for(rows),
        num_sub_vectors=sub_vectors_for(dimension),
        max_iterations=ITERATIONS,
        sample_rate=SAMPLE_PER_CENTROID,
    )
    lance.create_index(VECTOR, config=config, name=VECTOR_INDEX, replace=True)
    lance.create_index("gutenberg_id", config=BTree(), name="gutenberg_id_idx", replace=True)
    lance.create_index("authors", config=LabelList(), name="authors_idx", replace=True)
    lance.create_index("kind", config=Bitmap(), name="kind_idx", replace=True)


def _names(lance: LanceTable) -> set[str]:
    return {index.name for index in lance.list_indices()}


def _indexed(lance: LanceTable, name: str) -> int:
    stats = lance.index_stats(name) if name in _names(lance) else None
    return 0 if stats is None else int(stats.num_indexed_rows)


def _verified(lance: LanceTable, name: str, rows: int) -> int:
    """The rows that an index holds. LanceDB reports success for an index over nothing, hence the check."""
    indexed = _indexed(lance, name)
    if indexed != rows:
        raise StoreError(
            f"The index {name} covers {indexed} of {rows} rows.",
            remedy="Run `gutengraph build` again; if it stays so, set GUTENGRAPH_INDEX_MIN_ROWS higher.",
        )
    return indexed


def _size(lance: LanceTable) -> int:
    return sum(int(index.size_bytes or 0) for index in lance.list_indices() if index.name == VECTOR_INDEX)


def _note(rows: int, min_rows: int) -> str:
    if rows < min_rows:
        return f"Flat scan, exact: {rows:,} rows, and an index pays from about {min_rows:,}."
    return f"IVF-PQ over {rows:,} rows; candidates are compared in full."
