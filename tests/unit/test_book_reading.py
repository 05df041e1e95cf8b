"""A book read by an instruct model: every answer held against the text, every call in the ledger, failures asked once more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stories import mentions_of, record_of, text_of, windows_of

from gutengraph_assets.extraction.book_graph import BookGraph, build_book_graph
from gutengraph_assets.extraction.canon import Field, Normaliser
from gutengraph_assets.extraction.filter import filter_entities
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.reading.book import STEPS, Reader, steps_read
from gutengraph_assets.extraction.reading.chapters import event_kind, notion_name, parts
from gutengraph_assets.extraction.reading.quotes import place_of_quote
from gutengraph_core.settings import Settings
from tests.fakes import Answer, FakeLLM

STORY = """Amos Thorne came to Saltby by the night boat, and wanted nothing but his brother's grave.

Mrs. Quill knew him at once. Mrs. Quill said that the grave was under the north wall.

Amos Thorne wept there until the bells rang, and Mrs. Quill wept with Amos Thorne.

In the spring they were married in the church at Saltby, and Amos Thorne forgave the sea.

Mrs. Quill laughed for the first time. Saltby had never heard it."""
NAMES = {"Amos Thorne": "person", "Mrs. Quill": "person", "Saltby": "place"}
PORTRAIT = {
    "role": "the hero",
    "gender": "Male",
    "character_type": "human",
    "social_class": "unknown",
    "motivation": "to find his brother's grave",
    "motivation_quote": "wanted nothing but his brother’s  grave",
    "arc": "comes to love the sea",
    "arc_quote": "Amos Thorne loved the sea",
}
CHAPTER = {
    "events": [
        {
            "name": "the wedding at Saltby",
            "kind": "wedding",
            "quote": "they were married in the church at Saltby",
            "people": ["Amos Thorne", "Quill", "Nobody Known"],
            "place": "Saltby",
        },
        {"name": "a flood", "kind": "disaster", "quote": "the flood took the quay", "people": [], "place": ""},
        {"name": "rain", "kind": "weather", "quote": "until the bells rang", "people": ["Mrs. Quill"], "place": ""},
        {"name": "a birth", "kind": "birth", "quote": "laughed for the first time", "people": [], "place": ""},
    ],
    "themes": [
        {"name": "Death", "quote": "the grave was under the north wall"},
        {"name": "geology", "quote": "under the north wall"},
    ],
    "atmospheres": [{"name": "melancholy", "quote": "never said by anybody here"}],
}  # fmt: skip


def scripted(prompt: str) -> Answer:
    return json.dumps(CHAPTER if "\nText:\n" in prompt else PORTRAIT)


class Shelf:
    """One book and its ledger."""

    def __init__(self, home: Path) -> None:
        self.settings = Settings(home=home)
        self.ledger = Ledger(home / "ledger.jsonl", book=7)
        self.llm = FakeLLM()

    def build(self, answer: Callable[[str], Answer] = scripted, *, instruct: bool = True) -> BookGraph:
        self.llm = FakeLLM(answer, instruct=instruct)
        record, windows = record_of(STORY), windows_of(STORY)
        mentions = mentions_of(STORY, NAMES)
        kept = filter_entities(
            record=record, body=STORY, windows=windows, mentions=mentions, settings=self.settings
        )
        import pyarrow as pa

        return build_book_graph(
            record=record,
            body=STORY,
            windows=windows,
            chunks=pa.table({"id": ["7:000000"], "start": [0], "end": [len(STORY)]}),
            entities=kept.entities,
            merges=kept.merges,
            settings=self.settings,
            reader=Reader(self.llm, self.ledger, self.settings),
        )


@pytest.fixture
def shelf(home: Path) -> Shelf:
    home.mkdir()
    return Shelf(home)


def node(graph: BookGraph, name: str) -> dict[str, Any]:
    (found,) = [n for n in graph.nodes.to_pylist() if n["name"] == name]
    return found


def test_answers_end_in_the_enum_and_free_texts_need_their_quote(shelf: Shelf) -> None:
    graph = shelf.build()
    amos = node(graph, "Amos Thorne")
    assert (amos["role"], amos["gender"], amos["character_type"]) == ("protagonist", "M", "human")
    assert (amos["social_class"], amos["motivation"], amos["arc"]) == (None, PORTRAIT["motivation"], None)
    raw = json.loads(amos["raw"])
    assert (raw["role"], raw["gender"]) == ("the hero", "Male")
    quote = raw["motivation_quote"]
    assert STORY[quote["start"] : quote["end"]] == quote["quote"] == "wanted nothing but his brother's grave"
    # two persons, role and gender each; the wedding; 'Death'
    assert graph.counts["normalised"] == 6
    assert graph.counts["portraits"] == 2


def test_the_ledger_has_every_call_and_what_was_dropped_why(shelf: Shelf) -> None:
    shelf.build()
    portraits, chapters = (shelf.ledger.summary(step) for step in STEPS)
    assert (portraits.asked, chapters.asked) == (2, len(parts(text_of(STORY))))
    assert portraits.dropped == {"not in the text": 2}
    assert chapters.dropped == {
        "an event of nobody in the book": 1,
        "no kind of event of the enum": 1,
        "no theme of the vocabulary": 1,
        "not in the text": 2,
    }
    for step in (portraits, chapters):
        assert step.proposed == step.kept + sum(step.dropped.values())


def test_a_choice_of_the_enum_is_nothing_that_stands_in_the_text(shelf: Shelf) -> None:
    portrait = {**PORTRAIT, "social_class": "of the guild", "motivation_quote": "never said"}
    shelf.build(lambda prompt: json.dumps(CHAPTER if "\nText:\n" in prompt else portrait))
    found = shelf.ledger.summary(STEPS[0])
    assert (found.choices, found.choices_kept) == (8, 6)
    assert found.choices_unfit == {"no social class of the enum": 2}
    assert (found.proposed, found.grounded, found.grounding_rate) == (4, 0, 0.0)


def test_nobody_reads_with_a_base_model_or_in_non_fiction() -> None:
    settings = Settings()
    assert steps_read(FakeLLM(instruct=True), settings, "fiction") == STEPS
    assert steps_read(FakeLLM(instruct=False), settings, "fiction") == ()
    assert steps_read(FakeLLM(instruct=True), settings, "non-fiction") == ()


def test_an_event_is_a_node_with_its_people_its_place_and_its_quote(shelf: Shelf) -> None:
    graph = shelf.build()
    wedding = node(graph, "the wedding at Saltby")
    assert (wedding["label"], wedding["kind"]) == ("Event", "marriage")
    edges = {(e["source"], e["type"], e["target"]): e for e in graph.edges.to_pylist()}
    for key in (
        ("7:amos-thorne", "takes_part_in", wedding["id"]),
        ("7:mrs-quill", "takes_part_in", wedding["id"]),
        (wedding["id"], "happens_at", "7:saltby"),
    ):
        assert edges[key]["how"] == "model:chapter"
        assert edges[key]["quote"] == "they were married in the church at Saltby"
    assert [r["surface"] for r in graph.evidence.to_pylist() if r["entity"] == wedding["id"]] == [
        "they were married in the church at Saltby"
    ]


def test_a_base_model_is_asked_nothing(shelf: Shelf) -> None:
    graph = shelf.build(instruct=False)
    assert shelf.llm.calls == []
    assert shelf.ledger.steps() == []
    assert node(graph, "Amos Thorne")["motivation"] is None


def test_a_failed_reply_is_no_empty_portrait_and_is_asked_again_with_half_the_text(shelf: Shelf) -> None:
    def broken(prompt: str) -> Answer:
        return scripted(prompt) if "\nText:\n" in prompt else "I am sorry."

    first = shelf.build(broken)
    assert node(first, "Amos Thorne")["raw"] is None
    assert shelf.ledger.summary(STEPS[0]).failed == 2
    whole = [call["prompt"] for call in shelf.llm.calls if "\nText:\n" not in call["prompt"]]
    second = shelf.build()
    halves = [call["prompt"] for call in shelf.llm.calls if "\nText:\n" not in call["prompt"]]
    assert all(len(half) < len(all_) for half, all_ in zip(halves, whole, strict=True))
    assert node(second, "Amos Thorne")["role"] == "protagonist"
    assert shelf.ledger.summary(STEPS[0]).failed == 0


def test_a_cut_reply_is_asked_again_with_twice_the_cap_and_then_no_more(shelf: Shelf) -> None:
    def cut(prompt: str) -> Answer:
        return (scripted(prompt) if "\nText:\n" in prompt else '{"role": "hero", "gen', "length")  # type: ignore[return-value]

    caps = []
    for _ in range(3):
        shelf.build(cut)
        caps.append({c["max_tokens"] for c in shelf.llm.calls if "\nText:\n" not in c["prompt"]})
    assert caps[1] == {2 * cap for cap in caps[0]}
    assert caps[2] == set()
    assert shelf.ledger.summary(STEPS[0]).final_failures == 2


def test_the_same_replies_give_the_same_tables(shelf: Shelf) -> None:
    first, again = shelf.build(), shelf.build()
    for table in ("nodes", "edges", "evidence"):
        assert getattr(first, table).equals(getattr(again, table))


def test_a_quote_may_differ_in_wraps_and_marks_but_not_in_words() -> None:
    body = "She said:\n“_Never_ -- I\nwill not go,” and went."
    assert place_of_quote(body, '"I will not go,"', [(0, len(body))]) is not None
    assert place_of_quote(body, "I shall not go", [(0, len(body))]) is None
    assert place_of_quote(body, "not go", [(0, len(body))]) is None
    assert place_of_quote(body, "I will not go", [(0, 12)]) is None


def test_words_of_a_model_are_brought_to_the_vocabulary_only_where_they_point_to_one() -> None:
    assert (event_kind("a Wedding"), event_kind("murder"), event_kind("party")) == (
        "marriage",
        "killing",
        None,
    )
    assert event_kind("battle and death") is None
    assert notion_name("Theme", "Guilt") == "guilt and remorse"
    assert notion_name("Theme", "family ties") == "family"
    assert notion_name("Theme", "geology") is None


def test_an_answer_that_denies_a_word_is_none_of_it() -> None:
    normaliser = Normaliser()
    denied: list[tuple[Field, str]] = [
        ("character_type", "not human"),
        ("character_type", "non-human"),
        ("role", "not a villain"),
        ("role", "He isn\u2019t the hero"),
        ("gender", "neither male nor known"),
        ("social_class", "no gentleman"),
    ]
    assert [normaliser.take("7:amos", name, said) for name, said in denied] == [None] * len(denied)
    assert normaliser.unknown == len(denied)
    assert normaliser.take("7:amos", "role", "the villain of the tale") == "antagonist"
    assert event_kind("no wedding") is None
    assert notion_name("Theme", "not death at all") is None
