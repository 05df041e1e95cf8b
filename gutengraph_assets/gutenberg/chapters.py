"""Which of the paragraphs that look like headings are the book's chapters, and what divisions hold them.

A book numbers its chapters in one way, so the question is put to whole series and not to single lines:

1. Contents lists are set aside (`contents`); what they repeat is found once, in the text.
2. The series that the book goes by is chosen: one with a chapter's word (chapter, letter, stave, scene, …),
   else bare numbers that count upwards by one, else divisions (book, part, act), else headings in capitals
   after wide gaps, else lines that the contents list announces.
3. It is continued where the book changes its manner (`ADVENTURE VI.`, then `VII. THE ADVENTURE OF …`) and by
   EPILOGUE, CONCLUSION and the like.
4. Divisions directly above a chapter become its `part`; one with a text of its own becomes a chapter.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from statistics import median_low

from gutengraph_assets.gutenberg import contents
from gutengraph_assets.gutenberg.headings import (
    PART_ORDER,
    Mark,
    is_special,
    is_stopped_title,
    is_title,
    joined,
    mark,
)
from gutengraph_assets.gutenberg.paragraphs import SECTION_GAP, Para
from gutengraph_assets.gutenberg.sections import is_apparatus, is_editorial, is_end, is_notes
from gutengraph_core.names import words

_REACH = 4
"""Paragraphs that may stand between a division's heading and its first chapter's: titles, a motto."""
_EPILOGUE_MARKS = 60
_LONGEST_PREFACE = 40_000
_LATE = 0.25
"""A series that begins after this share of the text, and after more characters than a preface has, does not
cover the book alone."""


@dataclass(frozen=True)
class Heading:
    """A chapter's heading: `first` is the paragraph where it (or the division above it) begins."""

    first: int
    index: int
    title: str
    part: str = ""


@dataclass(frozen=True)
class Outline:
    """The headings of a text and the paragraphs of its contents lists, as indices of paragraphs."""

    headings: list[Heading]
    contents: set[int]


def outline(paras: list[Para], *, book_title: str = "") -> Outline:
    """Find the chapters of a text. A text without headings has none: that is no error."""
    marks = [m for i, p in enumerate(paras) if (m := mark(i, p)) is not None]
    listed = contents.find(paras, marks)
    finder = _Finder(paras, [m for m in marks if m.index not in listed], listed, book_title)
    return Outline(finder.headings(), listed)


class _Finder:
    def __init__(self, paras: list[Para], marks: list[Mark], listed: set[int], title: str) -> None:
        self.paras = paras
        self.marks = marks
        self.by_index = {m.index: m for m in marks}
        self.listed = listed
        self.titles = [words(title), *(words(part) for part in re.split(r"[;:,]", title))]
        self.capital_parts = False
        self.coarse = ""
        """The form of bare numbers that stand above finer ones: `— II —` above `[ 4 ]`."""

    def headings(self) -> list[Heading]:
        chosen = self._series()
        plain = {m.index: m.text for m in chosen}
        if chosen:
            plain |= self._specials(chosen)
            plain |= self._divisions_with_text(plain)
            plain |= self._before_a_late_start(min(plain))
        else:
            plain = self._capitals() or self._announced()
        return self._with_parts(plain)

    # --- the main series ---

    def _series(self) -> list[Mark]:
        named = self._named()
        if len(named) >= 2:
            return self._continued(named)
        bare = self._bare()
        upper = sorted({*self._divisions(), *named}, key=lambda m: m.index)
        return bare if bare and self._carries(bare, upper) else upper

    def _carries(self, bare: list[Mark], upper: list[Mark]) -> bool:
        """Whether bare numbers are the chapters, or only the sections of what has a name."""
        if len(bare) <= len(upper):
            return False
        below = {m.index: m.text for m in bare}
        return any(self._leads_to(m.index, below) for m in upper) or self._gap(bare) >= self._gap(upper)

    def _gap(self, series: list[Mark]) -> int:
        return median_low([self.paras[m.index].gap for m in series]) if series else 0

    def _named(self) -> list[Mark]:
        """Headings with a chapter's word. Another word counts only where it stands before or after the rest:
        letters before chapter one are chapters, a letter within a chapter is not."""
        found = [m for m in self.marks if m.level == "chapter"]
        if not found:
            return []
        main = Counter(m.word for m in found).most_common(1)[0][0]
        first = next(m.index for m in found if m.word == main)
        last = max(m.index for m in found if m.word == main)
        return [m for m in found if m.word == main or not first < m.index < last]

    def _bare(self) -> list[Mark]:
        """The longest series of numbers of one form that counts upwards from one."""
        forms: dict[str, list[Mark]] = {}
        for found in self.marks:
            if found.level == "bare":
                forms.setdefault(found.word, []).append(found)
        chains = sorted((self._chain(marks) for marks in forms.values()), key=len, reverse=True)
        if not chains or len(chains[0]) < 2:
            return []
        best = chains[0]
        self.coarse = next((c[0].word for c in chains[1:] if len(c) >= 2 and self._stands_above(c, best)), "")
        if self.coarse or not self.capital_parts:
            best = self._chain(forms[best[0].word])
        return best

    def _chain(self, marks: list[Mark]) -> list[Mark]:
        """Those that count 1, 2, 3, …; back to 1 only below the heading of a division. A misprinted number
        counts if it is set off as the others are and the next goes on (I, II, III, VI, V)."""
        chain: list[Mark] = []
        expected = 1
        narrowest = SECTION_GAP
        for at, found in enumerate(marks):
            gap = self.paras[found.index].gap
            after = marks[at + 1].value if at + 1 < len(marks) else None
            if found.value == 1 and chain and self._below_division(found.index):
                expected = 1
            elif found.value != expected:
                misprinted = chain and after == expected + 1 and gap >= max(2, narrowest)
                if not misprinted:
                    continue
            narrowest = min(gap, narrowest) if chain else gap
            chain.append(found)
            expected += 1
        return chain

    def _stands_above(self, coarse: list[Mark], fine: list[Mark]) -> bool:
        fine_at = {m.index for m in fine}
        return all(any(i in fine_at for i in range(m.index + 1, m.index + 1 + _REACH)) for m in coarse)

    def _divisions(self) -> list[Mark]:
        found = [m for m in self.marks if m.level == "part"]
        if not found:
            return []
        word, count = Counter(word for word, _ in {m.key for m in found}).most_common(1)[0]
        return [m for m in found if m.word == word] if count >= 2 else []

    def _continued(self, named: list[Mark]) -> list[Mark]:
        """A titled number that follows the last named one, and so on, goes on with the series."""
        series = list(named)
        for found in self.marks:
            last = series[-1]
            follows = found.index > last.index and found.value == last.value + 1
            if follows and found.word.endswith("+") and found.numeral == last.numeral:
                series.append(found)
        return series

    # --- what joins it ---

    def _specials(self, chosen: list[Mark]) -> dict[int, str]:
        """EPILOGUE and its like after the first chapter, with numbered parts of their own or without."""
        found: dict[int, str] = {}
        taken = {m.index for m in chosen}
        first = min(taken)
        for index in range(first + 1, len(self.paras) - 1):
            if {index, index - 1} & taken or index in self.listed or not is_special(self.paras[index]):
                continue
            inner = self.by_index.get(index + 1)
            if inner is not None and inner.level == "bare" and inner.value == 1 and inner.index not in taken:
                chain = self._chain(self._after(inner))
                if len(chain) >= 2:
                    found |= {m.index: m.text for m in chain}
                    taken.update(m.index for m in chain)
                    continue
            found[index] = self.paras[index].text
        return found

    def _after(self, first: Mark) -> list[Mark]:
        """The marks of one form from `first` on, as far as an epilogue may reach."""
        at = bisect_left(self.marks, first.index, key=lambda m: m.index)
        return [m for m in self.marks[at : at + _EPILOGUE_MARKS] if m.word == first.word]

    def _divisions_with_text(self, plain: dict[int, str]) -> dict[int, str]:
        """PART TWO with an introduction of its own before its first chapter."""
        first = min(plain)
        return {m.index: m.text for m in self.marks if m.index > first and self._has_text(m, plain)}

    def _has_text(self, found: Mark, headings: dict[int, str]) -> bool:
        """A division's heading after a wide gap with prose below, not another heading."""
        if found.level != "part" or found.index in headings or self.paras[found.index].gap < SECTION_GAP:
            return False
        below = self.paras[found.index + 1 : found.index + 1 + _REACH]
        prose = next((i for i, p in enumerate(below, found.index + 1) if p.is_prose), None)
        return prose is not None and not any(i in headings for i in range(found.index, prose))

    def _before_a_late_start(self, first: int) -> dict[int, str]:
        """In a treatise introductions are half the book: headings in capitals before a late chapter one."""
        before = sum(p.chars for p in self.paras[:first])
        if before <= max(_LONGEST_PREFACE, _LATE * sum(p.chars for p in self.paras)):
            return {}
        found = {i: text for i, text in self._capitals(least=1).items() if i < first}
        divisions = {m.index: m.text for m in self.marks if m.index < first and self._has_text(m, found)}
        return found | divisions

    def _leads_to(self, index: int, headings: dict[int, str]) -> bool:
        """Whether a division's heading stands directly above one of `headings`."""
        for after in range(index + 1, min(index + 2 + _REACH, len(self.paras))):
            if after in headings:
                return True
            if not self._is_motto(self.paras[after]) and after not in self.by_index:
                return False
        return False

    # --- without numbers ---

    def _capitals(self, *, least: int = 2) -> dict[int, str]:
        """Short headings in capitals after a wide gap, with text below."""
        found = {
            i: p.text
            for i, p in enumerate(self.paras[:-1])
            if self._is_capital_heading(i) and not self._is_capital_heading(i + 1) and i not in self.by_index
        }
        return found if len(found) >= least else {}

    def _is_capital_heading(self, index: int) -> bool:
        para = self.paras[index]
        return (
            para.gap >= SECTION_GAP
            and len(para.lines) <= 2
            and len(para.text) <= 100
            and para.is_caps
            and index not in self.listed
            and not self._is_book_title(para)
            and not (is_end(para) or is_editorial(para) or is_apparatus(para) or is_notes(para))
        )

    def _announced(self) -> dict[int, str]:
        """Short lines that the contents list announces, word for word."""
        titles = {" ".join(words(title)) for title in contents.titles(self.paras, self.listed)}
        found: dict[int, str] = {}
        for index, para in enumerate(self.paras[:-1]):
            short = para.gap >= 2 and len(para.lines) <= 2 and index not in self.listed
            if short and " ".join(words(para.text)) in titles:
                found[index] = para.text
        return found if len(found) >= 2 else {}

    # --- titles and parts ---

    def _with_parts(self, plain: dict[int, str]) -> list[Heading]:
        found: list[Heading] = []
        parts: dict[str, str] = {}
        before = -1
        for index in sorted(plain):
            first, above = self._above(index, before)
            for word, text in above:
                rank = _rank(word)
                parts = {w: t for w, t in parts.items() if _rank(w) < rank}
                parts[word] = text
            own = self.by_index.get(index)
            title = self._title(index, plain[index])
            if own is not None and own.level == "part":
                parts = {w: t for w, t in parts.items() if _rank(w) < _rank(own.word)}
            found.append(Heading(first, index, title, ", ".join(parts.values())))
            if own is not None and own.level == "part":
                parts[own.word] = title
            before = index
        return found

    def _above(self, index: int, before: int) -> tuple[int, list[tuple[str, str]]]:
        """Where a heading begins, and the divisions that stand directly above it, widest first."""
        first = index
        above: list[tuple[str, str]] = []
        at = index - 1
        while at > before and index - at <= 1 + 2 * _REACH:
            word = self._division(at)
            if word:
                between = self.paras[at + 1 : first]
                title = " ".join(p.text for p in between if is_title(p.text) and not self._is_book_title(p))
                text = self.by_index[at].text if at in self.by_index else self.paras[at].text
                above.insert(0, (word, joined(text, title) if title else text))
                first = at
            elif not self._is_motto(self.paras[at]) or first - at >= _REACH or at in self.listed:
                break
            at -= 1
        return first, above

    def _division(self, index: int) -> str:
        """The word of a division's heading, or ''."""
        if index in self.listed:
            return ""
        found = self.by_index.get(index)
        if found is not None and found.level == "part":
            return found.word
        if found is not None and self.coarse and found.word == self.coarse:
            return self.coarse
        if is_special(self.paras[index]):
            return "epilogue"
        return "capitals" if self.capital_parts and self._is_capital_heading(index) else ""

    def _below_division(self, index: int) -> bool:
        """Whether a number stands directly below a division's heading, or a story's in capitals."""
        for above in range(index - 1, max(-1, index - 1 - _REACH), -1):
            if self._division(above):
                return True
            if self._is_capital_heading(above):
                self.capital_parts = True
                return True
            if not self._is_motto(self.paras[above]):
                return False
        return False

    def _title(self, index: int, text: str) -> str:
        """The heading with the title in the paragraph below it, if there is one."""
        found = self.by_index.get(index)
        if found is None or found.has_title or index + 2 >= len(self.paras):
            return text
        below = self.paras[index + 1]
        line = below.lines[0].strip()
        if len(below.lines) == 1 and line[0] == line[-1] == "_" and line.count("_") == 2:
            return joined(text, below.text)
        if index + 1 in self.by_index or below.gap > 2 or len(below.lines) > (5 if below.is_caps else 2):
            return text
        set_off = self.paras[index + 2].gap > 1 and len(below.lines) == 1
        is_one = is_title(below.text) or (set_off and is_stopped_title(below.text))
        return joined(text, below.text) if is_one else text

    def _is_motto(self, para: Para) -> bool:
        return para.is_short and not para.is_prose and (is_title(para.text) or len(para.text) <= 100)

    def _is_book_title(self, para: Para) -> bool:
        return words(para.text) in self.titles


def _rank(word: str) -> int:
    return PART_ORDER.index(word) if word in PART_ORDER else -1 if word == "epilogue" else len(PART_ORDER)
