"""How much of what was judged is right, of each kind; of all, only how many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from gutengraph_query.evaluate.score import share
from gutengraph_query.review.marks import Marks
from gutengraph_query.review.sample import KINDS, Item, Kind, Sample


class Tally(BaseModel):
    """Precision is right / (right + wrong), with Wilson's 95 % interval; what is unsure counts for neither.

    All together have none: as many are drawn of a kind with few claims as of one with many, so their share is that of
    no book.
    """

    kind: Kind | Literal["all"]
    right: int
    wrong: int
    unsure: int
    left: int = Field(description="Of the sample, still without a mark.")
    population: int = Field(description="Of this kind in the book.")
    precision: float | None = None
    interval: tuple[float, float] | None = None


def tallies(sample: Sample, marks: Marks) -> list[Tally]:
    """One of each kind, then of all. Only marks on items of the sample count: others were of an earlier build."""
    by_kind = [
        _tally(kind, [item for item in sample.items if item.kind == kind], sample.population[kind], marks)
        for kind in KINDS
    ]
    counts = {
        name: sum(getattr(tally, name) for tally in by_kind)
        for name in ("right", "wrong", "unsure", "left", "population")
    }
    return [*by_kind, Tally(kind="all", **counts)]


def _tally(kind: Kind, items: Sequence[Item], population: int, marks: Marks) -> Tally:
    given = [marks.marks[item.key].verdict for item in items if item.key in marks.marks]
    right, wrong = given.count("right"), given.count("wrong")
    found = share(right, right + wrong)
    return Tally(
        kind=kind,
        right=right,
        wrong=wrong,
        unsure=given.count("unsure"),
        left=len(items) - len(given),
        population=population,
        precision=found["value"],
        interval=found["interval"],
    )
