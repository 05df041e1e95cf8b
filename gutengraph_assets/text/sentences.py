"""Where sentences end, well enough to cut a text there."""

from __future__ import annotations

import re

from gutengraph_core.names import TITLES

_END = re.compile(r"""[.!?]["'”’)\]_]*\s+(?=["'“‘(\[_—-]*[A-Z0-9“‘"'])""")
_LAST_WORD = re.compile(r"([^\W\d_]+)\.$")
_ABBREVIATIONS = frozenset(TITLES) | frozenset(
    "st mt no vol vols chap fig viz cf etc jr sr hon messrs".split()
)


def sentence_starts(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Offsets in `text` at which a sentence after the first begins, within [start, end).

    A stop after a title ('Mr.'), an initial or a common abbreviation ends none.
    """
    limit = len(text) if end is None else end
    found: list[int] = []
    for match in _END.finditer(text, start, limit):
        if match.group().startswith(".") and _abbreviated(text, match.start() + 1, start):
            continue
        if match.end() < limit:
            found.append(match.end())
    return found


def _abbreviated(text: str, after_stop: int, start: int) -> bool:
    word = _LAST_WORD.search(text, max(start, after_stop - 16), after_stop)
    if word is None:
        return False
    plain = word.group(1)
    return (len(plain) == 1 and plain.isupper() and plain != "I") or plain.casefold() in _ABBREVIATIONS
