"""Windows: what a model reads at a time. Whole paragraphs, about 500 words, within a chapter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from gutengraph_assets.text.sections import Section, split_sections
from gutengraph_assets.text.sentences import sentence_starts
from gutengraph_core.library import Chapter

SLACK = 1.2
"""Up to this times the words asked for a chapter is one window, and a paragraph stays whole."""

MOST = 1.5
"""A window holds at most this times the words asked for: room for the last lines of a chapter, which would
be a scrap by themselves. The context cliff of small models lies beyond (500 words .55, 1,000 words .11)."""

GRAIN = 0.03
"""Paragraphs under this share of a window are not weighed one by one, which keeps a dictionary's ten thousand
lines from being ten thousand choices."""

TINY = 0.2
"""A chapter under this share of a window (a part's title page, a note of three lines) shares a window with
the next: a model call for twenty words costs as much as one for two hundred."""

_LETTERS_PER_WORD = 20
"""A stretch of this many characters counts as a word at least. English has 5.6 a word, space included; the
rule bounds the windows of a text without spaces."""

_PARAGRAPH_START = re.compile(r"\n[^\S\n]*\n\s*")
_WORD = re.compile(r"\S+")


def make_windows(body: str, chapters: Sequence[Chapter], *, words: int = 500) -> list[dict[str, Any]]:
    """Rows of `tables.WINDOWS`; their texts, one after the other, are the body.

    Paragraphs stay whole, except that one of more than SLACK * words is cut at sentence ends. The paragraphs
    of a chapter are shared out evenly, so that none ends in a scrap. A window crosses a chapter border only
    where chapters are TINY; its chapter is then that of its start.

    Raises ValueError if `words` is not positive.
    """
    if words < 1:
        raise ValueError(f"a window of {words} words holds nothing")
    rows: list[dict[str, Any]] = []
    for section in _join_tiny(body, split_sections(body, chapters), words):
        for start, end in _share_out(body, section, words):
            text = body[start:end]
            rows.append(
                {
                    "window": len(rows),
                    "chapter": section.chapter,
                    "start": start,
                    "end": end,
                    "words": _count(text),
                    "text": text,
                }
            )
    return rows


def _join_tiny(body: str, sections: list[Section], words: int) -> list[Section]:
    joined: list[Section] = []
    open_words: float = math.inf  # of the last joined section, while it is tiny
    for section in sections:
        count = _count(body[section.start : section.end])
        if open_words < TINY * words:
            last = joined[-1]
            joined[-1] = Section(last.chapter, last.start, section.end)
            open_words += count
        else:
            joined.append(section)
            open_words = count
    return joined


def _share_out(body: str, section: Section, words: int) -> Iterator[tuple[int, int]]:
    """The windows of a section: of all ways to put its units into windows, the one with the most even
    sizes.
    """
    units = _grains(_units(body, section, words), grain=GRAIN * words)
    reached = [0, *accumulate(size for _, size in units)]  # words before each unit
    total = reached[-1]
    # 600 words are one window, 601 two.
    goal = total / max(1, math.ceil(total / words - (SLACK - 1)))
    cost = [0.0] + [math.inf] * len(units)  # least cost of windows that end before unit i
    begin = [0] * (len(units) + 1)  # where the last of these windows begins
    for end in range(1, len(units) + 1):
        for first in range(end - 1, -1, -1):
            size = reached[end] - reached[first]
            if size > MOST * words and first < end - 1:
                break
            here = cost[first] + (size - goal) ** 2
            if here < cost[end]:
                cost[end], begin[end] = here, first
    cuts = [len(units)]
    while cuts[-1] > 0:
        cuts.append(begin[cuts[-1]])
    starts = [units[cut][0] for cut in reversed(cuts[1:])]
    starts[0] = section.start
    yield from pairwise([*starts, section.end])


def _grains(units: Iterable[tuple[int, int]], *, grain: float) -> list[tuple[int, int]]:
    """Units of at least `grain` words: the shortest paragraphs join the one after them."""
    grains: list[tuple[int, int]] = []
    for start, size in units:
        if grains and grains[-1][1] < grain:
            grains[-1] = (grains[-1][0], grains[-1][1] + size)
        else:
            grains.append((start, size))
    return grains


def _units(body: str, section: Section, words: int) -> Iterator[tuple[int, int]]:
    """Start and size of what is not cut: paragraphs, or pieces of one that is too long."""
    borders = [section.start]
    borders += [
        match.end()
        for match in _PARAGRAPH_START.finditer(body, section.start, section.end)
        if section.start < match.end() < section.end
    ]
    for start, end in pairwise([*borders, section.end]):
        size = _size(body, start, end)
        if size <= SLACK * words:
            yield start, size
            continue
        for a, b in pairwise([start, *sentence_starts(body, start, end), end]):
            yield from ((c, _size(body, c, d)) for c, d in _cut_sentence(body, a, b, words))


def _cut_sentence(body: str, start: int, end: int, words: int) -> Iterator[tuple[int, int]]:
    """A sentence that is itself too long is cut between words, and a word that is too long anywhere."""
    if _size(body, start, end) <= SLACK * words:
        yield start, end
        return
    cuts = [match.start() for match in _WORD.finditer(body, start, end)][words::words]
    most = words * _LETTERS_PER_WORD
    for a, b in pairwise([start, *cuts, end]):
        yield from ((c, min(c + most, b)) for c in range(a, b, most))


def _size(body: str, start: int, end: int) -> int:
    """In words."""
    return max(_count(body[start:end]), (end - start) // _LETTERS_PER_WORD)


def _count(text: str) -> int:
    return len(text.split())
