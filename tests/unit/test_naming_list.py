"""The list: grounded, counted, retried with something changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from gutengraph_assets.extraction.ledger import Ledger, Summary
from gutengraph_assets.extraction.naming import STEP, name_book
from gutengraph_assets.extraction.prompts.name_list import EXAMPLE_KEYS, list_prompt
from gutengraph_core import names
from gutengraph_core.llm.cache import CachedLLM, ReplyCache
from gutengraph_core.settings import Settings
from tests.fakes import Answer, FakeLLM
from tests.naming_texts import FILLER, windows_of, wrapped

FIRST = f"{FILLER} They saw Esther and Mr. Croft at Thornbury, with the Chronicle in her hand."
SECOND = f"{FILLER} Then Esther wrote to Quill. It was cold at Thornbury."
BODY = wrapped(FIRST, SECOND)
GOOD = {"people": ["Esther", "Mr. Croft"], "places": ["Thornbury"], "objects": ["Chronicle"]}
MORE = {"people": ["Esther", "Quill"], "places": ["Thornbury"], "objects": []}


class Listing:
    """A data folder and a model that answers each window by `answer(text, cap)`."""

    def __init__(self, home: Path, *, words: int = 90) -> None:
        self.home = home
        self.words = words
        self.ledger = Ledger(home / "ledger.jsonl", book=3)
        self.llm = FakeLLM()

    def run(
        self, answer: Callable[[str, int], Answer], *, cached: bool = False, **options: object
    ) -> pa.Table:
        self.llm = FakeLLM(lambda prompt: answer(prompt.rpartition("Text: ")[2], self._cap()), instruct=True)
        llm = CachedLLM(self.llm, ReplyCache(self.home / "replies.sqlite")) if cached else self.llm
        settings = Settings(home=self.home, naming="list", **options)  # type: ignore[arg-type]
        return name_book(BODY, windows_of(BODY, words=self.words), llm, settings, self.ledger, book=3)

    def _cap(self) -> int:
        return int(self.llm.calls[-1]["max_tokens"])

    @property
    def summary(self) -> Summary:
        return self.ledger.summary(STEP)


@pytest.fixture
def listing(home: Path) -> Listing:
    return Listing(home)


def good(text: str, cap: int) -> Answer:
    return json.dumps(GOOD if "Chronicle" in text else MORE)


def kinds(table: pa.Table) -> dict[str, str]:
    return {row["name"]: row["kind"] for row in table.to_pylist()}


def test_names_stand_where_they_are_said_to(listing: Listing) -> None:
    table = listing.run(good)
    assert kinds(table) == {
        "Esther": "person",
        "Mr. Croft": "person",
        "Quill": "person",
        "Thornbury": "place",
        "Chronicle": "thing",
    }
    for row in table.to_pylist():
        assert names.key(BODY[row["start"] : row["end"]]) == names.key(row["name"])
        assert row["how"] == "list"
    assert (listing.summary.asked, listing.summary.kept, listing.summary.grounding_rate) == (2, 7, 1.0)


def test_the_request_carries_schema_and_cap(listing: Listing) -> None:
    listing.run(good, list_reply_tokens=99)
    for call in listing.llm.calls:
        assert call["max_tokens"] == 99
        assert call["schema"]["additionalProperties"] is False
        assert call["schema"]["required"] == ["people", "places", "objects"]


def test_invented_names_and_the_examples_own_are_dropped_and_told_apart(listing: Listing) -> None:
    leaked = "Thessaly Crane"
    assert names.key(leaked) in EXAMPLE_KEYS

    def answer(text: str, cap: int) -> Answer:
        return json.dumps(
            {
                "people": ["Esther", "Zebedee", leaked, "she", "Esther", "cold"],
                "places": [],
                "objects": ["Mr."],
            }
        )

    table = listing.run(answer)
    assert kinds(table) == {"Esther": "person"}
    summary = listing.summary
    assert (
        summary.dropped["not in the text"] == 3 + 1
    )  # Zebedee twice, and the two windows differ in 'cold' and 'Mr.'
    assert summary.dropped["leak"] == summary.leaks == 2
    assert summary.dropped["said twice"] == 2
    assert summary.proposed == summary.kept + sum(summary.dropped.values())


def test_an_examples_name_that_the_window_has_is_no_leak(home: Path) -> None:
    body = wrapped(f"{FILLER} They spoke of Dorcas.")
    llm = FakeLLM(['{"people": ["Dorcas"], "places": [], "objects": []}'], instruct=True)
    ledger = Ledger(home / "l.jsonl")
    table = name_book(body, windows_of(body), llm, Settings(home=home, naming="list"), ledger)
    assert kinds(table) == {"Dorcas": "person"}
    assert ledger.summary(STEP).leaks == 0


def test_the_kind_that_most_windows_gave_wins(listing: Listing) -> None:
    listing.words = 40

    def answer(text: str, cap: int) -> Answer:
        kind = "places" if "Quill" in text else "people"
        return json.dumps({"people": [], "places": [], "objects": [], kind: ["Thornbury", "Esther"]})

    assert kinds(listing.run(answer)) == {"Thornbury": "person", "Esther": "person"}


def test_a_failed_window_is_no_empty_one(listing: Listing) -> None:
    table = listing.run(lambda text, cap: "I cannot." if "Chronicle" in text else json.dumps(MORE))
    assert set(kinds(table)) == {"Esther", "Quill", "Thornbury"}
    assert (listing.summary.failed, listing.summary.empty, listing.summary.no_json) == (1, 0, 1)
    (problem,) = listing.ledger.problems(STEP)
    assert (problem.item, problem.raw) == ("0", "I cannot.")


def test_an_empty_answer_is_no_failure(listing: Listing) -> None:
    listing.run(lambda text, cap: '{"people": [], "places": [], "objects": []}')
    assert (listing.summary.failed, listing.summary.empty) == (0, 2)


def test_a_cut_reply_keeps_its_complete_names_and_is_asked_again_with_twice_the_cap(listing: Listing) -> None:
    def cut(text: str, cap: int) -> Answer:
        if "Chronicle" in text and cap < 300:
            return '{"people": ["Esther", "Mr. Cro', "length"
        return good(text, cap)

    assert "Mr. Croft" not in kinds(listing.run(cut))
    assert listing.summary.truncated == 1
    assert kinds(listing.run(cut))["Mr. Croft"] == "person"
    assert [(call["max_tokens"]) for call in listing.llm.calls] == [512, 256]
    assert listing.summary.truncated == 0


def test_what_is_cut_twice_is_halved_and_then_final(listing: Listing) -> None:
    def always_cut(text: str, cap: int) -> Answer:
        return (
            ('{"people": ["Esther", "', "length")
            if "Chronicle" in text or len(text) < 300
            else good(text, cap)
        )

    for _ in range(2):
        listing.run(always_cut)
    assert listing.ledger.standing(STEP)[0].attempt == 2
    third = listing.run(always_cut)
    items = {e.item: e for e in listing.ledger.standing(STEP)}
    assert items["0"].halved
    assert items["0/0"].cap == items["0/1"].cap == 512
    assert items["0/1"].final
    assert not any(e.to_retry for e in items.values())
    asked = len(listing.llm.calls)
    assert listing.run(always_cut).equals(third)
    assert len(listing.llm.calls) < asked, "what is final is not asked again"
    assert not any("Chronicle" in call["prompt"].rpartition("Text: ")[2] for call in listing.llm.calls)


def test_what_was_no_json_is_halved_at_once(listing: Listing) -> None:
    def fails_whole(text: str, cap: int) -> Answer:
        return "No." if "Chronicle" in text and len(text) > 300 else good(text, cap)

    listing.run(fails_whole)
    table = listing.run(fails_whole)
    assert kinds(table)["Chronicle"] == "thing"
    assert listing.summary.failed == 0
    assert listing.run(fails_whole).equals(table)


def test_only_failed_windows_are_asked_again_warm(listing: Listing) -> None:
    def fails(text: str, cap: int) -> Answer:
        return "No." if "Chronicle" in text else good(text, cap)

    listing.run(fails, cached=True)
    listing.run(fails, cached=True)
    assert all("Chronicle" in c["prompt"] or len(c["prompt"]) for c in listing.llm.calls)
    assert len(listing.llm.calls) == 2, "two halves of the failed window; the good one came from the cache"


@pytest.mark.parametrize("stop_after", [1, 2, 3, 4])
def test_a_killed_run_and_an_undisturbed_one_come_to_the_same(home: Path, stop_after: int) -> None:
    def answer(text: str, cap: int) -> Answer:
        if "Chronicle" in text and len(text) > 300:
            return "No."
        return '{"people": ["Esther", "Quill"], "places": ["Thorn' if "Quill" in text else good(text, cap)

    def three_runs(listing: Listing, *, kill: bool) -> pa.Table:
        for _ in range(3):
            if kill:
                calls = 0

                def dies(text: str, cap: int) -> Answer:
                    nonlocal calls
                    calls += 1
                    if calls == stop_after:
                        raise KeyboardInterrupt
                    return answer(text, cap)

                try:
                    listing.run(dies, cached=True)
                    continue
                except KeyboardInterrupt:
                    pass
            listing.run(answer, cached=True)
        return listing.run(answer, cached=True)

    undisturbed = three_runs(Listing(home / "a", words=60), kill=False)
    assert three_runs(Listing(home / "b", words=60), kill=True).equals(undisturbed)


def test_repair_can_be_switched_off(listing: Listing) -> None:
    fenced = f"```json\n{json.dumps(GOOD)}\n```"
    listing.run(lambda text, cap: fenced)
    assert listing.summary.repairs == {"code fence": 2}
    other = Listing(listing.home / "other")
    other.run(lambda text, cap: fenced, structural_repair=False)
    assert (other.summary.failed, other.summary.repaired) == (2, 0)


def test_a_reply_of_nothing_but_schema_is_a_failed_window(listing: Listing) -> None:
    echo = '{"type": "object", "properties": {"people": {"type": "array"}}}'
    listing.run(lambda text, cap: echo)
    assert (listing.summary.other_shape, listing.summary.empty) == (2, 0)


def test_keys_given_twice_are_counted(listing: Listing) -> None:
    listing.run(lambda text, cap: '{"people": ["Esther"], "people": ["Quill"], "places": [], "objects": []}')
    assert listing.summary.duplicate_keys == 2


def test_an_instruct_model_is_shown_an_example_and_a_base_model_is_not() -> None:
    told = names.key(list_prompt("It rained.", instruct=True))
    asked = names.key(list_prompt("It rained.", instruct=False))
    assert all(key in told for key in EXAMPLE_KEYS)
    assert not any(key in asked for key in EXAMPLE_KEYS)
    assert "it rained" in asked
