"""Which process did something, in a form that can be asked later whether that process still runs."""

from __future__ import annotations

import os
import socket

import psutil

_SLACK_S = 2.0
"""Start times are kept in whole seconds, and a clock that is set moves them a little."""


def this_process() -> str:
    """`host:pid:start` of this process. The start tells it from a later one that was given the same number."""
    return f"{socket.gethostname()}:{os.getpid()}:{psutil.Process().create_time():.0f}"


def pid_of(process: str) -> int:
    """The number in `host:pid:start`."""
    return int(process.rsplit(":", 2)[1])


def is_alive(process: str) -> bool:
    """Whether the process `host:pid:start` still runs. Another machine's is not ours to judge: True."""
    host, pid, started = process.rsplit(":", 2)
    if host != socket.gethostname():
        return True
    return runs_since(int(pid), float(started) + _SLACK_S)


def runs_since(pid: int, seen_at: float) -> bool:
    """Whether the process that had the number `pid` at `seen_at` (seconds since 1970) still runs."""
    try:
        process = psutil.Process(pid)
        return process.create_time() <= seen_at and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
