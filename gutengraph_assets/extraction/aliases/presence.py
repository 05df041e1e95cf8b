"""Where names stand relative to one another: evidence against two names being one person, never for it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache

from gutengraph_assets.extraction.book_text import BookText, Span
from gutengraph_core.names import words

SAME_SENTENCE_TIMES = 2
SAME_SENTENCE_SHARE = 0.15
WITHIN_SHARE = 0.3
"""Where one name holds the other ('Anne Hale', 'Anne'), a long sentence has both of one person now and then."""
FAR_WINDOWS = 20
FAR_SHARE = 0.75
FAR_LEAST = 3
"""Measured on five novels: these blocks raise pairwise precision from .95 to .99 at no recall."""


class Presence:
    """The sentences and windows in which each name is mentioned."""

    def __init__(self, text: BookText, spans: Mapping[str, Sequence[Span]]) -> None:
        self.sentences = {name: {text.sentence_of(s) for s, _ in found} for name, found in spans.items()}
        self.windows = {name: sorted(text.window_of(s) for s, _ in found) for name, found in spans.items()}
        self.count = {name: len(found) for name, found in spans.items()}
        self._side_by_side = cache(self._compare)

    def side_by_side(self, a: str, b: str) -> bool:
        """Whether one sentence has both, often enough that a writer would not mean one person."""
        return self._side_by_side(*sorted((a, b)))

    def _compare(self, a: str, b: str) -> bool:
        shared = len(self.sentences[a] & self.sentences[b])
        within = set(words(a)) <= set(words(b)) or set(words(b)) <= set(words(a))
        share = WITHIN_SHARE if within else SAME_SENTENCE_SHARE
        return shared >= SAME_SENTENCE_TIMES and shared >= share * min(self.count[a], self.count[b])

    def adjacent(self, a: str, b: str) -> bool:
        """Whether two names stand in one window or in neighbouring ones."""
        return any(abs(v - w) <= 1 for v in self.windows[a] for w in self.windows[b])

    def scenes(self, names: Sequence[str]) -> set[int]:
        """The windows that have any of the names."""
        return {window for name in names for window in self.windows[name]}

    def share_near(self, some: set[int], others: set[int]) -> float:
        """Share of `some` windows with one of the `others` in the same or a neighbouring window."""
        return sum(bool({w - 1, w, w + 1} & others) for w in some) / len(some)

    def together(self, a: Sequence[str], b: Sequence[str]) -> int:
        """Sentences that have a name of each side."""
        one = {sentence for name in a for sentence in self.sentences[name]}
        return len(one & {sentence for name in b for sentence in self.sentences[name]})

    def far_apart(self, some: Sequence[str], others: Sequence[str], *, least: int = FAR_LEAST) -> bool:
        """Whether most mentions of the rarer side, if it has `least`, have none of the other within FAR_WINDOWS
        windows."""
        a = sorted(w for name in some for w in self.windows[name])
        b = sorted(w for name in others for w in self.windows[name])
        if len(a) > len(b):
            a, b = b, a
        return len(a) >= least and sum(not _near(w, b) for w in a) >= FAR_SHARE * len(a)


def _near(window: int, windows: Sequence[int]) -> bool:
    at = bisect_left(windows, window - FAR_WINDOWS)
    return at < len(windows) and windows[at] <= window + FAR_WINDOWS
