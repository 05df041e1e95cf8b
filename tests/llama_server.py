"""llama.cpp's own OpenAI-compatible server, with the embedded model, on a loopback port of this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gutengraph_core.llm.llamacpp import cores, import_xllamacpp, model_file
from gutengraph_core.llm.lock import model_lock

API_KEY = "a-key-of-the-tests"


@dataclass(frozen=True)
class LlamaServer:
    url: str
    model: str


@contextmanager
def llama_server() -> Iterator[LlamaServer]:
    """Serve until the block ends. Calls must be made under the model lock: the server does not take it."""
    xllamacpp = import_xllamacpp()
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {"gemma-served"}
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = cores()
    params.swa_full = True
    params.cache_ram_mib = 0
    params.fit_params = False
    params.warmup = False
    params.verbosity = -1
    params.api_keys = [API_KEY]
    params.ui = False
    with model_lock(timeout_s=300):
        server = xllamacpp.Server(params)
    yield LlamaServer(server.listening_address, "gemma-served")
    del server
