"""From the bytes of a Gutenberg text file to the body that everything else counts offsets in."""

from __future__ import annotations

from dataclasses import dataclass

from gutengraph_core.library import Chapter


@dataclass(frozen=True)
class Stripped:
    """A run of lines that was taken off a text: `what` it was and how many characters."""

    what: str
    chars: int


@dataclass(frozen=True)
class ReadBook:
    """A book as read. `chapters` are contiguous and cover `body`."""

    body: str
    encoding: str
    title: str
    author: str
    language: str
    chapters: list[Chapter]
    front: list[Stripped]
    back: list[Stripped]
    notes: list[str]


def read_book(data: bytes, *, book: int, declared_language: str | None = None) -> ReadBook:
    """Read a text. Raises BadText or TruncatedDownload."""
    raise NotImplementedError
