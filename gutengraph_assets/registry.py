"""Which books the library has: taking one in after a look at its catalogue entry, taking one out for good."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gutengraph_assets.gutenberg.acquire import look_up
from gutengraph_assets.gutenberg.source import check_polite
from gutengraph_core.errors import (
    GutenGraphError,
    NotBuilt,
    RightsError,
    SourceUnreachable,
    StoreError,
    UnknownBook,
)
from gutengraph_core.files import disk_errors
from gutengraph_core.library import BookRecord, Library
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable

if TYPE_CHECKING:
    import dagster as dg

PARTITIONS = "books"
REMOVED = ".removed-"


@dataclass(frozen=True)
class Registered:
    """A book that the library has."""

    record: BookRecord
    new: bool
    warning: str = ""
    """Why nothing is known of it yet."""


def register(
    ids: Sequence[int], settings: Settings, instance: dg.DagsterInstance
) -> tuple[list[Registered], list[GutenGraphError]]:
    """Take books in, as records and as partitions. Returns those that are in, and why others are not.

    The source's catalogue entry decides. Where it cannot be reached a book is taken in unseen, with a
    warning: its build will need the source anyway. Raises SettingsError for more books than the live site
    should be asked for, DataFolderError.
    """
    check_polite(len(ids), settings)
    settings.library.check_writable()
    added: list[Registered] = []
    refused: list[GutenGraphError] = []
    for book in ids:
        try:
            added.append(_register(book, settings))
        except (UnknownBook, RightsError) as error:
            refused.append(error)
    if added:
        instance.add_dynamic_partitions(PARTITIONS, [str(book.record.id) for book in added])
    return added, refused


def _register(book: int, settings: Settings) -> Registered:
    library = settings.library
    if library.has(book):
        return Registered(library.record(book), new=False)
    try:
        known = look_up(book, settings)
    except SourceUnreachable as error:
        return Registered(library.update(book, status="registered"), new=True, warning=str(error))
    return Registered(library.update(book, status="registered", **known), new=True)


def unregister(book: int, settings: Settings, instance: dg.DagsterInstance) -> None:
    """Take a book out: its passages, its partition, its files. The merged graph is made anew by who calls.

    Killed half-way it can simply be called again. Raises UnknownBook for a book that was never there,
    StoreError for one that is being built, DataFolderError.
    """
    library = settings.library
    partitions = instance.get_dynamic_partitions(PARTITIONS)
    if not library.has(book) and str(book) not in partitions and not library.book_dir(book).exists():
        raise UnknownBook("It is not in the library.", remedy="`gutengraph books` lists what is.", book=book)
    if library.has(book) and (record := library.record(book)).status == "building":
        raise StoreError(
            f"It is being built by process {record.pid}.", remedy="Wait for it, or end it first.", book=book
        )
    with suppress(NotBuilt):  # no table yet: no passages of it either
        ChunkTable.open(library, None).delete_book(book)
    if str(book) in partitions:
        instance.delete_dynamic_partition(PARTITIONS, str(book))
    _delete_files(library, book)


def _delete_files(library: Library, book: int) -> None:
    """Out of sight in one step, then gone: what a kill leaves behind is swept up by the next removal."""
    with disk_errors(library.books_dir, book=book):
        if library.book_dir(book).exists():
            library.book_dir(book).rename(library.books_dir / f"{REMOVED}{book}-{os.getpid()}")
        for leftover in library.books_dir.glob(f"{REMOVED}*"):
            shutil.rmtree(leftover)
