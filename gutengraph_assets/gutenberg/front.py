"""What stands before the first chapter, section by section: the author's stays, everybody else's goes.

Stays: dedication, motto, the author's preface or introduction, lists of persons, any headed piece of prose or
verse. Goes: credits, title page, publisher's data, contents, glossaries, and whatever names a translator,
editor, publisher or transcriber as its writer. A plain PREFACE stays, whoever signed it: a heading tells, a
signature would be guessed.
"""

from __future__ import annotations

import re
from collections import Counter

from gutengraph_assets.gutenberg.headings import is_title
from gutengraph_assets.gutenberg.paragraphs import SECTION_GAP, Para, is_caps
from gutengraph_assets.gutenberg.sections import is_apparatus, is_editorial, is_kept
from gutengraph_core.names import words

_CREDIT = re.compile(
    r"\W*(?:produced by|e-?text (?:prepared|produced|scanned)"
    r"|this (?:e-?text|e-?book|file|book) (?:was|is|has been)|transcribed (?:from|by)|special thanks"
    r"|many thanks|thanks to|html version|proofread|scanned (?:by|and)"
    r"|prepared by|digiti[sz]ed by|credits?:|release date|updated editions|(?:the )?project gutenberg"
    r"|edited by .{1,60}(?:html|e-?text)|note: (?:project gutenberg|images of|this))"
    r"|.{0,600}(?:distributed proofread|pgdp\.net|pglaf\.org|gutenberg\.(?:org|net)|internet archive"
    r"|project gutenberg|@[a-z0-9.-]+\.(?:com|org|net|edu)\b)",
    re.IGNORECASE | re.DOTALL,
)
_PUBLISHER = re.compile(
    r"copyright|all rights reserved|entered according|(?:first|originally) published|reprinted"
    r"|printed (?:in|by|at)|published by|\bpublishers?\b|\bpress\b|& co\b|& sons?\b|\blimited\b|\bltd\b"
    r"|\bcompany\b|\bedition\b|illustrat(?:ed|ions?)\b|translated|rendered into|\bauthor of\b|\bcomplete\b"
    r"|\bin (?:two|three|four|\d) volumes\b"
    r"|\b(?:london|new york|boston|paris|leipzig|philadelphia|chicago|edinburgh|dublin|berlin)\b",
    re.IGNORECASE,
)
_BY = re.compile(r"\W*(?:by|von|par|di|por|av|van|written by)\b", re.IGNORECASE)
_YEAR = re.compile(r"\W*(?:in )?(?:1[5-9]|20)\d\d(?:\s*[-–]\s*\d{2,4})?\W*")
_DEDICATION = re.compile(
    r"\W*(?:to\W*$|to [=_]*(?:my|the|his|her|all|our|[A-Z])|dedicated\b|à\b|an meine?n?\b"
    r"|.{0,80}\bis (?:\w+ )?(?:inscribed|dedicated)\b)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\W*transcriber[’'`]?s?[’']? notes?\b", re.IGNORECASE)
_WRITTEN_BY = re.compile(
    r"\W*(?:an? |the )?(?:critical |biographical )?(?:preface|introduction|foreword|memoir|note)\W+by\W+(?P<who>.{2,60})",
    re.IGNORECASE,
)
_SETTING = re.compile(r"\W*(?:scene|time|place)\b\s*[.:—]", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…][\"”’')_]*$|[”\"]$")
_ENTRY = 20
"""Characters that make a paragraph a sentence of a story rather than a line of its title page."""


class Front:
    """Judges the paragraphs before the first chapter. `first` is the first one of the text proper."""

    def __init__(
        self, paras: list[Para], *, first: int | None, listed: set[int], title: str, author: str
    ) -> None:
        self.paras = paras
        self.listed = listed
        self.title = set(words(title))
        self.author = set(words(author))
        self.dropped: set[int] = set()
        self.gone: Counter[str] = Counter()
        self.heads: list[str] = []
        """Headings of what was kept."""
        self.first = self._walk(first)

    def _walk(self, first: int | None) -> int:
        state = ""
        pending = False
        for index, para in enumerate(self.paras[:first]):
            if para.gap >= SECTION_GAP and not pending:
                state = ""
            if index in self.listed:
                self._drop(index, "contents")
                state, pending = "", False
                continue
            if not state:
                state, pending = self._judge(index)
                if first is None and state == "text":
                    return self._back_to_the_start(index)
                if state in ("keep", "text") and pending:
                    self.heads.append(para.text)
            elif pending and not (para.is_short and is_title(para.text)):
                pending = False
            if state.startswith("drop "):
                self._drop(index, state.removeprefix("drop "))
                if not pending and state in ("drop title page", "drop credits", "drop contents"):
                    state = ""
        return self._first_sentence() if first is None else first

    def _judge(self, index: int) -> tuple[str, bool]:
        """What a paragraph begins: `keep`, `text` (running text without a heading), or `drop` and what; and
        whether it is a heading whose text is still to come, behind whatever gap."""
        para = self.paras[index]
        if is_editorial(para) or self._is_by_another(para):
            return "drop editorial sections", True
        if _NOTE.match(para.text):
            return "drop editorial sections", False
        if is_apparatus(para):
            return "drop apparatus", True
        if _CREDIT.match(para.text[:800]):
            return "drop credits", False
        if len(para.lines) >= 3 and para.is_list:
            return "drop contents", False
        if _SETTING.match(para.text):
            return "keep", False
        if is_kept(para):
            return "keep", True
        if self._is_title_page(para) or self._is_signed(index):
            return "drop title page", False
        if para.is_caps and self._heads_text(index):
            return "keep", True
        if self._is_dedication(index):
            return "keep", False
        if para.is_prose or _is_verse(para) or self._opens_text(index):
            return "text", False
        return ("keep", True) if self._heads_text(index) else ("drop title page", False)

    def _is_title_page(self, para: Para) -> bool:
        if set(words(para.text)) <= self.title | self.author:
            return True
        if para.is_prose or len(para.lines) > 8 or len(para.text) > 400:
            return bool(_PUBLISHER.match(para.text)) and len(para.text) < 600
        text = para.text
        if _is_byline(para) or _YEAR.fullmatch(text):
            return True
        return _PUBLISHER.search(text) is not None and not _is_verse(para)

    def _is_by_another(self, para: Para) -> bool:
        """An introduction by somebody who is not the author."""
        found = _WRITTEN_BY.fullmatch(para.text) if para.is_short else None
        if found is None or not self.author:
            return False
        return not (set(words(found["who"])) & (self.author | {"author", "authoress"}))

    def _opens_text(self, index: int) -> bool:
        """A sentence with another, or a full paragraph, right below it."""
        if index + 1 >= len(self.paras) or self.paras[index + 1].gap >= SECTION_GAP:
            return False
        below = self.paras[index + 1]
        return _is_sentence(self.paras[index]) and (below.is_prose or _is_sentence(below))

    def _is_signed(self, index: int) -> bool:
        """A title of several lines: a line that names the author follows."""
        signed = index + 1 < len(self.paras) and _is_byline(self.paras[index + 1])
        return signed and len(self.paras[index].lines) <= 4

    def _is_dedication(self, index: int) -> bool:
        """'TO' and a name. 'To the Hesitating Purchaser' over verses is a heading, and kept as one."""
        para = self.paras[index]
        return len(para.lines) <= 12 and len(para.text) <= 500 and _DEDICATION.match(para.text) is not None

    def _heads_text(self, index: int) -> bool:
        """A heading of the author's own: text follows, with one line between at most."""
        para = self.paras[index]
        if not para.is_short or not (para.is_caps or is_title(para.text) or is_caps(para.text.split("(")[0])):
            return False
        for after in range(index + 1, min(index + 3, len(self.paras))):
            below = self.paras[after]
            if (
                after in self.listed
                or is_kept(below)
                or is_editorial(below)
                or _CREDIT.match(below.text[:800])
            ):
                return False
            if below.is_prose or _is_verse(below):
                return True
            if self._is_title_page(below) or below.gap >= SECTION_GAP:
                return False
        return False

    def _first_sentence(self) -> int:
        """Text without headings or full paragraphs, as a dialogue may be: from the first sentence on."""
        for index, para in enumerate(self.paras):
            if index in self.listed or self._is_title_page(para) or _CREDIT.match(para.text[:800]):
                continue
            if _is_sentence(para):
                self.dropped -= set(range(index, len(self.paras)))
                return index
        return len(self.paras)

    def _back_to_the_start(self, index: int) -> int:
        """Text without any heading: short sentences directly before its first full paragraph are its own."""
        while index > 0 and index - 1 not in self.listed and self.paras[index].gap < SECTION_GAP:
            before = self.paras[index - 1]
            if not _is_sentence(before):
                break
            if self._is_title_page(before) or _CREDIT.match(before.text[:800]):
                break
            index -= 1
        self.dropped -= set(range(index, len(self.paras)))
        return index

    def _drop(self, index: int, what: str) -> None:
        self.dropped.add(index)
        self.gone[what] += self.paras[index].chars


def _is_sentence(para: Para) -> bool:
    """Not in capitals, long enough for a sentence, and with a stop at its end."""
    return len(para.text) >= _ENTRY and not para.is_caps and _SENTENCE_END.search(para.text) is not None


def _is_byline(para: Para) -> bool:
    """'by X', and not 'By the river': all that follows is names and numbers."""
    found = _BY.match(para.text)
    if found is None or len(para.lines) > 2 or len(para.text) > 80:
        return False
    return all(
        not word[0].islower() for word in re.findall(r"\w+", para.text[found.end() :]) if len(word) >= 3
    )


def _is_verse(para: Para) -> bool:
    """Three lines or more that say something: a dozen words, with stops at their ends."""
    if len(para.lines) < 3 or para.is_caps or para.is_list:
        return False
    stops = sum(line.rstrip(" _”’\"'")[-1:] in tuple(".,;:!?—-") for line in para.lines)
    return len(para.text.split()) >= 12 and stops >= 2 and not _PUBLISHER.search(para.text)
