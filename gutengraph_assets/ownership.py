"""Who may work on a book: one run at a time, by a lock that the operating system takes back from the dead."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from filelock import FileLock, Timeout

from gutengraph_core.errors import BookBusy
from gutengraph_core.files import disk_errors, read_text, write_json
from gutengraph_core.library import Library, now
from gutengraph_core.processes import pid_of, this_process

SAY_AGAIN_S = 60.0
"""A run that waits says so at once, and then every minute."""


@dataclass(frozen=True)
class Owner:
    """Who holds a book, as they wrote it down."""

    process: str
    """`host:pid:start`"""
    run: str
    """Dagster's run; '' for what is none (a removal)."""
    since: str

    def __str__(self) -> str:
        host, _, _ = self.process.rsplit(":", 2)
        run = f", run {self.run}" if self.run else ""
        return f"process {pid_of(self.process)} on {host}{run}, since {self.since}"


class BookLock:
    """The right to work on `book`. Not reentrant: two of one process exclude each other too."""

    def __init__(self, library: Library, book: int, *, run: str = "") -> None:
        self._library = library
        self._book = book
        self._run = run
        self._path = library.locks_dir / f"build-{book}.owner"
        # The thread that ends a run need not be the one that began it.
        self._lock = FileLock(library.locks_dir / f"build-{book}.lock", thread_local=False)

    def take(self, *, wait_s: float, say: Callable[[str], object] = lambda text: None) -> None:
        """Wait until nobody else holds the book, telling `say` who does. Raises BookBusy after `wait_s`."""
        end = time.monotonic() + wait_s
        with disk_errors(self._library.locks_dir, book=self._book):
            self._library.locks_dir.mkdir(parents=True, exist_ok=True)
        waited = False
        while True:
            pause = min(SAY_AGAIN_S, max(0.0, end - time.monotonic())) if waited else 0.0
            try:
                self._lock.acquire(timeout=pause, poll_interval=0.1)
                break
            except Timeout:
                if time.monotonic() >= end:
                    raise BookBusy(
                        f"It is being built by {self._holder()}.",
                        remedy="Wait for it, or end it first.",
                        book=self._book,
                    ) from None
                waited = True
                say(f"Book {self._book} is being built by {self._holder()}; waiting for it.")
        owner = {"process": this_process(), "run": self._run, "since": now()}
        try:
            write_json(self._path, owner, book=self._book)
        except BaseException:
            self._lock.release()
            raise

    def release(self) -> None:
        """Let the next one have it. Does nothing if it is not held."""
        self._lock.release()

    @property
    def held(self) -> bool:
        return bool(self._lock.is_locked)

    def _holder(self) -> str:
        try:
            return str(Owner(**json.loads(read_text(self._path))))
        except (OSError, ValueError, TypeError):  # it has taken the lock and not written yet
            return "another process"
