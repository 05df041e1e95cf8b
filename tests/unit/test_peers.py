"""The peers' benchmark: one text for all, our adapter on what they left, and lines also for those that fail."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.peers import __main__ as peers
from benchmarks.peers import environments
from benchmarks.peers.adapter import counted
from benchmarks.peers.environments import Peer
from benchmarks.peers.excerpt import Excerpt, excerpt, first_words
from benchmarks.peers.job import Output

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"
RECORDED = ROOT / "tests" / "data" / "peers"


@pytest.fixture(scope="module")
def given() -> Excerpt:
    return excerpt(0, 2000, mirror=SAMPLE, gold=SAMPLE / "gold")


def recorded(name: str) -> Output:
    return Output.model_validate_json((RECORDED / f"{name}.json").read_text(encoding="utf-8"))


def test_the_excerpt_ends_with_a_paragraph_and_asks_only_what_stands_in_it(given: Excerpt) -> None:
    whole = excerpt(0, 10**6, mirror=SAMPLE, gold=SAMPLE / "gold")
    assert 2000 <= given.words < 2200
    assert whole.text.startswith(given.text)
    assert whole.text[len(given.text)] == "\n"
    assert (len(given.gold.characters), len(whole.gold.characters)) == (17, 20)
    assert 0 < len(given.gold.questions) < len(whole.gold.questions)
    people = {c.name for c in given.gold.characters} | {p.name for p in given.gold.places}
    assert all({r.a, r.b} <= people for r in given.gold.relations)
    assert first_words("one two\n\nthree four\n\nfive", 3) == "one two\n\nthree four"


def test_a_peer_that_only_names(given: Excerpt) -> None:
    line = counted(recorded("spacy_ner"), given.gold)
    assert (line.names, line.right, line.people_found) == (37, 32, 14)
    assert (line.relations, line.pairs_found, line.answers_right) == (None, None, None)


def test_a_peer_that_was_stopped_while_answering() -> None:
    given = excerpt(0, 1000, mirror=SAMPLE, gold=SAMPLE / "gold")
    line = counted(recorded("gutengraph_run"), given.gold)
    assert (line.stage, line.names, line.right, line.people_found) == ("read", 12, 12, 8)
    assert (line.relations, line.pairs_found, line.answers_right, line.answers) == (10, 14, 3, 4)


@pytest.mark.parametrize("name", ["lightrag_run", "nano_graphrag_run"])
def test_a_peer_that_finds_nobody_answers_nothing_and_is_counted_so(name: str) -> None:
    """What the two came to with a base model of 270M parameters: 'no context' is no answer."""
    given = excerpt(0, 1000, mirror=SAMPLE, gold=SAMPLE / "gold")
    output = recorded(name)
    line = counted(output, given.gold)
    assert (line.names, line.people_found, line.pairs_found, line.answers_right) == (0, 0, 0, 0)
    assert line.answers == len(given.gold.questions) == len(output.answers)
    assert line.stage == "done"


def test_relations_and_answers_are_counted_by_our_rules(given: Excerpt) -> None:
    gold = given.gold
    fact, question = gold.relations[0], gold.questions[0]
    output = Output(
        peer="x",
        version="1",
        stage="done",
        names=[
            (fact.a, "Person"),
            (fact.a.upper(), "person"),
            (fact.b, "PERSON"),
            ("Tide", "concept"),
            ("Xyz", "geo"),
        ],
        relations=[(fact.b, fact.a, "whatever"), ("Xyz", fact.a, "")],
        answers={question.id: f"It was {question.accept_any[0]}.", gold.questions[1].id: "Nobody knows."},
        answer_seconds=[1.0, 3.0],
    )
    line = counted(output, gold, tokens=(10, 2))
    assert (line.names, line.right, line.people_found) == (3, 2, 2)
    assert (line.relations, line.pairs_found) == (2, 1)
    assert (line.answers_right, line.answers, line.answer_seconds) == (1, 2, 2.0)


def run_with(
    runner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, seconds: int = 20
) -> dict[str, object]:
    script = tmp_path / "runner.py"
    script.write_text(runner, encoding="utf-8")
    monkeypatch.setitem(environments.PEERS, "spacy", Peer("Peer", str(script), reads_with_model=False))
    monkeypatch.setattr(peers, "RESULTS", tmp_path / "peers.json")
    monkeypatch.setattr(peers, "HERE", tmp_path)
    command = ["run", "spacy", "--seconds", str(seconds), "--words", "300", "--into", str(tmp_path)]
    done = CliRunner().invoke(peers.peers, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (line,) = json.loads((tmp_path / "peers.json").read_text())
    page = (tmp_path / "peers.md").read_text()
    assert line["note"] in page
    assert page.count("not run on this text yet") == 3
    return dict(line)


HALF = """
import json, sys, time
job = json.load(open(sys.argv[1]))
json.dump({"peer": "Peer", "version": "1", "stage": "read", "names": [["Nobody", "person"]], "read_seconds": 1.0}, open(job["out"], "w"))
"""


def test_a_peer_that_takes_too_long_is_counted_as_far_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = run_with(f"{HALF}\ntime.sleep(60)", tmp_path, monkeypatch, seconds=1)
    assert (line["stage"], line["names"], line["right"]) == ("read", 1, 0)
    assert line["note"] == "stopped after 1 s"


def test_a_peer_that_fails_gets_a_line_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = run_with("raise RuntimeError('no such model')", tmp_path, monkeypatch)
    assert line["stage"] == "started"
    assert "RuntimeError: no such model, before the text was read" in str(line["note"])


def test_a_run_that_is_broken_off_leaves_no_peer_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work: list[int] = []

    class BrokenOff(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            if timeout is not None:
                at_work.append(self.pid)
                raise KeyboardInterrupt
            return super().wait()

    monkeypatch.setattr(subprocess, "Popen", BrokenOff)
    with pytest.raises(AssertionError, match="Aborted"):
        run_with("import time\ntime.sleep(60)", tmp_path, monkeypatch)
    with pytest.raises(ProcessLookupError):
        os.killpg(at_work[0], 0)


def test_other_peoples_code_sees_no_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGSMITH_API_KEY", "a secret")
    seen = peers.environment(environments.PEERS["lightrag"], tmp_path)
    assert "a secret" not in seen.values()
    assert (seen["PATH"], seen["HOME"]) == (os.environ["PATH"], str(tmp_path))


def test_a_peer_that_cannot_be_installed_gets_a_line_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "set_up", lambda peer, folder, say: "ERROR: No matching distribution")
    line = run_with("", tmp_path, monkeypatch)
    assert line["note"] == "cannot be installed: ERROR: No matching distribution"
