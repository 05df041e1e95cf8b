"""The judge: scored on relations read by hand, refused below a stated agreement, each verdict on disk and on a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeLLM
from lab_shelf import bench_on, put_sample_book
from ollama_standin import ollama_standin, recording
from sklearn.metrics import cohen_kappa_score

from experiments.judge import claims as claims_module
from experiments.judge import study as judging
from experiments.judge.agreement import agreement, kappa
from experiments.judge.claims import Claim, around, hand_read
from experiments.judge.verdicts import Judged
from experiments.lab.sample import load_novel
from gutengraph_core.errors import BadText, NotBuilt, SettingsError
from gutengraph_core.llm import open_llm
from gutengraph_core.settings import Settings

TRUE = [("Kit Garraway", "loves", "Lettice Larkham"), ("Captain Brock", "captain_of", "Fair Penitent")]
FALSE = [("Lionel Sleath", "spouse_of", "Miss Larkham"), ("Ben Quayle", "owner_of", "Fair Penitent")]


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample book, and relations of it as if read by hand."""
    put_sample_book(tmp_path)
    body = load_novel(0, gold=tmp_path, mirror=tmp_path).body
    rows = []
    for verdict, triples in (("right", TRUE), ("wrong", FALSE)):
        for a, kind, b in triples:
            for nth in range(4):
                at = body.index(a.split()[-1], nth * len(body) // 8)
                rows.append(_row(a, kind, b, at, verdict))
    path = tmp_path / "judged.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.setattr(judging, "hand_read", lambda mirror, each: hand_read(mirror, each, path))
    return tmp_path


def _row(a: str, kind: str, b: str, at: int, verdict: str) -> dict[str, Any]:
    return {
        "book": 0,
        "chapter": 1,
        "start": at,
        "end": at + 40,
        "a": a,
        "type": kind,
        "b": b,
        "how": "pattern:x",
        "confidence": 0.9,
        "verdict": verdict,
    }


def _ruling(prompt: str, *, good: bool) -> str:
    false = any(a in prompt and kind.replace("_", " ") in prompt for a, kind, _ in FALSE)
    return json.dumps({"reason": "<b>It says so.</b>", "verdict": "wrong" if good and false else "right"})


def test_a_judge_that_agrees_judges_the_library(
    shelf: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = FakeLLM(lambda prompt: _ruling(prompt, good=True), name="reader", instruct=True)
    bench = bench_on(shelf, llm, settings)
    with pytest.raises(NotBuilt, match="gutengraph build"):
        judging.run(bench)
    text = "Kit walked on. Then he kissed Lettice Larkham, and the gulls cried."
    of_library = [
        Claim(0, 3, "Kit", kind, "Lettice Larkham", text, 15, 45, confidence=sure)
        for kind, sure in (("loves", 0.95), ("engaged_to", 0.6))
    ] + [Claim(0, 2, *FALSE[0], text, 0, 14, confidence=0.6)]
    monkeypatch.setattr(judging, "of_library", lambda here, books, each: of_library)
    found = judging.run(bench)
    assert "agrees with whoever read by hand on 1.00 of 16 relations, kappa 1.00" in found.finding
    assert "2 of 3 relations are right, precision 0.67" in found.finding
    stated = next(row for row in found.table if row["relations"] == "library, stated: judged right")
    assert (stated["of"], stated["right"]) == (1, 1)
    folder = settings.home / "experiments" / "judge-embedded-reader-0123456789ab"
    written = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    assert len(written) == 19
    assert all(one["reason"] for one in written)
    page = (folder / "verdicts.html").read_text(encoding="utf-8")
    assert page.count("<details") == 19
    assert "&lt;b&gt;It says so." in page
    assert "<mark>Then he kissed Lettice Larkham</mark>" in page
    assert "class=differs" not in page


def test_relations_without_a_verdict_are_told() -> None:
    claim = Claim(0, 3, "Kit", "loves", "Lettice Larkham", "Kit walked on.", 0, 3, confidence=0.95)
    read = [Judged(claim, verdict, "") for verdict in ("right", None, None)]
    assert judging._precision(read).endswith("2 of 3 got no verdict and are left out.")
    (every, stated, likely) = judging._library_rows(read)
    assert (every["of"], every["no verdict"], stated["no verdict"], likely["no verdict"]) == (1, 2, 2, 0)
    assert judging._precision(read[1:]) == "no precision; 2 of 2 got no verdict and are left out."


def test_a_judge_that_says_yes_to_all_is_refused_and_shown(shelf: Path, settings: Settings) -> None:
    llm = FakeLLM(lambda prompt: _ruling(prompt, good=False), name="yes")
    found = judging.run(bench_on(shelf, llm, settings))
    assert "kappa 0.00" in found.finding
    assert "It is refused as a judge; no gold novel is built here to go by." in found.finding
    assert found.details["accepted"] is False
    page = settings.home / "experiments" / "judge-embedded-yes-0123456789ab" / "verdicts.html"
    assert page.read_text(encoding="utf-8").count("class=differs") == 8


def test_the_judge_runs_on_a_server_that_speaks_ollamas_api(
    shelf: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "of_library", lambda here, books, each: [])
    with ollama_standin(instruct=True) as server:
        recorded = server.answer

        def answer(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
            if path != "/api/chat":
                return recorded(method, path, body)
            prompt = body["messages"][-1]["content"]
            assert body["format"]["properties"]["verdict"]["enum"] == ["right", "wrong"]
            reply = recording("chat-schema-list")["response"]["body"]
            reply["message"]["content"] = _ruling(prompt, good=True)
            return 200, reply | {"done_reason": "stop", "prompt_eval_count": len(prompt), "eval_count": 20}

        monkeypatch.setattr(server, "answer", answer)
        served = settings.model_copy(update={"ollama_host": server.url})
        llm = open_llm("ollama:gemma3-270m", served)
        found = judging.run(bench_on(shelf, llm, served))
        assert "kappa 1.00" in found.finding
        assert found.instruct
        assert found.digest
        asked = len(server.asked)
        assert asked > 10
        judging.run(bench_on(shelf, llm, served))
        assert len(server.asked) == asked, "all from the cache"
        llm.close()


def test_replies_without_a_verdict_agree_with_nobody(shelf: Path, settings: Settings) -> None:
    found = judging.run(bench_on(shelf, FakeLLM(lambda prompt: "I cannot say."), settings))
    assert found.details == {"accepted": False, "without a verdict": 16, "library built by": []}
    assert found.table[0]["agreement"] == 0.0


def test_kappa_is_scikit_learns() -> None:
    hand = ["right", "right", "wrong", "wrong", "right", "wrong", "wrong"]
    judge = ["right", "wrong", "wrong", "wrong", "right", "right", "wrong"]
    assert kappa(list(zip(hand, judge, strict=True))) == pytest.approx(cohen_kappa_score(hand, judge))
    assert kappa([("right", "right")]) == 0.0
    agreed = agreement([("right", "right"), ("wrong", "wrong")] * 10)
    assert agreed.enough
    assert agreed.interval[0] == 1.0
    assert not agreement([("right", "right"), ("wrong", "wrong"), ("wrong", "right")] * 4).enough


def test_a_passage_holds_its_sentence_and_whole_words() -> None:
    body = "word " * 400 + "Here it stands. " + "more " * 400
    start = body.index("Here")
    passage, left, right = around(body, start, start + 15)
    assert passage[left:right] == "Here it stands."
    assert set(passage.split()) == {"word", "Here", "it", "stands.", "more"}
    assert around("short text", 0, 5) == ("short text", 0, 5)


def test_another_edition_or_mirror_is_refused(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--mirror"):
        hand_read(tmp_path / "nowhere", 2, shelf / "judged.jsonl")
    rows = [_row("Sherlock Holmes", "friend_of", "Watson", 100 * n, "right") for n in range(5)]
    (shelf / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(BadText, match="not those that were read"):
        hand_read(shelf, 2, shelf / "other.jsonl")


def test_the_tracked_relations_stand_where_they_were_read(mirror: Path) -> None:
    found = hand_read(mirror, 6)
    assert [claim.by_hand for claim in found] == ["right"] * 6 + ["wrong"] * 6
    assert claims_module.HAND_READ.exists()
