"""A book's passages to vectors, telling how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gutengraph_assets.progress import Progress
from gutengraph_core.embedding import Embedder, Matrix
from gutengraph_core.memory import give_back_memory

AT_ONCE = 128
"""Passages handed to the embedder between two reports of progress: four of its batches."""


def embed_passages(
    texts: Sequence[str],
    embedder: Embedder,
    progress: Progress,
    *,
    known: Mapping[str, Matrix] | None = None,
) -> Matrix:
    """float32 [len(texts), dimension], unit length, in order.

    `known`: text -> the vector that this embedder gave it before; only the others are embedded. Raises what the embedder
    raises.
    """
    known = known or {}
    vectors = np.zeros((len(texts), embedder.identity.dimension), dtype=np.float32)
    new = [at for at, text in enumerate(texts) if text not in known]
    for at, text in enumerate(texts):
        if text in known:
            vectors[at] = known[text]
    for start in range(0, len(new), AT_ONCE):
        some = new[start : start + AT_ONCE]
        vectors[some] = embedder.embed_documents([texts[at] for at in some])
        progress(len(texts) - len(new) + start + len(some), len(texts))
    give_back_memory()
    return vectors
