"""Bad input, through the command line: one clear error that names book and remedy, and nothing half-written."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from command_line import Seen, gutengraph
from small_mirror import STORY, put, put_story, rdf_of, text_of

from gutengraph_assets.ownership import BookLock
from gutengraph_core.library import Library

Run = Callable[..., Seen]


@pytest.fixture
def mirror_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty mirror, and the settings that point to it."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("GUTENGRAPH_MIRROR", str(folder))
    monkeypatch.setenv("GUTENGRAPH_STEP_RETRIES", "0")
    monkeypatch.setenv("DAGSTER_HOME", "")
    return folder


@pytest.fixture
def run(mirror_folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    return lambda *arguments: gutengraph(monkeypatch, capfd, *arguments)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The source's own pauses between attempts last no time."""
    monkeypatch.setattr("gutengraph_assets.gutenberg.source._wait", lambda state: 0.0)


def tree(home: Path) -> dict[str, bytes]:
    """What a user would call theirs: all files but Dagster's history, locks, and the books' records."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file()
        and path.relative_to(home).parts[0] not in ("dagster", "locks")
        and path.name != "book.json"
    }


def one_error(seen: Seen, *words: str) -> None:
    """Exit code 1, no traceback, nothing on stdout, and exactly one line that says it all."""
    assert seen.code == 1
    assert seen.out == ""
    assert "Traceback" not in seen.err
    lines = [line for line in seen.err.splitlines() if line.startswith(("Error: ", "Failed: "))]
    assert len(lines) == 1, seen.err
    for word in words:
        assert word in lines[0], lines[0]


@contextmanager
def server(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A loopback server; every request is answered by `answer`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None: ...

    service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=service.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{service.server_address[1]}"
    finally:
        service.shutdown()
        service.server_close()
        thread.join()


@contextmanager
def dead_port() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


# --- adding ---


def test_an_unknown_id_is_not_added(run: Run, home: Path) -> None:
    one_error(run("add", 999_999), "Book 999999", "Check the number")
    assert not (home / "books").exists()
    assert run("books", "--json").out == "[]\n"


def test_one_unknown_id_does_not_keep_the_others_out(run: Run, mirror_folder: Path, library: Library) -> None:
    put_story(mirror_folder)
    one_error(run("add", 999_999, 7), "Book 999999")
    assert library.ids() == [7]


def test_a_copyrighted_book_is_not_added(
    run: Run, mirror_folder: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    rights = "Copyrighted. Read the copyright notice inside this book for details."
    put(mirror_folder, 7, text_of(7, "Mine", STORY), rdf=rdf_of(7, "Mine", rights=rights))
    one_error(run("add", 7), "Book 7", "not in the public domain", "GUTENGRAPH_ALLOW_COPYRIGHTED")
    assert library.ids() == []
    monkeypatch.setenv("GUTENGRAPH_ALLOW_COPYRIGHTED", "true")
    assert run("add", 7).code == 0
    assert library.record(7).title == "Mine"


def test_many_books_of_the_live_site_ask_for_a_mirror(
    run: Run, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("GUTENGRAPH_MIRROR", "https://www.gutenberg.org")
    one_error(run("add", *range(1, 22)), "21 books", "GUTENGRAPH_MIRROR")
    assert not (home / "books").exists()


def test_without_a_network_a_book_is_added_unseen_with_a_warning(
    run: Run, monkeypatch: pytest.MonkeyPatch, library: Library, impatient: None
) -> None:
    with dead_port() as address:
        monkeypatch.setenv("GUTENGRAPH_MIRROR", address)
        seen = run("add", 7)
    assert seen.code == 0
    assert "cannot be reached" in seen.err
    assert library.record(7).status == "registered"


# --- building: the source ---


def refused(run: Run, home: Path, library: Library, *words: str) -> None:
    """Building book 7 fails in these words; the stores are as they were, and the library says why."""
    before = tree(home)
    one_error(run("build", 7), "book 7", *words)
    assert tree(home) == before
    record = library.record(7)
    assert record.status == "failed"
    for word in words:
        assert word in record.reason


def test_a_book_that_was_never_added(run: Run, home: Path) -> None:
    one_error(run("build", 7), "Book 7", "gutengraph add 7")
    assert not home.exists()


def test_no_network(
    run: Run, home: Path, library: Library, monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    with dead_port() as address:
        monkeypatch.setenv("GUTENGRAPH_MIRROR", address)
        run("add", 7)
        refused(run, home, library, "cannot be reached", "Check the connection")


def test_a_404(run: Run, home: Path, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.update(7, title="Gone since")
    with server(lambda request: request.send_error(404)) as address:
        monkeypatch.setenv("GUTENGRAPH_MIRROR", address)
        refused(run, home, library, "no plain text", "Check the number")


def test_a_truncated_download(
    run: Run, home: Path, library: Library, monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    def half(request: BaseHTTPRequestHandler) -> None:
        if request.path.endswith(".rdf"):
            request.send_error(404)
            return
        request.send_response(200)
        request.send_header("Content-Length", "100000")
        request.end_headers()
        request.wfile.write(text_of(7, "The Heron", STORY).encode()[:800])
        request.close_connection = True

    library.update(7)
    with server(half) as address:
        monkeypatch.setenv("GUTENGRAPH_MIRROR", address)
        refused(run, home, library, "broke off", "another mirror")


def test_a_file_that_breaks_off(run: Run, home: Path, mirror_folder: Path, library: Library) -> None:
    put(mirror_folder, 7, text_of(7, "The Heron", STORY)[:900])
    run("add", 7)
    refused(run, home, library, "breaks off", "GUTENGRAPH_MIRROR")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (bytes(range(256)) * 400, "binary"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 4000, "not a text"),
        (b"", "empty"),
        (b"\xef\xbb\xbf \r\n\r\n", "empty"),
        (b"<!DOCTYPE html><html><body>Not found</body></html>" * 20, "HTML"),
    ],
    ids=["bytes", "png", "empty", "blank", "html"],
)
def test_rubbish(run: Run, home: Path, mirror_folder: Path, library: Library, data: bytes, says: str) -> None:
    put(mirror_folder, 7, data, rdf=rdf_of(7, "The Heron"))
    run("add", 7)
    refused(run, home, library, says)


def test_a_book_that_became_copyrighted(run: Run, home: Path, mirror_folder: Path, library: Library) -> None:
    put_story(mirror_folder)
    run("add", 7)
    put(mirror_folder, 7, STORY, rdf=rdf_of(7, "The Heron", rights="Copyrighted. All rights reserved."))
    refused(run, home, library, "not in the public domain", "GUTENGRAPH_ALLOW_COPYRIGHTED")


def test_a_mirror_that_is_no_folder(
    run: Run, home: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.update(7)
    monkeypatch.setenv("GUTENGRAPH_MIRROR", "/no/such/folder")
    refused(run, home, library, "/no/such/folder", "Correct GUTENGRAPH_MIRROR")


# --- building: the machine and the models ---


@pytest.mark.parametrize("command", ["add", "build"])
def test_a_data_folder_that_cannot_be_written(
    run: Run, home: Path, mirror_folder: Path, command: str
) -> None:
    """A file in its place: what a missing permission is to others, this is to root too."""
    put_story(mirror_folder)
    if command == "add":
        home.write_text("not a folder")
        one_error(run("add", 7), str(home), "GUTENGRAPH_HOME")
        assert home.read_text() == "not a folder"
        return
    run("add", 7)
    (home / "lancedb").write_text("not a folder")
    one_error(run("build", 7), "lancedb")
    assert (home / "lancedb").read_text() == "not a folder"


def test_a_dead_llm_server(
    run: Run, home: Path, mirror_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_story(mirror_folder)
    run("add", 7)
    before = tree(home)
    with dead_port() as address:
        monkeypatch.setenv("GUTENGRAPH_LLM", "ollama:gemma4")
        monkeypatch.setenv("GUTENGRAPH_OLLAMA_HOST", address)
        one_error(run("build", 7), address.removeprefix("http://"))
    assert tree(home) == before


def test_a_wrong_model(run: Run, home: Path, mirror_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers, and serves something else."""

    def tags(request: BaseHTTPRequestHandler) -> None:
        body = b'{"models": [{"name": "other:latest", "model": "other:latest", "digest": "0123456789ab"}]}'
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    put_story(mirror_folder)
    run("add", 7)
    before = tree(home)
    with server(tags) as address:
        monkeypatch.setenv("GUTENGRAPH_LLM", "ollama:gemma4")
        monkeypatch.setenv("GUTENGRAPH_OLLAMA_HOST", address)
        one_error(run("build", 7), "gemma4", "ollama pull")
    assert tree(home) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GUTENGRAPH_LLM", "gpt"),
        ("GUTENGRAPH_EMBEDDING", "no/such-model"),
        ("GUTENGRAPH_CHUNK_TOKENS", "many"),
    ],
)
def test_a_setting_that_is_none(
    run: Run, home: Path, mirror_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    put_story(mirror_folder)
    run("add", 7)
    before = tree(home)
    monkeypatch.setenv(name, value)
    one_error(run("build", 7), value if name != "GUTENGRAPH_CHUNK_TOKENS" else name)
    assert tree(home) == before


# --- removing ---


def test_a_book_under_construction_is_not_removed(run: Run, mirror_folder: Path, library: Library) -> None:
    put_story(mirror_folder)
    run("add", 7)
    lock = BookLock(library, 7, run="a-run-of-the-night")
    lock.take(wait_s=0)
    one_error(run("remove", 7), "Book 7", f"process {os.getpid()}", "a-run-of-the-night", "Wait for it")
    assert library.has(7)
    lock.release()
    assert run("remove", 7).code == 0


def test_what_a_killed_removal_left_is_swept_up(run: Run, mirror_folder: Path, library: Library) -> None:
    put_story(mirror_folder)
    run("add", 7)
    leftover = library.books_dir / ".removed-8-123"
    leftover.mkdir()
    (leftover / "raw.txt").write_text("half gone")
    assert run("remove", 7).code == 0
    assert list(library.books_dir.iterdir()) == []
    # The record went, the partition did not: a removal killed in between can be called again.
    put_story(mirror_folder)
    run("add", 7)
    shutil.rmtree(library.book_dir(7))
    assert run("remove", 7).code == 0
    one_error(run("remove", 7), "Book 7", "not in the library")


@pytest.mark.parametrize(
    "arguments",
    [
        ("books",),
        ("ask", "Who is the mate?"),
        ("characters", "7"),
        ("build", "7"),
        ("add", "7"),
        ("serve", "--port", "0"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_data_folder_that_is_a_file_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    monkeypatch.setenv("GUTENGRAPH_HOME", str(taken))
    one_error(run(*arguments), str(taken), "GUTENGRAPH_HOME")
    assert taken.read_text() == "mine"


def test_a_port_that_is_taken_is_named(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        one_error(run("serve", "--port", str(port)), str(port), "--port")


def test_an_env_file_that_is_no_text_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_bytes(b"GUTENGRAPH_TOP_K=3\n\xff\xfe")
    monkeypatch.chdir(tmp_path)
    one_error(run("books"), ".env", "UTF-8")


@pytest.mark.parametrize("command", ["ask", "compare"])
def test_an_empty_author_is_not_everybody(run: Run, command: str) -> None:
    seen = run(command, "Who is the mate?", "--author", " ")
    assert (seen.code, seen.out) == (2, "")
    assert "Name an author" in seen.err
