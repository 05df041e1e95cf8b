"""`gutengraph serve` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import web_library

from gutengraph_core.library import Library

CODE = "import sys; from gutengraph_core.cli import main; sys.argv[0] = 'gutengraph'; main()"


def start(home: Path, *args: str, **env: str) -> subprocess.Popen[str]:
    given = {**os.environ, "GUTENGRAPH_HOME": str(home), **env}
    # as from a terminal: a process started in the background by a script would inherit an ignored Ctrl-C
    return subprocess.Popen(
        [sys.executable, "-c", CODE, "serve", *args],
        env=given,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@contextmanager
def served(home: Path, *args: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = start(home, "--port", "0", *args, **env)
    watch = threading.Timer(60, process.kill)
    watch.start()
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://\S+(?=/ )", line):
                yield process, found[0]
                break
        else:
            pytest.fail("the server did not say where it listens")
    finally:
        watch.cancel()
        if process.poll() is None:
            process.kill()
        process.wait(60)


def test_it_says_where_it_listens_and_stops_on_ctrl_c(tmp_path: Path) -> None:
    web_library.build(Library(tmp_path))
    with served(tmp_path) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert len(httpx.get(f"{url}/books").json()) == 5
        assert httpx.get(url, headers={"Accept": "text/html"}).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_no_other_address_without_a_token(tmp_path: Path) -> None:
    process = start(tmp_path, "--host", "0.0.0.0")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "GUTENGRAPH_API_TOKEN" in said
    assert "Traceback" not in said


def test_another_address_with_a_token(tmp_path: Path) -> None:
    with served(tmp_path, "--host", "0.0.0.0", GUTENGRAPH_API_TOKEN="long and random") as (_, url):
        port = url.rpartition(":")[2]
        there = f"http://127.0.0.1:{port}/books"
        assert httpx.get(there).status_code == 401
        assert (
            httpx.get(
                there, headers={"Authorization": "Bearer long and random", "Host": "shelf.example"}
            ).json()
            == []
        )
