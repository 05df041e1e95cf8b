"""Drift against the last good run."""

from __future__ import annotations

import pytest

from gutengraph_assets.drift import drifted

GOOD = {"names": 100, "relations": 60, "untyped_share": 0.2}


@pytest.mark.parametrize(
    ("now", "found"),
    [
        ({}, []),
        ({"names": 80, "relations": 75}, []),
        ({"names": 60}, ["names fell from 100 to 60"]),
        ({"relations": 120}, ["relations rose from 60 to 120"]),
        ({"untyped_share": 0.6}, ["relations without a type went from 20% to 60%"]),
        (
            {"names": 0, "relations": 0, "untyped_share": 0.0},
            ["names fell from 100 to 0", "relations fell from 60 to 0"],
        ),
    ],
)
def test_what_drifts(now: dict[str, float], found: list[str]) -> None:
    assert drifted(GOOD, GOOD | now, most=0.3) == found


def test_a_first_run_and_a_tiny_book_do_not_drift() -> None:
    assert drifted({}, GOOD, most=0.3) == []
    few = {"names": 4, "relations": 2, "untyped_share": 0.0}
    assert drifted(few, {"names": 8, "relations": 6, "untyped_share": 1.0}, most=0.3) == []
