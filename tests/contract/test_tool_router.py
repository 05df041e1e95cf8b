"""The tool router over real stores with a scripted model: not run with a real instruct model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import harbour_story as story
import pytest
from fakes import FakeLLM
from langchain_core.messages import AIMessage, ToolMessage
from waiting import within

from gutengraph_core.errors import ModelRefused, SqlRefused
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query.ask import ask, run
from gutengraph_query.brains import Brains
from gutengraph_query.catalogue import Catalogue
from gutengraph_query.nodes.tools_agent import ROUNDS
from gutengraph_query.scope import Scope
from gutengraph_query.tools import Gathered, tools_for


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    story.build_library(Library(folder), 7, 8)
    return folder


def scripted(home: Path, *replies: Any) -> tuple[Brains, FakeLLM]:
    llm = FakeLLM([r if isinstance(r, str | Exception) else json.dumps(r) for r in replies], instruct=True)
    settings = Settings(home=home, path_threshold=0.05, passage_threshold=0.05)
    return Brains(settings, embedder=story.ToyEmbedder(), llm=llm), llm


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def answer(text: str) -> dict[str, Any]:
    return {"tool": "answer", "arguments": {}, "answer": text}


SQL = "SELECT id, title FROM books WHERE people > 3 ORDER BY id"


def test_two_tools_are_chained_and_every_call_is_a_message(home: Path) -> None:
    here, llm = scripted(
        home,
        call("query_catalogue", sql=SQL),
        call("traverse_knowledge_graph", start="Kittiwake", hops=1, book_id=7),
        answer("Captain Tobias Wren commands the Kittiwake."),
    )
    state = run(here, "Who commands the ship of the book with the most people?", mode="tools")
    assert state["answer"].startswith("Captain Tobias Wren commands the Kittiwake. [")
    assert state["known"]
    assert (state["routed_to"], state["asked"]) == ("tools", ["tools_agent"])
    calls = [m for m in state["messages"] if isinstance(m, AIMessage) and m.tool_calls]
    assert [(c.tool_calls[0]["name"], c.tool_calls[0]["args"]) for c in calls] == [
        ("query_catalogue", {"sql": SQL}),
        ("traverse_knowledge_graph", {"start": "Kittiwake", "hops": 1, "book_id": 7}),
    ]
    returned = [m for m in state["messages"] if isinstance(m, ToolMessage)]
    assert json.loads(str(returned[0].content))["rows"] == [
        [7, "The Lamp at Harrow Quay"],
        [8, "The Lamp at Harrow Quay"],
    ]
    assert "Kittiwake <-[CAPTAIN_OF]- Captain Tobias Wren" in str(returned[1].content)
    assert [m.tool_call_id for m in returned] == [c.tool_calls[0]["id"] for c in calls]
    # the second round was decided on what the first returned
    assert "The Lamp at Harrow Quay" in llm.calls[1]["prompt"]
    assert state["tokens"]["calls"] == 3
    assert SQL in state["cypher"]
    number = int(state["answer"].rpartition("[")[2].rstrip("]"))
    assert state["citations"][number - 1]["text"] == "Captain Tobias Wren commanded the Kittiwake"


def test_the_tools_are_told_by_their_docstrings(home: Path) -> None:
    here, llm = scripted(home, answer("NOT TOLD"))
    found = ask(here, "Who?", mode="tools")
    system = llm.calls[0]["system"]
    for tool in tools_for(here, Gathered(), Scope()):
        assert f"{tool.name}(" in system
        assert tool.description in system
    assert llm.calls[0]["schema"]["properties"]["tool"]["enum"] == [
        "query_catalogue", "search_documents", "traverse_knowledge_graph", "answer",
    ]  # fmt: skip
    assert (found["known"], found["answer"], found["citations"]) == (False, "The books here do not say.", [])


def test_a_failing_call_is_told_to_the_model_and_it_goes_on(home: Path) -> None:
    here, llm = scripted(
        home,
        call("query_catalogue", sql="SELECT nonsense FROM books"),
        call("query_catalogue", sql="COPY books TO '/tmp/x.csv'"),
        call("search_documents", wrong=1),
        call("fly", to="the Moon"),
        answer("Nobody can say."),
    )
    state = run(here, "How many books?", mode="tools")
    returned = [m for m in state["messages"] if isinstance(m, ToolMessage)]
    assert [m.status for m in returned] == ["error"] * 4
    for told, words in zip(
        returned, ("nonsense", "single SELECT", "query", "There is no tool fly"), strict=True
    ):
        assert words in str(told.content)
    assert len(llm.calls) == ROUNDS
    assert not Path("/tmp/x.csv").exists()


def test_there_are_five_rounds_at_most(home: Path) -> None:
    again = call("search_documents", query="the parrot")
    here, llm = scripted(home, *[again] * 4, answer("Silas fed the parrot on dried apricots."))
    state = run(here, "What did the parrot eat?", mode="tools", book=7)
    assert len(llm.calls) == ROUNDS == 5
    assert llm.calls[-1]["schema"]["properties"]["tool"]["enum"] == ["answer"]
    assert "apricots" in state["answer"]
    assert {p["book"] for p in state["vector_results"]} == {7}
    ids = [p["chunk_id"] for p in state["vector_results"]]
    assert len(ids) == len(set(ids))


def test_who_was_not_found_is_not_named(home: Path) -> None:
    here, _ = scripted(
        home, call("search_documents", query="captain"), answer("Captain Nemo did it. Captain Wren helped.")
    )
    state = run(here, "Who nailed a spoon to the mast?", mode="tools", book=7)
    assert "Nemo" not in state["answer"]
    assert "Wren" in state["answer"]
    assert "Nemo" in str(state["messages"][-2].content)


def test_a_model_that_cannot_call_tools_says_so(home: Path) -> None:
    llm = FakeLLM(logprobs={" x": -1.0})
    here = Brains(Settings(home=home), embedder=story.ToyEmbedder(), llm=llm)
    with pytest.raises(ModelRefused, match=r"cannot call tools.*GUTENGRAPH_QUERY_LLM.*--mode hybrid"):
        run(here, "Who?", mode="tools")
    with pytest.raises(ModelRefused, match="cannot call tools"):
        run(Brains(Settings(home=home), embedder=story.ToyEmbedder()), "Who?", mode="tools")
    assert llm.calls == []


def test_what_has_not_been_read_is_not_told(home: Path) -> None:
    here, _ = scripted(
        home,
        call("query_catalogue", sql="SELECT name FROM characters"),
        call("search_documents", query="Dr. Marlow fever Lucy ill"),
        call("traverse_knowledge_graph", start="Lucy", hops=2),
        answer("Dr. Marlow sat with Lucy."),
    )
    state = run(here, "Who sat with Lucy?", mode="tools", book=7, up_to=1)
    returned = [str(m.content) for m in state["messages"] if isinstance(m, ToolMessage)]
    assert returned[0] == '{"columns": ["name"], "rows": []}'
    assert "Marlow" not in "".join(returned)
    assert not state["known"]


# --- SQL, guarded ---
@pytest.fixture(scope="module")
def catalogue(home: Path) -> Catalogue:
    here = Brains(Settings(home=home), embedder=story.ToyEmbedder())
    return Catalogue(here.library, here.published(), timeout_s=1.0)


def test_the_catalogue_has_the_librarys_numbers(catalogue: Catalogue) -> None:
    assert catalogue.query("SELECT id, people, relations, kind FROM books ORDER BY id").rows == [
        [7, 5, 7, "fiction"], [8, 5, 7, "fiction"],
    ]  # fmt: skip
    women = catalogue.query("SELECT name FROM characters WHERE book = 7 AND gender = 'F' ORDER BY name")
    assert women.rows == [["Lucy"], ["Mrs. Agnes Pell"]]
    assert catalogue.query("SELECT b FROM relations WHERE type = 'captain_of' AND book = 7").rows == [
        ["Kittiwake"]
    ]
    many = "SELECT a.name FROM characters a, characters b WHERE a.name LIKE '%a%' OR upper(b.name) <> ''"
    assert len(catalogue.query(many).rows) == 50
    last = "WITH t AS (SELECT max(mentions) AS m FROM characters) SELECT count(*) FROM characters, t WHERE mentions = m"
    assert catalogue.query(last).rows[0][0] >= 1


@pytest.mark.parametrize(
    "sql",
    [
        "COPY books TO '{folder}/x.csv'",
        "EXPORT DATABASE '{folder}'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/*')",
        "ATTACH '{folder}/other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '99GB'",
        "PRAGMA database_list",
        "SELECT 1; SELECT 2",
        "DROP TABLE books",
        "UPDATE books SET title = ''",
        "CREATE TABLE x AS SELECT 1",
        "INSERT INTO books (id) VALUES (1)",
        "SELECT getenv('HOME')",
        "SELECT * FROM settings",
        "SELECT repeat('a', 2000000000)",
        "SELECT count(*) FROM range(100000000000) a",
        "SELECT count(*) FROM books a, books b, books c" + ", characters" * 12,
        "SELECT unnest(range(1000000000))",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
        "SELECT " + "1 + " * 2000 + "1",
        "",
    ],
)
def test_sql_that_does_more_than_read_the_tables_is_refused(
    catalogue: Catalogue, tmp_path: Path, sql: str
) -> None:
    settings = {"home": "is a Python variable that SQL must not see"}
    assert settings
    with pytest.raises(SqlRefused):
        within(lambda: catalogue.query(sql.replace("{folder}", str(tmp_path))), "stopping it", seconds=30)
    assert list(tmp_path.iterdir()) == []
    assert catalogue.query("SELECT count(*) FROM books").rows == [[2]]
