"""The study of what is embedded with a passage: its heads, and the table that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.retrieval import report, titles
from experiments.retrieval.bench import FIGURES
from gutengraph_core.embedding import open_tokenizer
from gutengraph_core.library import BookRecord
from gutengraph_core.settings import Settings


def test_a_head_stands_before_the_whole_passage_and_is_cut_where_it_is_long() -> None:
    tokenizer = open_tokenizer(Settings())
    record = BookRecord(id=7, title="The Lamp at Harrow Quay")
    head = titles.FORMS["Title — Chapter"](record, "II. The Crossing")
    assert titles._headed(head, "It rained.", tokenizer) == (
        "The Lamp at Harrow Quay — II. The Crossing\nIt rained."
    )
    assert titles._headed("", "It rained.", tokenizer) == "It rained."
    assert titles.FORMS["Title — Chapter"](record, "") == "The Lamp at Harrow Quay"
    long = titles._headed("a very long chapter " * 40, "It rained.", tokenizer)
    assert long.endswith("\nIt rained.")
    assert tokenizer.counts([long])[0] <= titles.HEAD_TOKENS + tokenizer.counts(["It rained."])[0]


def test_the_table_says_how_likely_chance_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "HERE", tmp_path)
    figures = dict.fromkeys(FIGURES, 0.5)
    plain = {**figures, "chunks": 9, "found": {"hybrid": [1, 0, 0, 0]}}
    headed = {**figures, "chunks": 9, "found": {"hybrid": [1, 1, 1, 0]}}
    (tmp_path / "titles.json").write_text(
        json.dumps(
            {
                "embedder": "tiny",
                "books": [7],
                "tokens": 224,
                "questions": 4,
                "date": "2026-11-30",
                "rows": {"the passage alone": plain, "Title — Chapter": headed},
            }
        )
    )
    text = report.write_results()
    assert (tmp_path / "results.md").read_text() == text
    assert "| Title — Chapter | " + " | ".join(["0.500"] * 8) + " |" in text
    assert "answer@5 hybrid +1: 2 of 4 questions won, 0 lost; so large a difference by chance: 0.25" in text
