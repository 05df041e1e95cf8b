"""Names of a window against LitBank's: each distinct name with its kind once."""

from __future__ import annotations

import re
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

    def __iadd__(self, other: Counts) -> Counts:
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed
        self.errors += other.errors
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
    rows: list[dict[str, Any]], gold: list[Any], window: tuple[int, int], *, loose: bool, label: str = ""
) -> Counts:
    """`rows`: name, kind, subkind, start. A ship is no place in LitBank. `loose`: leading articles and
    adjectives are dropped on both sides."""
    start, end = window
    expected = {(_key(text, loose), "person" if kind == "PER" else "place") for _, _, kind, text in gold}
    found = {
        (_key(row["name"], loose), row["kind"])
        for row in rows
        if row["kind"] != "thing" and row["subkind"] != "vessel" and start <= row["start"] < end
    }
    errors = [f"{label}: wrong {name} ({kind})" for name, kind in sorted(found - expected)]
    errors += [f"{label}: missed {name} ({kind})" for name, kind in sorted(expected - found)]
    return Counts(len(found & expected), len(found - expected), len(expected - found), errors)


def _key(name: str, loose: bool) -> str:
    key = names.key(name)
    return _LEAD.sub("", key) if loose else key
