"""Our own embedding server on a real socket, with the real embedded model, in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from gutengraph_core.embed_server.app import Limits, make_app
from gutengraph_core.embed_server.batching import Batcher
from gutengraph_core.embed_server.served import ServedModel


@dataclass(frozen=True)
class Running:
    """A server: where it is, and its queue."""

    url: str
    batcher: Batcher


@contextmanager
def serving(model: ServedModel, **limits: int | bool) -> Iterator[Running]:
    """A server on a free loopback port."""
    app = make_app(model, Limits.model_validate(limits))
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 120
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the embedding server did not start")
        time.sleep(0.02)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Running(f"http://127.0.0.1:{port}", app.state.batcher)
    finally:
        server.should_exit = True
        thread.join(timeout=60)
