"""Small original texts for the naming tests, and the tables that naming reads."""

from __future__ import annotations

import textwrap

import pyarrow as pa

from gutengraph_assets.text.windows import make_windows
from gutengraph_core.library import Chapter
from gutengraph_core.tables import WINDOWS


def windows_of(body: str, *, words: int = 500) -> pa.Table:
    """A WINDOWS table of a body of one chapter."""
    chapters = [Chapter(index=1, title="", start=0, end=len(body))]
    return pa.Table.from_pylist(make_windows(body, chapters, words=words), schema=WINDOWS)


def wrapped(*paragraphs: str, width: int = 70) -> str:
    """A body as Gutenberg's texts are: paragraphs wrapped, a blank line between."""
    return "\n\n".join(textwrap.fill(" ".join(p.split()), width) for p in paragraphs) + "\n"


FILLER = (
    "It was late in the year and the lanes were full of water. There was nothing to be done but wait, and so they all "
    "waited, and said little, and looked at the poor fire. When the rain stopped an old man went by with his dog, and "
    "she thought that it was a good sign. Then they went up to bed, and the wind rose again, and nobody slept well."
)
"""Common words in small letters, as every book has them by the thousand."""
