"""Upkeep of the table of chunks: small files merged, indices brought up to date, old versions cleaned away."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from gutengraph_core.chunk_store import store_failures
from gutengraph_core.vectors import ChunkTable

if TYPE_CHECKING:
    from lancedb.table import LanceTable

KEPT = timedelta(hours=1)
"""How long a version is kept after a newer one replaced it. A query holds a version for milliseconds, and a copy
links its files under the writers' lock: an hour outlasts any reader but one that was suspended."""


@dataclass(frozen=True)
class Maintained:
    """What one upkeep did. `bytes`: of the table's folder, old versions and indices included."""

    rows: int
    fragments_before: int
    fragments_after: int
    versions_before: int
    versions_after: int
    bytes_before: int
    bytes_after: int
    newly_indexed_rows: int
    """Rows that were written since the indices were built, added over all indices."""
    seconds: float


def maintain(table: ChunkTable, *, kept: timedelta = KEPT) -> Maintained:
    """Do the upkeep; the caller holds the writers' lock (`ChunkTable.maintain` does).

    Raises ValueError if `kept` is not positive (no version older than that survives, so nothing would protect
    a reader that has just begun), StoreError or DataFolderError if the table cannot be written.
    """
    if kept <= timedelta(0):
        raise ValueError("versions must be kept for a while: a reader may be using them")
    started = time.monotonic()
    lance = table.lance
    with store_failures("tidied"):
        before = _state(table)
        lance.optimize(cleanup_older_than=kept)
        after = _state(table)
        rows = int(lance.count_rows())
    return Maintained(
        rows=rows,
        fragments_before=before.fragments,
        fragments_after=after.fragments,
        versions_before=before.versions,
        versions_after=after.versions,
        bytes_before=before.bytes,
        bytes_after=after.bytes,
        newly_indexed_rows=before.unindexed - after.unindexed,
        seconds=round(time.monotonic() - started, 3),
    )


@dataclass(frozen=True)
class _State:
    fragments: int
    versions: int
    bytes: int
    unindexed: int


def _state(table: ChunkTable) -> _State:
    lance = table.lance
    # LanceDB 0.40 declares a class here and gives a dictionary.
    stats = cast(dict[str, Any], lance.stats())
    return _State(
        fragments=int(stats["fragment_stats"]["num_fragments"]),
        versions=len(lance.list_versions()),
        bytes=sum(path.stat().st_size for path in table.folder.rglob("*") if path.is_file()),
        unindexed=_unindexed(lance),
    )


def _unindexed(lance: LanceTable) -> int:
    listed = (lance.index_stats(index.name) for index in lance.list_indices())
    return sum(int(stats.num_unindexed_rows) for stats in listed if stats is not None)
