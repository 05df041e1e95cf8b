"""An embedder that remembers: the modes of an evaluation quote from the same passages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gutengraph_core.embedding.protocol import Embedder, EmbeddingIdentity, Matrix, Tokenizer


class RememberingEmbedder:
    """See `gutengraph_core.embedding.protocol.Embedder`; each text is embedded once for as long as this lives."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._documents: dict[str, Matrix] = {}
        self._queries: dict[str, Matrix] = {}

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._embedder.identity

    @property
    def tokenizer(self) -> Tokenizer:
        return self._embedder.tokenizer

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        new = [text for text in dict.fromkeys(texts) if text not in self._documents]
        if new:
            self._documents |= dict(zip(new, self._embedder.embed_documents(new), strict=True))
        if not texts:
            return np.zeros((0, self.identity.dimension), dtype=np.float32)
        return np.vstack([self._documents[text] for text in texts])

    def embed_query(self, text: str) -> Matrix:
        if text not in self._queries:
            self._queries[text] = self._embedder.embed_query(text)
        return self._queries[text]
