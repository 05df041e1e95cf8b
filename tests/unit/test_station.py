"""Stations and kinds of being by name and title, and answers brought to an enum."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stories import text_of

from gutengraph_assets.extraction.canon import VALUES, Field, Normaliser
from gutengraph_assets.extraction.entities import Person, locate
from gutengraph_assets.extraction.station import nature, station


def person(body: str, *aliases: str) -> Person:
    found = locate(text_of(body), [{"id": "x", "aliases": list(aliases)}])["x"]
    return Person("x", "Character", aliases[0], aliases, "cast", "", tuple(found))


def test_a_usual_title_tells_a_station_and_what_it_was_is_kept() -> None:
    normaliser = Normaliser()
    found = station([person("Lady Sturt came. Lady Sturt sat.", "Lady Sturt")], normaliser)
    assert found == {"x": "nobility"}
    assert (normaliser.normalised, normaliser.raw) == (1, {"x": {"social_class": "lady"}})


def test_a_title_in_jest_and_a_courtesy_tell_none() -> None:
    body = "Cap'n Dunn is here! " + "Dunn laughed. " * 20
    assert station([person(body, "Dunn", "Cap'n Dunn")], Normaliser()) == {}
    assert station([person("Mr. Hart came.", "Mr. Hart")], Normaliser()) == {}


def test_an_animal_is_called_by_its_kind_and_a_man_by_a_name_like_one() -> None:
    assert nature([person("The Dormouse slept, and the Dormouse woke.", "the Dormouse", "The Dormouse")]) == {
        "x": "animal"
    }
    assert nature([person("Black Fox came in.", "Black Fox")]) == {}
    assert nature([person("Mr. Fox came in.", "Mr. Fox")]) == {"x": "human"}


def test_answers_are_brought_to_the_enum_and_counted() -> None:
    normaliser = Normaliser()
    assert normaliser.take("a", "role", "minor") == "minor"
    assert normaliser.take("a", "role", "The hero of the tale") == "protagonist"
    assert normaliser.take("b", "role", "hero and villain") is None
    assert normaliser.take("b", "gender", "Female") == "F"
    assert normaliser.take("b", "social_class", "unknown") is None
    assert (normaliser.same, normaliser.normalised, normaliser.unknown) == (1, 2, 1)
    assert normaliser.raw == {
        "a": {"role": "The hero of the tale"},
        "b": {"role": "hero and villain", "gender": "Female"},
    }


@given(st.text(), st.sampled_from(sorted(VALUES)))
def test_no_answer_leaves_the_enum(answer: str, field: Field) -> None:
    value = Normaliser().take("a", field, answer)
    assert value is None or value in VALUES[field]
