"""How far a step is: counts and time left, to whoever listens (the command line) and to the run's log (the
UI)."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

Progress = Callable[[int, int], None]
"""Called with (done, in all) by the plain functions that take long."""


@dataclass(frozen=True)
class Event:
    """One thing to show: a step began, got on, or ended."""

    book: int | None
    step: str
    kind: str  # began | on | waits | ended
    done: int = 0
    total: int = 0
    left_s: float | None = None
    """Seconds that the rest will take at the pace so far; None until enough is done to say."""
    text: str = ""
    """What came out, on `ended`; for whom, on `waits`."""


Listener = Callable[[Event], None]
_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Events of every step that runs in this process go to `listener` too."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell(event: Event) -> None:
    """Hand an event to all listeners."""
    for listener in _listeners:
        listener(event)


@dataclass
class Meter:
    """A `Progress` that knows the time: tells listeners of every call, the log of about twenty."""

    book: int | None
    step: str
    log: logging.Logger | None = None
    clock: Callable[[], float] = time.monotonic
    _start: float | None = field(default=None, init=False)
    _first: int = field(default=0, init=False)
    _logged: int = field(default=0, init=False)

    def __call__(self, done: int, total: int) -> None:
        now = self.clock()
        if self._start is None:
            # What was done before the first call came from a cache or an earlier run: it says nothing of the
            # pace.
            self._start, self._first = now, done
        here = done - self._first
        left = (now - self._start) / here * (total - done) if here > 0 else None
        tell(Event(self.book, self.step, "on", done, total, left))
        twentieth = done * 20 // total if total else 20
        if self.log is not None and twentieth > self._logged:
            self._logged = twentieth
            self.log.info("%s: %d of %d%s", self.step, done, total, f", {span(left)} left" if left else "")


def span(seconds: float) -> str:
    """'8 s', '3 min 20 s', '2 h 5 min'."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Console:
    """Progress for a person: one line a step on a terminal, rewritten in place; else a line every few
    seconds."""

    QUIET_S = 5.0
    """Without a terminal (a log file, CI) a running step speaks this often."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._live = self._stream.isatty()
        self._began: dict[tuple[int | None, str], float] = {}
        self._spoke = clock()
        self._width = 0

    def __call__(self, event: Event) -> None:
        now = self._clock()
        key = (event.book, event.step)
        if event.kind == "began":
            self._began[key] = self._spoke = now
            if self._live:
                self._rewrite(f"{_where(event)} …")
        elif event.kind == "on":
            if self._live:
                self._rewrite(_running(event))
            elif now - self._spoke >= self.QUIET_S and event.done < event.total:
                self._spoke = now
                self.line(_running(event))
        elif event.kind == "waits":
            self.line(f"{_where(event)}  {event.text}")
        else:
            took = span(now - self._began.pop(key, now))
            self.line(f"{_where(event)}  {event.text}  ({took})")

    def line(self, text: str) -> None:
        """A whole line that stays."""
        self._rewrite("")
        self._stream.write(text + "\n")
        self._stream.flush()

    def _rewrite(self, text: str) -> None:
        if not self._live:
            return
        self._stream.write("\r" + text + " " * (self._width - len(text)) + ("\r" if not text else ""))
        self._stream.flush()
        self._width = len(text)


def _where(event: Event) -> str:
    return f"  {event.step}" if event.book is None else f"  {event.book:>6}  {event.step}"


def _running(event: Event) -> str:
    left = f", about {span(event.left_s)} left" if event.left_s is not None else ""
    return f"{_where(event)}  {event.done:,} of {event.total:,}{left}"
