"""Which themes and atmospheres a book has, by the vectors of its passages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gutengraph_assets.extraction.notions.norms import Norms
from gutengraph_assets.extraction.notions.vocabulary import VOCABULARY
from gutengraph_core.embedding.protocol import Embedder, Matrix
from gutengraph_core.graph.schema import NotionLabel

MOST: dict[NotionLabel, int] = {"Theme": 6, "Atmosphere": 3}
"""More are no longer what a book is about."""
BOOK = 0.4
"""Standard deviations by which the book's mean passage must exceed the usual one. Below it the list fills with whatever a
book has a little more of than others."""
PASSAGE = 1.0
"""Standard deviations by which a passage must exceed the usual one to be named as support."""
RESEMBLES = 0.36
"""Cosine that the named passages must reach at least: a book may have more of something than others and still little."""
SUPPORT = 2
NAMED = 5
"""Least and most passages that a notion is shown to rest on."""


@dataclass(frozen=True)
class Notion:
    """A theme or an atmosphere. `score`: standard deviations above the usual; `passages`: rows of the book's passages that
    show it best, best first."""

    label: NotionLabel
    name: str
    score: float
    passages: tuple[int, ...]
    embedding: tuple[float, ...]


def find_notions(passages: Matrix, embedder: Embedder, norms: Norms) -> list[Notion]:
    """The book's themes and atmospheres, the strongest first. `passages`: float32 [passages, dimension], unit length.

    `norms` must be those of `embedder`. A book that resembles nothing of the vocabulary more than others do has none.
    """
    found: list[Notion] = []
    if not len(passages):
        return found
    for label, descriptions in VOCABULARY.items():
        vectors = _vectors(embedder, label)
        cosines = passages @ vectors.T
        candidates = []
        for column, name in enumerate(descriptions):
            mean, spread = norms.usual[label][name]
            above = (cosines[:, column] - mean) / spread
            best = np.argsort(-cosines[:, column], kind="stable")[:NAMED]
            named = [int(i) for i in best if above[i] >= PASSAGE and cosines[i, column] >= RESEMBLES]
            score = float(above.mean())
            if score >= BOOK and len(named) >= SUPPORT:
                candidates.append(
                    Notion(label, name, round(score, 2), tuple(named), tuple(vectors[column].tolist()))
                )
        found += sorted(candidates, key=lambda n: (-n.score, n.name))[: MOST[label]]
    return found


def described(embedder: Embedder, label: NotionLabel) -> dict[str, tuple[float, ...]]:
    """Name -> vector of its sentence, for a whole vocabulary."""
    return {n: tuple(v.tolist()) for n, v in zip(VOCABULARY[label], _vectors(embedder, label), strict=True)}


_embedded: dict[tuple[str, NotionLabel], Matrix] = {}


def _vectors(embedder: Embedder, label: NotionLabel) -> Matrix:
    """The vectors of a vocabulary's sentences, embedded once in a process."""
    key = (str(embedder.identity), label)
    if key not in _embedded:
        _embedded[key] = embedder.embed_documents(list(VOCABULARY[label].values()))
    return _embedded[key]
