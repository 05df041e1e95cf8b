"""The embedded models on loopback ports, in the shapes that peers ask for: OpenAI's chat, TEI's embeddings."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import uvicorn

from gutengraph_core.embed_server.app import Limits, make_app
from gutengraph_core.embed_server.served import ServedModel
from gutengraph_core.embedding.folders import find_folder
from gutengraph_core.llm.llamacpp import cores, import_xllamacpp, model_file
from gutengraph_core.llm.lock import model_lock

CONTEXT = 8192
"""LightRAG's own prompt of an extraction takes 4,000 tokens with a chunk of its default size."""


@dataclass(frozen=True)
class Served:
    """Where a peer finds both models."""

    llm_url: str
    llm_key: str
    llm_model: str
    embed_url: str
    dimension: int

    def tokens(self) -> tuple[int, int]:
        """Tokens that the language model has read and written since it was started; what it found in its cache it
        did not read. Raises httpx.HTTPError."""
        if not self.llm_url:
            return 0, 0
        told = httpx.get(
            f"{self.llm_url.removesuffix('/v1')}/metrics",
            headers={"Authorization": f"Bearer {self.llm_key}"},
            timeout=60,
        )
        counts = dict(
            line.rsplit(" ", 1)
            for line in told.raise_for_status().text.splitlines()
            if line[:1] not in ("#", "")
        )
        return int(float(counts["llamacpp:prompt_tokens_total"])), int(
            float(counts["llamacpp:tokens_predicted_total"])
        )


NO_MODEL = Served("", "", "", "", 0)
"""For a peer that takes none."""


@contextmanager
def serving(*, model: str = "gemma-270m") -> Iterator[Served]:
    """Both models until the block ends, under the model lock: two llama.cpp on two cores stall each other."""
    xllamacpp = import_xllamacpp()
    key = secrets.token_hex(16)
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {model}
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = cores()
    params.swa_full = True
    params.cache_ram_mib = 0
    params.fit_params = False
    params.warmup = False
    params.verbosity = -1
    params.endpoint_metrics = True
    params.api_keys = [key]
    params.ui = False
    with model_lock(timeout_s=300), _embeddings() as (embed_url, dimension):
        server = xllamacpp.Server(params)
        yield Served(f"{server.listening_address}/v1", key, model, embed_url, dimension)
        del server


@contextmanager
def _embeddings() -> Iterator[tuple[str, int]]:
    folder = find_folder("embedded")
    app = make_app(ServedModel(folder), Limits())
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 120
        while not server.started:
            if not thread.is_alive() or time.monotonic() > until:
                raise RuntimeError("the embedding server did not start")
            time.sleep(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", folder.identity.dimension
    finally:
        server.should_exit = True
        thread.join(timeout=60)
