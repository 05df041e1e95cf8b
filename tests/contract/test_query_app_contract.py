"""The query graph over the real stores: routes, messages, what it says when it does not know."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import harbour_story as story
import pyarrow as pa
import pytest
from fakes import FakeLLM
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import MemorySaver

from gutengraph_core.errors import EmbedderMismatch, ModelRefused, NotBuilt, SettingsError, UnknownBook
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_core.tables import CHUNKS
from gutengraph_core.vectors import ChunkTable
from gutengraph_query import app as app_module
from gutengraph_query.app import app, build
from gutengraph_query.ask import ask, compare, run
from gutengraph_query.brains import Brains, brains, using
from gutengraph_query.retrieval.passages import Search, find_passages
from gutengraph_query.state import MODES

ROOT = Path(__file__).resolve().parents[2]
NAMES = {" Silas": -1.0, " Agnes": -2.0, " apricots": -0.5, " x": -9.0}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the story twice, for tests that only read."""
    folder = tmp_path_factory.mktemp("built")
    story.build_library(Library(folder), 7, 8)
    return folder


def here(home: Path, llm: FakeLLM | None = None, **settings: Any) -> Brains:
    given = {"path_threshold": 0.2, "passage_threshold": 0.2, **settings}
    return Brains(
        Settings(home=home, **given), embedder=story.ToyEmbedder(), llm=llm or FakeLLM(logprobs=NAMES)
    )


def test_the_graph_has_the_nodes_and_edges_of_the_design() -> None:
    drawn = app.get_graph()
    assert set(drawn.nodes) == {
        "__start__",
        "supervisor",
        "vector_agent",
        "graph_agent",
        "tools_agent",
        "merge",
        "__end__",
    }
    assert {(edge.source, edge.target) for edge in drawn.edges} == {
        ("__start__", "supervisor"),
        ("supervisor", "vector_agent"),
        ("supervisor", "graph_agent"),
        ("vector_agent", "graph_agent"),
        ("vector_agent", "merge"),
        ("graph_agent", "vector_agent"),
        ("graph_agent", "merge"),
        ("supervisor", "tools_agent"),
        ("tools_agent", "__end__"),
        ("merge", "__end__"),
    }


def test_langgraph_json_names_the_app() -> None:
    config = json.loads((ROOT / "langgraph.json").read_text())
    path, _, name = config["graphs"]["gutengraph"].partition(":")
    assert (ROOT / path).samefile(app_module.__file__)
    assert getattr(app_module, name) is app
    assert config["env"] == ".env"
    assert (ROOT / ".env.example").exists()


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        ("vector", ["vector_agent"]),
        ("graph", ["graph_agent"]),
        ("hybrid", ["vector_agent", "graph_agent"]),
        ("auto", ["graph_agent"]),
    ],
)
def test_each_mode_asks_whom_it_should(built: Path, mode: Any, asked: list[str]) -> None:
    state = run(here(built), "Who is the captain of the Kittiwake?", mode=mode, book=7)
    assert state["asked"] == asked
    assert bool(state["vector_results"]) == ("vector_agent" in asked)
    assert bool(state["graph_results"]) == ("graph_agent" in asked)
    assert state["routed_to"] == ("graph" if mode == "auto" else mode)
    assert "Wren" in state["answer"]


def test_auto_goes_on_to_the_other_brain_where_one_finds_too_little(built: Path) -> None:
    looked_up = run(here(built), "Who is the mother of Lucy?", book=7)
    assert (looked_up["routed_to"], looked_up["asked"]) == ("graph", ["graph_agent"])
    near = run(here(built), "Whose aunt is Lucy?", book=7)
    assert [hit["by"] for hit in near["graph_results"]].count("lookup") == 0
    assert (near["routed_to"], near["asked"]) == ("graph", ["graph_agent", "vector_agent"])
    assert near["vector_results"]
    other = run(here(built, passage_threshold=0.99), "What did Silas tell Lucy about the captain?", book=7)
    assert (other["routed_to"], other["asked"]) == ("vector", ["vector_agent", "graph_agent"])
    explicit = run(here(built), "Whose aunt is Lucy?", mode="graph", book=7)
    assert explicit["asked"] == ["graph_agent"]


def test_graph_mode_without_relevant_paths_does_not_know(built: Path) -> None:
    state = run(here(built, path_threshold=0.99), "What does Lucy dream of?", mode="graph", book=7)
    assert state["graph_results"] == []
    assert "no relevant paths" in state["messages"][2].content
    assert (state["known"], state["answer"], state["citations"]) == (False, "The books here do not say.", [])


def test_passages_come_with_their_neighbours_and_by_either_search(library: Library) -> None:
    body = " ".join(f"Sentence {i} of the log." for i in range(6)) + " The lamp was red."
    cuts = [0, 25, 50, 75, 100, 125, len(body)]
    story.build_library(library, 7)
    rows = [
        {
            **story.chunk_rows(7)[0],
            "id": f"9:{i:06d}",
            "gutenberg_id": 9,
            "chunk_index": i,
            "chapter": 1 + i // 3,
        }
        | {"start": a, "end": b, "text": body[a:b]}
        for i, (a, b) in enumerate(pairwise(cuts))
    ]
    embedder = story.ToyEmbedder()
    table = ChunkTable.open(library, embedder.identity)
    chunks = pa.Table.from_pylist(rows, schema=CHUNKS)
    table.replace_book(9, chunks, embedder.embed_documents([row["text"] for row in rows]))
    query = embedder.embed_query(rows[4]["text"])
    for by in ("hybrid", "vector"):
        for neighbours, span in ((0, (100, 125)), (1, (75, len(body))), (3, (75, len(body)))):
            search = Search(k=2, threshold=0.2, neighbours=neighbours, by=by)
            best = find_passages(table, rows[4]["text"], query, search, book=9)[0]
            assert (best["start"], best["end"]) == span  # chapter 2 begins at 75
            assert best["text"] == body[best["start"] : best["end"]]
            assert best["core"] == rows[4]["text"]
            assert best["chunk_id"] == "9:000004"


def test_a_node_that_is_not_near_is_not_entered_by(built: Path) -> None:
    near = run(here(built, path_threshold=0.1), "Which captain commands a ship?", mode="graph", book=7)
    assert near["entry"] is not None
    assert near["entry"]["score"] >= 0.1
    far = run(here(built, path_threshold=0.9), "Which captain commands a ship?", mode="graph", book=7)
    assert far["entry"] is None
    assert not far["known"]


def test_a_walk_brings_the_passages_in_which_its_words_stand(built: Path) -> None:
    state = run(here(built), "What about the marsh fever and Lucy?", mode="graph", book=7)
    places = [(e["start"], e["end"]) for hit in state["graph_results"] for e in hit["edges"]]
    assert {hit["by"] for hit in state["graph_results"]} == {"walk"}
    assert state["graph_passages"]
    for passage in state["graph_passages"]:
        assert any(passage["start"] <= start < passage["end"] for start, _ in places)
    assert "passage" in {c["kind"] for c in state["citations"]}


def test_a_question_about_something_else_is_not_answered(built: Path) -> None:
    state = run(here(built), "Which metals melt below boiling temperatures?", mode="vector")
    assert (state["known"], state["vector_results"]) == (False, [])
    named = run(here(built), "Who is the captain of the Nautilus?", book=7)
    assert not named["known"]
    assert named["answer"] == "The books here do not say. They do not mention Nautilus."
    assert named["citations"] == []


def test_every_node_says_what_it_found(built: Path) -> None:
    state = run(here(built), "Who sat with Lucy?", mode="hybrid", book=7)
    human, *others = state["messages"]
    assert isinstance(human, HumanMessage)
    assert human.content == "Who sat with Lucy?"
    assert all(isinstance(m, AIMessage) and m.content for m in others)
    assert [m.name for m in others] == ["supervisor", "vector_agent", "graph_agent", "merge"]
    assert others[-1].content == state["answer"]
    assert set(state["timings"]) == {"supervisor", "vector_agent", "graph_agent", "merge"}


def test_citations_point_to_what_stands_there(built: Path) -> None:
    state = run(here(built), "Who sat with Lucy?", mode="hybrid", book=7)
    numbers = [int(n) for n in re.findall(r"\[(\d+)\]", state["answer"])]
    cited = {c["n"]: c for c in state["citations"]}
    assert numbers
    assert set(numbers) <= set(cited)
    assert [c["n"] for c in state["citations"]] == list(range(1, len(cited) + 1))
    body = story.body()
    for citation in cited.values():
        assert " ".join(body[citation["start"] : citation["end"]].split()) == citation["text"]
        assert citation["book"] == 7
    assert {c["kind"] for c in cited.values()} == {"passage", "edge"}


def test_a_book_is_kept_to(built: Path) -> None:
    state = run(here(built), "Who are the characters?", mode="hybrid", book=8)
    assert {hit["book"] for hit in state["graph_results"]} == {8}
    assert {p["book"] for p in state["vector_results"]} <= {8}


def test_the_book_is_found_by_the_names_of_the_question(library: Library) -> None:
    story.build_library(library, 7, 8)
    only = {"name": "Peter Lamb", "gender": "M"}
    edge = ("Silas Crane", "friend_of", "Peter Lamb", "the Kittiwake", 0.9)
    story.write_book(library, 8, title="The Quay; Or, Peter", extra_nodes=[only], extra_edges=[edge])
    from gutengraph_core.graph.build import build_merged

    build_merged(library)
    me = here(library.home)
    assert run(me, "Who is a friend of Peter Lamb?")["book"] == 8
    assert run(me, "Who is a friend of Silas?")["book"] is None
    assert run(me, "Who is Lucy's mother in The Quay?")["book"] == 8


def test_questions_do_not_leak_into_one_another(built: Path) -> None:
    memory = build().compile(checkpointer=MemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    with using(here(built)):
        first = memory.invoke({"query": "Who is the captain of the Kittiwake?", "mode": "hybrid"}, thread)
        assert first["graph_results"]
        second = memory.invoke({"query": "What did Silas bring Lucy?", "mode": "vector"}, thread)
        third = memory.invoke(
            {"messages": [HumanMessage("Who is Captain Wren's sister?")], "mode": "graph"}, thread
        )
    assert second["graph_results"] == []
    assert second["asked"] == ["vector_agent"]
    assert set(second["timings"]) == {"supervisor", "vector_agent", "merge"}
    assert len(second["messages"]) > len(first["messages"])  # the talk goes on
    assert third["query"] == "Who is Captain Wren's sister?"
    assert "Agnes" in third["answer"]
    assert third["vector_results"] == []


def test_an_instruct_model_routes_and_writes(built: Path) -> None:
    llm = FakeLLM(['{"route": "hybrid"}', "Captain Wren commands the Kittiwake [1]."], instruct=True)
    answer = ask(here(built, llm), "Who is the captain of the Kittiwake?", book=7)
    assert answer["routed_to"] == "hybrid"
    assert answer["answer"] == "Captain Wren commands the Kittiwake [1]."
    assert answer["tokens"]["calls"] == 2
    assert not answer["tokens"]["estimated"]
    assert answer["model"] == str(llm.identity)


@pytest.mark.parametrize("reply", ["I like ships", '{"route": "both"}', ModelRefused("too long")])
def test_a_route_that_is_none_is_decided_by_rules_and_said(built: Path, reply: Any) -> None:
    llm = FakeLLM([reply, "Captain Wren [1]."], instruct=True)
    state = run(here(built, llm), "Who is the captain of the Kittiwake?", book=7)
    assert state["routed_to"] == "graph"
    assert "by rules" in state["why"]


def test_explicit_modes_ask_no_model_for_the_route(built: Path) -> None:
    llm = FakeLLM(["Captain Wren [1]."], instruct=True)
    run(here(built, llm), "Who is the captain of the Kittiwake?", mode="graph", book=7)
    assert len(llm.calls) == 1


@pytest.mark.parametrize("reply", ["It was Captain Nemo [1].", ModelRefused("the prompt is too long")])
def test_what_the_model_makes_up_is_replaced_by_quotes(built: Path, reply: Any) -> None:
    state = run(
        here(built, FakeLLM([reply], instruct=True)),
        "Who is the captain of the Kittiwake?",
        mode="graph",
        book=7,
    )
    assert "Nemo" not in state["answer"]
    assert "Captain Tobias Wren" in state["answer"]
    assert "quoting instead" in state["messages"][-2].content


def test_compare_gives_three_answers_of_the_documented_shape(built: Path) -> None:
    found = compare(here(built), "Who is the captain of the Kittiwake?", book=7)
    assert set(found) == {"question", "answers"}
    assert list(found["answers"]) == ["vector", "graph", "hybrid"]
    for mode, answer in found["answers"].items():
        assert set(answer) == {
            "question", "mode", "routed_to", "notice", "answer", "known", "citations", "cypher", "entry", "paths", "model",
            "timings", "tokens",
        }  # fmt: skip
        assert answer["mode"] == answer["routed_to"] == mode
        assert answer["timings"]["total"] > 0
    graph = found["answers"]["graph"]
    assert graph["paths"] == ["Captain Tobias Wren -[CAPTAIN_OF]-> Kittiwake"]
    assert graph["entry"] == {"node": "Kittiwake", "score": 1.0}
    assert "RELATED_TO|INTERACTS_WITH" in graph["cypher"]
    json.dumps(found)


def test_long_lists_are_cut(library: Library) -> None:
    many = [{"name": f"Sailor {chr(65 + n)}", "gender": "M"} for n in range(20)]
    edges = [("Silas Crane", "friend_of", f"Sailor {chr(65 + n)}", "the Kittiwake", 0.9) for n in range(20)]
    story.build_library(library, 7)
    story.write_book(library, 7, extra_nodes=many, extra_edges=edges)
    from gutengraph_core.graph.build import build_merged

    build_merged(library)
    answer = ask(here(library.home), "Who are the friends of Silas?", mode="graph", book=7)
    assert "+12 more" in answer["answer"]
    assert len(answer["paths"]) <= 10


def test_bad_questions_are_named(built: Path, library: Library) -> None:
    with pytest.raises(SettingsError, match="'oracle' is no mode"):
        run(here(built), "Who?", mode="oracle")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="no question"):
        run(here(built), "  ")
    with pytest.raises(UnknownBook, match="gutengraph add 99"):
        run(here(built), "Who?", book=99)
    Library(built).update(9, title="Later")
    with pytest.raises(NotBuilt, match=r"Book 9: .*gutengraph build 9"):
        run(here(built), "Who?", book=9)
    for mode in ("vector", "graph"):
        with pytest.raises(NotBuilt, match="gutengraph build"):
            run(here(library.home), "Who is Lucy?", mode=mode)


def test_another_embedder_is_refused(built: Path) -> None:
    from dataclasses import replace

    other = story.ToyEmbedder(replace(story.EMBEDDER, revision="2"))
    for mode in ("vector", "graph"):
        me = Brains(Settings(home=built), embedder=other, llm=FakeLLM(logprobs=NAMES))
        with pytest.raises(EmbedderMismatch, match=r"toy-words@1.*toy-words@2"):
            run(me, "Who is Lucy?", mode=mode)  # type: ignore[arg-type]


def test_the_environment_gives_the_brains_where_none_are_given(
    monkeypatch: pytest.MonkeyPatch, built: Path
) -> None:
    from gutengraph_query import brains as module

    monkeypatch.setenv("GUTENGRAPH_HOME", str(built))
    module._default.cache_clear()
    assert brains().settings.home == built
    assert brains() is brains()
    mine = here(built)
    with using(mine):
        assert brains() is mine
    module._default.cache_clear()


def test_all_modes_are_offered() -> None:
    assert MODES == ("auto", "vector", "graph", "hybrid", "tools")


def test_the_commands_import_nothing_heavy() -> None:
    code = (
        "import sys, gutengraph_query.cli;"
        "heavy = {'torch','kuzu','lancedb','langgraph','pyarrow','numpy','rich'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_app_imports_no_model_and_opens_no_store() -> None:
    code = (
        "import sys, gutengraph_query.app;"
        "heavy = {'torch','lancedb','sentence_transformers','xllamacpp','dagster'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_studio_can_ask_for_the_schemas() -> None:
    assert set(app.get_input_jsonschema()["properties"]) == {
        *("query", "mode", "messages"),
        *("book", "author", "kind", "up_to"),
    }
    contract = {
        "query",
        "mode",
        "routed_to",
        "vector_results",
        "graph_results",
        "cypher",
        "answer",
        "messages",
    }
    assert contract <= set(app.get_output_jsonschema()["properties"])


def test_the_recursion_limit_is_set() -> None:
    assert app.config is not None
    assert app.config["recursion_limit"] < 20
