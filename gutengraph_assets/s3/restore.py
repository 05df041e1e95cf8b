"""Bring a library back from its copy, into an empty data folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gutengraph_core.errors import DataFolderError
from gutengraph_core.files import disk_errors
from gutengraph_core.filesystem import check_data_folder
from gutengraph_core.library import Library
from gutengraph_core.s3.client import s3_errors
from gutengraph_core.s3.fetch import fetch
from gutengraph_core.s3.manifest import OURS, Manifest, require_manifest

STAGING = ".restoring"
"""Beside what it becomes, on the same disk: the last step is a move. What a killed restore fetched waits here."""

_TOPS = tuple(sorted(prefix.rstrip("/") for prefix in OURS))
_BESIDE = {STAGING, "locks", "dagster", "cache"}
"""What may stand in the folder already, and stays: runs and replies are not part of a copy."""


@dataclass(frozen=True)
class RestoreReport:
    """What a restore brought, or would bring if `dry_run`."""

    files: int
    bytes: int
    fetched: int
    books: tuple[int, ...]
    table_rows: int
    graph_version: int
    dry_run: bool


def restore(
    library: Library,
    client: Any,
    bucket: str,
    prefix: str,
    *,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> RestoreReport:
    """Make an empty data folder what the copy's manifest says, byte for byte, each file checked by its sha256.

    Nothing is in place before everything has been fetched; killed anywhere, the next one goes on. Raises
    DataFolderError if the folder is not empty or the disk too small, S3Error if there is no copy, an object is
    missing or not what the manifest says.
    """
    with s3_errors(f"s3://{bucket}/{prefix}"):
        manifest = require_manifest(client, bucket, prefix)
        _check_empty(library.home)
        fetched = 0
        if not dry_run:
            check_data_folder(library.home)
            with library.lock("snapshot"):
                fetched = _restore(library.home, client, bucket, prefix, manifest, progress)
    return RestoreReport(
        files=len(manifest.files),
        bytes=manifest.bytes,
        fetched=fetched,
        books=manifest.books,
        table_rows=manifest.table_rows,
        graph_version=manifest.graph_version,
        dry_run=dry_run,
    )


def _restore(
    home: Path,
    client: Any,
    bucket: str,
    prefix: str,
    manifest: Manifest,
    progress: Callable[[int, int], None] | None,
) -> int:
    staging = home / STAGING
    with disk_errors(home):
        staging.mkdir(exist_ok=True)
        _take_back(home, staging)
        _drop_strangers(staging, manifest)
        _check_room(staging, manifest)
    fetched = fetch(client, bucket, prefix, manifest.files, staging, progress=progress)
    with disk_errors(home):
        for top in _TOPS:
            if (staging / top).exists():
                (staging / top).rename(home / top)
        shutil.rmtree(staging)
    return fetched


def _check_empty(home: Path) -> None:
    """Raises DataFolderError if something of a library is there that a killed restore did not put there."""
    if not home.is_dir():
        return
    resuming = (home / STAGING).is_dir()
    found = sorted(
        path.name
        for path in home.iterdir()
        if path.name not in _BESIDE and not (path.name in _TOPS and (resuming or _without_files(path)))
    )
    if found:
        raise DataFolderError(
            f"{home} is not empty (it holds {', '.join(found[:3])}), and a restore replaces nothing.",
            remedy="Set GUTENGRAPH_HOME to an empty folder, restore there, and compare or move it yourself.",
        )


def _without_files(folder: Path) -> bool:
    """Whether a folder is nothing but folders: looking at a library that is not there makes some."""
    return folder.is_dir() and not any(path.is_file() for path in folder.rglob("*"))


def _take_back(home: Path, staging: Path) -> None:
    """Undo the moves of a restore that was killed between them."""
    for top in _TOPS:
        if _without_files(home / top):
            shutil.rmtree(home / top)
        elif (home / top).exists():
            (home / top).rename(staging / top)


def _drop_strangers(staging: Path, manifest: Manifest) -> None:
    """What a killed restore fetched by a manifest that has been replaced since, and its half-written files."""
    for path in staging.rglob("*"):
        if path.is_file() and path.relative_to(staging).as_posix() not in manifest.files:
            path.unlink()


def _check_room(staging: Path, manifest: Manifest) -> None:
    held = sum(path.stat().st_size for path in staging.rglob("*") if path.is_file())
    needed = manifest.bytes - held
    free = shutil.disk_usage(staging).free
    if needed > free:
        raise DataFolderError(
            f"The copy needs {needed / 1e6:,.0f} MB, and only {free / 1e6:,.0f} MB are free at {staging.parent}.",
            remedy="Free some space, or set GUTENGRAPH_HOME to a folder on a larger disk.",
        )
