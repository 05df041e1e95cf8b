"""Waiting for what must happen, however busy the machine is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

LONG_S = 120.0
"""No machine is so busy that what takes seconds takes longer; what hangs is found all the same."""


def until(happened: Callable[[], Any], what: str, *, seconds: float = LONG_S) -> Any:
    """Wait until `happened` gives something true, and give it."""
    deadline = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.02)
    return found


def within(call: Callable[[], T], what: str, *, seconds: float = LONG_S) -> T:
    """What `call` returns or raises, unless it hangs: then AssertionError, and it is left behind in its thread."""
    returned: list[T] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            returned.append(call())
        except BaseException as error:  # noqa: BLE001 - it is raised again where it was called
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"{what}: not within {seconds:.0f} s"
    if raised:
        raise raised[0]
    return returned[0]
