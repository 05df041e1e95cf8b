"""Numbers as headings write them: 12, XII, TWELVE, the Twelfth, premier, Zweites."""

from __future__ import annotations

import re

_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}

_UNITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINAL_UNITS = "first second third fourth fifth sixth seventh eighth ninth".split()
_ORDINAL_TEENS = [*(f"{name}th" for name in _TEENS)]
_ORDINAL_TEENS[2] = "twelfth"
_FRENCH = (
    "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième "
    "douzième treizième quatorzième quinzième seizième"
).split()
_GERMAN = (
    "erst zweit dritt viert fünft sechst siebent acht neunt zehnt elft zwölft dreizehnt vierzehnt".split()
)
_SPANISH = "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo".split()
_ITALIAN = "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo".split()


def _words() -> dict[str, int]:
    table: dict[str, int] = {}
    for base, names in ((1, _UNITS), (10, _TEENS), (1, _ORDINAL_UNITS), (10, _ORDINAL_TEENS)):
        table |= {name: base + n for n, name in enumerate(names)}
    for n, tens in enumerate(_TENS):
        value = 20 + 10 * n
        table |= {tens: value, tens[:-1] + "ieth": value, "hundred": 100, "hundredth": 100}
        for joint in ("-", " "):
            table |= {tens + joint + unit: value + i + 1 for i, unit in enumerate(_UNITS)}
            table |= {tens + joint + unit: value + i + 1 for i, unit in enumerate(_ORDINAL_UNITS)}
    for names in (_FRENCH, _SPANISH, _ITALIAN):
        for n, name in enumerate(names):
            table.setdefault(name, n + 1)
            table.setdefault(name.removesuffix("o") + "a", n + 1)
    table |= {"première": 1, "premiere": 1, "second": 2, "seconde": 2}
    for n, stem in enumerate(_GERMAN):
        table |= {stem + ending: n + 1 for ending in ("e", "er", "es", "en")}
    return table


WORDS = _words()
"""Number words, lower case -> value: English to a hundred, others as far as headings use them."""

LAST = 10_000
"""The value of 'Chapter the Last': after all others."""


def roman(text: str) -> int | None:
    """The value of a Roman numeral, additive forms (IIII, XXXX) included."""
    if not text or not _ROMAN.fullmatch(text):
        return None
    total = 0
    values = [_ROMAN_VALUES[c] for c in text.lower()]
    for value, after in zip(values, [*values[1:], 0], strict=True):
        total += -value if value < after else value
    return total


def number(text: str) -> tuple[int, str] | None:
    """The value and the kind ('arabic', 'roman', 'word') of a number, or None."""
    text = text.strip()
    if text.isdecimal() and len(text) <= 3:
        return int(text), "arabic"
    if (value := roman(text)) is not None:
        return value, "roman"
    folded = text.casefold().removeprefix("the ").strip()
    if folded == "last":
        return LAST, "word"
    value = WORDS.get(folded)
    return None if value is None else (value, "word")
