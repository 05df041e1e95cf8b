"""Fetch a book, check its rights, read it, and put its text and its catalogue entry into the library."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from gutengraph_assets.gutenberg import catalogue
from gutengraph_assets.gutenberg.catalogue import CatalogueEntry, check_rights, read_rdf
from gutengraph_assets.gutenberg.kinds import classify, shape
from gutengraph_assets.gutenberg.reader import ReadBook, read_book
from gutengraph_assets.gutenberg.source import Fetched, fetch_rdf, fetch_text
from gutengraph_core.errors import GutenGraphError
from gutengraph_core.files import sha256, write_bytes, write_text
from gutengraph_core.library import BookRecord, Kind, SourceRecord, now
from gutengraph_core.settings import Settings

log = logging.getLogger(__name__)


def acquire(
    book: int,
    settings: Settings,
    *,
    transport: httpx.BaseTransport | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> BookRecord:
    """Bring one book's `raw.txt`, `body.txt` and record up to date with its source.

    Nothing is written unless all of it can be: the rights are checked before the text is asked for, and the
    record is changed last, so that a build killed in between starts anew. If the source is unchanged and the
    files are whole, nothing is done.

    Raises SourceUnreachable, UnknownBook, RightsError, BadText, TruncatedDownload, DataFolderError and
    SettingsError, each with `book`.
    """
    with _naming(book):
        library = settings.library
        library.check_writable()
        record = library.record(book) if library.has(book) else None
        known = record.source if record is not None and _is_whole(record, settings) else None
        entry: CatalogueEntry | None = None
        if record is not None and known is not None:
            check_rights(CatalogueEntry(id=book, title=record.title, rights=record.rights), settings)
        else:
            entry = _entry(book, settings, transport, sleep)
        fetched = fetch_text(book, settings, previous=known, transport=transport, sleep=sleep)
        digest = hashlib.sha256(fetched.data).hexdigest()
        if record is not None and known is not None:
            if fetched.not_modified or digest == known.sha256:
                return record
            entry = _entry(book, settings, transport, sleep)
        read, kind = _read(book, fetched.data, entry)
        for note in read.notes:
            log.info("Book %d: %s.", book, note)
        write_bytes(library.path(book, "raw.txt"), fetched.data, book=book)
        write_text(library.path(book, "body.txt"), read.body, book=book)
        return library.update(book, **_fields(book, fetched, digest, read, kind, entry))


def look_up(
    book: int,
    settings: Settings,
    *,
    transport: httpx.BaseTransport | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """What is known of a book before it is read, as fields of its record. Writes nothing.

    Where there is no catalogue entry the text's own header tells. Raises UnknownBook, RightsError,
    SourceUnreachable, BadText and SettingsError, each with `book`.
    """
    with _naming(book):
        entry = _entry(book, settings, transport, sleep)
        if entry is not None:
            return _known(entry)
        fetched = fetch_text(book, settings, transport=transport, sleep=sleep)
        read, kind = _read(book, fetched.data, None)
        return {
            "title": read.title,
            "authors": [read.author] if read.author else [],
            "language": read.language,
            "kind": kind,
        }


def _known(entry: CatalogueEntry) -> dict[str, Any]:
    return entry.model_dump(exclude={"id", "media"})


@contextmanager
def _naming(book: int) -> Iterator[None]:
    """Give an error that names no book this one."""
    try:
        yield
    except GutenGraphError as error:
        if error.book is not None:
            raise
        raise type(error)(error.what, remedy=error.remedy, book=book) from error


def _is_whole(record: BookRecord, settings: Settings) -> bool:
    raw, body = (settings.library.path(record.id, name) for name in ("raw.txt", "body.txt"))
    return (
        record.source is not None
        and raw.exists()
        and body.exists()
        and sha256(raw) == record.source.sha256
        and sha256(body) == record.body_sha256
    )


def _entry(
    book: int,
    settings: Settings,
    transport: httpx.BaseTransport | None,
    sleep: Callable[[float], None],
) -> CatalogueEntry | None:
    """What the source's RDF says of a book, else the catalogue of the settings. Raises RightsError."""
    data = fetch_rdf(book, settings, transport=transport, sleep=sleep)
    entry = read_rdf(data, book) if data is not None else catalogue.find(book, settings)
    if entry is None:
        log.info("Book %d: no catalogue entry; its header and its text must tell.", book)
    else:
        check_rights(entry, settings)
    return entry


def _read(book: int, data: bytes, entry: CatalogueEntry | None) -> tuple[ReadBook, Kind]:
    """Read a text, and decide what it is; collected notes stay in what turns out to be non-fiction."""
    entry = entry or CatalogueEntry(id=book)
    keep_notes = entry.kind == "non-fiction"
    read = read_book(data, book=book, declared_language=entry.language, keep_notes=keep_notes)
    kind = classify(entry.subjects, entry.locc, entry.bookshelves, shape(read.body))
    if kind == "non-fiction" and not keep_notes:
        read = read_book(data, book=book, declared_language=entry.language, keep_notes=True)
    return read, kind


def _fields(
    book: int,
    fetched: Fetched,
    digest: str,
    read: ReadBook,
    kind: Kind,
    entry: CatalogueEntry | None,
) -> dict[str, Any]:
    entry = entry or CatalogueEntry(id=book)
    return {
        **_known(entry),
        "title": entry.title or read.title or f"Book {book}",
        "authors": entry.authors or ([read.author] if read.author else []),
        "language": read.language,
        "kind": kind,
        "source": SourceRecord(
            url=fetched.url,
            sha256=digest,
            encoding=read.encoding,
            bytes=len(fetched.data),
            fetched_at=now(),
            etag=fetched.etag,
            last_modified=fetched.last_modified,
        ),
        "body_sha256": hashlib.sha256(read.body.encode("utf-8")).hexdigest(),
        "chapters": read.chapters,
        "counts": {
            "chars": len(read.body),
            "words": len(read.body.split()),
            "chapters": sum(chapter.index > 0 for chapter in read.chapters),
            "stripped_chars": sum(piece.chars for piece in (*read.front, *read.back)),
        },
    }
