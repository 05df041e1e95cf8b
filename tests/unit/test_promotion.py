"""Who becomes a character by being somebody's wife, and who does not."""

from __future__ import annotations

import pytest

from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.promotion import RARE, promote, with_rare
from gutengraph_assets.extraction.relations.find import Relation
from gutengraph_core.library import Kind


def person(name: str, standing: str) -> Person:
    return Person(
        id=name, label="Character", name=name, aliases=(name,), standing=standing, kind="", mentions=()
    )


def wife(confidence: float, *, of: str = "Tom") -> Relation:
    return Relation(
        "Anne", of, "RELATED_TO", "spouse_of", "his wife Anne", 0, 13, 1, "pattern:genitive", confidence
    )


@pytest.mark.parametrize(
    ("standing", "confidence", "kind", "becomes"),
    [
        ("mentioned", 0.75, "fiction", "cast"),
        ("mentioned", 0.6, "fiction", "mentioned"),
        ("mentioned", 0.9, "non-fiction", "mentioned"),
        (RARE, 0.9, "fiction", "cast"),
        (RARE, 0.75, "fiction", None),
    ],
)
def test_a_sure_relation_to_the_cast_makes_a_character(
    standing: str, confidence: float, kind: Kind, becomes: str | None
) -> None:
    people, relations = promote([person("Tom", "cast"), person("Anne", standing)], [wife(confidence)], kind)
    assert {p.name: p.standing for p in people}.get("Anne") == becomes
    assert len(relations) == (becomes is not None)


def test_two_who_are_only_mentioned_stay_so() -> None:
    people, relations = promote(
        [person("Tom", "mentioned"), person("Anne", "mentioned")], [wife(0.95)], "fiction"
    )
    assert {p.standing for p in people} == {"mentioned"}
    assert len(relations) == 1


def test_only_too_rare_persons_come_back() -> None:
    rows = [
        {"label": "Character", "standing": "dropped", "reason": "in 2 windows of the text; 3 needed"},
        {"label": "Character", "standing": "dropped", "reason": "a bare role or title"},
        {"label": "Location", "standing": "dropped", "reason": "in 1 window of the text"},
    ]
    assert [row["standing"] for row in with_rare(rows, "fiction")] == [RARE, "dropped", "dropped"]
    assert [row["standing"] for row in with_rare(rows, "non-fiction")] == ["dropped"] * 3
