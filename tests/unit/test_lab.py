"""The lab: a pinned sample that notices another text, results that name their model, a table made from them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeLLM
from lab_shelf import put_sample_book

from experiments.brains import study as brains
from experiments.cliff import study as cliff
from experiments.cliff.score import Tally, cliff_of
from experiments.lab import results as kept
from experiments.lab import sample as pinned
from experiments.lab.study import Bench, all_studies
from gutengraph_core.errors import BadText, ModelRefused, NotBuilt, SettingsError
from gutengraph_core.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A mirror and a gold folder that hold the sample book alone."""
    return put_sample_book(tmp_path)


@pytest.fixture
def novel(shelf: Path) -> pinned.Novel:
    return pinned.load_novel(0, gold=shelf, mirror=shelf)


def test_a_pinned_passage_is_found_again_and_another_text_is_refused(
    novel: pinned.Novel, tmp_path: Path
) -> None:
    passages = pinned.pin(novel)
    pinned.save_sample(passages, tmp_path / "sample.json")
    assert pinned.load_sample(tmp_path / "sample.json") == passages
    for passage in passages:
        pinned.check(passage, novel)
        assert len(pinned.standing_in(novel.people, novel.body[passage.start : passage.end])) >= 2
    with pytest.raises(BadText, match=r"Book 0: .*not the pinned one"):
        pinned.check(passages[0], replace(novel, body="x" + novel.body))


def test_a_window_holds_the_words_asked_for_around_the_passage(novel: pinned.Novel) -> None:
    passage = pinned.pin(novel)[1]
    middle = (passage.start + passage.end) // 2
    for words in (50, 500, 2000):
        start, end = novel.around(passage, words)
        assert len(novel.body[start:end].split()) == words
        assert start <= middle <= end
    start, end = novel.around(passage, 10**6)
    assert novel.body[start:end] == novel.body.strip()


def test_the_tracked_sample_is_four_passages_of_each_novel() -> None:
    passages = pinned.load_sample()
    assert len(passages) == 20
    assert {sum(p.book == book for p in passages) for book in {p.book for p in passages}} == {4}


def test_the_tracked_sample_is_what_the_reader_makes_of_the_mirror(mirror: Path, gold: Path) -> None:
    for passage in pinned.load_sample()[::4]:
        pinned.check(passage, pinned.load_novel(passage.book, gold=gold, mirror=mirror))


def test_a_mirror_without_the_novel_is_named(shelf: Path) -> None:
    with pytest.raises(SettingsError, match=r"Book 3: The mirror has no pg3\.txt\. .*--mirror"):
        pinned.load_novel(3, gold=shelf, mirror=shelf)


def test_a_window_counts_each_person_once_and_tells_wrong_from_invented() -> None:
    text = "Esther came. Then Mr. Croft spoke to Miss Esther Quill in the long hall of Thornbury, and Dorcas wept."
    present = pinned.standing_in(
        {"Esther Quill": ("Esther Quill", "Esther"), "Croft": ("Croft",), "Dorcas": ("Dorcas",)}, text
    )
    tally = Tally()
    tally.add(text, present, ["Esther", "Esther Quill", "Mr. Croft", "Thornbury", "Sherlock"])
    assert (tally.right, tally.missed, tally.wrong, tally.invented) == (2, 1, 2, 1)
    assert tally.thirds == [[2, 2], [0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("curve", "cliff_at"),
    [
        ({100: 0.6, 500: 0.5, 1000: 0.1, 2000: 0.0}, 1000),
        ({100: 0.6, 500: 0.1, 1000: 0.5}, None),
        ({100: 0.2, 500: 0.6, 1000: 0.4}, None),
        ({}, None),
    ],
)
def test_the_cliff_is_where_the_score_stays_under_half_its_best(
    curve: dict[int, float], cliff_at: int | None
) -> None:
    assert cliff_of(curve) == cliff_at


def _answering(prompt: str) -> str | Exception:
    """Every third capitalised word is a person, and so is Quarrell; it takes no more than 8,000 characters."""
    if len(prompt) > 8000:
        return ModelRefused("Too long.")
    text = prompt.removeprefix("Text:\n").rpartition("\n\n")[0]
    if "whole sentence is" in prompt:
        opening = prompt.rpartition('"')[2]
        return text[text.index(opening) + len(opening) :][:80]
    people = ["Quarrell", *[word.strip(",.;!?") for word in text.split() if word[:1].isupper()][::3]]
    if "motive" in prompt:
        return json.dumps({"characters": [{"name": n, "role": "", "motive": "", "arc": ""} for n in people]})
    if "objects" in prompt:
        return json.dumps({"names": [{"name": n, "kind": "person"} for n in people]})
    return json.dumps({"people": people})


def test_the_cliff_runs_from_the_sample_to_a_table_and_a_picture(
    shelf: Path, novel: pinned.Novel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cliff, "load_sample", lambda: pinned.pin(novel))
    monkeypatch.setattr(cliff, "LENGTHS", (100, 500, 4000))
    monkeypatch.setattr(cliff, "STRATEGIES", ())
    llm = FakeLLM(_answering, name="scripted")
    told: list[str] = []
    bench = Bench(
        llm=llm,
        settings=settings,
        gold=shelf,
        mirror=shelf,
        passages=2,
        out=shelf,
        command="run",
        say=told.append,
    )
    found = cliff.run(bench)
    by_length = {row["words"]: row for row in found.table if row["asked"] == "list, names"}
    assert by_length[100]["windows"] == by_length[500]["windows"] == 2
    assert by_length[500]["invented"] == 2
    assert by_length[4000]["does not fit"] == 2
    assert by_length[4000]["F1"] is None
    assert found.details["reading"]["500"] == 1.0
    assert (shelf / "cliff-embedded-scripted-0123456789ab.png").stat().st_size > 1000
    assert "2 pinned passages" in found.sample
    assert told[-1].startswith("4000 words, book 0: 6 of 6")


def test_results_of_two_models_stand_side_by_side_and_a_rerun_replaces_its_own(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{kept.BEGIN}\nold\n{kept.END}\nafter\n", encoding="utf-8")
    for name, finding in (("a", "first"), ("b", "other"), ("a", "second")):
        one = kept.results(
            "cliff",
            FakeLLM(name=name).identity,
            command="make lab",
            sample="2 passages",
            finding=finding,
            table=[{"words": 100, "F1": 0.5, "middle": None}],
        )
        kept.save(one, tmp_path)
    assert [one.finding for one in kept.load(tmp_path)] == ["second", "other"]
    plot = kept.plot_path("cliff", str(FakeLLM(name="b").identity), tmp_path)
    plot.write_bytes(b"a picture")
    kept.rewrite_tables(readme, [tmp_path, tmp_path / "never"])
    text = readme.read_text(encoding="utf-8")
    assert "old" not in text
    assert "Not run yet on any model for this table: never." in text
    assert "first" not in text
    assert "| 100 | 0.50 | – |" in text
    assert "embedded:a@0123456789ab: second" in text
    assert text.count("Not run with a real instruct model.") == 2
    assert text.count("![") == 1
    assert f"({tmp_path.name}/{plot.name})" in text
    assert text.startswith("before")
    assert text.endswith("after\n")


def test_who_finds_hardly_anybody_at_any_length_has_no_cliff() -> None:
    curves = {"list": {50: 0.0, 2000: 0.35}, "cloze": {50: 0.8, 2000: 0.7}, "label": {50: 0.9, 2000: 0.3}}
    assert cliff._finding({"list": None, "cloze": None, "label": 2000}, curves) == (
        "list: finds hardly anybody at any length (F1 at most 0.35); cloze: no cliff up to 2000 words; "
        "label: falls off at 2000 words."
    )


def test_a_readme_without_the_marks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the marks"):
        kept.rewrite_tables(tmp_path / "README.md", [])


def test_every_study_says_what_it_asks_and_costs() -> None:
    for study in all_studies():
        assert study.asks.endswith("?")
        assert study.calls(2) > study.calls(1) > 0
        assert study.folder.is_dir()


def _answers(*right: tuple[bool, bool, bool]) -> list[brains.Asked]:
    """Questions that vector, graph and hybrid answer right or wrong."""
    return [
        brains.Asked("an edge answers it", mode, of_mode, True, 0.5, 100, ("edge",) if of_mode else ())
        for one in right
        for mode, of_mode in zip(("vector", "graph", "hybrid"), one, strict=True)
    ]


def _bench(tmp_path: Path, settings: Settings) -> Bench:
    return Bench(
        llm=FakeLLM(name="scripted"),
        settings=settings,
        gold=ROOT / "data" / "sample" / "gold",
        mirror=tmp_path,
        passages=3,
        out=tmp_path,
        command="run",
        say=print,
    )


def test_hybrid_is_called_better_only_where_the_questions_tell(tmp_path: Path, settings: Settings) -> None:
    clear = brains.summary(_bench(tmp_path, settings), _answers(*[(False, True, True)] * 20), books=1)
    assert "hybrid minus vector +1.00 (+1.00 to +1.00): hybrid is better" in clear.finding
    assert "hybrid minus graph +0.00 (+0.00 to +0.00): not separated from noise" in clear.finding
    assert "answered by the graph alone 20" in clear.finding
    close = brains.summary(
        _bench(tmp_path, settings),
        _answers((True, False, False), (False, True, True), (True, True, True)),
        books=1,
    )
    assert close.finding.count("not separated from noise") == 2
    (row,) = [r for r in close.table if r["question"] == "an edge answers it" and r["mode"] == "hybrid"]
    assert row["right"] == pytest.approx(2 / 3)
    assert row["right answers rest on"] == "edge 2"
    assert (tmp_path / "brains-embedded-scripted-0123456789ab.png").stat().st_size > 1000


def test_the_brains_study_needs_a_library(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(NotBuilt, match="None of the gold's books is built"):
        brains.run(_bench(tmp_path, settings))
