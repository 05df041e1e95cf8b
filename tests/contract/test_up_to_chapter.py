"""Asking about a book that is half read: nothing of its later chapters is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import harbour_story as story
import pytest
from fakes import FakeLLM

from gutengraph_core.errors import SettingsError
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query.ask import ask, compare, run
from gutengraph_query.brains import Brains
from gutengraph_query.scope import Scope

LATER = ["Marlow", "fever", "Silas", "Crane", "parrot", "spoon"]
"""Names and words that the first chapter does not have."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    story.build_library(Library(folder), 7)
    return folder


def here(home: Path, **settings: Any) -> Brains:
    given = {"path_threshold": 0.05, "passage_threshold": 0.05, **settings}
    llm = FakeLLM(logprobs={" Silas": -0.1, " Dr": -0.2, " Agnes": -3.0, " x": -9.0})
    return Brains(Settings(home=home, **given), embedder=story.ToyEmbedder(), llm=llm)


@pytest.mark.parametrize("mode", ["vector", "graph", "hybrid", "auto"])
@pytest.mark.parametrize(
    "question",
    [
        "Who is engaged to Mrs. Pell?",
        "Who is the boatswain of the Kittiwake?",
        "Who is on the Kittiwake?",
        "Who are the characters?",
        "Who is related to Agnes?",
        "Who sat with Lucy when she lay ill?",
        "What did Silas bring Lucy?",
        "How is Lucy related to Captain Wren?",
        "Where is the story set?",
    ],
)
def test_nothing_of_later_chapters_is_told(home: Path, mode: Any, question: str) -> None:
    state = run(here(home), question, mode=mode, book=7, up_to=1)
    told = {
        key: state[key] for key in ("vector_results", "graph_results", "graph_passages", "entry", "citations")
    }  # type: ignore[literal-required]
    evidence = json.dumps(told)
    answer = state["answer"].replace("They do not mention Silas", "")
    for word in LATER:
        assert word not in evidence
        assert word not in answer
    for hit in (*state["vector_results"], *state["graph_passages"]):
        assert hit["chapter"] <= 1
    assert "up to chapter 1" in state["messages"][1].content


def test_the_whole_book_does_tell_it(home: Path) -> None:
    assert "Marlow" in ask(here(home), "Who is engaged to Mrs. Pell?", mode="graph", book=7)["answer"]
    assert (
        "Marlow" in ask(here(home), "Who is engaged to Mrs. Pell?", mode="graph", book=7, up_to=3)["answer"]
    )


def test_what_has_been_read_is_answered(home: Path) -> None:
    for mode in ("vector", "graph", "hybrid"):
        answer = ask(here(home), "Who is the sister of Captain Wren?", mode=mode, book=7, up_to=1)  # type: ignore[arg-type]
        assert "Agnes" in answer["answer"]
    listed = ask(here(home), "Who are the characters?", mode="graph", book=7, up_to=1)
    assert set(listed["paths"]) == set()
    assert "Lucy" in listed["answer"]


def test_a_name_that_comes_later_is_not_shown(library: Library) -> None:
    """Agnes is 'Mrs. Agnes Pell' from the first page; a later alias of hers must not name her now."""
    story.build_library(library, 7)
    late = {"name": "Lady Marlow", "gender": "F", "aliases": ["Lucy"]}
    story.write_book(library, 7, extra_nodes=[late])
    import pyarrow.parquet as pq

    from gutengraph_core.graph.build import build_merged

    path = library.path(7, "graph/evidence.parquet")
    evidence = pq.read_table(path).to_pylist()
    mention = next(row for row in evidence if row["entity"] == "7:lucy" and row["chapter"] == 1)
    from gutengraph_core import tables
    from gutengraph_core.files import write_table

    import pyarrow as pa  # isort: skip

    evidence.append({**mention, "entity": "7:lady-marlow"})
    write_table(path, pa.Table.from_pylist(evidence, schema=tables.EVIDENCE))
    story.record_hashes(library, 7)
    build_merged(library)
    view = here(library.home).graph(Scope(book=7, up_to=1))
    by_id = {node.id: node for node in view.graph.vectors.nodes}
    assert by_id["7:lady-marlow"].name == "Lucy"
    assert by_id["7:lady-marlow"].aliases == ("Lucy",)
    assert "7:silas-crane" not in by_id


def test_the_book_and_the_chapter_must_be_known(home: Path) -> None:
    with pytest.raises(SettingsError, match="--book"):
        run(here(home), "What happens at sea?", up_to=1)
    with pytest.raises(SettingsError, match="chapters go to 3"):
        run(here(home), "Who is Lucy?", book=7, up_to=9)


def test_the_comparison_keeps_to_it(home: Path) -> None:
    found = compare(here(home), "Who is engaged to Mrs. Pell?", book=7, up_to=1)
    assert "Marlow" not in json.dumps(found)


def test_a_model_is_given_no_query_of_its_own(home: Path) -> None:
    llm = FakeLLM(["Nobody has said so far [1]."] * 3, instruct=True)
    me = Brains(Settings(home=home, path_threshold=0.05), embedder=story.ToyEmbedder(), llm=llm)
    run(me, "Whom has everybody in Harrow Quay forgotten?", mode="graph", book=7, up_to=1)
    assert all("READY QUERIES" not in (call["system"] or "") for call in llm.calls)
