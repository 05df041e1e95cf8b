"""Asking about an author's books, or a kind of books: both brains keep to them, and say what there is instead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harbour_story as story
import httpx
import pyarrow as pa
import pytest
from fakes import FakeLLM
from web_server import serving

from gutengraph_core import tables
from gutengraph_core.errors import NoBookFits, NotBuilt, SettingsError
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.ask import ask, compare, run
from gutengraph_query.brains import Brains

SHELF: dict[int, tuple[list[str], str]] = {
    7: (["Penn, Ada"], "fiction"),
    8: (["Quill, Bram", "Penn, Ada"], "drama"),
    9: (["Quill, Bram"], "fiction"),
    10: (["Ada Penn"], "fiction"),  # the same, as another entry of the catalogue has her
    11: (["Penn, Edgar"], "verse"),
}
ADAS = {7, 8, 10}
TO_COME = 12


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One story five times, by different people; and a sixth book that is only registered."""
    library = Library(tmp_path_factory.mktemp("shelf"))
    embedder = story.ToyEmbedder()
    table = ChunkTable.open(library, embedder.identity, create=True)
    for book, (authors, kind) in SHELF.items():
        story.write_book(library, book)
        library.update(book, authors=authors, kind=kind)
        rows = [row | {"authors": authors, "kind": kind} for row in story.chunk_rows(book)]
        vectors = embedder.embed_documents([row["text"] for row in rows])
        table.replace_book(book, pa.Table.from_pylist(rows, schema=tables.CHUNKS), vectors)
    library.update(TO_COME, title="To Come", authors=["Day, Iris"], kind="non-fiction")
    build_merged(library)
    return library.home


def here(home: Path, llm: FakeLLM | None = None) -> Brains:
    settings = Settings(home=home, path_threshold=0.05, passage_threshold=0.05)
    names = FakeLLM(logprobs={" Silas": -0.1, " Dr": -0.2, " x": -9.0})
    return Brains(settings, embedder=story.ToyEmbedder(), llm=llm or names)


def books_in(state: Any) -> set[int]:
    """All books that an answer, and what it was made of, tells of."""
    hits = [*state["vector_results"], *state["graph_results"], *state["graph_passages"], *state["citations"]]
    return {hit["book"] for hit in hits} | {e["book"] for hit in state["graph_results"] for e in hit["edges"]}


@pytest.mark.parametrize("mode", ["vector", "graph", "hybrid", "auto"])
@pytest.mark.parametrize(
    "question",
    [
        "Who is the captain of the Kittiwake?",
        "Who are the characters?",
        "Who is related to Agnes?",
        "Which book mentions Silas Crane?",
        "How is Lucy related to Captain Wren?",
        "What did the parrot speak?",
        "What pleases somebody at night?",
    ],
)
def test_both_brains_keep_to_an_authors_books(shelf: Path, mode: Any, question: str) -> None:
    state = run(here(shelf), question, mode=mode, author="ada penn")
    assert books_in(state) <= ADAS
    assert "books by Ada Penn" in state["messages"][1].content
    everywhere = run(here(shelf), question, mode=mode)
    found = books_in(everywhere)
    assert found - ADAS or (mode == "graph" and not found), "without the filter the others are found"
    assert state["known"] is everywhere["known"]


@pytest.mark.parametrize(
    ("author", "kind", "books"),
    [
        ("Penn, Ada", None, ADAS),
        ("ada", None, ADAS),
        ("Quill", None, {8, 9}),
        ("  BRAM   quill ", "fiction", {9}),
        (None, "fiction", {7, 9, 10}),
        ("Ada Penn", "drama", {8}),
    ],
)
def test_whom_a_name_means(shelf: Path, author: str | None, kind: Any, books: set[int]) -> None:
    state = run(here(shelf), "What did the parrot speak?", mode="hybrid", author=author, kind=kind)
    assert set(state["books"] or ()) == books
    assert books_in(state) <= books
    assert state["book"] == (next(iter(books)) if len(books) == 1 else None)
    # Of one book alone it can be said how far it has been read.
    if len(books) == 1:
        read = run(here(shelf), "Who are the characters?", mode="graph", author=author, kind=kind, up_to=1)
        assert "Marlow" not in json.dumps(read["graph_results"])


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"author": "Ada Pen"}, NoBookFits, r"No book here is by 'Ada Pen'\. Did you mean .*Penn"),
        ({"author": "Kwill"}, NoBookFits, r"Did you mean Quill, Bram\?"),
        ({"author": "Zzz"}, NoBookFits, r"There are Ada Penn; Day, Iris; Penn, Ada …\."),
        ({"author": "--'; DROP"}, NoBookFits, r"No book here is by"),
        ({"author": "Penn"}, NoBookFits, r"'Penn' can be Penn, Ada or Penn, Edgar\. Name one"),
        ({"author": "Edgar", "kind": "drama"}, NoBookFits, r"No drama by Penn, Edgar .* There is verse\."),
        ({"kind": "other"}, NoBookFits, r"No other is in the library"),
        ({"kind": "novel"}, SettingsError, r"'novel' is no kind of text\. Use one of fiction"),
        ({"author": "Quill", "book": 7}, NoBookFits, r"Book 7: It is not a book by Quill, Bram"),
        ({"kind": "drama", "book": 7}, NoBookFits, r"Book 7: It is not drama"),
        ({"author": "Iris Day"}, NotBuilt, r"Run `gutengraph build 12`"),
        ({"author": "Ada Penn", "up_to": 1}, SettingsError, r"Name the book"),
    ],
)
def test_what_there_is_instead(shelf: Path, asked: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        ask(here(shelf), "Who is the captain?", **asked)


def test_a_book_that_the_author_did_not_write_is_not_entered_by_its_title(shelf: Path) -> None:
    library = Library(shelf)
    library.update(9, title="The Tall Ship")
    try:
        alone = run(here(shelf), "Who is Lucy in The Tall Ship?", mode="graph")
        assert alone["book"] == 9
        hers = run(here(shelf), "Who is Lucy in The Tall Ship?", mode="graph", author="Ada Penn")
        assert hers["book"] is None
        assert books_in(hers) <= ADAS
    finally:
        library.update(9, title="The Lamp at Harrow Quay")


def test_books_whose_graph_is_still_to_come_are_answered_from_their_passages(library: Library) -> None:
    story.build_library(library, 7)
    library.update(8, authors=["Quill, Bram"], kind="fiction", status="built", counts={"chunks": 3})
    library.update(9, authors=["Quill, Bram"], kind="fiction", status="built", counts={"chunks": 3})
    state = run(here(library.home), "What did the parrot speak?", mode="hybrid", author="Quill")
    assert state["notice"].startswith("From the passages alone.")
    with pytest.raises(NotBuilt, match="Book 8: It is not in the published graph"):
        run(here(library.home), "What did the parrot speak?", mode="graph", author="Quill")


def test_the_tools_see_nothing_else(shelf: Path) -> None:
    replies = [
        {"tool": "query_catalogue", "arguments": {"sql": "SELECT id FROM books ORDER BY id"}},
        {
            "tool": "query_catalogue",
            "arguments": {"sql": "SELECT DISTINCT book FROM relations ORDER BY book"},
        },
        {"tool": "search_documents", "arguments": {"query": "the parrot", "book_id": 9}},
        {"tool": "traverse_knowledge_graph", "arguments": {"start": "Lucy"}},
        {"tool": "answer", "arguments": {}, "answer": "Lucy."},
    ]
    llm = FakeLLM([json.dumps(reply) for reply in replies], instruct=True)
    state = run(here(shelf, llm), "Who is Lucy?", mode="tools", author="Ada Penn")
    returned = [json.loads(m.content) for m in state["messages"] if m.type == "tool"]
    assert returned[0]["rows"] == returned[1]["rows"] == [[7], [8], [10]]
    assert returned[2] == []
    assert returned[3]
    assert books_in(state) <= ADAS


def test_a_models_own_cypher_is_not_run(shelf: Path) -> None:
    llm = FakeLLM([json.dumps({"cypher": "MATCH (b:Book) RETURN b.title"})] * 4, instruct=True)
    state = run(here(shelf, llm), "What makes them dream of lamps?", mode="graph", kind="fiction")
    assert "MATCH (b:Book) RETURN b.title" not in state["cypher"]


def test_three_modes_are_compared_within_it(shelf: Path) -> None:
    found = compare(here(shelf), "Who is the captain of the Kittiwake?", author="Quill", kind="fiction")
    assert {c["book"] for answer in found["answers"].values() for c in answer["citations"]} == {9}


@pytest.fixture(scope="module")
def api(shelf: Path) -> Iterator[httpx.Client]:
    with serving(here(shelf)) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def test_over_http(api: httpx.Client) -> None:
    question = {"question": "Who is the captain of the Kittiwake?", "author": "Bram Quill"}
    for address in ("/ask", "/compare"):
        found = api.post(address, json={**question, "kind": "fiction"}).raise_for_status().json()
        for answer in found.get("answers", {"": found}).values():
            assert {c["book"] for c in answer["citations"]} == {9}
    lost = api.post("/ask", json={**question, "author": "Kwill"})
    assert (lost.status_code, lost.json()["remedy"]) == (404, "Did you mean Quill, Bram?")
    assert api.post("/ask", json={**question, "kind": "novel"}).status_code == 422
    assert api.post("/ask", json={**question, "author": ""}).status_code == 422
    # What is near, where the books do not say, is theirs too.
    unknown = api.post("/ask", json={"question": "Who is Zebedee Moonraker?", "author": "Ada Penn"}).json()
    assert not unknown["known"]
    assert unknown["nearest"]
    assert {near["book"] for near in unknown["nearest"]} <= ADAS
