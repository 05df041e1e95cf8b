"""How texts of many clients become batches: alike in length, nobody starving, within the limits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import numpy as np
import pytest

from gutengraph_core.embed_server.batching import Batcher
from gutengraph_core.embed_server.errors import InferenceFailed, Overloaded
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.errors import WrongModel


class Model:
    """Embeds a text as its length; the first batch waits until the gate opens."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.batches: list[list[str]] = []
        self.fail: Exception | None = None

    def __call__(self, texts: Sequence[str], tokens: Sequence[int]) -> Matrix:
        self.batches.append(list(texts))
        self.gate.wait(120)
        if self.fail is not None:
            raise self.fail
        return np.array([[float(len(text))] for text in texts], dtype=np.float32)


def run(
    work: Callable[[Batcher, Model], Coroutine[Any, Any, None]],
    *,
    batch_tokens: int = 10_000,
    queue: int = 99,
) -> Model:
    model = Model()

    async def everything() -> None:
        batcher = Batcher(model, batch_tokens=batch_tokens, queue_limit=queue)
        batcher.start()
        try:
            await work(batcher, model)
        finally:
            model.gate.set()
            await batcher.stop()

    asyncio.run(everything())
    return model


def ask(batcher: Batcher, *texts: str) -> asyncio.Task[list[Matrix]]:
    return asyncio.ensure_future(batcher.embed(texts, [len(text) for text in texts]))


async def busy(batcher: Batcher, model: Model) -> asyncio.Task[list[Matrix]]:
    """A text in work, so that all others queue up."""
    first = ask(batcher, "first")
    while not model.batches:
        await asyncio.sleep(0.001)
    return first


def test_a_lone_text_goes_at_once_and_the_queue_goes_together() -> None:
    async def work(batcher: Batcher, model: Model) -> None:
        first = await busy(batcher, model)
        others = [ask(batcher, "a" * n, "b" * n) for n in range(1, 6)]
        await asyncio.sleep(0)
        assert batcher.waiting == 11
        model.gate.set()
        assert [[float(v[0]) for v in await other] for other in others] == [[n, n] for n in range(1, 6)]
        await first
        assert batcher.waiting == 0

    model = run(work)
    assert [len(batch) for batch in model.batches] == [1, 10]


def test_the_oldest_is_always_in_the_next_batch_with_those_nearest_in_length() -> None:
    async def work(batcher: Batcher, model: Model) -> None:
        first = await busy(batcher, model)
        asked = [ask(batcher, "x" * n) for n in (50, 3, 49, 4, 51, 5)]
        await asyncio.sleep(0)
        model.gate.set()
        await asyncio.gather(first, *asked)

    model = run(work, batch_tokens=160)
    lengths = [sorted(map(len, batch)) for batch in model.batches]
    # 3 x 51 fits into 160 and 4 x 51 does not.
    assert lengths == [[5], [49, 50, 51], [3, 4, 5]]


def test_a_text_larger_than_a_batch_goes_alone() -> None:
    async def work(batcher: Batcher, model: Model) -> None:
        model.gate.set()
        await asyncio.gather(ask(batcher, "x" * 100, "y" * 100))

    assert [len(batch) for batch in run(work, batch_tokens=10).batches] == [1, 1]


def test_a_full_queue_refuses_whole_requests() -> None:
    async def work(batcher: Batcher, model: Model) -> None:
        first = await busy(batcher, model)
        with pytest.raises(Overloaded):
            await ask(batcher, "a", "b", "c", "d")
        fits = ask(batcher, "a", "b", "c")
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await ask(batcher, "d")
        model.gate.set()
        await asyncio.gather(first, fits)
        await ask(batcher, "d")

    run(work, queue=4)


def test_who_goes_away_leaves_the_queue() -> None:
    async def work(batcher: Batcher, model: Model) -> None:
        first = await busy(batcher, model)
        gone, stays = ask(batcher, "gone", "gone too"), ask(batcher, "stays")
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert batcher.waiting == 2
        first.cancel()  # in work already: its batch is finished, for nobody
        model.gate.set()
        assert len(await stays) == 1

    assert run(work).batches == [["first"], ["stays"]]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("out of memory"), "Inference failed: out of memory"),
        (MemoryError(), "Inference failed: MemoryError"),
        (
            WrongModel("It gives other vectors.", remedy="Fetch it."),
            "Inference failed: It gives other vectors.",
        ),
    ],
)
def test_a_failure_reaches_its_clients_and_nobody_else(error: Exception, words: str) -> None:
    async def work(batcher: Batcher, model: Model) -> None:
        model.gate.set()
        model.fail = error
        with pytest.raises(InferenceFailed) as caught:
            await ask(batcher, "a", "b")
        assert str(caught.value) == words
        assert batcher.failed
        model.fail = None
        assert len(await ask(batcher, "a")) == 1
        assert not batcher.failed

    run(work)


def test_stopping_cancels_what_waits() -> None:
    waiting: list[asyncio.Task[list[Matrix]]] = []

    async def work(batcher: Batcher, model: Model) -> None:
        waiting.append(await busy(batcher, model))
        waiting.append(ask(batcher, "late"))
        await asyncio.sleep(0)

    run(work)
    assert waiting[1].cancelled()
