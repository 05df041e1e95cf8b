"""Chunks and windows of real books: a long novel, a play, a book in French."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_assets.text.chunking import chunk_body
from gutengraph_assets.text.windows import make_windows
from gutengraph_core.embedding import open_tokenizer
from gutengraph_core.settings import Settings

pytestmark = pytest.mark.mirror


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


@pytest.mark.parametrize("book", [2701, 1524, 17489])
def test_every_character_is_in_a_chunk_and_in_a_window(mirror: Path, book: int) -> None:
    text = read_book((mirror / f"cache/epub/{book}/pg{book}.txt").read_bytes(), book=book)
    tokenizer = open_tokenizer(Settings())
    once = _seconds(lambda: tokenizer.offsets(text.body))
    chunks = chunk_body(text.body, text.chapters, tokenizer, target_tokens=300, overlap=30)
    cut = _seconds(lambda: chunk_body(text.body, text.chapters, tokenizer, target_tokens=300, overlap=30))
    assert cut < 20 * once, "the text goes through the tokenizer a few times, not once a chunk"
    reached = 0
    for chunk in chunks:
        assert chunk.start <= reached < chunk.end
        reached = chunk.end
    assert reached == len(text.body)
    assert tokenizer.counts([text.body[c.start : c.end] for c in chunks]) == [c.token_count for c in chunks]
    assert max(c.token_count for c in chunks) <= tokenizer.limit
    # Full enough to be worth a vector: on average over two thirds of the limit.
    assert sum(c.token_count for c in chunks) / len(chunks) > 2 / 3 * tokenizer.limit
    windows = make_windows(text.body, text.chapters, words=500)
    assert "".join(w["text"] for w in windows) == text.body
    sizes = sorted(w["words"] for w in windows)
    assert sizes[-1] <= 750
    assert 400 <= sizes[len(sizes) // 2] <= 600
    # Scraps are rare: at most one window in fifty has under a hundred words.
    assert sum(size < 100 for size in sizes) <= len(sizes) / 50
    borders = {c.start for c in text.chapters}
    for chunk in chunks:
        assert not any(chunk.start < border < chunk.end for border in borders)
