"""Which books the library has: taking one in after a look at its catalogue entry, taking one out for good."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gutengraph_assets.gutenberg import catalogue
from gutengraph_assets.gutenberg.source import check_polite, fetch_rdf, fetch_text, on_shelf
from gutengraph_assets.ownership import BookLock
from gutengraph_core.errors import (
    BadText,
    GutenGraphError,
    NotBuilt,
    RightsError,
    SourceUnreachable,
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


def register(ids: Sequence[int], settings: Settings) -> tuple[list[Registered], list[GutenGraphError]]:
    """Take books in as records; `add_partitions` makes them known to Dagster. Returns those that are in, and
    why others are not.

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
        except (UnknownBook, RightsError, BadText) as error:
            refused.append(error)
    return added, refused


def add_partitions(ids: Sequence[int], instance: dg.DagsterInstance) -> None:
    """Make books known to Dagster. Those that it knows already stay as they are."""
    instance.add_dynamic_partitions(PARTITIONS, [str(book) for book in ids])


def _register(book: int, settings: Settings) -> Registered:
    library = settings.library
    if library.has(book):
        return Registered(library.record(book), new=False)
    try:
        known = _look_up(book, settings)
    except SourceUnreachable as error:
        return Registered(library.update(book, status="registered"), new=True, warning=str(error))
    return Registered(library.update(book, status="registered", **known), new=True)


def _look_up(book: int, settings: Settings) -> dict[str, object]:
    """What the source's catalogue says of a book. Raises UnknownBook, RightsError, SourceUnreachable,
    BadText.

    Where a mirror keeps no catalogue its text is asked for: that it is there is then all that is known.
    """
    data = fetch_rdf(book, settings)
    entry = catalogue.read_rdf(data, book) if data is not None else catalogue.find(book, settings)
    if entry is None:
        fetch_text(book, settings)
        return {}
    catalogue.check_rights(entry, settings)
    return entry.model_dump(
        include={
            "title",
            "authors",
            "subjects",
            "bookshelves",
            "locc",
            "language",
            "rights",
            "kind",
            "downloads",
        }
    )


def unregister(book: int, settings: Settings, instance: dg.DagsterInstance) -> None:
    """Take a book out: its passages, its partition, its files. The merged graph is made anew by who calls.

    Killed half-way it can simply be called again. Raises UnknownBook for a book that was never there,
    BookBusy for one that is being built, DataFolderError.
    """
    library = settings.library
    partitions = instance.get_dynamic_partitions(PARTITIONS)
    if not library.has(book) and str(book) not in partitions and not library.book_dir(book).exists():
        raise UnknownBook("It is not in the library.", remedy="`gutengraph books` lists what is.", book=book)
    lock = BookLock(library, book)
    lock.take(wait_s=0)
    try:
        _take_out(book, library, instance)
    finally:
        lock.release()


def _take_out(book: int, library: Library, instance: dg.DagsterInstance) -> None:
    with suppress(NotBuilt):  # no table yet: no passages of it either
        ChunkTable.open(library, None).delete_book(book)
    if str(book) in instance.get_dynamic_partitions(PARTITIONS):
        instance.delete_dynamic_partition(PARTITIONS, str(book))
    _delete_files(library, book)


def _delete_files(library: Library, book: int) -> None:
    """Out of sight in one step, then gone: what a kill leaves behind is swept up by the next removal."""
    with disk_errors(library.books_dir, book=book):
        if library.book_dir(book).exists():
            library.book_dir(book).rename(library.books_dir / f"{REMOVED}{book}-{os.getpid()}")
        shutil.rmtree(on_shelf(library.home, book, "txt").parent, ignore_errors=True)
        for leftover in library.books_dir.glob(f"{REMOVED}*"):
            shutil.rmtree(leftover)
