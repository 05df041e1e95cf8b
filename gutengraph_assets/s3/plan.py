"""What a sync will do: pure arithmetic on what is here and what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gutengraph_assets.s3.bucket import Remote
from gutengraph_assets.snapshot import Snapshot
from gutengraph_core.s3.manifest import MANIFEST, OURS, Entry, manifest_bytes

MOST_DELETED = 0.2
"""A sync that would remove more than this share of the copy is refused without `prune`: it is likelier that
the data folder is the wrong one than that a fifth of a library was thrown away."""


@dataclass(frozen=True)
class SyncPlan:
    """Keys in the order in which they go; `kept` belong to books that are being built just now."""

    uploads: tuple[str, ...]
    deletes: tuple[str, ...]
    unchanged: int
    kept: dict[str, Entry]
    upload_bytes: int
    lost: tuple[str, ...]
    """What the copy would lose, in words, if it is more than MOST_DELETED of it."""
    manifest_changes: bool

    @property
    def changes(self) -> bool:
        return bool(self.uploads or self.deletes or self.manifest_changes)


def plan_sync(local: Snapshot, remote: Remote) -> SyncPlan:
    """What must go up and what must go, from what is here and what is there."""
    waiting = tuple(f"books/{book}/" for book in local.waiting)
    kept = {key: entry for key, entry in remote.files.items() if waiting and key.startswith(waiting)}
    uploads = [
        key
        for key, entry in local.files.items()
        if remote.files.get(key) != entry or remote.sizes.get(key) != entry.size
    ]
    # What a sync that died left behind goes too; what is not ours under the prefix stays.
    deletes = [
        key
        for key in remote.sizes
        if key.startswith(OURS) and key not in local.files and not (waiting and key.startswith(waiting))
    ]
    return SyncPlan(
        uploads=tuple(sorted(uploads, key=turn)),
        deletes=tuple(sorted(deletes, key=turn, reverse=True)),
        unchanged=len(local.files) - len(uploads),
        kept=kept,
        upload_bytes=sum(local.files[key].size for key in uploads),
        lost=tuple(_losses(local, remote)),
        manifest_changes=MANIFEST not in remote.sizes or remote.files != {**local.files, **kept},
    )


def manifest_of(snapshot: Snapshot, kept: Mapping[str, Entry]) -> bytes:
    """The manifest that will stand for the snapshot, with what is `kept` of the last one."""
    return manifest_bytes(
        {**snapshot.files, **kept},
        table_version=snapshot.table_version,
        table_rows=snapshot.table_rows,
        graph_version=snapshot.graph_version,
    )


def turn(key: str) -> tuple[int, str]:
    """When an object goes up: what points to others after them. Deletions go the other way round."""
    if key == "graph/CURRENT":
        return 3, key
    return (2 if "/_versions/" in key else 1), key


def _losses(local: Snapshot, remote: Remote) -> Iterator[str]:
    """What is meant to grow and would shrink by more than MOST_DELETED.

    Files of the table and the graph are replaced by others when these are tidied or rebuilt: there the rows
    and the version count, and not the names.
    """
    here = {*local.books, *local.waiting}
    gone = [book for book in remote.books if book not in here]
    if len(gone) > MOST_DELETED * len(remote.books):
        yield f"{len(gone)} of {len(remote.books)} books"
    files = [key for key in remote.files if key.startswith("books/")]
    going = [key for key in files if key not in local.files and int(key.split("/")[1]) not in local.waiting]
    if not gone and len(going) > MOST_DELETED * len(files):
        yield f"{len(going)} of {len(files)} files of books"
    lost_rows = remote.table_rows - local.table_rows
    if lost_rows > MOST_DELETED * remote.table_rows:
        yield f"{lost_rows:,} of {remote.table_rows:,} passages"
    if remote.graph_version and not local.graph_version:
        yield "the graph"
