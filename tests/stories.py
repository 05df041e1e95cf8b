"""Small original texts with their windows and mentions, for tests of what follows naming."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.occurrences import NameFinder
from gutengraph_assets.text.windows import make_windows
from gutengraph_core.library import BookRecord, Chapter, Kind
from gutengraph_core.tables import MENTIONS, WINDOWS


def windows_of(body: str, *, words: int = 40) -> pa.Table:
    """WINDOWS of a body without chapters, small enough that a short text has several."""
    return pa.Table.from_pylist(make_windows(body, [], words=words), schema=WINDOWS)


def text_of(body: str, *, words: int = 40) -> BookText:
    """The body with its cuts."""
    windows = windows_of(body, words=words)
    spans = list(zip(windows["start"].to_pylist(), windows["end"].to_pylist(), strict=True))
    return BookText(body, windows=spans, chapters=[])


def record_of(body: str, *, book: int = 7, kind: Kind = "fiction") -> BookRecord:
    """A book of one chapter."""
    chapter = Chapter(index=1, title="I", start=0, end=len(body))
    return BookRecord(id=book, title="A Tale", kind=kind, language="en", chapters=[chapter])


def mentions_of(body: str, names: Mapping[str, str], *, words: int = 40) -> pa.Table:
    """MENTIONS of `names` (name -> 'person', 'place', 'thing', 'vessel' or 'being') wherever the body has them."""
    text = text_of(body, words=words)
    rows = []
    for name, spans in NameFinder(names).find(text).items():
        kind = {"vessel": "place", "being": "person"}.get(names[name], names[name])
        subkind = names[name] if names[name] in ("vessel", "being") else ""
        for start, end in spans:
            place = {"start": start, "end": end, "window": text.window_of(start), "chapter": 1}
            rows.append(
                {"name": name, "kind": kind, "subkind": subkind, "margin": None, "how": "rule", **place}
            )
    return pa.Table.from_pylist(rows, schema=MENTIONS)
