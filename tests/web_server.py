"""The real server in a thread, on a free loopback port."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import harbour_story as story
import uvicorn
from fakes import FakeLLM

from gutengraph_core.settings import Settings
from gutengraph_query.api.app import create_app
from gutengraph_query.brains import Brains

NAMES = {" Silas": -1.0, " Agnes": -2.0, " apricots": -0.5, " x": -9.0}


def brains_of(settings: Settings, llm: FakeLLM | None = None) -> Brains:
    """The brains of a toy library."""
    return Brains(settings, embedder=story.ToyEmbedder(), llm=llm or FakeLLM(logprobs=NAMES))


@contextmanager
def serving(here: Brains, *, warm: bool = False, review: bool = False) -> Iterator[str]:
    """The address of a running server. It is stopped at the end."""
    config = uvicorn.Config(
        create_app(here, warm=warm, review=review),
        host="127.0.0.1",
        port=0,
        log_level="error",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 120
        while not server.started:
            if time.monotonic() > until or not thread.is_alive():
                raise RuntimeError("the server did not start")
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
