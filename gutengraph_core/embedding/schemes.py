"""Prefixes, and how a model's raw output becomes the vector that is stored."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.errors import ModelRefused

NOMIC_DIMENSION = 256
"""Of nomic-embed-text-v1.5's 768. Its card: 62.28 points on MTEB at 768, 61.04 at 256."""

_LAYER_NORM_EPSILON = 1e-5
_UNCUT_NOMIC = re.compile(r"nomic-embed-text-v1(?!\.5)")


@dataclass(frozen=True)
class Scheme:
    """What stands before a text, and the dimension that is kept (None: all of them)."""

    name: str  # 'none' | 'nomic'
    document: str = ""
    query: str = ""
    cut: int | None = None

    def dimension(self, full: int) -> int:
        """Dimension of the finished vectors of a model whose own have `full`."""
        return full if self.cut is None else min(full, self.cut)

    def finish(self, raw: Matrix, *, model: str) -> Matrix:
        """float32 [n, full] as the model gives it -> float32 [n, dimension], unit length.

        A Matryoshka cut follows nomic-embed-text-v1.5's card: layer norm over the whole, cut, normalise.
        Layer norm removes the scale, so that servers which have already normalised give the same result.
        Raises ModelRefused if the model returned a vector without a direction.
        """
        vectors = np.asarray(raw, dtype=np.float32)
        if self.cut is not None:
            # Unit length first: epsilon is then as small against every server's variance.
            vectors = vectors / _norms(vectors, model) * np.sqrt(np.float32(vectors.shape[1]))
            centred = vectors - vectors.mean(axis=1, keepdims=True)
            spread = np.sqrt(vectors.var(axis=1, keepdims=True) + _LAYER_NORM_EPSILON)
            vectors = (centred / spread)[:, : self.cut]
        return np.ascontiguousarray(vectors / _norms(vectors, model), dtype=np.float32)


def _norms(vectors: Matrix, model: str) -> Matrix:
    norms: Matrix = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    if not np.all(np.isfinite(norms)) or np.any(norms == 0):
        raise ModelRefused(
            f"The embedding model {model} returned a vector of length zero or not a number.",
            remedy="Its weights are damaged, or its server is: fetch the model again.",
        )
    return norms


PLAIN = Scheme("none")


def scheme_for(name: str, *, architecture: str = "") -> Scheme:
    """The scheme of a model, by its name on a hub or server, or by the `model_type` of its configuration."""
    if "nomic-embed-text" not in name.lower() and architecture != "nomic_bert":
        return PLAIN
    # Version 1 was not trained to be cut; a name without a version is v1.5 (Ollama's).
    cut = None if _UNCUT_NOMIC.search(name.lower()) else NOMIC_DIMENSION
    return Scheme("nomic", document="search_document: ", query="search_query: ", cut=cut)
