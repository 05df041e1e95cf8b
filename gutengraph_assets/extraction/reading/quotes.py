"""Where a model's quote stands, in the passages that it was shown."""

from __future__ import annotations

from collections.abc import Sequence

from gutengraph_assets.extraction.book_text import Span
from gutengraph_assets.extraction.grounding import places_of
from gutengraph_core.names import words

LEAST_WORDS = 3
"""Fewer stand in any passage and show nothing."""
_AROUND = " \n\t\"'“”‘’.…[]"


def place_of_quote(body: str, quote: str, shown: Sequence[Span]) -> Span | None:
    """Offsets in `body` of a quote's first place within `shown`; None if it stands in none of them.

    Line wraps, italics and the shape of quotation marks and dashes may differ, words may not.
    """
    plain = quote.strip(_AROUND)
    if len(words(plain)) < LEAST_WORDS:
        return None
    for start, end in shown:
        found = places_of(plain, body[start:end])
        if found:
            return start + found[0][0], start + found[0][1]
    return None
