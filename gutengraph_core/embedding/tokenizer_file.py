"""A tokenizer read from a model folder's `tokenizer.json`, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gutengraph_core.embedding.schemes import Scheme

if TYPE_CHECKING:
    from tokenizers import Tokenizer as RawTokenizer


class FileTokenizer:
    """`model_limit`: tokens that the model takes in all; `limit` takes special tokens and prefix off."""

    def __init__(self, raw: RawTokenizer, *, model_limit: int, scheme: Scheme) -> None:
        # Files carry the truncation and padding of the model's training.
        raw.no_truncation()
        raw.no_padding()
        self._raw = raw
        prefix = max(self.counts([scheme.document, scheme.query]))
        self.limit = model_limit - raw.num_special_tokens_to_add(is_pair=False) - prefix

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return self._raw.encode(text, add_special_tokens=False).offsets

    def counts(self, texts: Sequence[str]) -> list[int]:
        encoded = self._raw.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encoded]
