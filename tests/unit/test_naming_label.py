"""The labels: every candidate of a window gets one, and only candidates do."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP, name_book
from gutengraph_core import names
from gutengraph_core.settings import Settings
from tests.fakes import FakeLLM
from tests.naming_texts import FILLER, windows_of, wrapped

BODY = wrapped(
    f"{FILLER} They saw Esther and Mr. Croft at Thornbury; it was Hark that she said.",
    f"{FILLER} Then Esther wrote to Quill, and Esther slept.",
    FILLER,
)


def run(home: Path, labels: dict[str, str], *, drop: str = "") -> tuple[pa.Table, Ledger, FakeLLM]:
    def answer(prompt: str) -> str:
        asked = llm.calls[-1]["schema"]["required"]
        return json.dumps({name: labels.get(name, "none") for name in asked if name != drop})

    llm = FakeLLM(answer)
    ledger = Ledger(home / "ledger.jsonl")
    windows = windows_of(BODY, words=80)
    return name_book(BODY, windows, llm, Settings(home=home, naming="label"), ledger), ledger, llm


def test_every_candidate_is_required_and_nothing_else_allowed(home: Path) -> None:
    _, _, llm = run(home, {})
    asked = [call["schema"]["required"] for call in llm.calls]
    assert asked == [["Esther", "Mr. Croft", "Thornbury"], ["Esther", "Quill"]], (
        "a window without any is not asked"
    )
    for call in llm.calls:
        assert call["schema"]["additionalProperties"] is False
        assert set(call["schema"]["properties"]) == set(call["schema"]["required"])


def test_labels_become_mentions_at_their_offsets(home: Path) -> None:
    table, ledger, _ = run(home, {"Esther": "person", "Thornbury": "place", "Quill": "thing"})
    rows = table.to_pylist()
    assert {row["name"]: row["kind"] for row in rows} == {
        "Esther": "person",
        "Thornbury": "place",
        "Quill": "thing",
    }
    assert sum(row["name"] == "Esther" for row in rows) == 3
    assert {row["how"] for row in rows} == {"label"}
    for row in rows:
        assert names.key(BODY[row["start"] : row["end"]]) == names.key(row["name"])
    summary = ledger.summary(STEP)
    assert summary.dropped == {"labelled none": 1}
    assert (summary.proposed, summary.kept, summary.asked) == (5, 4, 2)
    assert summary.proposed == summary.kept + sum(summary.dropped.values())


def test_a_candidate_left_out_is_counted(home: Path) -> None:
    _, ledger, _ = run(home, {"Esther": "person"}, drop="Quill")
    assert ledger.summary(STEP).dropped["not labelled"] == 1
