"""The pools that let one step in at a time: the language model, the two stores' writers, a shared card."""

from __future__ import annotations

import dagster as dg

from gutengraph_core.library import Library
from gutengraph_core.settings import load_settings

POOLS = ("llm", "lancedb", "kuzu", "gpu")


def pool(own: str | None, *, uses_card: bool = False) -> str | None:
    """The pool of a step: `own` (None: none), or `gpu` for one that runs a model where all models share one card.

    What such a step writes is guarded by a file lock anyway, so that nothing is lost with its own pool.
    """
    return "gpu" if uses_card and load_settings().one_gpu else own


def declare_pools(instance: dg.DagsterInstance, library: Library) -> None:
    """Make the pools known to the instance with its default limit; a limit that stands is left alone.

    Dagster does it at a pool's first use. On PostgreSQL two runs that come to it at once fail there (the
    second one's insert breaks the transaction in which it then goes on), so it is done ahead, by one at a time.
    """
    storage = instance.event_log_storage
    if not storage.supports_global_concurrency_limits:
        return
    with library.lock("pools"):
        known = {pool.name for pool in storage.get_pool_limits()}
        for name in POOLS:
            if name not in known:
                storage.initialize_concurrency_limit_to_default(name)
