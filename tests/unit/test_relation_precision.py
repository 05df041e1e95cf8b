"""The confidences in the package are what the written-down hand check gives."""

from __future__ import annotations

from pathlib import Path

from experiments.relations.calibrate import CLASSES, Row, confidences, groups, load
from experiments.relations.sampling import DRAWN, DRAWN_SECOND, DRAWN_STATED, draw, judged_again, samples
from gutengraph_assets.extraction.relations.precision import PRECISION

READ = Path(__file__).parents[2] / "experiments" / "relations" / "judged.jsonl"


def test_confidences_are_those_of_the_relations_read() -> None:
    measured = confidences(load(READ))
    assert measured.keys() <= PRECISION.keys()
    assert {f: v for f, v in measured.items() if abs(PRECISION[f] - v) > 0.02} == {}


def test_every_family_is_either_measured_or_needs_another() -> None:
    measured = {family for members in CLASSES.values() for family in members.split()}
    assert all(PRECISION[family] < 0.55 for family in PRECISION.keys() - measured)


def test_what_is_stated_is_right_and_kin_mostly() -> None:
    read = load(READ)
    found = groups(read)
    assert found["kin and rank, other books"]["of"] >= 60
    assert (found["kin and rank, other books"]["value"] or 0) >= 0.70
    assert found["stated"]["of"] >= 40
    assert (found["stated"]["value"] or 0) >= 0.85
    assert all(row["reason"] and 0 <= row["start"] < row["end"] for row in read)


def relation(number: int, *, type_: str = "parent_of", confidence: float = 0.9, **read: str) -> Row:
    """One that was found; `verdict` and `reason` if it was read."""
    return Row(
        book=1,
        gold=False,
        chapter=1,
        start=number,
        end=number + 5,
        a=f"A{number}",
        type=type_,
        b=f"B{number}",
        how="pattern:of",
        confidence=confidence,
        verdict=read.get("verdict", "unsure"),
        reason=read.get("reason", ""),
    )


def test_a_draw_stays_what_it_was_where_one_relation_is_found_no_more() -> None:
    found = [relation(number) for number in range(400)]
    drawn = draw(found, 50)
    fewer = draw([row for row in found if row is not drawn[10]], 50)
    assert fewer[:49] == [row for row in drawn if row is not drawn[10]]
    assert draw(list(reversed(found)), 50) == drawn
    assert draw(found, 50, seed=1) != drawn


def test_the_second_sample_has_nothing_of_the_first_and_the_stated_are_stated() -> None:
    found = [relation(number, confidence=0.9 if number % 2 else 0.6) for number in range(400)]
    drawn = samples(found)
    first, second = ({row["a"] for row in drawn[name]} for name in ("sample", "second sample"))
    assert (len(first), len(second), first & second) == (DRAWN, DRAWN_SECOND, set())
    stated = drawn["sample of stated"]
    assert len(stated) == DRAWN_STATED
    assert {row["confidence"] for row in stated} == {0.9}


def test_a_verdict_is_kept_where_a_symmetric_relation_is_found_turned_about() -> None:
    before = relation(1, type_="sibling_of", verdict="right", reason="twins")
    today = {**relation(1, type_="sibling_of", confidence=0.7), "a": "B1", "b": "A1", "start": 90}
    (row,) = judged_again([today], [before])  # type: ignore[list-item]
    assert (row["verdict"], row["reason"], row["start"], row["confidence"]) == ("right", "twins", 90, 0.7)
    (turned,) = judged_again([{**today, "type": "parent_of"}], [{**before, "type": "parent_of"}])  # type: ignore[typeddict-item,list-item]
    assert turned["reason"] == ""
