"""The ten-second table of a book: silent where all is well, and pointing where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from gutengraph_assets.extraction.ledger import Summary
from gutengraph_assets.how_it_went import Line, how_it_went, verdict
from gutengraph_core.library import BookRecord, StepRecord
from gutengraph_core.settings import Settings

COUNTS = {
    "words": 70_000,
    "chapters": 20,
    "chunks": 500,
    "windows": 140,
    "names": 180,
    "persons": 50,
    "cast": 30,
    "mentioned": 8,
    "dropped": 12,
    "relations": 7,
    "stated": 2,
    "events": 3,
    "orphans": 40,
    "orphan_twins": 0,
}


def lines_of(
    *, counts: dict[str, int] | None = None, names: Summary | None = None, **fields: Any
) -> list[Line]:
    record = BookRecord(id=7, **{"kind": "fiction", "language": "en"} | fields)
    record.counts = COUNTS | (counts or {})
    return how_it_went(record, names or Summary(step="names", asked=100), Settings())


def looks(lines: list[Line]) -> dict[str, str]:
    return {line.what: line.look for line in lines if line.look}


def test_a_good_book_asks_for_no_look() -> None:
    lines = lines_of()
    assert looks(lines) == {}
    assert verdict(lines) == "Went well."
    shown = {line.what: line.came_out for line in lines}
    assert shown["text"] == "70,000 words, 20 chapters, fiction, language 'en'"
    assert shown["cast"] == "30 of 50 persons, 8 only mentioned, 12 dropped"
    assert shown["relations"] == "7, of which 2 stated; 3 events; 40 nodes stand alone"


@pytest.mark.parametrize(
    ("what", "counts", "says"),
    [
        ("text", {"chapters": 0}, "without one heading"),
        ("cast", {"cast": 0, "relations": 0}, "without a cast"),
        ("cast", {"persons": 50, "cast": 1, "dropped": 49}, "98% of the persons dropped"),
        ("relations", {"relations": 0}, "nobody is related"),
        ("relations", {"orphan_twins": 2}, "2 nodes are written like"),
    ],
)
def test_what_is_odd_is_pointed_at(what: str, counts: dict[str, int], says: str) -> None:
    lines = lines_of(counts=counts)
    assert list(looks(lines)) == [what]
    assert says in looks(lines)[what]
    assert verdict(lines) == f"Look at: {what}."


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ({"parse_fail_rate": 0.4}, "40% of the replies could not be read, 10% allowed"),
        ({"truncation_rate": 0.2}, "20% of the replies were cut"),
        ({"grounding_rate": 0.3}, "only 30% of the names stand in the text"),
    ],
)
def test_a_model_that_fails_is_pointed_at(rates: dict[str, float], says: str) -> None:
    names = Summary(step="names", asked=100).model_copy(update=rates)
    assert says in looks(lines_of(names=names))["names"]


def test_a_reading_that_failed_is_pointed_at() -> None:
    good = Summary(step="enrichment", asked=9)
    failed = Summary(step="chapters", asked=12, failed=12, parse_fail_rate=1.0)
    record = BookRecord(id=7, kind="fiction", language="en", counts=COUNTS)
    lines = how_it_went(record, Summary(step="names", asked=100), Settings(), readings=[good, failed])
    assert list(looks(lines)) == ["chapters read"]
    assert "100% of the replies could not be read" in looks(lines)["chapters read"]


def test_a_parked_book_says_why() -> None:
    lines = lines_of(language="de")
    assert "'de'" in looks(lines)["names, cast, relations"]
    assert "cast" not in {line.what for line in lines}


def test_no_cast_is_no_fault_outside_of_fiction() -> None:
    assert looks(lines_of(counts={"cast": 0, "relations": 0, "dropped": 5}, kind="non-fiction")) == {}


def test_where_the_time_went() -> None:
    def took(seconds: float) -> StepRecord:
        return StepRecord(fingerprint="", version="", seconds=seconds)

    steps = {"window_names": took(40), "embeddings_table": took(25), "enriched_graph": took(99)}
    assert lines_of(steps=steps)[-1] == Line("time", "1 min 5 s up to here, most of it window_names 40 s")
