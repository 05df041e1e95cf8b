"""Versions of the merged graph: folders `graph/v<n>/`, the pointer to the published one, who reads which."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict

from gutengraph_core.errors import NotBuilt, StoreError
from gutengraph_core.files import disk_errors, read_text, write_json, write_text
from gutengraph_core.library import Library

DATABASE = "graph.kuzu"
MANIFEST = "manifest.json"
_POINTER = "CURRENT"
_VERSION = re.compile(r"v(\d+)")
_UNFINISHED = re.compile(r"\.v\d+\.building")

KEPT = 2
"""Versions that stay: the published one, and the one before it for whoever still reads it."""


class LeftOut(BaseModel):
    """A book that is not in the merged graph, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    book: int
    reason: str
    damaged: bool
    """True: its files are wrong and need mending. False: it has simply not been built that far."""


class Manifest(BaseModel):
    """`graph/v<n>/manifest.json`: what the database beside it was made from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int
    built_at: str
    embedder: str
    """Identity of the embedder whose vectors the nodes carry; '' in a graph without nodes."""
    dimension: int
    books: dict[int, dict[str, str]]
    """Book -> sha256 of each file that went in."""
    counts: dict[str, int]
    """Rows of every table, as the database itself counted them."""
    left_out: list[LeftOut]
    vector_index: list[str] = []
    """Node tables whose vectors have an index; none in a graph that a scan searches faster."""


@dataclass(frozen=True)
class Version:
    """One complete version on disk."""

    number: int
    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / DATABASE

    def manifest(self) -> Manifest:
        """Raises StoreError if it cannot be read."""
        path = self.folder / MANIFEST
        try:
            return Manifest.model_validate_json(path.read_bytes())
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{path} cannot be read ({error}).",
                remedy="Run `gutengraph build` again to publish a fresh graph.",
            ) from error

    def hold(self) -> IO[bytes]:
        """Mark this version as being read for as long as the returned file is open.

        Raises FileNotFoundError if it was removed meanwhile.
        """
        mark = open(self.folder / MANIFEST, "rb")  # noqa: SIM115 - held open on purpose
        try:
            fcntl.flock(mark, fcntl.LOCK_SH)
        except BaseException:
            mark.close()
            raise
        return mark


def current(library: Library) -> Version | None:
    """The published version, or None where nothing was ever published.

    Raises StoreError if the pointer leads nowhere, DataFolderError if the data folder is none.
    """
    library.check_folder()
    pointer = library.graph_dir / _POINTER
    try:
        name = read_text(pointer).strip()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise StoreError(
            f"{pointer} is damaged: it is no text.", remedy="Run `gutengraph build` again."
        ) from None
    found = _VERSION.fullmatch(name)
    folder = library.graph_dir / name
    if found is None or not (folder / DATABASE).exists():
        raise StoreError(
            f"{pointer} points to {name!r}, which is no graph.",
            remedy="Run `gutengraph build` again to publish a fresh graph.",
        )
    return Version(int(found[1]), folder)


def require(library: Library) -> Version:
    """`current`, or NotBuilt with what to do."""
    version = current(library)
    if version is None:
        raise NotBuilt(
            "No graph has been built yet.", remedy="Run `gutengraph build ID` for a book of yours."
        )
    return version


def all_versions(library: Library) -> list[Version]:
    """Complete versions on disk, oldest first, published or not."""
    if not library.graph_dir.is_dir():
        return []
    found = [(m, p) for p in library.graph_dir.iterdir() if (m := _VERSION.fullmatch(p.name)) and p.is_dir()]
    return sorted((Version(int(m[1]), p) for m, p in found), key=lambda v: v.number)


def workshop(library: Library) -> tuple[int, Path]:
    """The next version's number and an empty folder to make it in. What killed builds left goes first."""
    with disk_errors(library.graph_dir):
        library.graph_dir.mkdir(parents=True, exist_ok=True)
        for leftover in library.graph_dir.iterdir():
            if _UNFINISHED.fullmatch(leftover.name):
                shutil.rmtree(leftover)
        for version in _never_published(library):
            shutil.rmtree(version.folder)
        number = max((v.number for v in all_versions(library)), default=0) + 1
        folder = library.graph_dir / f".v{number}.building"
        folder.mkdir()
    return number, folder


def _never_published(library: Library) -> list[Version]:
    """Versions made whole whose build was killed before the pointer moved."""
    try:
        published = current(library)
    except StoreError:  # a broken pointer: the build under way mends it, and nothing is thrown away meanwhile
        return []
    return [v for v in all_versions(library) if published is None or v.number > published.number]


def publish(library: Library, folder: Path, manifest: Manifest) -> Version:
    """Give a finished workshop its name and move the pointer to it, then drop what nobody needs any more.

    The pointer moves in one atomic step: before it the old version is published, after it the new one.
    """
    with disk_errors(folder):
        write_json(folder / MANIFEST, manifest.model_dump(mode="json"))
        _sync(folder / DATABASE)
        _sync(folder)
        version = Version(manifest.version, library.graph_dir / f"v{manifest.version}")
        os.rename(folder, version.folder)
        _sync(library.graph_dir)
    write_text(library.graph_dir / _POINTER, f"{version.folder.name}\n")
    prune(library)
    return version


def prune(library: Library) -> list[int]:
    """Remove all but the last `KEPT` versions and those that some process still reads. Returns what went."""
    gone = []
    for version in all_versions(library)[:-KEPT]:
        with disk_errors(version.folder):
            if _removed(version):
                gone.append(version.number)
    return gone


def _removed(version: Version) -> bool:
    mark = version.folder / MANIFEST
    if not mark.exists():
        shutil.rmtree(version.folder)
        return True
    with open(mark, "rb") as handle:
        try:
            # held while the folder goes: a reader that comes now waits, finds nothing, and tries again
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        shutil.rmtree(version.folder)
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
