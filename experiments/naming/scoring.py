"""Names of a window against LitBank's: each distinct name with its kind once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from gutengraph_core import names

_LEAD = re.compile(r"^(?:(?:the|a|an|my|his|her|our|poor|little|old|young|dear|late|good|uncle|aunt)\s)+")


@dataclass
class Counts:
    """Right, wrong and missed names, added up."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    errors: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    """Of wrong and missed names, by what went wrong."""

    def __iadd__(self, other: Counts) -> Counts:
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed
        self.errors += other.errors
        self.kinds += other.kinds
        return self

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


def gold_windows(work: dict[str, Any], windows: pa.Table) -> Iterator[tuple[tuple[int, int], list[Any]]]:
    """Each window's (start, end) with the gold entities that begin in it."""
    for start, end in zip(windows["start"].to_pylist(), windows["end"].to_pylist(), strict=True):
        yield (start, end), [entity for entity in work["entities"] if start <= entity[0] < end]


def score_window(
    rows: list[dict[str, Any]],
    gold: list[Any],
    window: tuple[int, int],
    *,
    loose: bool,
    label: str = "",
    elsewhere: frozenset[str] = frozenset(),
) -> Counts:
    """`rows`: name, kind, subkind, start. A ship is no place in LitBank. `loose`: leading articles and
    adjectives are dropped on both sides. `elsewhere`: keys of all gold names of the excerpt."""
    start, end = window
    expected = {(_key(text, loose), "person" if kind == "PER" else "place") for _, _, kind, text in gold}
    found = {
        (_key(row["name"], loose), row["kind"])
        for row in rows
        if row["kind"] != "thing" and row["subkind"] != "vessel" and start <= row["start"] < end
    }
    errors = [f"{label}: wrong {name} ({kind})" for name, kind in sorted(found - expected)]
    errors += [f"{label}: missed {name} ({kind})" for name, kind in sorted(expected - found)]
    kinds: Counter[str] = Counter()
    seen = {_key(row["name"], loose): row["kind"] for row in rows if start <= row["start"] < end}
    for key, kind in found - expected:
        kinds["wrong: " + _why_wrong(key, kind, expected, elsewhere)] += 1
    for key, kind in expected - found:
        kinds["missed: " + _why_missed(key, kind, found, seen)] += 1
    return Counts(len(found & expected), len(found - expected), len(expected - found), errors, kinds)


BOUNDARY = "another boundary (article, adjective, title, a word more or less)"
OTHER_KIND = "person for place, or place for person"


def _why_wrong(key: str, kind: str, expected: set[tuple[str, str]], elsewhere: frozenset[str]) -> str:
    """What a name that the gold has not in this window is."""
    if any(key == other for other, _ in expected):
        return OTHER_KIND
    if any(_within(key, other) for other, same in expected if same == kind):
        return BOUNDARY
    return "in the gold of another window" if key in elsewhere else f"a {kind} that the gold does not mark"


def _why_missed(key: str, kind: str, found: set[tuple[str, str]], seen: dict[str, str]) -> str:
    """What became of a gold name."""
    if any(key == other for other, _ in found):
        return OTHER_KIND
    if any(_within(key, other) for other, same in found if same == kind):
        return BOUNDARY
    if seen.get(key) == "thing":
        return "typed as a thing"
    if kind == "person" and (key.endswith("s") or key.split(" ")[0] in ("a", "an")):
        return "a family or a people (set aside on purpose)"
    return "not proposed, or set aside"


def _within(a: str, b: str) -> bool:
    """Whether one is the other with words before or after it."""
    short, long = sorted((f" {a} ", f" {b} "), key=len)
    return short in long


def _key(name: str, loose: bool) -> str:
    key = names.key(name)
    return _LEAD.sub("", key) if loose else key
