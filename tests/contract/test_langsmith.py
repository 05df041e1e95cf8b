"""LangSmith: spans at a local receiver, redaction, old and new names; and no slower exit where it is not there."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harbour_story as story
import pytest
from fakes import FakeLLM
from langsmith import run_trees, utils
from langsmith_receiver import Receiver, receiving

from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query import tracing
from gutengraph_query.ask import ask
from gutengraph_query.brains import Brains

TESTS = Path(__file__).resolve().parents[1]
NEW = {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "k-1"}
OLD = {"LANGCHAIN_TRACING_V2": "true", "LANGCHAIN_API_KEY": "k-2"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    story.build_library(Library(folder), 7)
    return folder


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[[dict[str, str]], None]]:
    """Sets LangSmith's variables; what it and we remember of the environment is forgotten before and after."""
    for name in list(os.environ):
        if name.startswith(("LANGSMITH_", "LANGCHAIN_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def forget() -> None:
        run_trees._CLIENT = None
        for remembered in (
            utils.get_env_var,
            utils.get_tracer_project,
            tracing.enabled,
            tracing._read_env_file,
        ):
            remembered.cache_clear()

    def set_(variables: dict[str, str]) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    forget()
    yield set_
    forget()


def asked(home: Path, *, mode: Any = "graph") -> str:
    """The answer, after all spans have left."""
    tools = [
        {"tool": "search_documents", "arguments": {"query": "the captain"}},
        {"tool": "answer", "answer": "Wren."},
    ]
    replies = [json.dumps(r) for r in tools] if mode == "tools" else ["Captain Wren commands it [1]."]
    settings = Settings(home=home, path_threshold=0.2, passage_threshold=0.2)
    here = Brains(settings, embedder=story.ToyEmbedder(), llm=FakeLLM(replies, instruct=True))
    answer = ask(here, "Who is the captain of the Kittiwake?", mode=mode, book=7)
    if run_trees._CLIENT is not None:
        run_trees._CLIENT.flush()
    return answer["answer"]


@pytest.mark.parametrize("names", [NEW, OLD], ids=["new names", "old names"])
def test_every_node_and_call_is_a_span(
    home: Path, environment: Any, receiver: Receiver, names: dict[str, str]
) -> None:
    environment({**names, f"{next(iter(names)).split('_')[0]}_ENDPOINT": receiver.url})
    asked(home)
    root = receiver.named("gutengraph")
    assert len(root) == 1
    assert root[0]["session_name"] == "gutengraph"
    assert root[0]["inputs"]["query"] == "Who is the captain of the Kittiwake?"
    assert root[0]["outputs"]["answer"] == "Captain Wren commands it [1]."
    for node in ("supervisor", "graph_agent", "merge"):
        assert receiver.path(receiver.named(node)[0]) == ["gutengraph", node]
    calls = [run for run in receiver.runs.values() if run["run_type"] == "llm"]
    assert [receiver.path(call)[:2] for call in calls] == [["gutengraph", "merge"]]
    assert "Captain Wren commands it" in json.dumps(calls[0]["outputs"])
    assert calls[0]["outputs"]["usage_metadata"]["total_tokens"] > 0
    assert receiver.keys == {list(names.values())[1]}


def test_tool_calls_are_spans(home: Path, environment: Any, receiver: Receiver) -> None:
    environment({**NEW, "LANGSMITH_ENDPOINT": receiver.url})
    asked(home, mode="tools")
    (call,) = receiver.named("search_documents")
    assert call["run_type"] == "tool"
    assert receiver.path(call) == ["gutengraph", "tools_agent", "search_documents"]
    assert "the captain" in json.dumps(call["inputs"])
    assert len([run for run in receiver.runs.values() if run["run_type"] == "llm"]) == 2


def test_what_is_hidden_does_not_leave(home: Path, environment: Any, receiver: Receiver) -> None:
    hidden = {"LANGSMITH_HIDE_INPUTS": "true", "LANGSMITH_HIDE_OUTPUTS": "true"}
    environment({**NEW, **hidden, "LANGSMITH_ENDPOINT": receiver.url})
    asked(home)
    assert receiver.named("merge")
    sent = json.dumps(list(receiver.runs.values()))
    assert "Kittiwake" not in sent
    assert "Wren" not in sent


def test_a_line_of_the_env_file_counts(
    home: Path, environment: Any, receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {**NEW, "LANGSMITH_ENDPOINT": receiver.url, "LANGSMITH_PROJECT": "mine"}
    (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    for name in lines:
        monkeypatch.setenv(name, "")  # so that what the file sets is taken back after the test
        monkeypatch.delenv(name)
    asked(home)
    assert receiver.named("gutengraph")[0]["session_name"] == "mine"


@pytest.mark.parametrize(
    "variables",
    [
        {**NEW, "LANGSMITH_ENDPOINT": "http://127.0.0.1:9"},
        {**OLD, "LANGCHAIN_ENDPOINT": "http://nowhere.invalid"},
        {**NEW, "LANGSMITH_ENDPOINT": "http://["},
        {"LANGSMITH_TRACING": "true"},
    ],
    ids=["refused", "no such host", "no address", "keyless"],
)
def test_without_langsmith_one_warning_and_the_same_answer(
    home: Path, environment: Any, caplog: pytest.LogCaptureFixture, variables: dict[str, str]
) -> None:
    environment(variables)
    assert asked(home) == asked(home) == "Captain Wren commands it [1]."
    assert [
        r.getMessage().startswith("LangSmith tracing is off")
        for r in caplog.records
        if "LangSmith" in r.getMessage()
    ] == [True]
    assert run_trees._CLIENT is None


def ended(home: Path, folder: Path, **variables: str) -> tuple[float, str]:
    """Seconds from the answer to the end of a program that asks once, and what it said on stderr."""
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("LANGSMITH_", "LANGCHAIN_", "GUTENGRAPH_"))
    }
    done = subprocess.run(
        [sys.executable, str(TESTS / "ask_once.py"), "graph"],
        env={**kept, "GUTENGRAPH_HOME": str(home), "PYTHONPATH": f"{TESTS}:{TESTS.parent}", **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    end = time.time()
    assert done.returncode == 0, done.stderr
    return end - json.loads(done.stdout.splitlines()[-1])["end"], done.stderr


def test_the_exit_is_as_fast_where_langsmith_is_silent(home: Path, tmp_path: Path) -> None:
    """Taken up to three times: the machine may be busy. Without the preflight it is 20 s and more."""
    with socket.socket() as silent:  # takes connections and never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mute = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for _ in range(3):
            plain, said = ended(home, tmp_path)
            assert "LangSmith" not in said
            late, said = ended(home, tmp_path, **NEW, LANGSMITH_ENDPOINT=mute)
            assert said.count("LangSmith tracing is off") == 1
            if late - plain < 2:
                return
        pytest.fail(f"the exit took {late:.1f} s, without LangSmith {plain:.1f} s")
