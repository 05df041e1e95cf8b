"""Who says a quotation, and to whom."""

from __future__ import annotations

import pytest
from stories import text_of

from gutengraph_assets.extraction.enrichment import enrich
from gutengraph_assets.extraction.entities import locate
from gutengraph_assets.extraction.speech import Speeches
from gutengraph_assets.extraction.tellers import Tellers


def speeches(body: str, *names: str) -> list[tuple[str | None, str | None, str]]:
    """(speaker, addressee, way) of each paragraph with quotations."""
    text = text_of(body)
    rows = [
        {"id": n, "label": "Character", "name": n, "aliases": [n], "standing": "cast", "kind": ""}
        for n in names
    ]
    people, _ = enrich(text, rows, locate(text, rows))
    return [(s.speaker, s.addressee, s.way) for s in Speeches(text, people, Tellers(text, people))]


@pytest.mark.parametrize(
    ("body", "speaker", "way"),
    [
        ("“It rains,” said Anne.", "Anne", "tag"),
        ("“It rains,” snapped Anne.", "Anne", "tag"),
        ("Anne said, “It rains.”", "Anne", "tag"),
        ("“It rains,” Anne replied, “and it will rain.”", "Anne", "tag"),
        ("Anne shook her head. “It rains.”", "Anne", "beat"),
        ("Anne came in.\n\n“It rains,” said she.", "Anne", "pronoun"),
        ("“It rains.”", None, "turn"),
        ("The door was shut. “It rains.”", None, ""),
    ],
)
def test_the_speaker_is_tagged_or_acts(body: str, speaker: str | None, way: str) -> None:
    (found,) = speeches(f"{body}\n\nThomas slept. Anne slept.", "Anne", "Thomas")
    assert (found[0], found[2]) == (speaker, way)


def test_she_is_no_man() -> None:
    body = "Anne met Thomas.\n\n“It rains,” said he.\n\n“It pours,” said she."
    assert [s[0] for s in speeches(body, "Anne", "Thomas")] == ["Thomas", "Anne"]


def test_two_who_talk_speak_in_turns_and_to_each_other() -> None:
    body = "“It rains,” said Anne.\n\n“It pours,” said Thomas.\n\n“It stops.”\n\n“It does not.”"
    assert [s[:2] for s in speeches(body, "Anne", "Thomas")] == [
        ("Anne", "Thomas"),
        ("Thomas", "Anne"),
        ("Anne", "Thomas"),
        ("Thomas", "Anne"),
    ]


def test_who_is_called_by_name_is_spoken_to() -> None:
    body = "“It rains, Thomas, and I know it,” said Anne."
    assert speeches(body, "Anne", "Thomas") == [("Anne", "Thomas", "tag")]


def test_a_speech_that_goes_on_keeps_its_speaker() -> None:
    body = "“It rains,” said Anne. “It rained all night.\n\n“It rained all day.”\n\n“It did,” said Thomas."
    assert [s[0] for s in speeches(body, "Anne", "Thomas")] == ["Anne", "Anne", "Thomas"]
