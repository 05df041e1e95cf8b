"""A standing picture of the library to copy from: one version of each store, and what the books' steps
made."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gutengraph_core.chunk_store import TABLE
from gutengraph_core.errors import NotBuilt, StoreError
from gutengraph_core.files import disk_errors, sha256, write_text
from gutengraph_core.graph import versions
from gutengraph_core.library import Library
from gutengraph_core.s3.manifest import Entry
from gutengraph_core.vectors import ChunkTable

_CANNOT_LINK = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP)


@dataclass(frozen=True)
class Snapshot:
    """`folder` holds `files` under their keys: `books/84/chunks.parquet`, `lancedb/…`, `graph/CURRENT`."""

    folder: Path
    files: dict[str, Entry]
    books: tuple[int, ...]
    waiting: tuple[int, ...]  # books that are being built: theirs are left as the last copy has them
    table_version: int  # 0: there is no table
    table_rows: int
    graph_version: int  # 0: nothing is published

    def path(self, key: str) -> Path:
        return self.folder / key


@contextmanager
def taken(library: Library) -> Iterator[Snapshot]:
    """Take a snapshot; it is gone at the end.

    Files are linked and not copied: they cost no space, and stay as they are when the library goes on.
    Writers of the table wait while its files are linked, which takes milliseconds. Raises StoreError if the
    table is damaged, DataFolderError if there is no room.
    """
    folder = library.home / ".snapshot"
    with library.lock("snapshot"):
        try:
            with disk_errors(folder):
                # What a killed sync left.
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                snapshot = _take(library, folder)
            yield snapshot
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _take(library: Library, folder: Path) -> Snapshot:
    books, waiting = _link_books(library, folder)
    _link_overrides(library, folder)
    table_version, table_rows = _link_table(library, folder)
    graph_version = _link_graph(library, folder)
    files = {
        path.relative_to(folder).as_posix(): Entry(path.stat().st_size, sha256(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return Snapshot(folder, files, books, waiting, table_version, table_rows, graph_version)


def _link_books(library: Library, folder: Path) -> tuple[tuple[int, ...], tuple[int, ...]]:
    books, waiting = [], []
    for record in library.records():
        if record.status == "building":
            waiting.append(record.id)
            continue
        books.append(record.id)
        source = library.book_dir(record.id)
        for path in source.rglob("*"):
            hidden = any(part.startswith(".") for part in path.relative_to(source).parts)
            if path.is_file() and not hidden:
                _link(path, folder / "books" / str(record.id) / path.relative_to(source))
    return tuple(books), tuple(waiting)


def _link_overrides(library: Library, folder: Path) -> None:
    """Merges made or undone by hand: nothing else could make them again."""
    for path in (library.home / "overrides").glob("*.toml"):
        _link(path, folder / "overrides" / path.name)


def _link_table(library: Library, folder: Path) -> tuple[int, int]:
    """Link the newest version of the table and what it refers to; its number and its rows."""
    with library.lock("lancedb"):
        try:
            table = ChunkTable.open(library, None)
        except NotBuilt:
            return 0, 0
        version = int(table.lance.version)
        source = library.lancedb_dir / f"{TABLE}.lance"
        newest = _manifest_of(source, version)
        content = newest.read_bytes()
        for path in source.rglob("*"):
            if path.is_file() and (path == newest or _belongs(path.relative_to(source), content)):
                _link(path, folder / "lancedb" / source.name / path.relative_to(source))
    copy = ChunkTable.open(Library(folder), None)
    # Reading a column touches every fragment: a file left out would show here and not at the reader's.
    rows = sum(copy.books().values())
    if rows != table.count():
        raise StoreError(
            f"The copy of the table of passages has {rows} rows instead of {table.count()}.",
            remedy="Try again; if it stays so, move the folder lancedb/ away and build the books again.",
        )
    return version, rows


def _manifest_of(source: Path, version: int) -> Path:
    """Lance names a version's manifest by its number, or by that number counted down from 2^64."""
    for name in (f"{2**64 - 1 - version:020d}.manifest", f"{version}.manifest"):
        path = source / "_versions" / name
        if path.exists():
            return path
    raise StoreError(
        f"Version {version} of the table of passages has no manifest.",
        remedy="Move the folder lancedb/ away and build the books again.",
    )


def _belongs(path: Path, manifest: bytes) -> bool:
    """Whether a file of the table can be one that the manifest refers to.

    Data files stand in it by name, indices by the bytes of their UUID; what says neither is small, and goes
    along.
    """
    kind = path.parts[0]
    if kind in ("_versions", "_transactions"):
        return False
    if kind == "data":
        return path.name.encode() in manifest
    if kind == "_indices":
        try:
            return uuid.UUID(path.parts[1]).bytes in manifest
        except ValueError:
            return True
    return True


def _link_graph(library: Library, folder: Path) -> int:
    version = versions.current(library)
    if version is None:
        return 0
    # Held, so that a build that finishes meanwhile does not remove it.
    with version.hold():
        for path in version.folder.rglob("*"):
            if path.is_file():
                _link(path, folder / "graph" / version.folder.name / path.relative_to(version.folder))
    write_text(folder / "graph" / "CURRENT", f"{version.folder.name}\n")
    return version.number


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _CANNOT_LINK:
            raise
        shutil.copy2(source, target)
