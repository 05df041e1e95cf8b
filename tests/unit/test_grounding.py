"""What is claimed of a text must stand in it."""

from __future__ import annotations

import pytest

from gutengraph_assets.extraction.candidates import Occurrence
from gutengraph_assets.extraction.grounding import mentions_table, places_of, stands, verified
from gutengraph_assets.extraction.named import Named
from gutengraph_core.tables import MENTIONS

BODY = "Old Susan\nMarlow saw _Anne_, and Anne’s aunt—Mrs. O’Dell—called the Spouter-Inn; Annette stayed.\n"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Susan Marlow", ["Susan\nMarlow"]),
        ("Anne", ["Anne", "Anne"]),
        ("Mrs. O'Dell", ["Mrs. O’Dell"]),
        ("Spouter-Inn", ["Spouter-Inn"]),
        ("Spouter–Inn", ["Spouter-Inn"]),
        ("anne", []),
        ("Ann", []),
        ("Susan", ["Susan"]),
        ("Marlow saw Bob", []),
        ("", []),
        ("Anne(", []),
    ],
)
def test_places_of_a_name(name: str, found: list[str]) -> None:
    assert [BODY[s:e] for s, e in places_of(name, BODY)] == found


def test_a_name_must_stand_at_the_offset_it_claims() -> None:
    at = BODY.index("Anne")
    assert stands(BODY, at, at + 4, "Anne")
    assert not stands(BODY, at + 1, at + 5, "Anne")
    assert not stands(BODY, at, len(BODY) + 4, "Anne")
    assert not stands(BODY, -4, 0, "Anne")
    true, false = Occurrence(at, at + 4, 0, 0), Occurrence(0, 4, 0, 0)
    assert verified(BODY, "Anne", [false, true]) == (true,)


def test_the_table_is_in_reading_order() -> None:
    table = mentions_table(
        [
            Named("B", "place", "rule", (Occurrence(9, 10, 1, 1),), subkind="vessel"),
            Named("A", "person", "cloze", (Occurrence(20, 21, 2, 1), Occurrence(3, 4, 0, 1)), margin=1.5),
        ]
    )
    assert table.schema == MENTIONS
    assert [(r["name"], r["start"], r["subkind"], r["margin"]) for r in table.to_pylist()] == [
        ("A", 3, "", 1.5),
        ("B", 9, "vessel", None),
        ("A", 20, "", 1.5),
    ]
    assert mentions_table([]).num_rows == 0
