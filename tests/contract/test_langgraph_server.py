"""`langgraph dev` serves the app as `langgraph.json` says, and the SDK asks it: what Studio does."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harbour_story as story
import httpx
import pytest
from places import ROOT

from gutengraph_core.embedding import open_embedder
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings

START_S = 90.0


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _python() -> str | None:
    """The interpreter that has LangGraph's server: `make studio` makes one, as it does not fit beside all we test
    with."""
    studio = ROOT / ".venv-studio" / "bin" / "python"
    if studio.exists():
        return str(studio)
    return sys.executable if importlib.util.find_spec("langgraph_api") else None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address. The server has the story and the real embedder."""
    python = _python()
    if python is None:
        pytest.skip("LangGraph's server is not installed: run `make studio`")
    folder = tmp_path_factory.mktemp("studio")
    home = folder / "home"
    story.build_library(Library(home), 7, embedder=open_embedder(Settings(home=home)))
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("GUTENGRAPH_", "LANGSMITH_", "LANGCHAIN_"))
    }
    port = _free_port()
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [
                python,
                "-m",
                "langgraph_cli",
                "dev",
                "--no-browser",
                "--no-reload",
                "--port",
                str(port),
            ],
            env={
                **kept,
                "GUTENGRAPH_HOME": str(home),
                "LANGGRAPH_CLI_NO_ANALYTICS": "1",
                "LANGGRAPH_NO_VERSION_CHECK": "1",
            },
            cwd=ROOT,  # where langgraph.json is
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process, folder / "log")
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"{url}/ok", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    pytest.fail(f"langgraph dev did not start:\n{log.read_text()[-2000:]}")


def test_the_sdk_asks_and_gets_the_state_by_its_names(server: str) -> None:
    from langgraph_sdk import get_sync_client

    client = get_sync_client(url=server)
    (assistant,) = client.assistants.search()
    assert assistant["graph_id"] == "gutengraph"
    drawn = client.assistants.get_graph(assistant["assistant_id"])
    assert {"supervisor", "vector_agent", "graph_agent", "tools_agent", "merge"} <= {
        n["id"] for n in drawn["nodes"]
    }
    schemas = client.assistants.get_schemas(assistant["assistant_id"])
    assert {"query", "mode", "book", "author", "kind", "up_to", "messages"} == set(
        schemas["input_schema"]["properties"]
    )  # type: ignore[index]

    thread = client.threads.create()["thread_id"]
    asked = {"query": "Who is the captain of the Kittiwake?", "mode": "graph", "book": 7}
    first: Any = client.runs.wait(thread, "gutengraph", input=asked)
    assert first["routed_to"] == "graph"
    assert "Captain Tobias Wren" in first["answer"]
    assert first["graph_results"]
    assert "RELATED_TO|INTERACTS_WITH" in first["cypher"]
    assert first["vector_results"] == []
    assert [m["name"] for m in first["messages"][1:]] == ["supervisor", "graph_agent", "merge"]

    chat = {"messages": [{"role": "user", "content": "Who is Captain Wren's sister?"}], "mode": "graph"}
    second: Any = client.runs.wait(thread, "gutengraph", input=chat)
    assert "Agnes" in second["answer"]
    assert "Kittiwake" not in str(second["graph_results"])
    assert len(second["messages"]) == len(first["messages"]) + 4
