"""Capitalised spans that are no names, by kind: titles alone, months, nationalities, numerals, families in
the plural."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gutengraph_assets.extraction.case_statistics import CaseStatistics
from gutengraph_assets.extraction.lexicon import (
    AMBIGUOUS_CALENDAR,
    BARE_ADDRESSES,
    CALENDAR,
    COMPASS,
    DEITY,
    DEMONYMS,
    DEMONYMS_BORNE,
    GENERIC,
    PLACE_HEADS,
    ROMAN,
    STYLES,
    STYLES_BORNE,
    TITLES_BORNE_AS_SURNAMES,
)
from gutengraph_assets.extraction.scan import Token
from gutengraph_core import names

_GREETING = re.compile(r"^(good-(morning|evening|night|day|afternoon|bye|by)|by-the-bye?|by-the-way)$")
_STUTTER = re.compile(r"^(\w{1,2})-\1|(-\w\b){2}|\w-(ing|like|ed)$|-(?P<cry>\w{2,3})-(?P=cry)$")
"""Stammers and cries: 'B-but', 'Yo-ho-ho', 'Tra-la-la'."""
_WORDLIKE = re.compile(
    r"\w{3}(?:ed|ing|ly|less|ful|ous|cal|able|ible|ness|tion|sion|ment|ish|ive|wards?|some|ties|ity|ever)$"
)
_PLURAL_LEAD = re.compile(
    r"\b(the|these|those|two|three|four|five|both|all|other|of|many|some|young|old|any)\s+(?:\w+\s+)?_?$",
    re.IGNORECASE,
)
_OWN = frozenset("your his her their my our whose thy".split())
_BARE_BEARERS = frozenset("mr mrs miss ms dr".split())
_DATED = CALENDAR - AMBIGUOUS_CALENDAR
_OPENINGS_ONLY = 4
"""A word this often at openings and never inside a sentence is an exclamation or a verb, not somebody's
name."""
_SURNAME_INSIDE = 3
_SURNAME_SHARE = 0.1
"""A word mostly written small is a name by itself if it ends a full name, stands so often inside sentences,
and for at least so many
of its small occurrences."""
_FORENAME_RUNS = 2
"""Full names that a month must begin to be a first name too ('May')."""


class Refusals:
    """Says of a span why it is no name. `spans`: all of the book's spans, for what they say of each other."""

    def __init__(self, stats: CaseStatistics, spans: Iterable[list[Token]]) -> None:
        self._stats = stats
        self._surnames: set[str] = set()
        forenames: Counter[str] = Counter()
        for span in spans:
            if len(span) > 1:
                if self._is_surname(span):
                    self._surnames.add(span[-1].low)
                if stats.is_name(span[1].low) or span[0].low in names.TITLES:
                    forenames[span[0].low] += 1
        self._forenames = {word for word, count in forenames.items() if count >= _FORENAME_RUNS}

    def _is_surname(self, span: list[Token]) -> bool:
        """A word mostly written small that ends a full name: 'Hands' beside 'Israel Hands'."""
        first, low = span[0].low, span[-1].low
        inside = self._stats.inside[low]
        return (
            low not in names.TITLES
            and low not in PLACE_HEADS
            and (first in names.TITLES or self._stats.is_name(first))
            and inside >= _SURNAME_INSIDE
            and inside >= self._stats.lower[low] * _SURNAME_SHARE
        )

    def of(self, span: list[Token], before: str) -> str:
        """The reason, or '' for what may be a name. `before` is the folded word before the span."""
        lows = [token.low for token in span]
        if all(low in names.TITLES for low in lows) and not (
            len(lows) == 2 and lows[0] in _BARE_BEARERS and lows[1] in TITLES_BORNE_AS_SURNAMES
        ):
            return "bare title"
        if lows[-1] in STYLES and (before in _OWN or lows[-1] not in STYLES_BORNE):
            return "form of address"
        return self._of_several(span, lows) if len(span) > 1 else self._of_one(span[0])

    def _of_several(self, span: list[Token], lows: list[str]) -> str:
        if all(token.shape == "letter" for token in span):
            return "initials"
        if all(low in CALENDAR or low in DEITY or ROMAN.match(low) for low in lows):
            return "calendar or deity"
        if lows[0] not in names.TITLES and "of" not in lows and any(low in _DATED for low in lows):
            return "calendar or deity"
        if len(lows) == 2 and lows[0] == lows[1]:
            return "one word twice"
        if all(low in DEMONYMS for low in lows):
            return "nationality or creed"
        if lows[0] in ("misses", "messrs"):
            return "plural of a name"
        if any(_STUTTER.search(low) for low in lows):
            return "exclamation or contraction"
        return ""

    def _of_one(self, token: Token) -> str:
        low = token.low
        if len(low) < 2 or token.shape == "letter":
            return "single letter"
        if ROMAN.match(low) and token.shape == "capitals":
            return "roman numeral"
        if low in CALENDAR and not (low in AMBIGUOUS_CALENDAR and low in self._forenames):
            return "calendar or deity"
        if low in DEITY:
            return "calendar or deity"
        if low in BARE_ADDRESSES or low in GENERIC:
            return "bare title"
        if low in COMPASS:
            return "compass point"
        if _GREETING.match(low) or _STUTTER.search(low):
            return "exclamation or contraction"
        borne = low in DEMONYMS_BORNE and low in self._forenames
        if (low in DEMONYMS or low.removesuffix("s") in DEMONYMS) and not borne:
            return "nationality or creed"
        if self._stats.is_common(low) and not (low in self._surnames and not token.opens):
            return "mostly written small"
        if self._stats.inside[low] or self._stats.capitals[low]:
            return ""
        # Never inside a sentence: an exclamation or a verb if often, a participle if it looks like one.
        often = self._stats.opening[low] >= _OPENINGS_ONLY
        return "only at openings" if often or (_WORDLIKE.search(low) and not low.endswith("red")) else ""


def plurals(body: str, spans: list[tuple[str, int]]) -> set[str]:
    """Keys of families: 'the Harts', 'the two Miss Harts'. `spans`: key and start of each span of the
    book."""
    counts = Counter(key for key, _ in spans)
    stems = {key.split(" ")[-1] for key in counts}
    total: Counter[str] = Counter()  # by key that has a singular
    led: Counter[str] = Counter()
    for key, start in spans:
        if _singular(key.split(" ")[-1], stems):
            total[key] += 1
            led[key] += bool(_PLURAL_LEAD.search(body[max(0, start - 24) : start]))
    return {key for key, count in total.items() if led[key] * 2 >= count or _is_titled_plural(key, counts)}


def _is_titled_plural(key: str, counts: Counter[str]) -> bool:
    """'such Mr. Eltons' beside a 'Mr. Elton' who is named more often."""
    title, _, rest = key.partition(" ")
    return title in _BARE_BEARERS and " " not in rest and counts[f"{title} {rest[:-1]}"] > counts[key]


def _singular(word: str, stems: set[str]) -> bool:
    if not word.endswith("s") or word.endswith("ss"):
        return False
    return word[:-1] in stems or (word.endswith("es") and word[:-2] in stems)
