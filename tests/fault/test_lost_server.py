"""The model's server goes away in the middle of a book and comes back: the book is built, nothing is asked twice."""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from pathlib import Path

import pytest
from command_line import gutengraph
from kills import BOOK, lay_story
from llama_server import API_KEY, llama_server
from waiting import LONG_S, until

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings


class Wire:
    """A port that leads to a server, and can be cut: connections die, new ones are refused."""

    def __init__(self, url: str) -> None:
        host, port = url.removeprefix("http://").split("/")[0].split(":")
        self._server = (host, int(port))
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            self._open += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=_pump, args=(source, target), daemon=True).start()

    def cut(self) -> None:
        # shutdown() wakes the thread that waits in accept(); close() alone leaves it listening.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._open:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self._open.clear()

    def refuse(self, times: int) -> None:
        """Let that many calls come, and turn them away."""
        with socket.create_server(("127.0.0.1", self.port)) as door:
            door.settimeout(LONG_S)
            for _ in range(times):
                caller, _ = door.accept()
                # linger 0: a reset, as from a machine where nobody listens
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                caller.close()

    def mend(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


def test_the_wait_outlasts_two_minutes() -> None:
    """What the test below does in seconds, the defaults do for a server that is gone for two minutes."""
    settings = Settings()
    waits = [settings.step_retry_delay_s * 2**n for n in range(settings.model_retries)]
    assert sum(waits) > 120


def test_a_server_that_goes_away_and_comes_back(
    library: Library, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lay_story(tmp_path / "mirror", times=3)
    ledger = Ledger(library.path(BOOK, "ledger.jsonl"))
    gone = threading.Event()
    with llama_server() as served:
        wire = Wire(served.url)

        def outage() -> None:
            until(
                lambda: sum(e.outcome == "valid" for e in ledger.entries(STEP)) >= 2,
                "two names of the model",
                seconds=200,
            )
            wire.cut()
            gone.set()
            wire.refuse(2)  # the first call, and the next one that was tried
            wire.mend()

        for name, value in {
            "MIRROR": tmp_path / "mirror",
            "LLM": f"openai:{served.model}@http://127.0.0.1:{wire.port}/v1",
            "OPENAI_API_KEY": API_KEY,
            "STEP_RETRY_DELAY_S": 0.5,
        }.items():
            monkeypatch.setenv(f"GUTENGRAPH_{name}", str(value))
        monkeypatch.setenv("DAGSTER_HOME", "")
        assert gutengraph(monkeypatch, capfd, "add", BOOK).code == 0
        thread = threading.Thread(target=outage)
        thread.start()
        seen = gutengraph(monkeypatch, capfd, "build", BOOK)
        thread.join()
        wire.cut()
    assert gone.is_set()
    assert seen.code == 0, seen.err
    assert "Trying again in" in seen.err  # whoever watches knows what it waits for
    record = library.record(BOOK)
    assert record.status == "built"
    asked = Counter(entry.item for entry in ledger.entries(STEP))
    assert max(asked.values()) == 1
