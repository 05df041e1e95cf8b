"""Asking while things break: each failure is said clearly, and the next question is answered."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import harbour_story as story
import pytest
from fakes import FakeLLM
from waiting import LONG_S, until, within

from gutengraph_core.errors import GutenGraphError, ModelUnreachable, NotBuilt, UnknownBook
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.llm.lock import SAY_AFTER_S, model_lock
from gutengraph_core.settings import Settings
from gutengraph_query.ask import ask, run
from gutengraph_query.brains import Brains

CAPTAIN = "Who is the captain of the Kittiwake?"
OPEN = "Whom has everybody in Harrow Quay forgotten?"
CYPHER = json.dumps({"cypher": "MATCH (c:Character) WHERE c.name CONTAINS 'Lucy' RETURN c.name"})


def here(home: Path, llm: FakeLLM | None = None) -> Brains:
    settings = Settings(home=home, path_threshold=0.2, passage_threshold=0.2)
    return Brains(
        settings, embedder=story.ToyEmbedder(), llm=llm or FakeLLM(logprobs={" Silas": -1.0, " x": -9.0})
    )


def test_a_worker_that_hangs_or_is_killed_costs_no_answer(library: Library) -> None:
    story.build_library(library, 7)
    me = here(library.home, FakeLLM([CYPHER, "Lucy [1]."] * 3, instruct=True))
    me.worker.warm()
    assert me.worker.pid is not None
    os.kill(me.worker.pid, signal.SIGSTOP)  # it takes nothing more, as a hung one would
    stopped = me.worker.pid
    state = run(me, OPEN, mode="graph", book=7)
    assert state["graph_results"][0]["answer"] == "Lucy"
    assert me.worker.pid not in (None, stopped)
    os.kill(me.worker.pid or 0, signal.SIGKILL)
    assert run(me, OPEN, mode="graph", book=7)["graph_results"][0]["answer"] == "Lucy"
    assert run(me, OPEN, mode="graph", book=7)["graph_results"][0]["answer"] == "Lucy"
    me.close()


def test_the_graph_is_replaced_while_it_is_read(library: Library) -> None:
    story.build_library(library, 7, 8)
    me = here(library.home)
    failures: list[str] = []
    asked = 0
    done = threading.Event()

    def keep_asking() -> None:
        nonlocal asked
        while not done.is_set():
            try:
                answer = ask(me, CAPTAIN, mode="graph", book=7)
                if "Wren" not in answer["answer"]:
                    failures.append(answer["answer"])
                me.worker.run("MATCH (b:Book) RETURN b.id")
            except GutenGraphError as error:
                failures.append(str(error))
            asked += 1

    thread = threading.Thread(target=keep_asking)
    thread.start()
    for _ in range(4):
        build_merged(library)
        answered = asked
        until(lambda: asked > answered or failures, "an answer after the graph was replaced")  # noqa: B023
    done.set()
    thread.join(timeout=LONG_S)
    assert failures == []
    assert me.worker.run("MATCH (b:Book) RETURN b.id").version == 5
    me.close()


def test_a_book_is_removed_while_it_is_asked_about(library: Library) -> None:
    story.build_library(library, 7, 8)
    me = here(library.home)
    assert "Wren" in ask(me, CAPTAIN, mode="hybrid", book=8)["answer"]
    import shutil

    me.table.delete_book(8)
    shutil.rmtree(library.books_dir / "8")
    build_merged(library)
    with pytest.raises(UnknownBook, match="gutengraph add 8"):
        ask(me, CAPTAIN, mode="hybrid", book=8)
    after = run(me, CAPTAIN, mode="hybrid", book=7)
    assert "Wren" in after["answer"]
    everywhere = run(me, "Who sat with Lucy?", mode="hybrid")
    assert {p["book"] for p in everywhere["vector_results"]} == {7}
    assert {hit["book"] for hit in everywhere["graph_results"]} == {7}


def test_a_question_during_a_build_is_answered_from_what_is_there(library: Library) -> None:
    story.build_library(library, 7)
    story.build_library(library, 8, merged=False)
    library.update(9, title="The Second Lamp", status="building", pid=os.getpid())
    me = here(library.home)
    waits = r"made after the last book, and 9 The Second Lamp is being built"
    with pytest.raises(NotBuilt, match=f"{waits}.*ask the passages meanwhile"):
        ask(me, CAPTAIN, mode="graph", book=8)
    for mode in ("hybrid", "auto"):
        answer = ask(me, CAPTAIN, mode=mode, book=8)  # type: ignore[arg-type]
        assert answer["routed_to"] == "vector"
        assert {c["book"] for c in answer["citations"]} == {8}
        assert re.search(waits, answer["notice"])
        assert ask(me, CAPTAIN, mode=mode, book=7)["notice"] == ""  # type: ignore[arg-type]
    assert ask(me, CAPTAIN, mode="vector", book=8)["notice"] == ""
    build_merged(library)
    assert "Wren" in ask(me, CAPTAIN, mode="graph", book=8)["answer"]


def test_the_model_stops_and_comes_back(library: Library) -> None:
    story.build_library(library, 7)
    gone = ModelUnreachable("Ollama does not answer.", remedy="Start it: `ollama serve`.")
    for mode in ("vector", "graph", "hybrid"):
        me = here(library.home, FakeLLM([gone, "Captain Wren commands it [1]."], instruct=True))
        with pytest.raises(ModelUnreachable, match=r"does not answer.*ollama serve"):
            ask(me, CAPTAIN, mode=mode, book=7)  # type: ignore[arg-type]
        assert "Wren" in ask(me, CAPTAIN, mode=mode, book=7)["answer"]  # type: ignore[arg-type]


def test_a_server_that_is_not_there_is_named(library: Library) -> None:
    story.build_library(library, 7)
    settings = Settings(
        home=library.home, llm="ollama:gemma", ollama_host="http://127.0.0.1:9", path_threshold=0.2
    )
    me = Brains(settings, embedder=story.ToyEmbedder())
    with pytest.raises(ModelUnreachable, match=r"127\.0\.0\.1:9"):
        within(lambda: ask(me, "Who nailed a spoon to the mast?", mode="hybrid", book=7), "giving up")


def test_asking_goes_on_while_the_graph_is_built(library: Library) -> None:
    story.build_library(library, 7)
    me = here(library.home)
    with library.lock("graph", timeout=1), library.lock("lancedb", timeout=1):
        answer = within(
            lambda: ask(me, CAPTAIN, mode="hybrid", book=7), "an answer without the builders' locks"
        )
        assert "Wren" in answer["answer"]


def test_who_has_the_model_is_said_while_it_has_it(tmp_path: Path) -> None:
    """As `gutengraph ask` meets it while a build names a book: on stderr, by process, a few seconds after it asked."""
    assert SAY_AFTER_S <= 5
    code = (
        "import sys; from pathlib import Path; from gutengraph_core.llm.lock import SAY_AFTER_S, model_lock\n"
        "with model_lock(timeout_s=60, folder=Path(sys.argv[1])): print('asked')"
    )
    with model_lock(timeout_s=5, folder=tmp_path):
        waiting = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.append(waiting.stderr.readline()))  # type: ignore[union-attr]
        reader.start()
        reader.join(timeout=LONG_S)
        assert said
        assert f"Waiting for the embedded model: process {os.getpid()} is using it." in said[0]
    out, _ = waiting.communicate(timeout=LONG_S)
    assert out.strip() == "asked"
