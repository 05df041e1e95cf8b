"""Whether the disk has room for a run, looked at before anything is written.

The shares were measured on five novels (3.4 MB as fetched) with the embedded models, from empty to built:
`python benchmarks/disk.py HOME` compares them with any library.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from gutengraph_core.errors import DataFolderError
from gutengraph_core.library import BookRecord, Library

TYPICAL_BOOK = 1_050_000
"""Bytes of a book that has not been fetched yet: nine of ten of 41 well-known ones are smaller."""

FILES_SHARE = 4.5
"""A book's folder to its text as fetched: 3.7 to 4.5 (text twice, passages, windows, graph, picture)."""

CACHE_SHARE = 7.0
"""Model replies kept, to the text: 6.7."""

GRAPH_SHARE = 5.5
"""One version of the merged graph, to the texts of all books in it: 5.2."""

BYTES_PER_PASSAGE = 800
"""Of fetched text: with 254 tokens a passage and 30 shared, 700 to 900."""

PASSAGE_TEXT = 1_200
"""Bytes of a row of the table besides its vector: the text, its metadata, its share of the word index."""

TABLE_COPIES = 2
"""Merging small files writes the rows anew, and the old ones stay for an hour."""

RUN_BYTES = 4_000_000
"""Dagster's record and log of one run."""

SPARE = 100_000_000
"""What must stay free: other programs write too."""

UNKNOWN_DIMENSION = 768
"""Where the embedder has not been opened: that of the largest model that the settings name by example."""


def needed_bytes(
    books: Sequence[BookRecord], *, others: Sequence[BookRecord] = (), dimension: int = UNKNOWN_DIMENSION
) -> int:
    """Bytes that building `books` writes: their own, and a version of the graph with `others` in it."""
    own = sum(map(_size, books))
    passages = own / BYTES_PER_PASSAGE
    table = passages * (4 * dimension + PASSAGE_TEXT) * TABLE_COPIES
    graph = GRAPH_SHARE * (own + sum(map(_size, others)))
    return round(own * (FILES_SHARE + CACHE_SHARE) + table + graph + RUN_BYTES * len(books))


def check_disk(
    books: Sequence[int],
    library: Library,
    *,
    dimension: int = UNKNOWN_DIMENSION,
    merged: bool = True,
    force: bool = False,
) -> None:
    """Refuse a run that would fill the disk. `merged`: the graph of the whole library is made anew at its end.

    Books that are built already write little, unless `force`. Raises DataFolderError with what is needed and
    what is free.
    """
    wanted = set(books)
    records = [library.record(book) for book in books]
    fresh = [record for record in records if force or not record.built_at]
    others = [r for r in library.records() if r.id not in wanted] if merged else []
    others += [record for record in records if merged and record not in fresh]
    needed = needed_bytes(fresh, others=others, dimension=dimension)
    free = shutil.disk_usage(_existing(library.home)).free
    if needed + SPARE > free:
        what = f"book {books[0]}" if len(books) == 1 else f"{len(books)} books"
        raise DataFolderError(
            f"Building {what} needs about {_megabytes(needed + SPARE)}, and only {_megabytes(free)} are free at "
            f"{library.home}.",
            remedy="Free some space, set GUTENGRAPH_HOME to a folder on a larger disk, or build fewer books at a "
            "time. Nothing has been written.",
        )


def _size(record: BookRecord) -> int:
    return record.source.bytes if record.source is not None else TYPICAL_BOOK


def _existing(path: Path) -> Path:
    """The folder, or the nearest above it that exists: the same disk, before it is made."""
    return path if path.exists() else _existing(path.parent)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
