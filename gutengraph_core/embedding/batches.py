"""How many texts go through the model at once: what the memory that is free allows."""

from __future__ import annotations

import psutil

from gutengraph_core.embedding.folders import ModelFolder

MOST = 32
"""Texts of one forward pass at most: on two cores 16 to 64 are within 3 % of each other."""

SHARE = 0.25
"""Of the free memory that a forward pass may take: stores, a language model and others live beside it."""


def batch_size(folder: ModelFolder, *, longest: int, free: int | None = None) -> int:
    """Texts that share a forward pass when the longest has `longest` tokens: 1 to MOST.

    `free`: bytes of memory that can be had; None: asked of the machine.
    """
    available = psutil.virtual_memory().available if free is None else free
    return max(1, min(MOST, int(available * SHARE) // bytes_per_text(folder, tokens=longest)))


def bytes_per_text(folder: ModelFolder, *, tokens: int) -> int:
    """Bytes of activations of a text with `tokens` tokens while a transformer's layer is computed, float32.

    A layer holds about six vectors of the hidden size for each token (input, query, key, value, output,
    residual), the inner one twice (before and after the activation), and each head's scores twice (before and
    after the softmax). It errs to the safe side: for the embedded MiniLM it says 11.8 MB at 256 tokens and 4.3 MB
    at 128, where the peak of a batch of 32 and 128 was measured as 7.3 MB and 3.2 MB a text.
    """
    config = folder.config
    hidden = folder.full_dimension if "hidden_size" not in config else int(config["hidden_size"])
    inner = int(config.get("intermediate_size") or config.get("n_inner") or 4 * hidden)
    heads = int(config.get("num_attention_heads") or config.get("n_head") or max(1, hidden // 64))
    length = min(max(1, tokens), folder.model_limit)
    return 4 * length * (6 * hidden + 2 * inner + 2 * heads * length)
