"""Events by rule: what a text tells as a fact of somebody, and nothing that is feared, planned or asked."""

from __future__ import annotations

import pytest
from stories import text_of

from experiments.events import __main__ as hand_checked
from gutengraph_assets.extraction.entities import Entity, Person, locate
from gutengraph_assets.extraction.events import find as find_module
from gutengraph_assets.extraction.events import told as told_module
from gutengraph_assets.extraction.events.find import FoundEvents, find_events
from gutengraph_assets.extraction.events.told import with_told
from gutengraph_assets.extraction.reading.chapters import Told
from gutengraph_core.graph.schema import EVENT_KINDS, STATED
from gutengraph_core.library import Kind
from gutengraph_core.names import squeeze

NAMES = {
    "Amos Thorne": "cast",
    "Amos": "cast",
    "Mrs. Quill": "cast",
    "Zebedee": "mentioned",
    "Saltby": "place",
}


def events(body: str, *, kind: Kind = "fiction") -> FoundEvents:
    text = text_of(body)
    groups: dict[str, tuple[str, ...]] = {
        "Amos Thorne": ("Amos Thorne", "Amos"),
        "Mrs. Quill": ("Mrs. Quill",),
        "Zebedee": ("Zebedee",),
    }
    rows = [{"id": name, "aliases": list(aliases)} for name, aliases in groups.items()]
    rows.append({"id": "Saltby", "aliases": ["Saltby"]})
    found = locate(text, rows)
    people = [
        Person(name, "Character", name, aliases, NAMES[name], "", tuple(found[name]))
        for name, aliases in groups.items()
    ]
    place = Entity("Saltby", "Location", "Saltby", ("Saltby",), "kept", "", tuple(found["Saltby"]))
    result = find_events(text, people, [place], book=7, kind=kind)
    for edge in result.edges:
        assert squeeze(body[edge.start : edge.end]) == edge.quote
    return result


@pytest.mark.parametrize(
    ("body", "name", "kind"),
    [
        ("They spoke of the murder of poor Amos, and wept.", "murder of Amos Thorne", "killing"),
        ("He came to Amos Thorne's wedding in a cart.", "wedding of Amos Thorne", "marriage"),
        ("Amos was drowned in the bay.", "death of Amos Thorne", "death"),
        ("At last Amos Thorne had suddenly died.", "death of Amos Thorne", "death"),
        ("Mrs. Quill was arrested the same night.", "arrest of Mrs. Quill", "arrest"),
        ("She wore it at the ball at Saltby.", "ball at Saltby", "gathering"),
        (
            "Who forgets the Saltby murder?\n\nThe Saltby murder made him known.",
            "murder in Saltby",
            "killing",
        ),
        ("His father fell at the battle of Corunna.", "battle of Corunna", "battle"),
    ],
)
def test_what_the_text_states_is_an_event(body: str, name: str, kind: str) -> None:
    (event,) = events(body).events
    assert (event.name, event.kind) == (name, kind)
    assert kind in EVENT_KINDS
    assert event.label == "Event"


@pytest.mark.parametrize(
    "body",
    [
        "She feared the death of Amos above all.",
        "If Amos was killed, who would pay?",
        "Was Amos dead?",
        "They never heard of the arrest of Amos.",
        "She talked of Amos's intended marriage.",
        "After the death of Amos's father he went to sea.",
        "Amos was buried in his papers all day.",
        "Zebedee was killed long ago.",
        "Amos killed a hen. Amos shot a glance at her.",
        "Amos's marriage bed was cold, and Amos was dead against it.",
        "She played ‘The Battle of Prague’ and Waller's Battle of Hohenlinden.",
        "Perhaps it is to tell you that Amos is married.",
    ],
)
def test_what_is_feared_planned_denied_or_another_persons_is_none(body: str) -> None:
    assert events(body).events == []


def test_a_person_dies_once_and_the_first_fact_is_its_first_mention() -> None:
    body = "She feared the death of Amos.\n\nAmos is dead.\n\nThe murder of Amos Thorne was all the talk."
    found = events(body)
    (event,) = found.events
    assert (event.name, event.kind, len(event.mentions)) == ("murder of Amos Thorne", "killing", 2)
    assert event.mentions[0].start == body.index("Amos is dead")
    assert found.dropped == {"not told as a fact": 1}
    (edge,) = found.edges
    assert (edge.source, edge.type, edge.target) == ("Amos Thorne", "takes_part_in", event.id)
    assert edge.quote == "Amos is dead."


def test_an_event_happens_at_its_place() -> None:
    (edge,) = events("She wore it at the ball at Saltby.").edges
    assert (edge.type, edge.target, edge.rel) == ("happens_at", "Saltby", "INTERACTS_WITH")


def test_non_fiction_has_events_with_a_name_of_their_own_or_a_place_only() -> None:
    found = events(
        "Amos died after the siege of Rochelle, and long after the Saltby murder.", kind="non-fiction"
    )
    assert [event.name for event in found.events] == ["siege of Rochelle", "murder in Saltby"]


def test_names_of_one_slug_are_two_events() -> None:
    body = "He fell at the battle of Bjørnholm. His son fell at the battle of Sønder."
    found = events(body)
    assert [e.name for e in found.events] == ["battle of Bjørnholm", "battle of Sønder"]
    assert len({e.id for e in found.events}) == 2
    assert all({m.entity for m in e.mentions} == {e.id} for e in found.events)


def test_an_event_that_a_model_tells_takes_no_other_ones_id() -> None:
    body = "He fell at the battle of Bjørnholm. His son fell at the battle of Sønder.\n\nMrs. Quill saw it."
    found = events(body)
    told = [Told("battle of Bjørnholm", "trial", "trial", 0, 8, ("Mrs. Quill",), None)]
    both = with_told(text_of(body), found, told, book=7)
    assert sorted(e.kind for e in both.events) == ["battle", "battle", "trial"]
    assert len({e.id for e in both.events}) == 3
    assert {m.start for e in both.events for m in e.mentions} == {
        0,
        body.index("battle of B"),
        body.index("battle of S"),
    }


def test_what_is_not_measured_is_never_shown_as_stated() -> None:
    assert told_module.CONFIDENCE < STATED


def test_the_confidence_of_the_rules_is_the_share_that_hand_checks_found_right() -> None:
    verdicts = list(hand_checked.verdicts().values())
    assert set(verdicts) == {"right", "wrong"}
    assert round(verdicts.count("right") / len(verdicts), 2) == find_module.CONFIDENCE


def test_the_command_that_gives_the_precision_builds_every_book_that_was_judged() -> None:
    (line,) = [
        x for x in (hand_checked.__doc__ or "").splitlines() if x.strip().startswith("gutengraph build")
    ]
    judged = {book for book, _ in hand_checked.verdicts()}
    assert {int(word) for word in line.split()[2:]} == judged


def test_what_a_model_tells_of_the_same_death_is_no_second_event() -> None:
    body = "Amos was murdered on the quay. Mrs. Quill saw it all.\n\nThey married at Saltby in May."
    found = events(body)
    told = [
        Told("Amos's end", "death", "death", 0, 29, ("Amos Thorne", "Mrs. Quill"), None),
        Told("a wedding", "marriage", "wedding", 55, 79, ("Mrs. Quill",), "Saltby"),
    ]
    both = with_told(text_of(body), found, told, book=7)
    assert [(e.name, len(e.mentions)) for e in both.events] == [
        ("murder of Amos Thorne", 2),
        ("a wedding", 1),
    ]
    ends = {(e.source, e.target, e.how) for e in both.edges}
    murder, wedding = (e.id for e in both.events)
    assert ends == {
        ("Amos Thorne", murder, "pattern:event"),
        ("Mrs. Quill", murder, "model:chapter"),
        ("Mrs. Quill", wedding, "model:chapter"),
        (wedding, "Saltby", "model:chapter"),
    }
