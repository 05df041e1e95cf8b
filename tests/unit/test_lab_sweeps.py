"""The sweeps: every way asked, the best told from noise, and what stands behind it when its knobs are doubled."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeLLM
from lab_shelf import bench_on, put_sample_book

from experiments.lab import sample as pinned
from experiments.lab.relation_task import Fact, judge, relation_prompt, wanted
from experiments.sweeps import study as sweeps
from experiments.sweeps.grid import Way, caps_for, default_way, grid, one_at_a_time
from experiments.sweeps.tasks import Score
from gutengraph_core.llm.protocol import Reply
from gutengraph_core.settings import Settings
from gutengraph_query.evaluate.gold import load_gold

NAMED = re.compile(r"Lettice|Kit|Sleath|Rudd|Brock|Trewin|Averill|Quayle|Larkham|Pinnock|Hobday")


class Capped(FakeLLM):
    """Writes a token a character, and no more than it may."""

    def complete(self, prompt: str, *, max_tokens: int, **more: Any) -> Reply:
        reply = super().complete(prompt, max_tokens=max_tokens, **more)
        cut = len(reply.text) > max_tokens
        return replace(
            reply,
            text=reply.text[:max_tokens],
            finish_reason="length" if cut else "stop",
            completion_tokens=min(len(reply.text), max_tokens),
        )


def _reader(prompt: str) -> str:
    """Finds every name where a turn has a line and nothing is to be left out, one elsewhere; fails on long windows."""
    text = prompt.removeprefix("Text:\n").rpartition("\n\n")[0]
    if len(text.split()) > 500:
        return "Once upon a time"
    found = sorted(set(NAMED.findall(text)))
    if "related" in prompt:
        return json.dumps({"relations": []})
    thorough = "leave nobody out" in prompt and '"\n"' in prompt.replace("”", '"').replace("“", '"')
    people = found if thorough else found[:1]
    return json.dumps({"places": ["Nowhere"] * 40 if thorough else [], "people": people, "objects": []})


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return put_sample_book(tmp_path)


@pytest.fixture
def novel(shelf: Path) -> pinned.Novel:
    return pinned.load_novel(0, gold=shelf, mirror=shelf)


def test_the_sweep_finds_the_way_that_serves_and_the_cliff_behind_it(
    shelf: Path, novel: pinned.Novel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = len(novel.body) // 13
    passages = [
        pinned.Passage(0, at * part, at * part + 2000, pinned.sha(novel.body[at * part : at * part + 2000]))
        for at in range(1, 13)
    ]
    monkeypatch.setattr(sweeps, "load_sample", lambda: passages)
    llm = Capped(_reader, name="scripted", context_tokens=8192)
    said: list[str] = []
    found = sweeps.run(bench_on(shelf, llm, settings, passages=12, said=said))
    names = [row for row in found.table if row["task"] == "names"]
    own = next(row for row in names if row[""] == "the pipeline's own")
    best = next(row for row in names if row[""] == "best of the grid")
    assert (best["layout"], best["prompt"]) == ("turns", "exhaustive")
    assert best["cap"] == 1024, "the lowest under which nothing is cut"
    assert best["F1"] > own["F1"] + 0.2
    assert found.profile["names"] == {"layout": "turns", "prompt": "exhaustive", "reply_tokens": 1024}
    assert "better than chance allows" in found.finding
    assert "window doubled: a cliff" in found.finding
    assert "reply cap doubled: a plateau" in found.finding
    assert found.profile["relations"] == {"layout": None, "prompt": None, "reply_tokens": None}
    assert len(found.details["grid"]) == 2 * len(grid(caps_for(8192)))
    assert (shelf / "sweeps-embedded-scripted-0123456789ab.png").stat().st_size > 1000
    # A reply that ended by itself is not asked for again under a higher cap.
    relation_calls = [call for call in llm.calls if "related" in call["prompt"]]
    assert len(relation_calls) == 12 * 6 + 2 * 12
    assert said[0].startswith("names: 1 of 12 windows")


def test_a_reply_that_cannot_be_read_is_worth_nothing_where_there_was_nothing_to_find() -> None:
    none_to_find = Score(right=0, wrong=0, missed=0, f1=1.0)
    own = default_way()
    wordy = replace(own, prompt="exhaustive")
    answers = {
        wordy: [sweeps.Answer(none_to_find, failed=True, cut=True, tokens=256)],
        own: [sweeps.Answer(none_to_find, failed=False, cut=False, tokens=9)],
    }
    assert sweeps._best(answers) == own
    assert sweeps._mean(answers[wordy]) == 0.0


def test_a_cap_that_cuts_shows_as_failure_and_a_cap_too_large_is_left_out() -> None:
    assert caps_for(4096) == (256, 512, 1024, 2048, None)
    assert caps_for(131_072) == (256, 2048, 4096, None)
    ways = one_at_a_time(caps_for(4096))
    assert ways[0] == default_way() == Way("flat", "terse", 256)
    assert len(ways) == 1 + 2 + 1 + 4
    assert len(grid(caps_for(4096))) == 30


def test_relations_are_judged_by_type_and_direction(novel: pinned.Novel, shelf: Path) -> None:
    (gold,) = load_gold(shelf)
    text = (
        "Captain Brock and his boy Dan Brock met Lettice Larkham; Kit Garraway waited, and Mr. Rudd with him."
    )
    here = wanted(novel, gold.relations, text)
    assert {(r.a, r.type, r.b) for r in here} >= {("Captain Nathaniel Brock", "parent_of", "Dan Brock")}
    found = [
        Fact(a="Captain Brock", type="parent_of", b="Dan Brock"),
        Fact(a="Dan Brock", type="parent_of", b="Captain Brock"),
        Fact(a="Lettice Larkham", type="engaged_to", b="Kit Garraway"),
        Fact(a="Kit Garraway", type="engaged_to", b="Lettice Larkham"),
        Fact(a="Sherlock Holmes", type="friend_of", b="Mr. Rudd"),
    ]
    judged = judge(novel, gold.relations, text, found)
    assert (judged.right, judged.wrong, judged.unheard) == (2, 1, 1)
    assert judged.missed == len(here) - 2
    assert judge(novel, (), text, []).f1 == 1.0


def test_the_two_prompts_ask_the_same_of_both_sorts_of_model() -> None:
    for instruct in (True, False):
        terse, exhaustive = (
            relation_prompt("It rained.", instruct=instruct, style=style) for style in ("terse", "exhaustive")
        )
        assert "leave no relation out" in exhaustive
        assert len(terse) < len(exhaustive)
        assert ("parent_of" in terse) is instruct
