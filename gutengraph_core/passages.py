"""Passages: chunks as a search gives them, scored, and widened by what stands around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Passage:
    """A chunk as a search gives it. `score`: the cosine, BM25, or the sum of both scaled to [0, 1]; 0 if
    fetched.
    """

    id: str
    gutenberg_id: int
    chunk_index: int
    chapter: int
    start: int
    end: int
    text: str
    title: str
    authors: tuple[str, ...]
    kind: str
    score: float


def passage_of(row: dict[str, Any], score: float) -> Passage:
    """A row of the table with its score."""
    names = ("id", "gutenberg_id", "chunk_index", "chapter", "start", "end", "text", "title", "kind")
    return Passage(**{name: row[name] for name in names}, authors=tuple(row["authors"] or ()), score=score)


def joined(middle: Passage, around: Mapping[tuple[int, int], Passage], by: int) -> Passage:
    """A passage with up to `by` of its neighbours on both sides, looked up by book and chunk index; none of
    another chapter.
    """
    start, end, text = middle.start, middle.end, middle.text
    for step in range(1, by + 1):
        before = around.get((middle.gutenberg_id, middle.chunk_index - step))
        if before is None or before.chapter != middle.chapter:
            break
        # Neighbours overlap: what both hold is taken once.
        text = before.text[: start - before.start] + text
        start = before.start
    for step in range(1, by + 1):
        after = around.get((middle.gutenberg_id, middle.chunk_index + step))
        if after is None or after.chapter != middle.chapter:
            break
        text += after.text[end - after.start :]
        end = after.end
    return replace(middle, start=start, end=end, text=text)


def scaled(scores: Mapping[str, float], *, floor: float | None = None) -> dict[str, float]:
    """Scores stretched to [0, 1] between the lowest, or `floor`, and the highest."""
    if not scores:
        return {}
    low = min(scores.values()) if floor is None else floor
    high = max(scores.values())
    return {key: (value - low) / (high - low) if high > low else 0.0 for key, value in scores.items()}
