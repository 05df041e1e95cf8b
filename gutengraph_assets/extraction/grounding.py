"""What is claimed of a text, checked against the text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyarrow as pa

from gutengraph_assets.extraction.candidates import Occurrence
from gutengraph_assets.extraction.named import Named
from gutengraph_core import names
from gutengraph_core.tables import MENTIONS

NOT_IN_TEXT = "not in the text"
"""Reason in the ledger for a name that does not stand where it is claimed."""
_EDGE = r"[^\W_]"


def places_of(name: str, text: str) -> list[tuple[int, int]]:
    """Where `name` stands in `text` as whole words: any run of white space or underscores between its words,
    any shape of quotes and
    dashes, the same capitals. Offsets count in `text`."""
    parts = [_loosely(part) for part in names.squeeze(name).split(" ") if part]
    if not parts:
        return []
    pattern = rf"(?<!{_EDGE})" + r"[\s_]+".join(parts) + rf"(?!{_EDGE})"
    return [match.span() for match in re.finditer(pattern, text)]


def _loosely(word: str) -> str:
    pattern = re.escape(word)
    pattern = re.sub(r"['’‘]", "['’‘]", pattern)
    return re.sub(r"\\-|[–—‐‑]", "[-–—‐‑]", pattern)


def stands(body: str, start: int, end: int, name: str) -> bool:
    """Whether `body[start:end]` is `name`."""
    return 0 <= start < end <= len(body) and names.key(body[start:end]) == names.key(name)


def verified(body: str, name: str, claimed: Iterable[Occurrence]) -> tuple[Occurrence, ...]:
    """Those of the claimed occurrences at which `name` really stands."""
    return tuple(o for o in claimed if stands(body, o.start, o.end, name))


def mentions_table(named: Iterable[Named]) -> pa.Table:
    """The MENTIONS table of verified names, in reading order."""
    rows = [
        {
            "name": one.name,
            "kind": one.kind,
            "subkind": one.subkind,
            "margin": one.margin,
            "how": one.how,
            "start": place.start,
            "end": place.end,
            "window": place.window,
            "chapter": place.chapter,
        }
        for one in named
        for place in one.occurrences
    ]
    rows.sort(key=lambda row: (row["start"], row["end"], row["name"]))
    return pa.Table.from_pylist(rows, schema=MENTIONS)
