"""A fixed draw from whatever relations are found today, and what the reading of it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from experiments.relations.calibrate import Row, row_of
from experiments.relations.rerun import Rerun
from gutengraph_core.graph.schema import STATED, SYMMETRIC

SEED = 20261130
DRAWN = 120
"""Relations of any confidence."""
DRAWN_SECOND = 60
"""The next of them, read only after the rules had been mended for what was wrong in the first."""
DRAWN_STATED = 80
"""Relations that are shown as stated."""
WORKS = tuple(
    map(
        int,
        "11 35 36 43 45 46 74 76 98 105 121 141 158 161 174 219 345 514 541 768 829 1260 1400 1727 2554 2641 "
        "2891 4300 37106".split(),
    )
)
"""Works of fiction without a gold standard that most libraries of classics hold."""

Key = tuple[int, str, str, str]


def key_of(row: Row) -> Key:
    """What makes two rows the same relation, wherever and by whatever family it was found."""
    a, b = row["a"], row["b"]
    if row["type"] in SYMMETRIC:
        a, b = min(a, b), max(a, b)
    return row["book"], a, row["type"], b


def unread(run: Rerun) -> Iterator[Row]:
    """Every relation of a run, as a row that nobody has judged."""
    return (row_of(run, relation, gold=False) for relation in run.relations)


def judged_again(found: Iterable[Row], read: Iterable[Row]) -> list[Row]:
    """The relations found, with the verdict and reason of those that were read before; confidence and place are today's."""
    known = {key_of(row): row for row in read}
    rows = []
    for row in found:
        before = known.get(key_of(row))
        same = {"verdict": before["verdict"], "reason": before["reason"]} if before else {}
        rows.append(Row(**{**row, **same}))  # type: ignore[typeddict-item]
    return rows


def draw(rows: Iterable[Row], count: int, *, seed: int = SEED) -> list[Row]:
    """The first `count` rows by a hash of what they say: one relation more or less moves only the last one drawn."""
    return sorted(rows, key=lambda row: sha256(repr((seed, key_of(row))).encode()).digest())[:count]


def samples(rows: Sequence[Row]) -> Mapping[str, list[Row]]:
    """Two draws from all relations, and one from those shown as stated, which shares some with them."""
    drawn = draw(rows, DRAWN + DRAWN_SECOND)
    stated = [row for row in rows if row["confidence"] >= STATED]
    return {
        "sample": drawn[:DRAWN],
        "second sample": drawn[DRAWN:],
        "sample of stated": draw(stated, DRAWN_STATED),
    }
