"""Prompts compiled over our own protocol: what the optimiser tries is what the artefact says, and what the pipeline asks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import FakeLLM
from lab_shelf import bench_on, put_sample_book

from experiments.dspy import study as compiling_study
from experiments.dspy.split import split
from experiments.dspy.tasks import Case, NamingTask
from experiments.lab import sample as pinned
from gutengraph_assets.extraction.listing import ListNaming
from gutengraph_assets.extraction.naming import choose_strategy
from gutengraph_assets.extraction.windowed import Part
from gutengraph_core.errors import ModelUnreachable, SettingsError
from gutengraph_core.settings import Settings

dspy = pytest.importorskip(
    "dspy", reason="DSPy is missing: .venv/bin/python -m pip install -c constraints.txt -e '.[lab]'"
)

BETTER = "List every last soul that the text names."


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample book under three numbers, so that there are books to hold out."""
    put_sample_book(tmp_path)
    passages = []
    for number in (1, 2, 3):
        for folder, name in (("cache/epub/{}", "pg{}.txt"), ("novels", "{}.json"), ("questions", "{}.json")):
            source = tmp_path / folder.format(0) / name.format(0)
            target = tmp_path / folder.format(number) / name.format(number)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8")
            target.write_text(
                re.sub(r'"gutenberg_id": *0', f'"gutenberg_id": {number}', text), encoding="utf-8"
            )
        passages += pinned.pin(pinned.load_novel(number, gold=tmp_path, mirror=tmp_path))
    for path in (tmp_path / "novels" / "0.json", tmp_path / "questions" / "0.json"):
        path.unlink()
    monkeypatch.setattr(compiling_study, "load_sample", lambda: passages)
    return tmp_path


class Scripted(FakeLLM):
    """Finds two names of three by an own prompt, all of them once it is told `BETTER` or shown an example, and proposes
    `BETTER` when it is asked for a better instruction."""

    def __init__(
        self, people: pinned.Named, *, instruct: bool = True, fails: Exception | None = None
    ) -> None:
        super().__init__(self._answer, name="scripted", instruct=instruct)
        self._people = people
        self._fails = fails

    def _answer(self, prompt: str) -> str | Exception:
        if self._fails is not None:
            return self._fails
        if "Relations:" in prompt or "related?" in prompt:
            return json.dumps({"relations": []})
        if prompt.endswith("Names:") or "Answer as JSON" in prompt:
            text = prompt.removesuffix("\nNames:").rpartition("Text: ")[2].removeprefix("Text:\n")
            present = sorted(pinned.standing_in(self._people, text))
            taught = BETTER in prompt or (prompt.count("Names:") > 1 and "Thessaly Crane" not in prompt)
            people = present if taught else present[: max(1, 2 * len(present) // 3)]
            return json.dumps({"people": people, "places": [], "objects": []})
        asked = dict.fromkeys(re.findall(r"`\[\[ ## (\w+) ## \]\]`", prompt.rpartition("Respond with")[2]))
        told = {"proposed_instruction": BETTER}
        return "\n\n".join(f"[[ ## {name} ## ]]\n{told.get(name, 'A program.')}" for name in asked)


@pytest.fixture
def people(shelf: Path) -> pinned.Named:
    return pinned.load_novel(1, gold=shelf, mirror=shelf).people


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.dspy.compiling.TRIALS", 4)
    monkeypatch.setattr("experiments.dspy.compiling.CANDIDATES", 2)


@pytest.mark.usefixtures("few")
def test_what_is_compiled_is_scored_on_other_books_and_loads_into_the_pipeline(
    shelf: Path, people: pinned.Named, settings: Settings
) -> None:
    llm = Scripted(people)
    found = compiling_study.run(bench_on(shelf, llm, settings, passages=12))
    rows = {row["prompt"]: row for row in found.table if row["task"] == "names"}
    assert rows["the pipeline's own"]["validation"] < rows["MIPROv2"]["validation"] == 1.0
    assert rows["BootstrapFewShot"]["examples"] == 2
    kept = next(row for row in rows.values() if row["held out"] == 1.0)
    assert kept["cases"] == 4
    assert "books 1 to compile on, 2 to choose by, 3 held out" in found.sample
    assert "not separated from noise" in found.finding, "four windows tell nothing apart"
    assert "cypher: not compiled, book 1 is not built" in found.finding
    folder = settings.home / "prompts" / "embedded-scripted-0123456789ab"
    assert (
        "GUTENGRAPH_COMPILED_PROMPTS=$GUTENGRAPH_HOME/prompts/embedded-scripted-0123456789ab" in found.finding
    )

    artefact = json.loads((folder / "names.json").read_text(encoding="utf-8"))
    assert (artefact["digest"], artefact["trained_on"]) == (llm.identity.digest, [1, 2])
    assert len(artefact["scores"]["held_out_compiled"]) == 4
    use = settings.model_copy(update={"compiled_prompts": folder})
    novel = pinned.load_novel(2, gold=shelf, mirror=shelf)
    window = novel.around(compiling_study.load_sample()[4], pinned.WORDS)
    own, compiled = choose_strategy(llm, settings), choose_strategy(llm, use)
    assert isinstance(compiled, ListNaming)
    assert compiled.options != own.options, "another prompt makes the names anew"
    prompt = compiled.request(Part("0", 0, 1, *window), novel.body).prompt
    assert prompt.startswith(artefact["instructions"])
    asked = [call["prompt"] for call in llm.calls]
    assert asked.count(prompt) >= 2, "by the optimiser, and by the score on the validation book"


@pytest.mark.usefixtures("few")
def test_a_base_model_gets_examples_and_no_instructions(
    shelf: Path, people: pinned.Named, settings: Settings
) -> None:
    found = compiling_study.run(bench_on(shelf, Scripted(people, instruct=False), settings, passages=12))
    assert "MIPROv2 refused: a base model writes no instructions" in found.finding
    assert "cypher: refused" in found.finding
    assert {row["prompt"] for row in found.table} == {"the pipeline's own", "BootstrapFewShot"}


def test_a_server_that_dies_is_no_bad_example(shelf: Path, people: pinned.Named, settings: Settings) -> None:
    llm = Scripted(people, fails=ModelUnreachable("It is gone."))
    task = NamingTask()
    case = Case(1, "Kit came.", None)
    from experiments.dspy.compiling import compile_task

    with pytest.raises(ModelUnreachable, match="gone"):
        compile_task(task, llm, "BootstrapFewShot", train=[case] * 5, validate=[])
    assert len(llm.calls) == 1, "it is not asked again"


def test_books_are_split_and_too_few_refused() -> None:
    parts = split([1661, 84, 2701, 120, 1342])
    assert (parts.train, parts.validate, parts.held_out) == ((84, 120), (1342,), (1661, 2701))
    with pytest.raises(SettingsError, match="three gold novels"):
        split([84, 120])
