"""The asking side's commands: documents with --json, readable text without, one clear line where it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import harbour_story as story
import pytest
from click.testing import CliRunner, Result
from fakes import FakeLLM

from gutengraph_core.errors import GutenGraphError, NoBookFits
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query import cli
from gutengraph_query.brains import Brains

GOLD = {
    "gutenberg_id": 7,
    "title": "The Lamp at Harrow Quay",
    "characters": [
        {"name": "Agnes Pell", "aliases": ["Agnes", "Mrs. Agnes Pell"], "importance": "major"},
        {"name": "Captain Wren", "aliases": ["Captain Tobias Wren"], "importance": "major"},
        {"name": "The parrot", "importance": "minor"},
    ],
    "places": [{"name": "Kittiwake"}],
    "relations": [
        {"a": "Agnes Pell", "type": "sibling_of", "b": "Captain Wren"},
        {"a": "Captain Wren", "type": "owner_of", "b": "The parrot"},
    ],
}
QUESTIONS = [
    {
        "id": "7-01", "mode": "graph", "question": "Who is the captain of the Kittiwake?", "accept_any": ["Wren"],
        "min_match": 1, "quote": "Captain Tobias Wren commanded the Kittiwake", "answer_in_quote": True,
    },
    {
        "id": "7-02", "mode": "vector", "question": "What did the parrot speak?", "accept_any": ["Danish"],
        "min_match": 1, "quote": "a parrot", "answer_in_quote": False,
    },
]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    story.build_library(Library(folder), 7)
    return folder


@pytest.fixture
def ready(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands' own brains, with toy models over the real stores."""
    settings = Settings(home=built, path_threshold=0.2, passage_threshold=0.05)
    told = {" Danish": -0.1, " Silas": -1.0, " x": -9.0}
    llm = FakeLLM(logprobs=told)
    monkeypatch.setattr(
        cli, "_brains", lambda *, cache=False: Brains(settings, embedder=story.ToyEmbedder(), llm=llm)
    )


def call(command: click.Command, *args: str) -> Result:
    result = CliRunner().invoke(command, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def document(command: click.Command, *args: str) -> Any:
    return json.loads(call(command, *args, "--json").stdout)


@pytest.mark.usefixtures("ready")
def test_ask() -> None:
    asked = ("Who", "is", "the", "captain", "of", "the", "Kittiwake?")
    found = document(cli.ask, *asked, "--book", "7")
    assert found["question"] == "Who is the captain of the Kittiwake?"
    assert (found["mode"], found["routed_to"], found["known"]) == ("auto", "graph", True)
    assert list(found["citations"][0]) == ["n", "kind", "book", "chapter", "start", "end", "text"]
    shown = call(cli.ask, *asked).stdout
    assert "Captain Tobias Wren is captain of Kittiwake [1]." in shown
    assert "[1] The Lamp at Harrow Quay, I. The Quay:" in shown
    assert "auto, routed to graph" in shown


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("command", [cli.ask, cli.compare])
def test_ask_an_authors_books(command: click.Command) -> None:
    question = "Who is the captain of the Kittiwake?"
    found = document(command, question, "--author", "nonymous", "--kind", "fiction")
    answers = found.get("answers", {"": found}).values()
    assert any("Wren" in answer["answer"] for answer in answers)
    for given, says in (
        (("--author", "Anonymus"), "Did you mean A. Nonymous?"),
        (("--kind", "verse"), "There is fiction."),
    ):
        refused = CliRunner().invoke(command, [question, *given])
        assert isinstance(refused.exception, NoBookFits)
        assert says in str(refused.exception)
    assert "--kind" in CliRunner().invoke(command, [question, "--kind", "novel"]).output


@pytest.mark.usefixtures("ready")
def test_ask_tells_the_model_that_had_a_part() -> None:
    shown = call(cli.ask, "What did the parrot speak?", "--mode", "vector").stdout
    assert "Danish" in shown
    assert "embedded:fake" in shown
    assert "about " in shown


@pytest.mark.usefixtures("ready")
def test_compare() -> None:
    question = "Who is the captain of the Kittiwake?"
    assert list(document(cli.compare, question)["answers"]) == ["vector", "graph", "hybrid"]
    shown = call(cli.compare, question, "--book", "7").stdout
    for part in ("vector", "graph", "hybrid", "CAPTAIN_OF", "I. The Quay"):
        assert part in shown


@pytest.mark.usefixtures("ready")
def test_characters() -> None:
    rows = document(cli.characters, "7")
    assert len(rows) == 5
    assert list(rows[0]) == ["name", "aliases", "standing", "role", "gender", "mentions", "windows"]
    shown = call(cli.characters, "7").stdout
    assert "cast of 5" in shown
    assert "Silas" in shown


@pytest.mark.usefixtures("ready")
def test_relations() -> None:
    rows = document(cli.relations, "7")
    assert len(rows) == 7
    assert list(rows[0]) == ["a", "type", "b", "quote", "start", "end", "chapter", "how", "confidence"]
    assert {"a": "Silas Crane", "type": "boatswain_of", "b": "Kittiwake"}.items() <= next(
        r for r in rows if r["type"] == "boatswain_of"
    ).items()
    shown = call(cli.relations, "7").stdout
    assert "stated" in shown
    assert "likely" in shown


@pytest.mark.usefixtures("ready")
def test_evaluate(tmp_path: Path) -> None:
    for folder in ("novels", "questions"):
        (tmp_path / folder).mkdir()
    (tmp_path / "novels" / "7.json").write_text(json.dumps(GOLD))
    (tmp_path / "questions" / "7.json").write_text(json.dumps({"questions": QUESTIONS}))
    (tmp_path / "novels" / "8.json").write_text(json.dumps({"gutenberg_id": 8, "title": "Absent"}))
    result = call(cli.evaluate, str(tmp_path), "--json")
    assert "question 2 of 2" in result.stderr
    report = json.loads(result.stdout)
    assert list(report) == ["per_book", "total", "foreign", "models", "command", "date"]
    assert report["per_book"]["8"] == {
        "title": "Absent", "built": False, "reason": "It is not in the library.",
    }  # fmt: skip
    scores = report["per_book"]["7"]["scores"]
    foreign = {name: part for name, part in report["total"].items() if name.endswith("foreign_questions")}
    assert {**scores, **foreign} == report["total"]
    assert [part["of"] for part in foreign.values()] == [len(report["foreign"])] * 4 == [10] * 4
    values = {name: (part["hits"], part["of"]) for name, part in scores.items()}
    assert values["recall_main"] == (2, 2)
    assert values["recall_all"] == (2, 3)
    assert values["precision_in_gold"] == (2, 5)
    assert values["relation_recall_pair"] == values["relation_recall_typed"] == (1, 2)
    assert values["passage_hit@5"] == (1, 1)
    assert values["answer@5"] == (2, 2)
    for search in ("vector", "hybrid"):
        assert values[f"hit@5_{search}"] == (1, 1)
        assert values[f"answer@5_{search}"] == (2, 2)
    assert values["answer_graph_on_graph_questions"] == (1, 1)
    assert values["answer_vector"] == values["answer_hybrid"] == values["answer_auto"] == (2, 2)
    assert report["models"]["query_llm"].startswith("embedded:fake")

    assert values["known_hybrid"] == (2, 2)
    assert [values[f"cross_book_names_{mode}"][0] for mode in ("vector", "graph", "hybrid", "auto")] == [
        0
    ] * 4

    shown = call(cli.evaluate, str(tmp_path)).stdout
    assert "says it does not know, hybrid" in shown
    assert "character recall, main" in shown
    assert "answer@5, hybrid search, all books" in shown
    assert "answer@5, vectors alone, all books" in shown
    assert "8: Absent is not built. It is not in the library." in shown


@pytest.mark.usefixtures("ready")
def test_evaluate_with_nothing_built(tmp_path: Path) -> None:
    (tmp_path / "novels").mkdir()
    (tmp_path / "novels" / "8.json").write_text(json.dumps({"gutenberg_id": 8}))
    with pytest.raises(GutenGraphError, match="gutengraph add 8`"):
        call(cli.evaluate, str(tmp_path), "--json")


def test_a_book_that_is_not_in_the_graph_is_named_with_the_reason(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.build_library(library, 7)
    story.write_book(library, 8)
    library.update(8, status="parked", reason="It is not in English.", counts={"chunks": 3}, graph_sha256={})
    from gutengraph_core.graph.build import build_merged

    build_merged(library)
    monkeypatch.setattr(cli, "_brains", lambda *, cache=False: Brains(Settings(home=library.home)))
    with pytest.raises(GutenGraphError, match=r"Book 8: It is not in the published graph.*not in English"):
        call(cli.characters, "8", "--json")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["characters", "5"], "Error: Book 5: It is not in the library. Run `gutengraph add 5`."),
        (["relations", "5", "--json"], "Error: Book 5: It is not in the library."),
        (["ask", "Who is Lucy?", "--mode", "graph"], "No graph has been built yet."),
        (["ask", "Who is Lucy?", "--mode", "oracle"], "Invalid value for '--mode'"),
        (["ask", "Who is Lucy?", "--mode", "tools"], "it cannot call tools. Set GUTENGRAPH_QUERY_LLM"),
        (["ask", " "], "Ask something."),
        (
            ["ask", "why " * 500, "--json"],
            "The question has 1,999 characters; 1,000 is the most. Ask it in fewer words.",
        ),
        (["characters", "--", "-1"], "Invalid value for 'ID': -1 is not in the range"),
        (["ask", "Who?", "--book", "-3", "--json"], "Invalid value for '--book': -3 is not in the range"),
        (["evaluate", "/nowhere"], "does not exist"),
    ],
)
def test_failures_are_one_clear_line(tmp_path: Path, args: list[str], says: str) -> None:
    code = "import sys; from gutengraph_core.cli import main; sys.argv[0] = 'gutengraph'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        text=True,
        timeout=120,
        env={"GUTENGRAPH_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
    )
    assert done.returncode != 0
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    if "--json" not in args:
        assert done.stdout == ""
        return
    failure = json.loads(done.stdout)
    assert set(failure) == {"error", "remedy"}
    assert failure["error"] in " ".join(done.stderr.split())
