"""A book's passages to vectors, telling how far it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gutengraph_assets.progress import Progress
from gutengraph_core.embedding import Embedder, Matrix

AT_ONCE = 128
"""Passages handed to the embedder between two reports of progress: four of its batches."""


def embed_passages(texts: Sequence[str], embedder: Embedder, progress: Progress) -> Matrix:
    """float32 [len(texts), dimension], unit length, in order. Raises what the embedder raises."""
    parts = [np.zeros((0, embedder.identity.dimension), dtype=np.float32)]
    for start in range(0, len(texts), AT_ONCE):
        parts.append(embedder.embed_documents(texts[start : start + AT_ONCE]))
        progress(min(start + AT_ONCE, len(texts)), len(texts))
    return np.concatenate(parts)
