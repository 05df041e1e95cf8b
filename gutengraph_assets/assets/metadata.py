"""Small pieces of metadata for the UI: tables in markdown, links, pictures."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path

import dagster as dg

OWNERS = ["team:gutengraph"]
LONGEST_CELL = 120
PICTURE_LIMIT = 1_500_000
"""Bytes of a picture that goes into the event log; a larger one is only named."""


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> dg.MarkdownMetadataValue:
    """A table; what the books and the models say is untrusted and escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return dg.MetadataValue.md("\n".join(lines))


def _cell(value: object) -> str:
    text = " ".join(str("" if value is None else value).split())
    text = text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"
    escaped = html.escape(text, quote=False)
    for char in "\\`*_[]|!":
        escaped = escaped.replace(char, "\\" + char)
    return escaped


def gutenberg_page(book: int) -> dg.UrlMetadataValue:
    """The book's own page at Project Gutenberg."""
    return dg.MetadataValue.url(f"https://www.gutenberg.org/ebooks/{book}")


def source_link(url: str) -> dg.UrlMetadataValue | dg.PathMetadataValue:
    """Where the text came from: an address, or a file on this machine."""
    return (
        dg.MetadataValue.url(url)
        if url.startswith("http")
        else dg.MetadataValue.path(url.removeprefix("file://"))
    )


def picture(path: Path) -> dg.MarkdownMetadataValue | dg.PathMetadataValue:
    """A PNG inline, so that it is seen in the UI without another server."""
    data = path.read_bytes()
    if len(data) > PICTURE_LIMIT:
        return dg.MetadataValue.path(str(path))
    return dg.MetadataValue.md(f"![{path.stem}](data:image/png;base64,{base64.b64encode(data).decode()})")
