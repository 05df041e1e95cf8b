"""What the text itself says of a name: persons by title, places by head, ships by their decks, descriptions by their article."""

from __future__ import annotations

import pytest

from gutengraph_assets.extraction.candidates import survey
from gutengraph_assets.extraction.evidence import KINDS, Evidence, Surroundings, Verdict, of_one_family
from tests.naming_texts import FILLER, windows_of, wrapped


def verdicts(*paragraphs: str) -> dict[str, Verdict]:
    body = wrapped(FILLER, *paragraphs)
    found = survey(body, windows_of(body))
    everything = [Evidence.of(body, candidate) for candidate in found.candidates]
    around = Surroundings(everything, found.stats)
    return {e.candidate.name: around.judge(e) for e in everything}


def test_a_title_makes_a_person_and_so_does_its_bare_name() -> None:
    got = verdicts("They saw Mrs. Croft. It was Croft who wept. The Countess of Albany came with Uncle Toby.")
    assert got["Mrs. Croft"].kinds == ("person",)
    assert got["Croft"].kinds == ("person",)
    assert got["Countess of Albany"].kinds == ("person",)
    assert got["Uncle Toby"].kinds == ("person",)


def test_a_bare_name_that_stands_like_a_place_is_asked_about() -> None:
    got = verdicts("Lord Marlow was out. They lived at Marlow, and went to Marlow, and slept in Marlow.")
    assert got["Marlow"].kinds == KINDS


def test_offices_are_no_names() -> None:
    assert verdicts("They asked Mr. Attorney-General.")["Mr. Attorney-General"].reason == "an office"


def test_places_by_their_head_but_not_where_the_head_is_a_surname() -> None:
    got = verdicts(
        "They walked up Baxter Street to Cape Wrath, past Mr. Street, with Lucy Wood, by Royal Terrace."
    )
    assert got["Baxter Street"].kinds == ("place",)
    assert got["Cape Wrath"].kinds == ("place",)
    assert got["Royal Terrace"].kinds == ("place",)
    assert got["Mr. Street"].kinds == ("person",)
    assert got["Lucy Wood"].kinds == KINDS


@pytest.mark.parametrize(
    "text",
    [
        "They sailed in the Kestrel. The crew of the Kestrel sang, and then the Kestrel’s deck was wet.",
        "It was a schooner, the _Kestrel_, and they loved the _Kestrel_.",
        "They came on board the Kestrel at noon; and the Kestrel lay at anchor.",
    ],
)
def test_a_ship_is_a_place_of_kind_vessel(text: str) -> None:
    assert verdicts(text)["Kestrel"] == Verdict(("place",), subkind="vessel")


def test_a_captain_with_a_deck_is_no_ship() -> None:
    got = verdicts("They knew Ahaz well. Ahaz’s crew and Ahaz’s boat were lost, and Ahaz’s decks. Ahaz wept.")
    assert got["Ahaz"].subkind == ""


def test_an_inn_named_after_an_admiral_is_no_person() -> None:
    got = verdicts(
        "They drank at the Admiral Dunbar. The door of the Admiral Dunbar was green. I knew Admiral Hale."
    )
    assert "person" not in got["Admiral Dunbar"].kinds
    assert got["Admiral Hale"].kinds == ("person",)


def test_a_description_is_no_person_and_a_capital_does_not_make_a_name() -> None:
    got = verdicts(
        "She called her Ayah, and the Ayah came with another Ayah. They spoke of the Reform. Then the Fire was out, and the Fire was cold."
    )
    assert "person" not in got["Ayah"].kinds
    assert "person" not in got["Reform"].kinds
    assert got["Fire"].reason == "a common noun with a capital"


def test_a_full_name_stays_a_person_behind_an_indefinite_article() -> None:
    got = verdicts("There was a Lucy Dunstan there. She was a Dunstan. It was a Dunstan who did it.")
    assert "person" in got["Lucy Dunstan"].kinds
    assert "person" in got["Dunstan"].kinds


def test_who_speaks_is_a_person() -> None:
    got = verdicts(*["“No,” said Barnaby. “Yes,” Barnaby replied."] * 2)
    assert got["Barnaby"].kinds == ("person",)


def test_what_mostly_stands_behind_prepositions_of_place_is_no_person() -> None:
    got = verdicts(*["They lived at Thornbury, and went to Thornbury, and slept in Thornbury."] * 3)
    assert got["Thornbury"].kinds == ("place", "thing")


def test_saints_of_churches_are_not_asked_as_persons() -> None:
    got = verdicts("They met at St. Olave’s. She prayed in St. Olave’s, and near St. Olave’s church.")
    assert "person" not in got["St. Olave"].kinds


@pytest.mark.parametrize(
    ("name", "persons", "places", "expected"),
    [
        ("Lucy Dunstan", {"lucy"}, set(), True),
        ("Lucy Dunstan", {"dunstan"}, set(), True),
        ("Lucy Dunstan", set(), set(), False),
        ("Thornbury Lucy", {"lucy"}, {"thornbury"}, False),
        ("Lucy Lane", {"lucy"}, set(), False),
        ("St. Lucy", {"lucy"}, set(), False),
        ("Lucy of Dunstan", {"lucy"}, set(), False),
    ],
)
def test_of_one_family(name: str, persons: set[str], places: set[str], expected: bool) -> None:
    body = f"They saw {name}.\n"
    found = survey(body, windows_of(body)).candidates
    evidence = next(Evidence.of(body, c) for c in found if c.name == name) if found[0].name == name else None
    if evidence is None:  # 'of' does not bind a person to a place
        assert not expected
    else:
        assert of_one_family(evidence, persons, places) is expected


def test_a_place_beside_its_noun() -> None:
    got = verdicts(
        "They drank at the Blue Heron inn, and the Blue Heron was full. They liked the Blue Heron."
    )
    assert got["Blue Heron"].kinds == ("place",)


def test_a_trade_before_a_surname_is_no_description() -> None:
    got = verdicts(
        "They feared the Widow Dunstan. It was the Widow Dunstan who came, and the Widow Dunstan spoke."
    )
    assert "person" in got["Widow Dunstan"].kinds


def test_a_word_that_is_only_quoted_or_called_out_is_no_name() -> None:
    got = verdicts(
        "I heard a cry of 'Cooee!' and again a 'Cooee!' from the pool. What of this 'Cooee'? “Jim!” he said; Jim came."
    )
    assert got["Cooee"].reason == "a word quoted or called out"
    assert "person" in got["Jim"].kinds


def test_a_court_that_is_somebodys_is_a_place() -> None:
    assert verdicts("They went to Pope's Court at noon.")["Pope's Court"].kinds == ("place",)
