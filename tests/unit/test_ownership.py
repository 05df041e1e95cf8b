"""One run at a time works on a book."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from waiting import LONG_S

from gutengraph_assets.ownership import BookLock
from gutengraph_core.errors import BookBusy
from gutengraph_core.library import Library


def test_the_second_is_told_who_the_first_is(library: Library) -> None:
    first, second = BookLock(library, 84, run="run-of-the-night"), BookLock(library, 84)
    first.take(wait_s=0)
    with pytest.raises(BookBusy) as caught:
        second.take(wait_s=0)
    text = str(caught.value)
    assert text.startswith(f"Book 84: It is being built by process {os.getpid()} on ")
    assert "run run-of-the-night, since 20" in text
    assert "Wait for it" in text
    BookLock(library, 85).take(wait_s=0)  # another book is nobody's concern
    first.release()
    second.take(wait_s=0)


def test_the_second_waits_and_says_for_whom(library: Library) -> None:
    first, second = BookLock(library, 84, run="first"), BookLock(library, 84, run="second")
    first.take(wait_s=0)
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        first.release()  # not before it has been said

    second.take(wait_s=LONG_S, say=say)
    assert len(said) == 1
    assert "run first" in said[0]


def test_the_dead_own_nothing(library: Library) -> None:
    code = (
        "import sys, time; from pathlib import Path;"
        "from gutengraph_assets.ownership import BookLock; from gutengraph_core.library import Library;"
        "lock = BookLock(Library(Path(sys.argv[1])), 84); lock.take(wait_s=0); print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(library.home)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(BookBusy, match=f"process {holder.pid}"):
        BookLock(library, 84).take(wait_s=0)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    BookLock(library, 84).take(wait_s=0)
