"""A text as paragraphs with the blank lines before them: what all of the reader's rules look at.

The blank lines matter: Gutenberg's volunteers put one between paragraphs, two below a heading, and three or
four where a section of the book ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from gutengraph_core.names import squeeze

SECTION_GAP = 3
"""Blank lines from which a new section begins."""
_NUMBERED = re.compile(
    r"""\s*(?:(?:[IVXLC]+|\d{1,3})[.):\s]\s*\S                    # a number first
        |(?:chap(?:ter|itre)?|kapitel|part|book|livre|letter|stave|act|scene)\b\.?\s+\S)""",
    re.IGNORECASE | re.VERBOSE,
)
_PAGE = re.compile(r"(?:\d{1,4}|\b[ivxlc]{1,7})\.?$")
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_LINE = 160
"""No line of a contents list is longer; an unwrapped paragraph is not searched by slow patterns."""


@dataclass
class Para:
    """Lines without a blank one between them. `at` is the number of the first, from 0."""

    lines: list[str]
    gap: int
    at: int = 0

    @cached_property
    def text(self) -> str:
        """On one line, single spaces, no italics' underscores."""
        return squeeze(" ".join(self.lines))

    @cached_property
    def chars(self) -> int:
        return sum(len(line) + 1 for line in self.lines)

    @cached_property
    def is_caps(self) -> bool:
        """Capitals throughout, two letters at least."""
        return is_caps(self.text)

    @cached_property
    def is_short(self) -> bool:
        """Could be a heading or a line of a title page: three lines at most, and not long."""
        return len(self.lines) <= 3 and len(self.text) <= 200

    @cached_property
    def is_list(self) -> bool:
        """Lines that are mostly entries of a contents list: numbered, or ending in a page number."""
        lines = self.lines
        if any(len(line) > _LONGEST_LINE for line in lines):
            return False
        if len(lines) == 1:
            return ends_in_page(lines[0])
        listed = sum(bool(_NUMBERED.match(line)) or ends_in_page(line) for line in lines)
        return listed >= 0.6 * len(lines)

    @cached_property
    def is_prose(self) -> bool:
        """Running text wrapped over lines, or one unwrapped long line: no title page, list or verse."""
        lines = self.lines
        if self.is_caps:
            return False
        if len(lines) == 1:
            return len(lines[0]) >= 200
        full = lines[:-1]
        mean = sum(len(line.strip()) for line in full) / len(full)
        if mean < (40 if len(lines) >= 4 else 55) or (len(lines) < 3 and len(self.text) < 300):
            return False
        lower = sum(line.lstrip(' "“‘(_')[:1].islower() for line in lines[1:])
        return lower >= 0.25 * (len(lines) - 1) and not self.is_list


def is_caps(text: str) -> bool:
    """Capitals throughout, two letters at least."""
    return len(_LETTER.findall(text[:200])) >= 2 and text == text.upper()


def ends_in_page(line: str) -> bool:
    """A page number at the end, after a stretch of spaces or dots."""
    found = _PAGE.search(line)
    if found is None or found.start() == 0:
        return False
    before = line[: found.start()]
    return before.endswith("\t") or len(before) - len(before.rstrip(" .")) >= 2


def split(text: str) -> list[Para]:
    """Paragraphs of a text whose lines have no trailing spaces."""
    found: list[Para] = []
    lines: list[str] = []
    gap = 0
    for number, line in enumerate(text.split("\n")):
        if line:
            if not lines:
                found.append(Para(lines, gap, number))
            lines.append(line)
            gap = 0
        else:
            lines = []
            gap += 1
    return found


def join(paragraphs: Iterable[Para]) -> tuple[str, list[int]]:
    """Paragraphs as text, one blank line between them, two where more stood; and where each begins."""
    pieces: list[str] = []
    starts: list[int] = []
    at = 0
    for para in paragraphs:
        if pieces:
            between = "\n\n\n" if para.gap > 1 else "\n\n"
            pieces.append(between)
            at += len(between)
        starts.append(at)
        piece = "\n".join(para.lines)
        pieces.append(piece)
        at += len(piece)
    return "".join(pieces) + "\n", starts


def drop(paragraphs: list[Para], indices: set[int]) -> list[Para]:
    """Without some; what follows them inherits the widest gap."""
    kept: list[Para] = []
    gap = 0
    for index, para in enumerate(paragraphs):
        gap = max(gap, para.gap)
        if index not in indices:
            kept.append(para if gap == para.gap else Para(para.lines, gap, para.at))
            gap = 0
    return kept
