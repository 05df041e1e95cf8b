"""The words of a body as the hunt for names sees them: where each stands, how it is written, what stands
before it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from gutengraph_assets.extraction.lexicon import PLACE_HEADS
from gutengraph_core import names

Shape = Literal["lower", "capital", "capitals", "letter"]
"""`capital`: first letter only (or mixed, 'McCarthy'); `capitals`: all of two or more; `letter`: one capital
alone."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*(?:-[^\W\d_]+(?:['’][^\W\d_]+)*)*")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")
_SENTENCE_END = re.compile(r"[.!?:*\]\[(){}]|--|[—–―…]")
_OPENING = re.compile(r"(?:^|[\s_(\[—-])(?:[\"“‘«]|')\s*_?$")
_ALONE_IN_QUOTES = re.compile(r"^\s+_?[\"“‘«']_?$")
_ABBREVIATIONS = frozenset(
    "mr mrs ms messrs mme mlle dr prof rev revd hon capt col gen lieut lt maj sergt sgt st ste jr sr esq mt bros "
    "gov no vol co wm geo chas thos jas jno benj robt saml edw ph sam alf fr br sec "
    "m mm".split()
)
_ELIDED = re.compile(r"^[dl]['’][A-ZÀ-Þ]")
_POSSESSIVE = re.compile(r"['’][sS]$")


@dataclass(slots=True)
class Token:
    """A word of the body."""

    start: int
    end: int
    """Without a possessive 's."""
    low: str
    """The word folded, possessive 's dropped."""
    shape: Shape
    opens: bool
    """It may owe its capital to its place: a sentence, a quotation, a line of verse begins here, or a dash
    stands before."""
    joined: bool
    """Nothing but space (or an abbreviation's stop) lies between it and the word before: one name may hold
    both."""
    spaced_lines: bool
    """A paragraph begins here."""
    possessive: bool
    heading: bool
    """It stands in a heading, where most words are capitalised."""


def _shape(word: str) -> Shape:
    if word.isascii() and word.islower():
        return "lower"
    letters = [c for c in word if c.isalpha()]
    if not letters:  # '½', '²'
        return "lower"
    if not letters[0].isupper():
        # d'Artagnan, l'Estrange
        return "capital" if _ELIDED.match(word) else "lower"
    if len(letters) == 1:
        return "letter"
    return "capitals" if all(c.isupper() for c in letters) else "capital"


def scan(body: str) -> list[Token]:
    """All words in reading order."""
    width = _wrap_width(body)
    headings = _Spans(_headings(body))
    tokens: list[Token] = []
    previous_end = 0
    for match in _WORD.finditer(body):
        word = match.group()
        start, end = match.span()
        possessive = bool(_POSSESSIVE.search(word)) and len(word) > 2
        if possessive:
            end -= 2
            word = word[:-2]
        elif word[-1] in "sS" and body[end : end + 1] in ("'", "’") and not body[end + 1 : end + 2].isalpha():
            possessive = True
        gap = body[previous_end:start]
        last = tokens[-1] if tokens else None
        simple = gap == " " and last is not None  # nearly all gaps: nothing ends and nothing begins
        paragraph = last is None or (not simple and bool(_PARAGRAPH.search(gap)))
        low = names.fold(word)
        shape = _shape(word)
        joined = not paragraph and last is not None and _joins(gap, last, body[last.end : start], low, shape)
        tokens.append(
            Token(
                start=start,
                end=end,
                low=low,
                shape=shape,
                opens=paragraph
                or last is None
                or (
                    not simple and (_opens(gap, last) or _breaks_early(body, gap, start, match.end(), width))
                ),
                joined=joined,
                spaced_lines=paragraph,
                possessive=possessive,
                heading=start in headings,
            )
        )
        previous_end = match.end()
    return tokens


def is_abbreviation(low: str, shape: Shape) -> bool:
    """Whether a stop after this word ends no sentence: 'Mr.', 'St.', an initial."""
    return low in _ABBREVIATIONS or shape == "letter"


def _joins(gap: str, last: Token, wide: str, low: str, shape: Shape) -> bool:
    """`wide`: the gap with the possessive's letters. Somebody's court or bridge is one name: 'St. Paul's Church'."""
    bare = gap.replace("_", "")
    if last.possessive:
        of_place = low in PLACE_HEADS and shape == "capital" and last.shape == "capital"
        return of_place and wide[2:].isspace()
    if bare.isspace():
        return True
    # 'Mr. Hart', 'J. Smith', 'St. John', 'J.M. Hart'; the pronoun at a sentence's end is no initial.
    return bare.strip() == "." and is_abbreviation(last.low, last.shape) and last.low not in ("i", "no")


def _opens(gap: str, last: Token) -> bool:
    if "_" in gap:
        gap = gap.replace("_", "")
    if gap.strip() == ".":
        return not is_abbreviation(last.low, last.shape) or last.low in ("i", "no")
    if _SENTENCE_END.search(gap):
        return True
    # A quotation after a stop, comma or bare 'said' opens a sentence; one name put in quotes does not.
    return bool(_OPENING.search(gap)) and not _ALONE_IN_QUOTES.match(gap)


def _breaks_early(body: str, gap: str, start: int, end: int, width: int) -> bool:
    """A line that ends before it had to: verse, an address, a signature. The next line begins with a capital
    anyway."""
    if "\n" not in gap or not width:
        return False
    newline = body.rfind("\n", 0, start)
    line_start = body.rfind("\n", 0, newline) + 1
    length = len(body[line_start:newline].rstrip())
    return length + 1 + (end - newline - 1) <= width - 8


def _wrap_width(body: str) -> int:
    """The length to which most lines are filled, or 0 for a text that is not wrapped."""
    lengths = sorted(
        len(line.rstrip()) for line, after in pairwise(body.split("\n")) if line.strip() and after.strip()
    )
    if len(lengths) < 20:
        return 0
    median = lengths[len(lengths) // 2]
    high = lengths[int(len(lengths) * 0.9)]
    # An unwrapped text has lines of every length; a wrapped one has half of them near the longest.
    return median if high <= median * 1.25 and high < 120 else 0


_BLOCK = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
_QUOTED = re.compile(r"^[\s_]*[\"“‘']")
_SMALL = frozenset("of the a an and in on to at by for with from or de la".split())


def _headings(body: str) -> list[tuple[int, int]]:
    """Blocks of one to three short lines in which nearly every longer word has a capital."""
    found = []
    for match in _BLOCK.finditer(body):
        block = match.group()
        if (
            len(block) > 200
            or block.count("\n") > 2
            or _QUOTED.match(block)
            or block.rstrip().endswith((",", "!", "?"))
        ):
            continue
        long = [w for w in _WORD.findall(block) if w.lower() not in _SMALL]
        if long and all(_shape(w) != "lower" for w in long):
            found.append(match.span())
    return found


class _Spans:
    """Membership in sorted, disjoint spans, asked in rising order."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._spans = spans
        self._next = 0

    def __contains__(self, offset: object) -> bool:
        assert isinstance(offset, int)
        while self._next < len(self._spans) and self._spans[self._next][1] <= offset:
            self._next += 1
        return self._next < len(self._spans) and self._spans[self._next][0] <= offset
