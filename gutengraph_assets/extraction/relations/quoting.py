"""The stretch of a sentence that is shown as the quote of an edge."""

from __future__ import annotations

from collections.abc import Sequence

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Mention

_QUOTE_MOST = 300
"""Characters of a quote; a longer sentence is cut to the stretch around the names."""
_QUOTE_MARGIN = 40
"""Characters left on both sides of the names, to the next word, when a sentence is cut."""


def cut(text: BookText, start: int, end: int, mentions: Sequence[Mention]) -> tuple[int, int]:
    """The stretch itself, or of a long one what lies around those of `mentions` that stand in it."""
    inside = [m for m in mentions if start <= m.start and m.end <= end]
    if end - start <= _QUOTE_MOST or not inside:
        return start, end
    first = max(start, min(m.start for m in inside) - _QUOTE_MARGIN)
    last = min(end, max(m.end for m in inside) + _QUOTE_MARGIN)
    while first > start and not text.body[first - 1].isspace():
        first -= 1
    while last < end and not text.body[last].isspace():
        last += 1
    return first, last
