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


@pytest.mark.parametrize(
    ("body", "people", "edge"),
    [
        ("“My aunt Jane is here,” said Tom.", "Tom;Jane", ("Jane", "aunt_or_uncle_of", "Tom")),
        ("“Your brother Tom is here, Anne,” said Roger.", "Anne;Tom;Roger", ("Anne", "sibling_of", "Tom")),
        ("“Oh, mamma, do come,” cried Anne.\n\n“I shall,” said Mrs. Hale.", "Anne;Mrs. Hale", ("Mrs. Hale", "parent_of", "Anne")),
        ("John Hale sat. Mrs. John Hale sang to John Hale.", "John Hale;Mrs. John Hale", ("John Hale", "spouse_of", "Mrs. John Hale")),
    ],
)  # fmt: skip
def test_who_speaks_and_to_whom_says_whose_aunt_she_is(
    body: str, people: str, edge: tuple[str, str, str]
) -> None:
    assert edge in edges(found_in(body, people=people))


def test_my_aunt_hale_is_mrs_hale_and_no_man() -> None:
    body = "Hale was rich. Mrs. Hale was not. “My aunt Hale will come,” said Anne."
    found = edges(found_in(body, people="Hale=Mr. Hale;Mrs. Hale;Anne"))
    assert ("Mrs. Hale", "aunt_or_uncle_of", "Anne") in found


def test_a_name_between_commas_may_be_called_and_not_described() -> None:
    body = "“My father, Roger, was a hard man,” said Tom. “You never knew him, Roger.”"
    assert edges(found_in(body, people="Tom;Roger")) == set()


def test_a_nameless_subject_owns_its_cousin() -> None:
    body = "Tom was ill. The landlord sent us to his cousin Roger."
    assert edges(found_in(body, people="Tom;Roger")) == set()


def test_unmarried_brothers_and_sisters_bear_one_surname() -> None:
    other = "Lucy Dane sang. Her brother Tom Hale slept."
    assert edges(found_in(other, people="Lucy Dane;Tom Hale")) == set()
    same = "Lucy Hale sang. Her brother Tom Hale slept."
    assert edges(found_in(same, people="Lucy Hale;Tom Hale")) == {("Lucy Hale", "sibling_of", "Tom Hale")}


def test_nobody_has_two_mothers() -> None:
    body = "Tom's mother Jane came. Tom's mother Jane sat. Tom's mother Ruth came."
    found = found_in(body, people="Tom;Jane;Ruth")
    assert edges(found) == {("Jane", "parent_of", "Tom")}
    assert found.dropped == {"a surer mother or father": 1}


def test_who_stands_by_her_sister_more_than_by_chance() -> None:
    near = "Lucy came in. Lucy met her sister, and Ruth laughed.\n\nIt rained.\n\nIt poured.\n\n"
    far = "Lucy went out. Grace was at home.\n\nIt rained.\n\nIt poured.\n\n"
    found = found_in(near * 6 + far * 12, people="Lucy;Ruth;Grace")
    assert edges(found) == {("Lucy", "sibling_of", "Ruth")}
    (relation,) = found.relations
    assert relation.how == "pattern:nearby"
    assert "her sister" in relation.quote


def test_the_father_of_the_same_name_is_not_the_brother() -> None:
    """One sentence says 'daughter of Mr. Hale'; wherever both are, she is his sister: it means another Mr. Hale."""
    near = "Mr. Hale came in. Mr. Hale met his sister, and Miss Hale laughed.\n\nIt rained.\n\nIt poured.\n\n"
    far = "Mr. Hale went out. Grace was at home.\n\nIt rained.\n\nIt poured.\n\n"
    once = "Miss Hale, the daughter of Mr. Hale, had been ill that year.\n\n"
    assert ("Mr. Hale", "parent_of", "Miss Hale") in edges(
        found_in(once, people="Mr. Hale;Miss Hale=Ruth Hale")
    )
    found = edges(found_in(near * 6 + far * 12 + once, people="Mr. Hale;Miss Hale=Ruth Hale;Grace"))
    assert ("Miss Hale", "sibling_of", "Mr. Hale") in found
    assert ("Mr. Hale", "parent_of", "Miss Hale") not in found


def test_a_narrator_lives_with_a_mother_and_not_a_wife() -> None:
    tale = "I rose. I was late, and my mother scolded. I ran to my mother, and I wept. "
    scene = (
        "“Jim, come here,” said Mrs. Hart. “Jim Hart, sit down, Mr. Hart,” said Mrs. Hart. “Well, Jim, eat.”"
    )
    body = f"{tale * 3}{scene}\n\n" * 4
    found = found_in(body, people="Jim=Jim Hart=Mr. Hart;Mrs. Hart")
    assert ("Mrs. Hart", "parent_of", "Jim") in edges(found)


def test_the_mate_of_another_ship_is_not_hers() -> None:
    body = (
        "The _Gull_ and the _Gull_ again and the _Gull_.\n\n"
        "The _Petrel_ lay near, and Tom Rudd, her boatswain, hailed us. The third mate was Ben Quill."
    )
    found = edges(found_in(body, people="Tom Rudd;Ben Quill", ships="Gull;Petrel"))
    assert ("Tom Rudd", "boatswain_of", "Petrel") in found
    assert ("Ben Quill", "third_mate_of", "Gull") in found


def test_one_of_the_owners() -> None:
    body = "Amos Thorne, an old man, was one of the principal owners of the _Gull_. The _Gull_ was his pride."
    assert ("Amos Thorne", "owner_of", "Gull") in edges(found_in(body, people="Amos Thorne", ships="Gull"))


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
        "Mr. and Mrs. Hale came. Mr. and Mrs. Hale left. Roger Dane sat, and his wife Mrs. Hale sang. "
        "Mr. Hale sat, and his cousin Mrs. Hale wept."
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


@pytest.mark.parametrize(
    ("body", "people", "edge"),
    [
        ("Anne was glad. She loved her brothers, Tom and Roger.", "Anne;Tom;Roger", ("Anne", "sibling_of", "Roger")),
        ("Anne and Jane were sisters.", "Anne;Jane", ("Anne", "sibling_of", "Jane")),
        ("Anne and Tom sat down, and their aunt Jane sang.", "Anne;Tom;Jane", ("Jane", "aunt_or_uncle_of", "Tom")),
        ("Jane rose. She is aunt to Tom Dane, and proud.", "Jane;Tom Dane", ("Jane", "aunt_or_uncle_of", "Tom Dane")),
        ("Anne’s engagement with Tom Dane was known.", "Anne;Tom Dane", ("Anne", "engaged_to", "Tom Dane")),
        ("“My name is Tom Pell, and my sister Ruth is lost.”", "Tom Pell;Ruth", ("Ruth", "sibling_of", "Tom Pell")),
        ("“Your cousin Tom Pell is here,” said Roger to Anne.", "Anne;Tom Pell;Roger", ("Anne", "cousin_of", "Tom Pell")),
        ("Sir Hugh and Lady Lucas came.", "Sir Hugh=Sir Hugh Lucas;Lady Lucas", ("Lady Lucas", "spouse_of", "Sir Hugh")),
    ],
)  # fmt: skip
def test_several_at_once_and_whose_words_they_are(body: str, people: str, edge: tuple[str, str, str]) -> None:
    assert edge in edges(found_in(body, people=people))


@pytest.mark.parametrize(
    ("body", "people"),
    [
        ("I met Anne. She loved her brothers, Jane, and Tom.", "Anne;Jane;Tom"),
        ("Roger kissed his daughter, Jane was to sing.", "Roger;Jane"),
        ("Tom and his wife, Jane the cook, and Ruth came.", "Tom;Jane;Ruth"),
        ("“Thank your uncle, Tom, thank your uncle!” said Anne to Roger.", "Tom;Anne;Roger"),
        ("“Tom is ill,” said Anne to her brother Roger, who knew Tom.", "Tom;Anne"),
        ("Jane heard of Anne's supposed engagement to Tom.", "Anne;Tom;Jane"),
        ("“Father, mother, this is Roger,” said Anne to Tom.", "Anne;Tom;Roger"),
    ],
)
def test_a_comma_a_list_and_a_call_set_nobody_in_apposition(body: str, people: str) -> None:
    assert edges(found_in(body, people=people)) == set()


LETTER = """To Mrs. Lane, Saltby.

My dear Sister,

You will be glad to hear that all is well with me, and with my ship.

Your affectionate brother,

R. Hale

"""


def test_a_letter_is_its_writers_and_its_close_says_who_he_is() -> None:
    body = f"{LETTER}Robert Hale sailed, and Mrs. Lane wept.\n\n"
    (relation,) = found_in(body, people="Robert Hale=Hale;Mrs. Lane=Mrs. Lane").relations
    assert (relation.source, relation.type, relation.target) == ("Mrs. Lane", "sibling_of", "Robert Hale")
    assert "pattern:letter" in relation.how.split(",")


def test_my_in_a_letter_is_whoever_signs_it() -> None:
    body = LETTER.replace("with my ship", "with my cousin Ruth") + "Robert Hale sailed.\n\n"
    assert ("Robert Hale", "cousin_of", "Ruth") in edges(
        found_in(body, people="Robert Hale=Hale;Mrs. Lane;Ruth")
    )


def test_each_journal_has_its_own_hand() -> None:
    body = (
        "ROGER PELL'S JOURNAL\n\nI rose late. My sister Ruth was out.\n\n"
        "ANNE HALE'S DIARY\n\nI rose early. My aunt Jane was in.\n\n"
    )
    found = edges(found_in(body, people="Roger Pell;Anne Hale;Ruth;Jane"))
    assert ("Roger Pell", "sibling_of", "Ruth") in found
    assert ("Jane", "aunt_or_uncle_of", "Anne Hale") in found


def test_children_of_one_mother_are_sisters_and_her_brother_is_their_uncle() -> None:
    body = "Jane's daughter Anne came. Jane's daughter Ruth came. Jane's brother Tom came."
    found = found_in(body, people="Jane;Anne;Ruth;Tom")
    known = {(r.source, r.type, r.target): r for r in found.relations}
    assert ("Anne", "sibling_of", "Ruth") in known
    uncle = known[("Tom", "aunt_or_uncle_of", "Anne")]
    assert uncle.how == "inferred:aunt_by_sibling"
    premise = known[("Jane", "parent_of", "Anne")]
    assert uncle.confidence < premise.confidence


def test_nothing_follows_from_what_is_unsure() -> None:
    body = "“My sister Ruth is out.”\n\n“Is she, Tom?”\n\n“She is.” Ruth's mother Jane came."
    assert not [r for r in found_in(body, people="Tom;Ruth;Jane").relations if r.how.startswith("inferred")]


def test_a_given_name_after_a_title_is_no_surname() -> None:
    body = "Beth sang. Beth wept. Doctor Beth laughed. Her sister Amy Hale slept."
    assert ("Amy Hale", "sibling_of", "Beth") in edges(found_in(body, people="Beth=Doctor Beth;Amy Hale"))


def test_a_harpooneer_is_somebodys() -> None:
    body = "Mr. Stubbs looked to Tashmo, his harpooneer, who stood up."
    assert ("Tashmo", "harpooneer_of", "Mr. Stubbs") in edges(found_in(body, people="Mr. Stubbs;Tashmo"))


def test_mr_and_mrs_of_one_name_are_no_brother_and_sister() -> None:
    body = "Mr. Hale and Mrs. Hale met her sister. Mr. Hale and Mrs. Hale met his sister too."
    assert ("Mr. Hale", "sibling_of", "Mrs. Hale") not in edges(found_in(body, people="Mr. Hale;Mrs. Hale"))


def test_a_brother_of_the_mother_is_not_also_her_sons_brother() -> None:
    """'My brother Tom' is then another Tom, of an elder generation."""
    body = "Ann and Jane were sisters. Tom, the son of Ann, came in. “My brother Tom is dead,” said Jane."
    found = found_in(body, people="Ann;Jane;Tom")
    assert {("Ann", "sibling_of", "Jane"), ("Ann", "parent_of", "Tom")} <= edges(found)
    assert ("Jane", "sibling_of", "Tom") not in edges(found)
    assert ("Jane", "aunt_or_uncle_of", "Tom") in edges(found)
    assert found.dropped == {"surer kin are of other generations": 1}


AUNT = "Miss Hale came in. {} was there.\n\nMiss Hale's mother said that {} was ill.\n\n"


def test_who_is_called_aunt_is_nobodys_mother_by_the_surname_alone() -> None:
    near = AUNT.format("Mrs. Hale", "Mrs. Hale") * 3
    assert ("Mrs. Hale", "parent_of", "Miss Hale") in edges(
        found_in(near, people="Mrs. Hale;Miss Hale=Ruth Hale")
    )
    called = AUNT.format("Aunt Hale", "Aunt Hale") * 3
    assert edges(found_in(called, people="Aunt Hale=Jane Hale;Miss Hale=Ruth Hale")) == set()


def test_a_mr_of_the_name_who_is_called_cousin_is_not_the_father() -> None:
    scene = "Anne, a good daughter, sat by Mr. Hale.\n\nMr. Hale spoke as a father to Anne.\n\n"
    people = "Mr. Hale;Anne=Anne Hale"
    assert ("Mr. Hale", "parent_of", "Anne") in edges(found_in(scene, people=people))
    cousin = "Anne thought that cousins, and uncles, were all as vain as Mr. Hale.\n\n"
    assert ("Mr. Hale", "parent_of", "Anne") not in edges(found_in(scene + cousin, people=people))


def test_theirs_is_unsure_where_others_are_named_since() -> None:
    body = "{} and the ladies wrote to their sister Jane."
    assert ("Anne", "sibling_of", "Jane") in edges(
        found_in(body.format("Anne and Ruth rose,"), people="Anne;Ruth;Jane;Mrs. Lane")
    )
    others = body.format("Anne and Ruth rose, and Mrs. Lane")
    assert edges(found_in(others, people="Anne;Ruth;Jane;Mrs. Lane")) == set()


def test_where_somebody_would_live_if_he_did_is_no_home() -> None:
    assert ("Tom", "lives_in", "Saltby") in edges(
        found_in("Tom rose. He settled in Saltby.", people="Tom", places="Saltby")
    )
    supposed = "Tom rose. Anne would be glad if he settled in Saltby."
    assert edges(found_in(supposed, people="Tom;Anne", places="Saltby")) == set()


def test_a_wife_of_whom_is_only_supposed_that_there_might_be_one_is_none() -> None:
    people = "Mr. Hale;Mrs. Hale"
    assert edges(found_in("Mr. Hale met Mrs. Hale. Mrs. Hale smiled at Mr. Hale.", people=people))
    body = "“There might have been a Mrs. Hale,” said Mr. Hale.\n\nThere never was a Mrs. Hale."
    assert edges(found_in(body, people=people)) == set()
