"""What transcribers put into a text that its author did not: pictures' captions, their own notes, page marks.

A caption mostly repeats a sentence of the page, so keeping it would count a name twice; but where the heading
stands in the picture (`[Illustration: Chapter I.]`), the heading is kept.
"""

from __future__ import annotations

import re
from collections import Counter

from gutengraph_assets.gutenberg import contents
from gutengraph_assets.gutenberg.headings import mark
from gutengraph_assets.gutenberg.paragraphs import Para
from gutengraph_assets.gutenberg.sections import is_kept

_OPENING = re.compile(r"\s*\[(?P<what>illustration|transcriber[’'`]?s?[’']? notes?)\b", re.IGNORECASE)
_INLINE = re.compile(r"\[Illustration[^\[\]]{0,300}\]")
_PAGE_MARK = re.compile(r"\[(?:Pg|Page|p\.)\.? ?[\divxlc]{1,6}\] ?|\{(?:Pg|p\.) ?\d{1,4}\} ?")
_PAGE_ALONE = re.compile(r"\[[ivxlc]{1,8}\]|\[(?:Pg|Page)\.? ?[\divxlc]+\]", re.IGNORECASE)
_PICTURE_FILE = re.compile(r"\{[^{}]{0,300}\b\w{1,30}\.(?:jpe?g|png|gif)\}", re.IGNORECASE)
_RESIDUE = re.compile(r"JTABLE(?: \d+)+")
"""A command of a converter that stayed in the text."""
_DROP_CAP = re.compile(r"^\|(?=[A-Z“\"‘'])")
_LONGEST_NOTE = 40
"""Lines after which an opening bracket is taken for one that was never closed."""


def clean(paras: list[Para]) -> tuple[list[Para], Counter[str]]:
    """Paragraphs without them, and how many characters went, by kind."""
    kept: list[Para] = []
    gone: Counter[str] = Counter()
    gap = 0
    at = 0
    while at < len(paras):
        para = paras[at]
        gap = max(gap, para.gap)
        opening = _OPENING.match(para.lines[0])
        if opening and (rest := _closed(paras, at)) is not None:
            after, left = rest
            lines = [line for p in paras[at:after] for line in p.lines]
            heading = _heading_in(lines, opening["what"], para)
            gone["illustrations" if opening["what"][0] in "iI" else "transcriber's notes"] += sum(
                map(len, lines)
            )
            for new in (*heading, *left):
                kept.append(Para(new.lines, max(gap, new.gap), new.at))
                gap = 0
            at = after
            continue
        at += 1
        lines = _plain(para.lines, gone)
        if lines:
            kept.append(Para(lines, gap, para.at))
            gap = 0
    return kept, gone


def _closed(paras: list[Para], start: int) -> tuple[int, list[Para]] | None:
    """Where a bracket that opens at `start` ends: the paragraph after it, and what follows it in its own."""
    depth = 0
    seen = 0
    for index in range(start, len(paras)):
        for number, line in enumerate(paras[index].lines):
            depth += line.count("[") - line.count("]")
            seen += 1
            if depth <= 0:
                tail = line[line.rindex("]") + 1 :].strip()
                lines = ([tail] if tail else []) + paras[index].lines[number + 1 :]
                return index + 1, [Para(lines, 0, paras[index].at + number + 1)] if lines else []
            if seen > _LONGEST_NOTE:
                return None
    return None


def _heading_in(lines: list[str], what: str, opening: Para) -> list[Para]:
    """The heading that a picture holds: of a chapter, or of a section such as CONTENTS or PREFACE."""
    if what[0] not in "iI":
        return []
    caption = [line.strip(" []:·*") for line in lines]
    caption[0] = re.sub(r"^illustration\W*", "", caption[0], flags=re.IGNORECASE)
    for line in reversed([c for c in caption if c]):
        para = Para([line], opening.gap, opening.at)
        found = mark(0, para)
        if (found is not None and found.level != "bare") or contents.is_head(para) or is_kept(para):
            return [para]
    return []


def _plain(lines: list[str], gone: Counter[str]) -> list[str]:
    plain = []
    for line in lines:
        stripped = line.strip()
        if _PAGE_ALONE.fullmatch(stripped):
            gone["page marks"] += len(line)
        elif _PICTURE_FILE.fullmatch(stripped):
            gone["illustrations"] += len(line)
        elif _RESIDUE.fullmatch(stripped):
            gone["residue"] += len(line)
        else:
            without = _PAGE_MARK.sub("", _INLINE.sub("", line)) if "[" in line or "{" in line else line
            without = _DROP_CAP.sub("", without).rstrip()
            gone["page marks"] += len(line) - len(without)
            if without.strip():
                plain.append(without)
    return plain
