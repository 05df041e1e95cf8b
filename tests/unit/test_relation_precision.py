"""The confidences in the package are what the written-down hand check gives."""

from __future__ import annotations

from pathlib import Path

from experiments.relations.calibrate import CLASSES, confidences, groups, load
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
