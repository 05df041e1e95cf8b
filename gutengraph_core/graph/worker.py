"""Untrusted statements, guarded and run in a process of their own that is killed when it takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gutengraph_core.errors import CypherFailed, StoreError
from gutengraph_core.graph import versions
from gutengraph_core.graph.guard import MAX_ROWS, guard
from gutengraph_core.library import Library

TIMEOUT_S = 3.0
"""Wall clock of one statement. The slowest sensible one on five novels takes 0.1 s."""
_GRACE_S = 1.0
"""Kuzu ends a statement by itself at the time-out, if it looks at the clock; after this much more it is killed."""
_START_S = 20.0
"""A start takes 0.3 s on an idle machine."""
_BEGIN_S = 2.0
"""A process that is alive takes a request at once; one that does not is replaced."""
_WAIT_S = 10.0
"""Longest wait for the statements of others before one's own."""
_ATTEMPTS = 3
_MODULE = "gutengraph_core.graph.worker_process"
_NO_MEMORY = ("bad_alloc", "Buffer manager exception", "Resource temporarily unavailable")


@dataclass(frozen=True)
class Rows:
    """What a statement returned. `statement`: what was run, with its LIMIT; `version`: of which graph."""

    columns: list[str]
    rows: list[list[Any]]
    statement: str
    version: int


class CypherWorker:
    """Runs untrusted statements on the published graph, following the pointer when a newer one is published.

    One process is kept, started at the first statement or by `warm`, and started again when it dies. Safe for
    several threads, which take turns.
    """

    def __init__(self, library: Library, *, timeout_s: float = TIMEOUT_S) -> None:
        self._library = library
        self._timeout_s = timeout_s
        self._turn = threading.Lock()
        self._process: _Process | None = None

    def run(
        self, statement: str, *, parameters: Mapping[str, Any] | None = None, limit: int = MAX_ROWS
    ) -> Rows:
        """Guard `statement` and run it. `parameters`: values for its `$names`.

        Raises CypherRefused if the guard does, CypherFailed with Kuzu's own words or the limit that was hit,
        NotBuilt if nothing was ever published, StoreError if the graph cannot be opened.
        """
        values = dict(parameters or {})
        allowed = guard(statement, parameters=values, limit=limit)
        if not self._turn.acquire(timeout=_WAIT_S):
            raise CypherFailed(
                f"Other questions have kept the graph's worker busy for {_WAIT_S:.0f} s.", remedy="Ask again."
            )
        try:
            request = {
                "statement": allowed,
                "parameters": values,
                "rows": limit,
                "timeout_ms": int(self._timeout_s * 1000),
            }
            process, reply = self._asked(request)
            if reply is None:
                self._process = None
                raise self._lost(process)
        finally:
            self._turn.release()
        if "error" in reply:
            raise _failed(reply["error"], self._timeout_s)
        return Rows(reply["columns"], reply["rows"], allowed, process.version)

    def _asked(self, request: dict[str, Any]) -> tuple[_Process, dict[str, Any] | None]:
        """The reply of a process that was alive when it got the request."""
        for _ in range(_ATTEMPTS):
            process = self._ready()
            if process.begin(request):
                return process, process.finish(timeout_s=self._timeout_s + _GRACE_S)
            process.kill()  # it had died while nobody asked it anything
        raise StoreError(
            "The graph's worker dies before it can be asked.", remedy="See the system's log; is memory short?"
        )

    def warm(self) -> None:
        """Start the process, so that the first statement need not wait. Raises NotBuilt, StoreError."""
        with self._turn:
            self._ready()

    @property
    def pid(self) -> int | None:
        """Of the process that is kept; None where none runs."""
        return self._process.pid if self._process is not None and self._process.alive else None

    def close(self) -> None:
        """End the process."""
        with self._turn:
            if self._process is not None:
                self._process.kill()
                self._process = None

    def _ready(self) -> _Process:
        """The process on the version that is published now."""
        for _ in range(_ATTEMPTS):
            version = versions.require(self._library)
            held = self._process
            if held is not None and held.alive and held.version == version.number:
                return held
            if held is not None:
                held.kill()
                self._process = None
            started = _Process(version)
            if started.start(timeout_s=_START_S):
                self._process = started
                return started
        raise StoreError(
            f"The graph under {self._library.graph_dir} is gone whenever it is opened.",
            remedy="Run `gutengraph build` again to publish a fresh graph.",
        )

    def _lost(self, process: _Process) -> CypherFailed:
        """Start the next process at once, in the background, and say what became of the last one."""
        threading.Thread(target=self._warm_quietly, daemon=True).start()
        if process.timed_out:
            return _timed_out(self._timeout_s)
        return CypherFailed(
            "The statement ended the graph's worker: it took more memory than it may, or hit a fault of Kuzu's.",
            remedy="Ask for less. A new worker is ready.",
        )

    def _warm_quietly(self) -> None:
        with contextlib.suppress(
            StoreError, OSError
        ):  # whoever asks next meets the same failure, and is told
            self.warm()


class _Process:
    """One child and the pipes to it."""

    def __init__(self, version: versions.Version) -> None:
        self.version = version.number
        self.timed_out = False
        self._folder = version.folder
        self._got = b""
        environment = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "LANG": "C.UTF-8"}
        self._child = subprocess.Popen(
            [sys.executable, "-m", _MODULE, str(version.folder), "--number", str(version.number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=environment,  # no keys and tokens of the parent's
            start_new_session=True,
        )
        self.kill = weakref.finalize(self, _end, self._child)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def start(self, *, timeout_s: float) -> bool:
        """Wait until it serves; False if its version was removed meanwhile. Raises StoreError."""
        said = self._line(timeout_s) or {"failed": "its process ended or did not start in time"}
        if "ready" in said:
            return True
        self.kill()
        if "gone" in said:
            return False
        raise StoreError(
            f"{self._folder} cannot be opened ({said['failed']}).",
            remedy="Run `gutengraph build` again to publish a fresh graph.",
        )

    def begin(self, request: dict[str, Any]) -> bool:
        """Hand a statement over; False if there is nobody to take it."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(request).encode("utf-8") + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            return False
        return self._line(_BEGIN_S) is not None

    def finish(self, *, timeout_s: float) -> dict[str, Any] | None:
        """The reply, or None if the process died over it or had to be killed."""
        reply = self._line(timeout_s)
        if reply is None:
            self.kill()
        return reply

    def _line(self, timeout_s: float) -> dict[str, Any] | None:
        assert self._child.stdout is not None
        end = time.monotonic() + timeout_s
        handle = self._child.stdout.fileno()
        while b"\n" not in self._got:
            left = end - time.monotonic()
            if left <= 0 or not select.select([handle], [], [], left)[0]:
                self.timed_out = True
                return None
            piece = os.read(handle, 1 << 16)
            if not piece:
                return None
            self._got += piece
        line, _, self._got = self._got.partition(b"\n")
        document: dict[str, Any] = json.loads(line)
        return document


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):  # what was still to be written nobody reads
                pipe.close()


def _failed(error: str, timeout_s: float) -> CypherFailed:
    if error.startswith("Interrupted"):
        return _timed_out(timeout_s)
    if any(sign in error for sign in _NO_MEMORY):
        return CypherFailed(
            "The statement took more memory than it may.",
            remedy="Ask for less: fewer hops, a narrower WHERE.",
        )
    return CypherFailed(f"Kuzu: {' '.join(error.split())}", remedy="Correct the statement.")


def _timed_out(timeout_s: float) -> CypherFailed:
    return CypherFailed(
        f"The statement was stopped after {timeout_s:.0f} s.",
        remedy="Ask for less: fewer hops, a narrower WHERE.",
    )
