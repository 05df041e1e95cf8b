"""What every embedder offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class EmbeddingIdentity:
    """Two embeddings may be compared only if their identities are equal. Stored with every table."""

    name: str
    revision: str  # git revision or sha256 of the weights
    dimension: int
    prefix_scheme: str  # 'none' | 'nomic'

    def __str__(self) -> str:
        return f"{self.name}@{self.revision[:12]}/{self.dimension}/{self.prefix_scheme}"


class Tokenizer(Protocol):
    """The embedding model's own tokenizer; loading it does not import torch."""

    @property
    def limit(self) -> int:
        """Tokens of a document that fit the model, its prefix and special tokens already taken off."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of `text`, without prefix and special tokens. Never truncates."""
        ...

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Number of tokens of each text, as `len(offsets(text))` but for many texts at once."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors. The prefixes are the embedder's business: a caller cannot forget them.

    A text that does not fit the model is refused (ModelRefused), never cut in silence.
    """

    @property
    def identity(self) -> EmbeddingIdentity: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """float32 [len(texts), dimension], unit length, in the order given."""
        ...

    def embed_query(self, text: str) -> Matrix:
        """float32 [dimension], unit length."""
        ...
