"""The graph agent's Cypher over real Kuzu with a scripted model: not run with a real instruct model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harbour_story as story
import pytest
from fakes import FakeLLM

from experiments.dspy.tasks import CypherTask, question_case
from gutengraph_core.errors import ModelRefused, WrongModel
from gutengraph_core.library import Library
from gutengraph_core.llm.compiled import CompiledPrompt, Demo, save_compiled
from gutengraph_core.settings import Settings
from gutengraph_query.ask import ask, run
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import GoldQuestion
from gutengraph_query.prompts.cypher import CypherReply

OPEN = "Whom has everybody in Harrow Quay forgotten?"  # no lookup and no ready query fits it
RIGHT = (
    "MATCH (c:Character)-[r:INTERACTS_WITH]->(l:Location) WHERE r.type = 'boatswain_of' RETURN c.name, l.name"
)
ANSWER = "Silas Crane it was [1]."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    story.build_library(Library(folder), 7, 8)
    return folder


@pytest.fixture
def scripted(home: Path) -> Iterator[Any]:
    opened: list[Brains] = []

    def make(*replies: Any) -> tuple[Brains, FakeLLM]:
        llm = FakeLLM(
            [r if isinstance(r, str | Exception) else json.dumps(r) for r in replies], instruct=True
        )
        here = Brains(
            Settings(home=home, path_threshold=0.2, passage_threshold=0.2),
            embedder=story.ToyEmbedder(),
            llm=llm,
        )
        opened.append(here)
        return here, llm

    yield make
    for here in opened:
        here.worker.close()


def test_the_models_cypher_is_run_and_shown(scripted: Any) -> None:
    here, llm = scripted({"template": "none", "cypher": RIGHT}, ANSWER)
    answer = ask(here, OPEN, mode="graph", book=7)
    assert answer["cypher"] == f"{RIGHT} LIMIT 50"
    assert answer["answer"] == ANSWER
    assert answer["tokens"]["calls"] == 2
    assert answer["citations"][0]["text"] == "Silas Crane, the boatswain of the Kittiwake"
    system = llm.calls[0]["system"]
    assert system.startswith("You turn a question")
    assert "The Lamp at Harrow Quay" in llm.calls[0]["prompt"]


def test_a_wrong_direction_goes_back_once_with_the_arrow_that_was_meant(scripted: Any) -> None:
    wrong = "MATCH (b:Book)-[:APPEARS_IN]->(c:Character) RETURN c.name"
    here, llm = scripted({"cypher": wrong}, {"cypher": RIGHT}, ANSWER)
    state = run(here, OPEN, mode="graph", book=7)
    assert "(Character)-[:APPEARS_IN]->(Book)" in llm.calls[1]["prompt"]
    assert wrong in llm.calls[1]["prompt"]
    assert "wrong way" in "\n".join(str(m.content) for m in state["messages"])
    assert state["cypher"].endswith(f"{RIGHT} LIMIT 50")
    assert state["graph_results"][0]["by"] == "cypher"
    assert state["graph_results"][0]["line"] == "c.name: Silas Crane, l.name: Kittiwake"


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("MATCH (c:Character) RETURN c.surname", "Cannot find property surname"),
        ("MATCH (c:Character) WHERE c.name CONTAINS 'Nobody' RETURN c.name", "returned no rows"),
        ("MATCH (c:Character) RETURN labels(c)", "Kuzu has no labels()"),
        ("MATCH (b:Book) WHERE b.title = 'x' RETURN b.title", "matches a title exactly"),
        ("COPY (MATCH (a:Character) RETURN a.name) TO '/tmp/x.csv'", "begins with 'COPY'"),
        ("MATCH (c) WHERE c.name IN ['Silas Crane'] RETURN c.name", "Write one label"),
        ("MATCH (c:Character) RETURN c.name; CALL timeout=0", "has a ';'"),
    ],
)
def test_the_reason_is_given_back(scripted: Any, first: str, told: str) -> None:
    here, llm = scripted({"cypher": first}, {"cypher": RIGHT}, ANSWER)
    state = run(here, OPEN, mode="graph", book=7)
    assert told in llm.calls[1]["prompt"]
    assert state["graph_results"][0]["answer"] == "Silas Crane"


def test_after_one_repair_the_walk_is_taken(scripted: Any) -> None:
    here, llm = scripted(
        {"cypher": "MATCH (c:Nobody) RETURN c.name"}, {"cypher": "DROP TABLE Book"}, "Silas [1]."
    )
    state = run(here, "What has Silas to do with Lucy and the parrot?", mode="graph", book=7)
    assert len(llm.calls) == 3
    assert {hit["by"] for hit in state["graph_results"]} == {"walk"}
    assert [m.name for m in state["messages"]].count("graph_agent") == 3


def test_the_model_may_choose_a_ready_query(scripted: Any) -> None:
    here, _ = scripted({"template": "related_to", "arguments": ["Lucy"]}, "Agnes [1].")
    state = run(here, OPEN, mode="graph", book=7)
    assert [hit["answer"] for hit in state["graph_results"]] == ["Mrs. Agnes Pell", "Dr. Marlow"]
    assert "a.id IN ['7:lucy']" in state["cypher"]
    assert state["entry"] is None or state["entry"]["node"]


@pytest.mark.parametrize("reply", ["I would rather not.", ModelRefused("too long"), '{"template": "magic"}'])
def test_a_model_that_writes_no_query_is_said(scripted: Any, reply: Any) -> None:
    here, _ = scripted(reply, reply, "Nobody knows.", "Nobody knows.")
    state = run(here, OPEN, mode="graph", book=7)
    assert "model" in "\n".join(str(m.content) for m in state["messages"] if m.name == "graph_agent")


def test_a_base_model_is_asked_for_no_cypher(home: Path) -> None:
    llm = FakeLLM(logprobs={" Silas": -1.0, " x": -9.0})
    here = Brains(Settings(home=home, path_threshold=0.2), embedder=story.ToyEmbedder(), llm=llm)
    run(here, OPEN, mode="graph", book=7)
    assert llm.calls == []
    assert here.worker.pid is None


def test_ready_queries_serve_without_any_model(home: Path) -> None:
    here = Brains(Settings(home=home), embedder=story.ToyEmbedder(), llm=FakeLLM(logprobs={" x": -1.0}))
    at = ask(here, "Who is on the Kittiwake?", mode="graph", book=7)
    assert "Silas Crane" in at["answer"]
    assert "Captain Tobias Wren" in at["answer"]
    assert "INTERACTS_WITH" in at["cypher"]
    both = ask(here, "Whom do Captain Wren and Lucy both know?", mode="graph", book=7)
    assert "Agnes" in both["answer"]
    shared = ask(here, "Which people do Captain Wren and Lucy both know?", mode="graph", book=7)
    assert shared["paths"]
    where = ask(here, "Where is the story set?", mode="graph", book=7)
    assert "Harrow Quay" in where["answer"]
    assert "SET_IN" in where["cypher"]
    books = run(here, "In which books does Lucy appear?", mode="graph")
    assert {hit["book"] for hit in books["graph_results"]} == {7, 8}


def test_a_compiled_prompt_is_loaded_for_its_model_alone(scripted: Any, tmp_path: Path) -> None:
    here, llm = scripted({"cypher": RIGHT}, ANSWER)
    demo = Demo(given="Who steers?", reply={"cypher": "MATCH (c:Character) RETURN c.name"})
    prompt = CompiledPrompt(
        task="cypher",
        model="fake",
        digest=llm.identity.digest,
        instructions="Write one query of the graph.",
        demos=[demo],
        optimiser="MIPROv2",
        trained_on=[9],
    )
    save_compiled(prompt, tmp_path)
    here.settings = here.settings.model_copy(update={"compiled_prompts": tmp_path})
    assert ask(here, OPEN, mode="graph", book=7)["answer"] == ANSWER
    assert llm.calls[0]["system"].startswith("Write one query of the graph.\n\nSCHEMA")
    assert llm.calls[0]["prompt"].startswith("Question: Who steers?")
    save_compiled(prompt.model_copy(update={"digest": "ff"}), tmp_path)
    with pytest.raises(WrongModel, match="GUTENGRAPH_COMPILED_PROMPTS"):
        ask(here, OPEN, mode="graph", book=7)


def test_a_query_is_worth_what_it_finds_in_the_graph(scripted: Any) -> None:
    here, _ = scripted()
    task = CypherTask(here)
    question = GoldQuestion(id="1", mode="graph", question="Who is boatswain?", accept_any=("Silas Crane",))
    case = question_case(7, here.title(7), question)
    assert case.given == "Who is boatswain? It is about the book 'The Lamp at Harrow Quay'."
    ready = CypherReply(template="related_to", arguments=["Lucy"])
    lucys = question.model_copy(update={"accept_any": ("Agnes",)})
    assert task.score(case, CypherReply(cypher=RIGHT)) == 1.0
    assert task.score(question_case(7, "", lucys), ready) == 1.0
    for worthless in (ready, CypherReply(cypher="DROP TABLE Book"), CypherReply(template="related_to"), None):
        assert task.score(case, worthless) == 0.0
