"""Beings without a name: who recurs and speaks as 'the X' and never turns out to be somebody named."""

from __future__ import annotations

from gutengraph_assets.extraction.beings import Beings, find_beings
from gutengraph_assets.extraction.candidates import survey
from gutengraph_assets.extraction.named import Named
from gutengraph_assets.extraction.naming import BookText
from gutengraph_core import names
from tests.naming_texts import FILLER, windows_of, wrapped


def beings(*paragraphs: str, persons: tuple[str, ...] = ()) -> tuple[str, Beings]:
    """Beings in a body of windows of one paragraph each, given the persons' names."""
    body = wrapped(*[f"{FILLER} {p}" for p in paragraphs])
    windows = windows_of(body, words=70)
    named = [
        Named(c.name, "person", "cloze", c.occurrences)
        for c in survey(body, windows).candidates
        if c.name in persons
    ]
    return body, find_beings(BookText(body, windows), named)


def shown(found: Beings) -> list[str]:
    return [one.name for one in found.named]


CURATE = "“We are lost,” said the curate. Then the curate went on."


def test_who_recurs_and_speaks_is_somebody() -> None:
    body, found = beings(*[CURATE] * 14)
    (curate,) = found.named
    assert (curate.name, curate.kind, curate.subkind) == ("the curate", "person", "being")
    assert len(curate.occurrences) == 28
    for o in curate.occurrences:
        assert names.key(body[o.start : o.end]) == "the curate"


def test_who_is_met_a_few_times_or_does_not_speak_stays_out() -> None:
    assert shown(beings(*[CURATE] * 5)[1]) == []
    assert shown(beings(*["They saw the curate. She liked the curate."] * 14)[1]) == []


def test_a_capital_is_evidence_of_its_own() -> None:
    paragraphs = ["“Off with it!” said the Red Hare. The Red Hare ran away."] * 4
    assert shown(beings(*paragraphs)[1]) == ["the Red Hare"]


def test_descriptions_of_many_people_stay_out() -> None:
    for anybody in ("old man", "stranger", "driver", "other", "soldiers", "woman"):
        assert shown(beings(*[CURATE.replace("curate", anybody)] * 14)[1]) == [], anybody


def test_a_title_that_somebody_bears_is_left_to_the_aliases() -> None:
    paragraphs = [CURATE.replace("curate", "captain") + " They feared Captain Hale."] * 14
    _, found = beings(*paragraphs, persons=("Captain Hale",))
    assert shown(found) == []
    assert found.dropped == {"a title that somebody bears": 1}
    assert shown(beings(*paragraphs)[1]) == ["the captain"]


def test_an_apposition_says_who_it_is() -> None:
    for apposed in ("It was Mr. Dunn, the curate, who came.", "They met the curate, Mr. Dunn."):
        _, found = beings(*[CURATE] * 14, apposed, persons=("Mr. Dunn",))
        assert shown(found) == []
        assert found.dropped == {"an apposition says who": 1}


def test_a_monster_need_not_speak_but_must_haunt_the_book() -> None:
    acts = "She knew that the monster had come, and the monster looked at her."
    assert shown(beings(*[acts] * 10)[1]) == ["the monster"]
    assert shown(beings(*[acts] * 4)[1]) == []
    assert shown(beings(*[acts.replace("monster", "river")] * 14)[1]) == []


def test_two_capitals_make_a_name_of_a_word_for_anybody() -> None:
    told = "“I have been there,” said the Time Traveller. The Time Traveller smiled, and the traveller by the door went out."
    _, found = beings(*[told] * 4)
    assert shown(found) == ["the Time Traveller"]
