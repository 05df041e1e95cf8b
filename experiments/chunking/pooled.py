"""Vectors of any stretch of a body from one pass of the model over it.

The vector of a chunk is the mean of its tokens' vectors, which is how models of this kind pool, but each token has
seen the words around the chunk as well ('late chunking', Günther et al. 2024). So thirty-six ways of cutting cost
one embedding and not thirty-six; how far this is from embedding each chunk by itself is part of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gutengraph_core.embedding.protocol import Matrix, Tokenizer
from gutengraph_core.embedding.sentence_transformers import LocalModel

_BATCH = 16


@dataclass(frozen=True)
class Pooled:
    """Sums of token vectors up to each token: float32 [tokens + 1, dimension]; `starts`: their characters."""

    starts: npt.NDArray[np.int64]
    sums: npt.NDArray[np.float64]

    def vectors(self, spans: Sequence[tuple[int, int]]) -> Matrix:
        """float32 [len(spans), dimension] of unit length, of `body[a:b]` for each."""
        first = np.searchsorted(self.starts, [a for a, _ in spans])
        last = np.searchsorted(self.starts, [b for _, b in spans])
        means = self.sums[last] - self.sums[first]
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        unit: Matrix = (means / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
        return unit


def pooled(body: str, tokenizer: Tokenizer, model: LocalModel) -> Pooled:
    """One pass over a body, in windows as long as the model takes, cut between words."""
    spans = np.asarray(tokenizer.offsets(body), dtype=np.int64)
    borders = [0]
    while borders[-1] < len(spans):
        stop = min(borders[-1] + tokenizer.limit, len(spans))
        while stop < len(spans) and stop > borders[-1] + 1 and spans[stop, 0] == spans[stop - 1, 1]:
            stop -= 1  # within a word
        borders.append(stop)
    windows = list(pairwise(borders))
    texts = [body[spans[a, 0] : spans[b - 1, 1]] for a, b in windows]
    loaded = model.load()
    encoded = loaded.encode(
        texts,
        batch_size=_BATCH,
        output_value="token_embeddings",
        show_progress_bar=False,
        convert_to_numpy=False,
    )
    parts = []
    for (a, b), tokens in zip(windows, encoded, strict=True):
        inner = tokens.detach().cpu().numpy()[1:-1]  # without the model's own first and last token
        if len(inner) < b - a:
            raise ValueError(f"{b - a} tokens in, {len(inner)} out: the window was cut")
        parts.append(inner[: b - a])
    sums = np.zeros((len(spans) + 1, parts[0].shape[1]))
    np.cumsum(np.concatenate(parts), axis=0, out=sums[1:])
    return Pooled(spans[:, 0], sums)
