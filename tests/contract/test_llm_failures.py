"""What goes wrong while a model answers, on servers that really do it: cut connections, slow ones, replies that ignore
everything they were asked. Each is a clear error or a counted failure, never an empty answer.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from naming_texts import FILLER, windows_of, wrapped

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP, name_book
from gutengraph_assets.extraction.prompts.name_list import NameList
from gutengraph_core.errors import ModelRefused, ModelUnreachable
from gutengraph_core.llm import LLM, open_llm
from gutengraph_core.llm.ask import ask
from gutengraph_core.settings import Settings

Sender = Callable[[socket.socket, str], None]
NAMES = {"people": ["Esther"], "places": ["Thornbury"], "objects": []}
BACKENDS = ["ollama", "openai"]
TAGS = {"models": [{"name": "m:latest", "model": "m:latest", "digest": "d" * 64}]}
SHOW = {
    "template": "{{ .Messages }}<start_of_turn>user {{ .Prompt }}",
    "capabilities": ["completion"],
    "model_info": {"gemma3.context_length": 4096},
}
MODELS = {"data": [{"id": "m", "max_model_len": 4096}]}


def _head(length: int, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n".encode()


def _send(connection: socket.socket, document: Any, status: str = "200 OK") -> None:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    connection.sendall(_head(len(data), status) + data)


def _reply(text: str, *, backend: str, finish: str = "stop", thinking: str = "") -> dict[str, Any]:
    """A whole answer with `text` in the backend's shape."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if thinking:
        message["thinking" if backend == "ollama" else "reasoning_content"] = thinking
    if backend == "ollama":
        counts = {"prompt_eval_count": 500, "eval_count": 20}
        return {"model": "m", "message": message, "done": True, "done_reason": finish, **counts}
    usage = {"prompt_tokens": 500, "completion_tokens": 20}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


@contextmanager
def served(answer: Sender) -> Iterator[str]:
    """A server that tells its models properly, and answers what generates by `answer(connection, path)`."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.2)
    stop = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                path = _read(connection)
                known = {
                    "/api/tags": TAGS,
                    "/api/show": SHOW,
                    "/v1/models": MODELS,
                    "/api/version": {"version": "0.13"},
                }
                if path in known:
                    _send(connection, known[path])
                elif path in ("/api/chat", "/api/generate", "/v1/chat/completions", "/v1/completions"):
                    answer(connection, path)
                else:
                    _send(connection, {"error": "not found"}, "404 Not Found")
            except OSError:
                return  # the client hung up first, as it should on a slow answer

    def accept() -> None:
        while not stop.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        stop.set()
        thread.join()
        listening.close()


def _read(connection: socket.socket) -> str:
    connection.settimeout(10)
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        ),
        0,
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head.split(b" ")[1].decode()


def _open(backend: str, url: str, settings: Settings, **more: Any) -> LLM:
    spec = "ollama:m" if backend == "ollama" else f"openai:m@{url}"
    return open_llm(spec, settings.model_copy(update={"ollama_host": url, **more}), cache=False)


# --- the connection ---
def _reset(connection: socket.socket, path: str) -> None:
    # linger 0: closing sends a reset instead of an end
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _killed_mid_body(connection: socket.socket, path: str) -> None:
    connection.sendall(_head(5000) + b'{"message": {"role": "assistant", "content": "{\\"peop')


def _unexpected_eof(connection: socket.socket, path: str) -> None:
    _send(connection, {"error": "unexpected EOF"}, "500 Internal Server Error")


def _drips(connection: socket.socket, path: str) -> None:
    connection.sendall(_head(5000))
    for _ in range(40):
        connection.sendall(b" ")
        time.sleep(0.05)


def _silent(connection: socket.socket, path: str) -> None:
    time.sleep(2)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("answer", [_reset, _killed_mid_body, _unexpected_eof, _silent])
def test_a_broken_or_silent_answer_can_be_tried_again(
    backend: str, answer: Sender, settings: Settings
) -> None:
    with served(answer) as url:
        llm = _open(backend, url, settings, llm_timeout_s=0.7)
        with pytest.raises(ModelUnreachable) as caught:
            llm.complete("Name them.", max_tokens=20)
    assert caught.value.retry
    assert caught.value.remedy


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_answer_that_drips_in_and_breaks_off_is_no_answer(backend: str, settings: Settings) -> None:
    with served(_drips) as url:
        llm = _open(backend, url, settings, llm_timeout_s=1.0)
        with pytest.raises(ModelUnreachable):
            llm.complete("Name them.", max_tokens=20)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_bad_request_is_refused_and_not_tried_again(backend: str, settings: Settings) -> None:
    told: Any = "invalid option" if backend == "ollama" else {"message": "invalid option"}
    with served(lambda c, p: _send(c, {"error": told}, "400 Bad Request")) as url:
        llm = _open(backend, url, settings)
        with pytest.raises(ModelRefused, match="invalid option") as caught:
            llm.complete("Name them.", max_tokens=20)
    assert not caught.value.retry


# --- the reply ---
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        ("The people named here are Esther and others.", "stop", "no JSON"),  # schema ignored
        ('{"characters": ["Esther"]}', "stop", "other shape"),
        (" \n\t" * 400, "length", "no JSON"),  # endless white space
        ("", "length", "no JSON"),  # all of the budget went into thinking
        ("<think>Esther is a person, so", "length", "no JSON"),
    ],
)
def test_a_reply_that_is_none_is_counted_as_failed(
    backend: str, text: str, finish: str, outcome: str, settings: Settings
) -> None:
    with served(lambda c, p: _send(c, _reply(text, backend=backend, finish=finish))) as url:
        asked = ask(_open(backend, url, settings), "Name them.", NameList, max_tokens=20)
    assert asked.parsed.value is None
    assert asked.parsed.outcome == outcome
    assert asked.reply.finish_reason == finish


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("thinking", ["", "Esther is a person."])
def test_thinking_beside_the_answer_is_not_the_answer(
    backend: str, thinking: str, settings: Settings
) -> None:
    answer = _reply(json.dumps(NAMES), backend=backend, thinking=thinking)
    with served(lambda c, p: _send(c, answer)) as url:
        asked = ask(_open(backend, url, settings), "Name them.", NameList, max_tokens=20)
    assert asked.parsed.value == NameList.model_validate(NAMES)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_prompt_that_was_cut_in_silence_is_noticed(backend: str, settings: Settings) -> None:
    answer = _reply(json.dumps(NAMES), backend=backend)  # says that 500 tokens were read
    with served(lambda c, p: _send(c, answer)) as url:
        llm = _open(backend, url, settings)
        with pytest.raises(ModelRefused, match="500 tokens"):
            llm.complete("word " * 2500, max_tokens=20)


# --- as the build sees it ---
BODY = wrapped(f"{FILLER} They saw Esther at Thornbury.", f"{FILLER} Esther went from Thornbury.")


@pytest.mark.parametrize("backend", BACKENDS)
def test_failed_windows_are_kept_with_their_replies_and_asked_again(
    backend: str, settings: Settings, tmp_path: Path
) -> None:
    good = False

    def answer(connection: socket.socket, path: str) -> None:
        text = json.dumps(NAMES) if good else "I cannot say."
        _send(connection, _reply(text, backend=backend))

    ledger = Ledger(tmp_path / "ledger.jsonl", book=3)
    with served(answer) as url:
        llm = _open(backend, url, settings)
        listing = settings.model_copy(update={"naming": "list"})
        windows = windows_of(BODY, words=90)
        assert name_book(BODY, windows, llm, listing, ledger, book=3).num_rows == 0
        first = ledger.summary(STEP)
        good = True
        table = name_book(BODY, windows, llm, listing, ledger, book=3)
    assert (first.asked, first.failed, first.empty) == (2, 2, 0)
    assert sum(first.failures_by_words.values()) == 2
    assert {row["name"] for row in table.to_pylist()} == {"Esther", "Thornbury"}
    assert ledger.summary(STEP).parse_fail_rate == 0
