"""Fetch a book, check its rights, read it, and put its text and its catalogue entry into the library."""

from __future__ import annotations

from gutengraph_core.library import BookRecord
from gutengraph_core.settings import Settings


def acquire(book: int, settings: Settings) -> BookRecord:
    """Bring one book's `raw.txt`, `body.txt` and record up to date with its source.

    Raises SourceUnreachable, UnknownBook, RightsError, BadText, TruncatedDownload, DataFolderError.
    """
    raise NotImplementedError
