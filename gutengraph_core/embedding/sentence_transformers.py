"""Embedding in this process, through sentence-transformers; torch is imported at the first embedding."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gutengraph_core.embedding.batches import batch_size
from gutengraph_core.embedding.folders import ModelFolder
from gutengraph_core.embedding.protocol import EmbeddingIdentity, Matrix, Tokenizer
from gutengraph_core.errors import MissingExtra, ModelRefused, WrongModel

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class LocalModel:
    """A model folder's own vectors: no prefix, no cut, the length that the model gives.

    `threads` 0: as many as this process may use. Weights are loaded at the first `encode`, or by `load`.
    """

    def __init__(self, folder: ModelFolder, *, threads: int = 0) -> None:
        self.folder = folder
        self._threads = threads or _cores()
        self._lock = threading.Lock()
        self._loaded: SentenceTransformer | None = None

    def encode(self, texts: Sequence[str], counts: Sequence[int]) -> Matrix:
        """float32 [len(texts), full dimension], in the order given. `counts`: tokens of each text, at least
        roughly: they decide which texts share a batch, and how many.

        Texts over the model's limit are cut: the caller refuses them first. Raises MissingExtra, WrongModel.
        """
        if not texts:
            return np.zeros((0, self.folder.full_dimension), dtype=np.float32)
        # Longest first, so that a batch pads little and the first batch shows the memory that is needed.
        order = sorted(range(len(texts)), key=lambda i: -counts[i])
        raw = self.load().encode(
            [texts[i] for i in order],
            batch_size=batch_size(self.folder, longest=max(counts)),
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=False,
        )
        if raw.shape[1] != self.folder.full_dimension:
            raise WrongModel(
                f"{self.folder.name} gives vectors of {raw.shape[1]} dimensions, its files say "
                f"{self.folder.full_dimension}.",
                remedy="Fetch the model again.",
            )
        vectors = np.empty_like(raw, dtype=np.float32)
        vectors[order] = raw
        return vectors

    def load(self) -> SentenceTransformer:
        """The library's model, loaded once. Raises MissingExtra, WrongModel."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> SentenceTransformer:
        try:
            import torch
            from safetensors import SafetensorError
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ImportError:
            raise MissingExtra(
                f"Embedding with {self.folder.name} needs sentence-transformers.",
                remedy="Run `pip install 'gutengraph[embedded]'`, or set GUTENGRAPH_EMBEDDING to a server.",
            ) from None
        torch.set_num_threads(self._threads)
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            # The folder has all that is needed: no look at the hub, and no code from there.
            model = SentenceTransformer(str(self.folder.path), local_files_only=True, trust_remote_code=False)
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise self.folder.unusable(f"it does not load ({error})") from error
        model.max_seq_length = self.folder.model_limit
        return model


class LocalEmbedder:
    """A model folder's embedder. `threads` 0: as many as this process may use."""

    def __init__(self, folder: ModelFolder, *, threads: int = 0) -> None:
        self._model = LocalModel(folder, threads=threads)
        self._scheme = folder.scheme
        self.identity: EmbeddingIdentity = folder.identity
        self.tokenizer: Tokenizer = folder.tokenizer()

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return self._embed(texts, self._scheme.document)

    def embed_query(self, text: str) -> Matrix:
        vector: Matrix = self._embed([text], self._scheme.query)[0]
        return vector

    def _embed(self, texts: Sequence[str], prefix: str) -> Matrix:
        if not texts:
            return np.zeros((0, self.identity.dimension), dtype=np.float32)
        counts = self.tokenizer.counts(texts)
        refuse_overlong(counts, self.tokenizer.limit, self.identity.name)
        raw = self._model.encode([prefix + text for text in texts], counts)
        return self._scheme.finish(raw, model=self.identity.name)


def refuse_overlong(counts: Sequence[int], limit: int, model: str) -> None:
    """Raises ModelRefused if a text has more tokens than the model takes: it would be cut in silence."""
    longest = max(counts)
    if longest > limit:
        raise ModelRefused(
            f"A text of {longest} tokens does not fit {model}, which takes {limit}.",
            remedy="Shorten the question, or chunk the text with this model's own tokenizer.",
        )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
