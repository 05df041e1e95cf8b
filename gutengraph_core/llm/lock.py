"""One model call at a time on this machine, for this user.

Two processes that each run llama.cpp on all cores stall each other almost to a halt, because its threads
spin while they wait for one another. The lock is held per call, not per book, so that a question is
answered during a backfill.
"""

from __future__ import annotations

import getpass
import logging
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from gutengraph_core.errors import ModelUnreachable

log = logging.getLogger(__name__)
"""Says what a call waits for; a server listens to it for whoever asked."""

SAY_AFTER_S = 2.0
"""A wait shorter than this is a normal call of somebody else's; a longer one is worth a line in the log."""
_POLL_S = 0.005
"""A cloze call takes about 0.1 s: polling at a twentieth of that costs nothing and loses little."""


def lock_dir() -> Path:
    """Where the lock lies: per machine and user, whatever the data folder."""
    user = os.getuid() if hasattr(os, "getuid") else getpass.getuser()
    folder = Path(tempfile.gettempdir()) / f"gutengraph-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@contextmanager
def model_lock(*, timeout_s: float, folder: Path | None = None) -> Iterator[None]:
    """Hold the machine's model for one call. Waiting callers take turns with one that calls in a loop.

    A file lock has no queue: a process that releases and takes it again at once starves all others. So each
    caller first passes a gate, and keeps it until it has the model; whoever has just used the model finds
    the gate shut.

    Logs what it waits for after two seconds, then every minute. Raises ModelUnreachable after `timeout_s`.
    The lock of a process that dies is released by the operating system.
    """
    folder = folder or lock_dir()
    start = time.monotonic()
    holder = folder / "model.holder"
    gate = FileLock(folder / "gate.lock")
    model = FileLock(folder / "model.lock")
    _acquire(gate, start, timeout_s, holder)
    try:
        _acquire(model, start, timeout_s, holder)
    finally:
        gate.release()
    try:
        holder.write_text(str(os.getpid()))
        yield
    finally:
        model.release()


def _acquire(lock: FileLock, start: float, timeout_s: float, holder: Path) -> None:
    say_at = start + SAY_AFTER_S
    end = start + timeout_s
    while True:
        try:
            lock.acquire(timeout=max(0.0, min(say_at, end) - time.monotonic()), poll_interval=_POLL_S)
            return
        except Timeout:
            who = _holder(holder)
            if time.monotonic() >= end:
                raise ModelUnreachable(
                    f"The embedded model was busy for {timeout_s:.0f} s: {who} is using it.",
                    remedy="Wait until it is done or stop it, or raise GUTENGRAPH_LLM_TIMEOUT_S.",
                ) from None
            log.warning("Waiting for the embedded model: %s is using it.", who)
            say_at = time.monotonic() + 60.0


def _holder(path: Path) -> str:
    try:
        pid = path.read_text()
    except FileNotFoundError:
        pid = ""
    if pid == str(os.getpid()):
        return "another thread of this process"
    return f"process {pid}" if pid else "another process"
