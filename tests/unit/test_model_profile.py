"""A model's profile: written by studies, loaded when the pipeline meets the model, overruled by a setting."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner
from fakes import FakeLLM
from small_mirror import put_story
from small_models import Hashes, Words

from experiments.cliff import study as cliff
from experiments.cliff.score import Tally
from experiments.lab import __main__ as command
from experiments.lab.results import BEGIN, END, Results, results
from experiments.lab.separate import chance, separated
from experiments.lab.study import Bench, Study
from gutengraph_assets.assets import extraction as extraction_assets
from gutengraph_assets.assets import library as library_assets
from gutengraph_assets.instance import open_instance
from gutengraph_assets.resources import GutenGraph, models_kept_open
from gutengraph_assets.text.layout import laid_out
from gutengraph_core.doctor import doctor
from gutengraph_core.errors import SettingsError
from gutengraph_core.library import BookRecord, Library
from gutengraph_core.llm import open_llm
from gutengraph_core.llm.compiled import CompiledPrompt, save_compiled
from gutengraph_core.llm.profile import fitted, load_profile, note, profile_path, told
from gutengraph_core.settings import Settings, load_settings

ONE, OTHER = FakeLLM(name="one", digest="a1").identity, FakeLLM(name="other", digest="b2").identity
FOUND = {
    "strategy": "list",
    "window_words": 250,
    "reply_tokens": 2048,
    "layout": "turns",
    "prompt": "exhaustive",
}


def test_a_profile_serves_its_own_model_and_no_other(settings: Settings) -> None:
    note(settings, ONE, {"names": FOUND}, source="sweeps, 2026-11-30")
    served = fitted(settings, ONE)
    assert (served.naming, served.window_words, served.list_reply_tokens) == ("list", 250, 2048)
    assert (served.list_layout, served.list_prompt) == ("turns", "exhaustive")
    assert fitted(settings, OTHER) == settings
    assert profile_path(settings.home, FakeLLM(name="renamed", digest="a1").identity).exists()


def test_what_is_set_wins(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    note(settings, ONE, {"names": FOUND}, source="cliff")
    monkeypatch.setenv("GUTENGRAPH_WINDOW_WORDS", "500")
    served = fitted(load_settings(), ONE)
    assert served.window_words == 500
    assert served.list_layout == "turns"
    profile = load_profile(served.home, ONE)
    assert profile is not None
    assert told(profile, served).count("is set and wins") == 1
    note(served, ONE, {"names": {"layout": "wrapped"}}, source="sweeps")
    assert fitted(served, ONE).list_layout == "wrapped"


def test_a_later_study_adds_and_takes_back(settings: Settings) -> None:
    note(settings, ONE, {"names": {"window_words": 250}}, source="cliff")
    note(settings, ONE, {"names": {"layout": "turns"}, "relations": {"layout": "flat"}}, source="sweeps")
    profile = load_profile(settings.home, ONE)
    assert profile is not None
    assert profile.tasks["names"].sources == {"layout": "sweeps", "window_words": "cliff"}
    note(settings, ONE, {"names": {"window_words": None}}, source="cliff")
    assert fitted(settings, ONE).window_words == settings.window_words
    assert fitted(settings, ONE).list_layout == "turns"


def test_a_damaged_profile_is_named_with_its_remedy(settings: Settings) -> None:
    path = note(settings, ONE, {"names": FOUND}, source="cliff")
    document = json.loads(path.read_text())
    document["tasks"]["names"]["knobs"]["layout"] = "diagonal"
    path.write_text(json.dumps(document))
    with pytest.raises(SettingsError, match=rf"layout.*{re.escape(str(path))}"):
        fitted(settings, ONE)


def test_doctor_shows_it_and_what_wins(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    assert "no study was run on this model here" in CliRunner().invoke(doctor).output
    identity = open_llm("embedded", settings, cache=False).identity
    note(settings, identity, {"names": FOUND}, source="sweeps, 2026-11-30, 20 pinned passages")
    monkeypatch.setenv("GUTENGRAPH_NAMING", "cloze")
    said = CliRunner().invoke(doctor).output
    assert "names layout turns (sweeps, 2026-11-30, 20 pinned passages)" in said
    assert (
        "names strategy list (sweeps, 2026-11-30, 20 pinned passages; GUTENGRAPH_NAMING is set and wins)"
        in said
    )
    profile_path(settings.home, identity).write_text("{")
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 1
    assert "Correct or delete" in result.output


def _listing(prompt: str) -> str:
    text = prompt.removeprefix("Text:\n")
    return json.dumps(
        {"people": sorted(set(re.findall(r"\b(?:Ada|Tom)\b", text))), "places": [], "objects": []}
    )


def test_a_changed_profile_rebuilds_the_names_and_nothing_above(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, library: Library
) -> None:
    put_story(tmp_path / "mirror", 7)
    monkeypatch.setenv("GUTENGRAPH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("GUTENGRAPH_PILOT_WINDOWS", "0")
    monkeypatch.setenv("DAGSTER_HOME", "")
    llm = FakeLLM(_listing)
    with models_kept_open(load_settings()) as models, open_instance(library) as instance:
        models.__dict__ |= {"embedder": Hashes(), "tokenizer": Words(), "llm": llm}
        instance.add_dynamic_partitions("books", ["7"])

        def build() -> BookRecord:
            built = dg.materialize(
                [library_assets.raw_text, library_assets.chunks, extraction_assets.window_names],
                instance=instance,
                partition_key="7",
                resources={"gutengraph": GutenGraph()},
            )
            assert built.success
            return library.record(7)

        first = build()
        assert "Go through the text" not in llm.calls[-1]["prompt"]
        asked = len(llm.calls)
        assert build().steps == first.steps
        assert len(llm.calls) == asked
        note(
            load_settings(),
            llm.identity,
            {"names": {"prompt": "exhaustive", "window_words": 60}},
            source="sweeps",
        )
        changed = build()
        remade = {
            name for name in first.steps if first.steps[name].fingerprint != changed.steps[name].fingerprint
        }
        assert remade == {"window_names"}
        assert "Go through the text" in llm.calls[-1]["prompt"]
        assert changed.counts["windows"] > first.counts["windows"]


def test_the_three_layouts_of_a_window() -> None:
    text = '"I saw _Ada_\nat the pier,"\nsaid Tom.\n\n\n"When?"\n'
    assert laid_out(text, "flat") == '"I saw Ada at the pier," said Tom. "When?"'
    assert laid_out(text, "turns") == '"I saw Ada at the pier," said Tom.\n"When?"'
    assert laid_out(text, "wrapped") == '"I saw Ada\nat the pier,"\nsaid Tom.\n"When?"'


def test_a_difference_counts_only_if_chance_does_not_bring_it() -> None:
    assert chance([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]) == pytest.approx(1 / 32)
    assert separated([1] * 5, [0] * 5)
    assert not separated([1] * 5, [0] * 5, tried=26)
    assert separated([0.6] * 20, [0.5] * 20, tried=26)
    assert chance([0.5, 0.4], [0.5, 0.4]) == 1.0
    assert chance([0.1] * 20, [0.3] * 20) > 0.99
    with pytest.raises(ValueError, match="not the same"):
        chance([1], [1, 2])


def _scored(*each: float) -> Tally:
    return Tally(windows=len(each), each=list(each))


def test_the_cliff_study_names_a_strategy_only_where_it_beats_the_pipelines_own_and_never_a_window(
    settings: Settings, tmp_path: Path
) -> None:
    bench = Bench(
        llm=FakeLLM(),
        settings=settings,
        gold=tmp_path,
        mirror=tmp_path,
        passages=20,
        out=tmp_path,
        command="",
        say=print,
    )
    own, label, short = ("list, names", 500), ("label", 500), ("list, names", 50)
    clear = {own: _scored(*[0.3] * 20), label: _scored(*[0.6] * 20)}
    assert cliff.serves(bench, clear) == {"strategy": "label", "window_words": None}
    few = {own: _scored(0.3, 0.3), label: _scored(0.6, 0.6)}
    assert cliff.serves(bench, few) == {"strategy": None, "window_words": None}
    other_text = {own: _scored(*[0.3] * 20), short: _scored(*[0.9] * 20)}  # 50 words name hardly anybody
    assert cliff.serves(bench, other_text) == {"strategy": None, "window_words": None}


def test_a_study_that_is_run_writes_the_profile_and_the_next_build_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    @dataclass(frozen=True)
    class Elsewhere(Study):
        @property
        def folder(self) -> Path:
            return tmp_path

    def sweep(bench: Bench) -> Results:
        return results(
            "sweeps",
            bench.llm.identity,
            command=bench.command,
            sample="20 pinned passages",
            finding="Turns serve it.",
            table=[],
            profile={"names": {"layout": "turns", "prompt": None}},
        )

    study = Elsewhere(name="sweeps", asks="?", run=sweep, calls=lambda n: n, tokens=(1, 1))
    (tmp_path / "README.md").write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    monkeypatch.setattr(command, "all_studies", lambda: [study])
    monkeypatch.setattr(command, "EXPERIMENTS", tmp_path)
    monkeypatch.setattr(command, "open_llm", lambda spec, settings, cache: FakeLLM())
    outcome = CliRunner().invoke(command.lab, ["run", "sweeps"])
    assert outcome.exit_code == 0, outcome.output
    served = fitted(load_settings(), FakeLLM().identity)
    assert (served.list_layout, served.list_prompt) == ("turns", "terse")
    profile = load_profile(home, FakeLLM().identity)
    assert profile is not None
    assert profile.tasks["names"].sources["layout"].startswith("sweeps, 20")
    assert "Turns serve it." in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "results.json").read_text())[0]["profile"] == {
        "names": {"layout": "turns", "prompt": None}
    }


def test_doctor_says_which_compiled_prompts_are_in_force(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    identity = open_llm("embedded", settings, cache=False).identity
    prompt = CompiledPrompt(
        task="names",
        model="m",
        digest=identity.digest,
        instructions="List.",
        optimiser="MIPROv2",
        trained_on=[84],
    )
    save_compiled(prompt, tmp_path)
    monkeypatch.setenv("GUTENGRAPH_COMPILED_PROMPTS", str(tmp_path))
    assert (
        f"Compiled prompts: names by MIPROv2 on books 84, in {tmp_path}" in CliRunner().invoke(doctor).output
    )
    save_compiled(prompt.model_copy(update={"digest": "ff"}), tmp_path)
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 1
    assert "make lab STUDY=dspy" in result.output
