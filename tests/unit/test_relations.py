"""What sentences state of two people, or of a person and a place; and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest
from stories import text_of

from gutengraph_assets.extraction.enrichment import enrich
from gutengraph_assets.extraction.entities import locate
from gutengraph_assets.extraction.relations.find import FoundRelations, Relation, find_relations
from gutengraph_core.graph.schema import RELATION_TYPES, SYMMETRIC
from gutengraph_core.names import squeeze


def found_in(body: str, *, people: str, places: str = "", ships: str = "") -> FoundRelations:
    """Relations of a body; people are split by ';', the names of one person by '='."""
    text = text_of(body, words=60)
    rows: list[dict[str, Any]] = []
    for label, kind, listed in (
        ("Character", "", people),
        ("Location", "", places),
        ("Location", "vessel", ships),
    ):
        for names in filter(None, listed.split(";")):
            aliases = names.split("=")
            row = {"id": aliases[0], "label": label, "name": aliases[0], "aliases": aliases, "kind": kind}
            rows.append({**row, "standing": "cast" if label == "Character" else "kept"})
    persons, others = enrich(text, rows, locate(text, rows))
    found = find_relations(text, persons, others)
    for relation in found.relations:
        check(relation, body)
    return found


def check(relation: Relation, body: str) -> None:
    """What holds for every relation, whatever said it."""
    assert relation.type in RELATION_TYPES
    assert squeeze(body[relation.start : relation.end]) == relation.quote
    assert len(relation.quote) <= 500
    assert 0.55 <= relation.confidence <= 0.97
    if relation.type in SYMMETRIC:
        assert relation.source < relation.target


def edges(found: FoundRelations) -> set[tuple[str, str, str]]:
    return {(r.source, r.type, r.target) for r in found.relations}


@pytest.mark.parametrize(
    ("body", "people", "edge"),
    [
        ("Mr. and Mrs. Hale came. Mr. Hale sat.", "Mr. Hale;Mrs. Hale", ("Mr. Hale", "spouse_of", "Mrs. Hale")),
        ("Sir Hugh and Lady Dane came. Hugh Dane sat.", "Sir Hugh=Hugh Dane;Lady Dane", ("Lady Dane", "spouse_of", "Sir Hugh")),
        ("Anne Hale's brother Tom came.", "Anne Hale;Tom", ("Anne Hale", "sibling_of", "Tom")),
        ("Tom Hale, the son of Roger Hale, came.", "Tom Hale;Roger Hale", ("Roger Hale", "parent_of", "Tom Hale")),
        ("Anne sat down, and her sister Jane sang.", "Anne;Jane", ("Anne", "sibling_of", "Jane")),
        ("Captain Hale was late. Anne was ill. Tom was her husband.", "Anne;Tom", ("Anne", "spouse_of", "Tom")),
        ("Anne was engaged to Tom Dane.", "Anne;Tom Dane", ("Anne", "engaged_to", "Tom Dane")),
        ("Dr. Pell rang, and his housekeeper, Mrs. Ott, came. Dr. Pell said he was ill. Dr. Pell said he was cold. Dr. Pell said he was old.", "Dr. Pell;Mrs. Ott", ("Mrs. Ott", "serves", "Dr. Pell")),
        ("Anne's cousin, Tom, came.", "Anne;Tom", ("Anne", "cousin_of", "Tom")),
        ("Roger and his wife Anne came.", "Roger;Anne", ("Anne", "spouse_of", "Roger")),
    ],
)  # fmt: skip
def test_kin_and_service_are_read_from_the_sentence(
    body: str, people: str, edge: tuple[str, str, str]
) -> None:
    assert edge in edges(found_in(body, people=people))


@pytest.mark.parametrize(
    ("body", "people"),
    [
        ("If Anne were engaged to Tom, it would be well. Anne never was engaged to Tom.", "Anne;Tom"),
        ("Anne's brother-in-law Tom came.", "Anne;Tom"),
        ("His sister Roger came. Tom said so.", "Roger;Tom"),
        ("Anne and his wife Jane came.", "Anne;Jane"),
        ("Tom was not her brother. Anne said so.", "Anne;Tom"),
    ],
)
def test_what_is_not_so_makes_no_edge(body: str, people: str) -> None:
    assert edges(found_in(body, people=people)) == set()


def test_his_is_the_subjects_and_not_the_owners_of_a_coat() -> None:
    body = "Roger Pell went home. He had Tom Rudd’s coat under his arm; for his housekeeper, Mrs. Ott, was careful."
    found = edges(found_in(body, people="Roger Pell;Tom Rudd;Mrs. Ott"))
    assert ("Mrs. Ott", "serves", "Roger Pell") in found
    assert ("Mrs. Ott", "serves", "Tom Rudd") not in found


def test_mother_and_son_by_title_are_no_couple() -> None:
    body = (
        "“I forget, mamma,” said Sir Hugh Dane. “You always do, my son,” said Lady Dane.\n\n"
        "Lady Dane looked at Sir Hugh Dane as a mother looks."
    )
    assert not [e for e in edges(found_in(body, people="Sir Hugh Dane;Lady Dane")) if e[1] == "spouse_of"]


def test_one_spouse_a_person_and_one_kinship_a_pair() -> None:
    body = (
        "Mr. and Mrs. Hale came. Mr. and Mrs. Hale left. Roger Dane's wife Mrs. Hale sang. "
        "Mr. Hale's cousin Mrs. Hale wept."
    )
    found = edges(found_in(body, people="Mr. Hale;Mrs. Hale;Roger Dane"))
    assert found == {("Mr. Hale", "spouse_of", "Mrs. Hale")}


def test_a_crew_and_its_ship() -> None:
    body = (
        "Tom Rudd, second mate of the _Curlew_, came ashore. Ben Quill, the boatswain, was with him.\n\n"
        "Hannah was the boatswain’s niece. The _Curlew_ belonged to Roger Dane."
    )
    found = found_in(body, people="Tom Rudd;Ben Quill;Hannah;Roger Dane", ships="Curlew")
    assert edges(found) == {
        ("Tom Rudd", "second_mate_of", "Curlew"),
        ("Ben Quill", "boatswain_of", "Curlew"),
        ("Roger Dane", "owner_of", "Curlew"),
    }
    assert {relation.rel for relation in found.relations} == {"INTERACTS_WITH"}


def test_homes_and_birthplaces() -> None:
    body = "Sir Hugh Dane, of Dane Hall, lived in state. Anne was born at Saltby. Inspector Ott, of Bow Yard, came."
    found = edges(
        found_in(body, people="Sir Hugh Dane;Anne;Inspector Ott", places="Dane Hall;Saltby;Bow Yard")
    )
    assert found == {("Sir Hugh Dane", "lives_in", "Dane Hall"), ("Anne", "born_in", "Saltby")}


def test_said_in_two_ways_is_surer_and_how_names_both() -> None:
    plain = "Anne was ill, and her sister Jane sang."
    (once,) = found_in(plain, people="Anne;Jane").relations
    (twice,) = found_in(f"{plain} Anne's sister Jane wept.", people="Anne;Jane").relations
    assert twice.confidence > once.confidence
    assert twice.how == "pattern:genitive,pattern:pronoun"


def test_a_long_sentence_is_cut_around_the_names() -> None:
    body = (
        f"{'It rained and it rained, ' * 30}and Anne Hale's brother Tom came, {'and it rained ' * 30}still."
    )
    (relation,) = found_in(body, people="Anne Hale;Tom").relations
    assert "Anne Hale's brother Tom" in relation.quote
    assert len(relation.quote) < 200
