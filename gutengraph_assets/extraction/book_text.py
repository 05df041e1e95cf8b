"""One body, cut every way that the rules need it: tokens, sentences, paragraphs, quotations, windows, chapters.

All offsets count characters in the body; spans are half open.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gutengraph_core.library import Chapter

Span = tuple[int, int]

_TOKEN = re.compile(r"[^\W_]+")
_PARAGRAPH = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)
_ABBREVIATION = frozenset(
    "mr mrs ms dr st messrs mme mlle prof capt col gen lieut lt sergt rev hon esq jun sen jr sr vol no viz etc cf".split()
)
_STOP = re.compile(r"[.!?]+[\"'”’)\]_]*(?=\s)|[.!?][”\"]")
_OPENS = re.compile(r"[\s\"'“‘(\[_]*")


LEAST_SINGLE = 20
"""Single marks that open a quotation (curly), or a paragraph (straight), from which a book is taken to quote with them."""
# An apostrophe opens no quotation before 'tis or 'em, and closes none after a letter: "th' door", "the masters' coats".
_STRAIGHT_SINGLE = re.compile(
    r"(?:(?<=\A)|(?<=[\s(\[-]))'(?!(?:t(?:is|was|were|will|would)|em|un|til|bout|cause|d|s)\b)(?=[\w_\"-])(.*?)"
    r"(?:(?<=[.,!?;:-])'(?!\w)|\Z)",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """A run of letters and digits."""

    text: str
    start: int
    end: int


class BookText:
    """A body and its cuts, each made once, when first asked for."""

    def __init__(self, body: str, *, windows: Sequence[Span], chapters: Sequence[Chapter] = ()) -> None:
        self.body = body
        self.windows = list(windows)
        self.chapters = list(chapters)
        self._window_starts = [start for start, _ in self.windows]
        self._chapter_starts = [chapter.start for chapter in self.chapters]

    @cached_property
    def tokens(self) -> list[Token]:
        return [Token(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(self.body)]

    @cached_property
    def token_starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    @cached_property
    def paragraphs(self) -> list[Span]:
        """Blocks between blank lines."""
        return [m.span() for m in _PARAGRAPH.finditer(self.body)]

    @cached_property
    def sentences(self) -> list[Span]:
        """Sentences within paragraphs. A stop after an abbreviation or an initial ends none."""
        return [s for start, end in self.paragraphs for s in _split_sentences(self.body, start, end)]

    @cached_property
    def chapter_starts(self) -> frozenset[int]:
        """Where the headings of chapters begin."""
        return frozenset(self._chapter_starts)

    @cached_property
    def _paragraph_starts(self) -> list[int]:
        return [start for start, _ in self.paragraphs]

    @cached_property
    def _sentence_starts(self) -> list[int]:
        return [start for start, _ in self.sentences]

    @cached_property
    def quotations(self) -> list[Span]:
        """What stands between quotation marks, the marks left out."""
        return find_quotations(self.body, self.paragraphs)

    @cached_property
    def _quotation_starts(self) -> list[int]:
        return [start for start, _ in self.quotations]

    def window_of(self, offset: int) -> int:
        """Index of the window that holds `offset`; the first for what stands before it."""
        return max(0, bisect_right(self._window_starts, offset) - 1)

    def chapter_of(self, offset: int) -> int:
        """The chapter's `index`; 0 where no chapter is known."""
        at = bisect_right(self._chapter_starts, offset) - 1
        return self.chapters[at].index if at >= 0 else 0

    def sentence_of(self, offset: int) -> int:
        return max(0, bisect_right(self._sentence_starts, offset) - 1)

    def paragraph_of(self, offset: int) -> int:
        return max(0, bisect_right(self._paragraph_starts, offset) - 1)

    def quotation_of(self, offset: int) -> int | None:
        """Index of the quotation that holds `offset`, if any does."""
        at = bisect_right(self._quotation_starts, offset) - 1
        return at if at >= 0 and offset < self.quotations[at][1] else None

    def quoted(self, offset: int) -> bool:
        return self.quotation_of(offset) is not None

    def tokens_between(self, start: int, end: int) -> list[Token]:
        """Tokens that begin in [start, end)."""
        first = bisect_right(self.token_starts, start - 1)
        last = bisect_right(self.token_starts, end - 1)
        return self.tokens[first:last]


def _split_sentences(body: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    begin = start
    for stop in _STOP.finditer(body, start, end):
        if body[stop.start()] == "." and _abbreviated(body, stop.start(), begin):
            continue
        opens = _OPENS.match(body, stop.end(), end)
        after = opens.end() if opens else stop.end()
        if after < end and body[after].islower():
            continue  # '"Indeed!" said he', 'etc. and'
        spans.append((begin, stop.end()))
        following = re.compile(r"\S").search(body, stop.end(), end)
        begin = following.start() if following else end
    if begin < end:
        spans.append((begin, end))
    return spans


def _abbreviated(body: str, stop: int, begin: int) -> bool:
    word = re.search(r"[^\W_]+\Z", body[max(begin, stop - 12) : stop])
    if word is None:
        return False
    text = word.group()
    return text.casefold() in _ABBREVIATION or (len(text) == 1 and text.isupper() and text != "I")


def find_quotations(body: str, paragraphs: Sequence[Span]) -> list[Span]:
    """Quoted speech of each paragraph, in order.

    Double marks, curly or straight; in a book that has hardly any, single ones (British editions). A mark left
    open runs to the paragraph's end, as it does where a speech goes on in the next paragraph.
    """
    doubles = body.count("“") + body.count('"') / 2
    curly = len(re.findall(r"(?<!\w)‘", body))
    straight = sum(body.startswith("'", start) for start, _ in paragraphs)
    spans: list[Span] = []
    if curly > LEAST_SINGLE and doubles < curly / 5:
        pattern = re.compile(r"(?<!\w)‘(.*?)(?:’(?!\w)(?=[\s,.;:!?—\-)]|$)|\Z)", re.DOTALL)
    elif straight > LEAST_SINGLE and doubles < straight:
        pattern = _STRAIGHT_SINGLE
    elif body.count("“") >= body.count('"') / 2:
        pattern = re.compile(r"“([^“”]*)(?:”|\Z|(?=“))")
    else:
        pattern = re.compile(r'"([^"]*)(?:"|\Z)')
    for start, end in paragraphs:
        for match in pattern.finditer(body[start:end]):
            if match.end(1) > match.start(1):
                spans.append((start + match.start(1), start + match.end(1)))
    return spans
