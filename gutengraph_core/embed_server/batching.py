"""Dynamic batching: texts of all clients wait in one queue, and those of one length go through the model
together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from gutengraph_core.embed_server.errors import InferenceFailed, Overloaded
from gutengraph_core.embedding.batches import MOST
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.errors import GutenGraphError

Encode = Callable[[Sequence[str], Sequence[int]], Matrix]


@dataclass(eq=False)
class _Waiting:
    """One text in the queue."""

    text: str
    tokens: int
    result: asyncio.Future[Matrix] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Batcher:
    """Hands queued texts to `encode`, which runs in one thread of its own; the event loop stays free.

    Nothing is waited for: a batch is made of what is there when the model becomes free. Under load the queue
    fills meanwhile; a lone text goes at once. `batch_tokens`: most tokens of a batch, padding included.
    `queue_limit`: most texts that wait or are being embedded.
    """

    def __init__(self, encode: Encode, *, batch_tokens: int, queue_limit: int) -> None:
        self._encode = encode
        self._batch_tokens = batch_tokens
        self._queue_limit = queue_limit
        self._queue: list[_Waiting] = []
        self._in_work = 0
        self.failed = False
        """Whether the last batch did."""
        self._filled = asyncio.Event()
        self._model = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._worker: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to work, in the running event loop."""
        self._worker = asyncio.get_running_loop().create_task(self._work())

    async def stop(self) -> None:
        """End after the batch under way; what still waits is cancelled."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        for item in self._queue:
            item.result.cancel()
        await asyncio.to_thread(self._model.shutdown)

    @property
    def waiting(self) -> int:
        """Texts in the queue or in work."""
        return len(self._queue) + self._in_work

    async def embed(self, texts: Sequence[str], tokens: Sequence[int]) -> list[Matrix]:
        """A vector float32 [dimension] for each text, in order. `tokens`: of each.

        A caller that is cancelled takes its texts out of the queue. Raises Overloaded if they do not all fit
        into it, InferenceFailed.
        """
        if self.waiting + len(texts) > self._queue_limit:
            raise Overloaded("Model is overloaded")
        items = [_Waiting(text, count) for text, count in zip(texts, tokens, strict=True)]
        self._queue += items
        self._filled.set()
        try:
            return list(await asyncio.gather(*(item.result for item in items)))
        finally:
            for item in items:
                item.result.cancel()
            self._queue = [item for item in self._queue if not item.result.cancelled()]

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._filled.wait()
            batch = self._next_batch()
            if not batch:
                self._filled.clear()
                continue
            self._in_work = len(batch)
            texts, tokens = [item.text for item in batch], [item.tokens for item in batch]
            try:
                vectors = await loop.run_in_executor(self._model, self._encode, texts, tokens)
            # Torch raises whatever it likes; each client of the batch is told, and the server goes on.
            except Exception as error:  # noqa: BLE001
                words = error.what if isinstance(error, GutenGraphError) else str(error)
                self.failed = True
                _fail(batch, InferenceFailed(words or type(error).__name__))
            else:
                self.failed = False
                for item, vector in zip(batch, vectors, strict=True):
                    if not item.result.done():
                        item.result.set_result(vector)
            finally:
                self._in_work = 0

    def _next_batch(self) -> list[_Waiting]:
        """The text that has waited longest and those nearest to it in length: nobody starves, and little is
        padded.
        """
        self._queue = [item for item in self._queue if not item.result.done()]
        if not self._queue:
            return []
        oldest = self._queue[0]
        near = sorted(self._queue, key=lambda item: abs(item.tokens - oldest.tokens))
        batch: list[_Waiting] = []
        longest = 0
        for item in near[:MOST]:
            longest = max(longest, item.tokens)
            if batch and longest * (len(batch) + 1) > self._batch_tokens:
                break
            batch.append(item)
        taken = set(map(id, batch))
        self._queue = [item for item in self._queue if id(item) not in taken]
        return batch


def _fail(batch: Sequence[_Waiting], error: Exception) -> None:
    for item in batch:
        if not item.result.done():
            item.result.set_exception(error)
