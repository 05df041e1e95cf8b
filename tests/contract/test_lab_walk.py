"""The studies of the graph walk and of the Cypher prompt over a real small graph, with scripted models."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import harbour_story as story
import pytest
from fakes import FakeLLM
from ollama_standin import ollama_standin, recording

from experiments.cypher import study as cypher
from experiments.lab.study import Bench
from experiments.walk import study as walk
from experiments.walk.forms import system
from gutengraph_core import embedding
from gutengraph_core.embedding.thresholds import path_threshold
from gutengraph_core.library import Library
from gutengraph_core.llm import open_llm
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings

QUESTIONS = [
    {
        "id": "1",
        "mode": "graph",
        "question": "Who is the boatswain of the Kittiwake?",
        "accept_any": ["Silas"],
    },
    {"id": "2", "mode": "graph", "question": "Whose daughter is Lucy?", "accept_any": ["Agnes"]},
    {"id": "3", "mode": "graph", "question": "Who commands the Kittiwake?", "accept_any": ["Wren", "Tobias"]},
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk")
    story.build_library(Library(folder / "home"), 7)
    for name, document in (
        ("novels", {"gutenberg_id": 7, "title": "The Lamp"}),
        ("questions", {"gutenberg_id": 7, "questions": QUESTIONS}),
    ):
        (folder / "gold" / name).mkdir(parents=True)
        (folder / "gold" / name / "7.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def bench(built: Path, tmp_path: Path, llm: LLM, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(embedding, "open_embedder", lambda settings: story.ToyEmbedder())
    home = shutil.copytree(built / "home", tmp_path / "home")
    return Bench(
        llm=llm,
        settings=Settings(home=home),
        gold=built / "gold",
        mirror=tmp_path,
        passages=5,
        out=tmp_path,
        command="run",
        say=lambda line: None,
    )


def test_the_walk_study_counts_paths_tokens_and_answers_and_keeps_a_threshold(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = bench(built, tmp_path, FakeLLM(name="scripted"), monkeypatch)
    found = walk.run(at)
    by = {(r["hops"], r["threshold"]): r for r in found.table}
    lowest = min(r["threshold"] for r in found.table)
    one, four = by[1, lowest], by[4, lowest]
    assert 0 < one["paths"] < four["paths"]
    assert one["as JSON"] > one["tokens"]
    assert four["paths hold the answer"] == 1.0
    assert one["right"] >= 2 / 3
    high = max(r["threshold"] for r in found.table)
    assert by[1, high]["paths"] < one["paths"]
    assert "this model reads neither" in found.finding
    assert (tmp_path / "walk-embedded-scripted-0123456789ab.png").stat().st_size > 1000
    threshold = path_threshold(at.settings, story.EMBEDDER)
    assert threshold.value == found.details["threshold"]["kept"]
    assert "experiments/walk on this data folder" in threshold.source
    assert by[2, f"{threshold.value:.2f}"]["foreign with a path"] == "0 of 10"
    assert one["right by JSON"] is None


def test_thresholds_are_the_very_numbers_that_settings_hold() -> None:
    path = SimpleNamespace(score=0.5701)
    node = SimpleNamespace(walks={2: SimpleNamespace(walks=[path])})
    assert walk.levels_of([node], 2) == [0.57] * len(walk.QUANTILES)  # type: ignore[list-item]
    peak = SimpleNamespace(best=0.57, entries=[path])
    assert walk.threshold_of([peak]) == 0.58  # type: ignore[list-item]


def test_a_threshold_between_two_steps_has_a_row_of_its_own(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = bench(built, tmp_path, FakeLLM(name="scripted"), monkeypatch)
    lowest = walk.run(at).details["threshold"]["kept"]
    between = at.settings.model_copy(update={"path_threshold": lowest + 0.004})
    found = walk.run(replace(at, settings=between))
    shown = [row["threshold"] for row in found.table if row["hops"] == 2]
    assert {f"{lowest:.2f}", f"{lowest + 0.004:g}"} <= set(shown)
    assert len(set(shown)) == len(shown)


def test_an_instruct_model_is_shown_both_forms(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(prompt: str) -> str:
        """It reads JSON alone."""
        return "Silas Crane and Agnes and Wren [1]." if '{"a": ' in prompt else "NOT IN EVIDENCE"

    llm = FakeLLM(reply, instruct=True, name="scripted")
    found = walk.run(bench(built, tmp_path, llm, monkeypatch))
    lowest = min(r["threshold"] for r in found.table)
    (row,) = [r for r in found.table if (r["hops"], r["threshold"]) == (2, lowest)]
    assert row["right by JSON"] > row["right"] == 0.0
    assert {call["system"] for call in llm.calls} == {system("arrows"), system("json")}


def test_an_unknown_embedder_says_that_it_was_never_measured(tmp_path: Path) -> None:
    found = path_threshold(Settings(home=tmp_path), story.EMBEDDER)
    assert (found.value, "never measured for toy-words" in found.source) == (0.43, True)
    assert path_threshold(Settings(home=tmp_path, path_threshold=0.2), story.EMBEDDER).value == 0.2


def test_a_base_model_is_refused_for_cypher(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = FakeLLM(name="scripted")
    found = cypher.run(bench(built, tmp_path, llm, monkeypatch))
    assert "it is refused" in found.finding
    assert (found.table, llm.calls) == ([], [])


RIGHT = (
    "MATCH (c:Character)-[r:INTERACTS_WITH]->(l:Location) WHERE r.type <> 'lives_in' RETURN c.name, l.name"
)
BACKWARD = "MATCH (c:Location)-[r:INTERACTS_WITH]->(l:Character) RETURN c.name"
BROKEN = "MATCH (c:Character RETURN c"


def test_the_cypher_study_tells_valid_from_directed_from_right(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Scripted(FakeLLM):
        """Right where the rule stands first, backward where it stands last, broken between; no pairs: no JSON."""

        def complete(self, prompt: str, *, max_tokens: int, system: str | None = None, **more: Any) -> Any:
            assert system is not None
            first, last = "1. Follow the arrows" in system, system.rstrip().endswith("finds nothing.")
            statement = RIGHT if first else BACKWARD if last else BROKEN
            self._replies = lambda _: json.dumps({"cypher": statement}) if "DIALECT" in system else "no"
            return super().complete(prompt, max_tokens=max_tokens, system=system, **more)

    found = cypher.run(bench(built, tmp_path, Scripted(instruct=True, name="scripted"), monkeypatch))
    assert len(found.table) == 12
    assert (tmp_path / "cypher-embedded-scripted-0123456789ab.png").stat().st_size > 1000
    by = {(r["critical rule"], r["schema"], r["pairs"]): r for r in found.table}

    def shares(*form: str) -> tuple[float, ...]:
        row = by[form]
        return tuple(round(float(row[name]), 2) for name in ("valid", "right in direction", "right"))

    assert shares("first", "arrows", "with") == (1.0, 1.0, 0.67)
    assert shares("last", "prose", "with") == (1.0, 0.0, 0.0)
    assert shares("middle", "arrows", "with") == (0.0, 0.0, 0.0)
    assert shares("first", "arrows", "without") == (0.0, 0.0, 0.0)
    assert "rule last, arrows, with pairs -0.67" in found.finding


def test_the_cypher_study_runs_on_a_server_that_speaks_ollamas_api_and_goes_on_from_the_cache(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ollama_standin(instruct=True) as server:
        recorded = server.answer

        def answer(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
            if path != "/api/chat":
                return recorded(method, path, body)
            assert body["messages"][0]["role"] == "system"
            reply = recording("chat-schema-list")["response"]["body"]
            reply["message"]["content"] = json.dumps({"cypher": RIGHT})
            read = sum(len(message["content"]) for message in body["messages"])
            return 200, reply | {"done_reason": "stop", "prompt_eval_count": read, "eval_count": 20}

        monkeypatch.setattr(server, "answer", answer)
        at = bench(built, tmp_path, FakeLLM(), monkeypatch)
        served = at.settings.model_copy(update={"ollama_host": server.url})
        with_model = open_llm("ollama:gemma3-270m", served, cache=True)
        at = replace(at, llm=with_model, settings=served)
        found = cypher.run(at)
        assert found.model.startswith("ollama:gemma3-270m")
        assert {row["right in direction"] for row in found.table} == {1.0}
        arrows, prose = (
            next(r["tokens"] for r in found.table if r["schema"] == form) for form in ("arrows", "prose")
        )
        assert arrows != prose
        asked = len(server.asked)
        cypher.run(at)
        assert len(server.asked) == asked
        with_model.close()


def test_a_threshold_that_foreign_questions_reach_is_raised_and_another_stays(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = bench(built, tmp_path, FakeLLM(name="scripted"), monkeypatch)
    low = at.settings.model_copy(update={"path_threshold": 0.01})
    raised = walk.run(replace(at, settings=low)).details["threshold"]
    assert raised["kept"] > raised["before"]["value"] == 0.01
    high = at.settings.model_copy(update={"path_threshold": 0.6})
    assert walk.run(replace(at, settings=high)).details["threshold"]["kept"] == 0.6
