"""What stands after the last chapter's text: publisher's lists, transcriber's notes, notes, indexes.

Nothing is looked for before the last heading, and nothing goes that is not recognised. What follows THE END
is never the story; an appendix, an afterword or a postscript of the author's is kept even there.
"""

from __future__ import annotations

import re
from collections import Counter

from gutengraph_assets.gutenberg.headings import is_special
from gutengraph_assets.gutenberg.paragraphs import SECTION_GAP, Para
from gutengraph_assets.gutenberg.sections import is_apparatus, is_editorial, is_end, is_kept, is_notes

_ADVERT = re.compile(
    r"\$ ?\d|\d\dmo\b|\b8vo\b|\bpost ?free\b|\bpostpaid\b|\b\d+ cents\b|\b\d+s\. ?(?:net|\d+d)|\bprice[ds]?\b"
    r"|\bnet\b|\bcloth\b|\bgilt\b|\bpublishers?\b|\bbooks are sold\b|\bfree list\b|\bcatalog(?:ue)?\b"
    r"|\billustrated\b"
    r"|\bother (?:stories|works|books) by\b|\bby the same author\b|\bworks of\b|[’']s (?:writings|works)\b",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(r"\s*(?:\*+|†|‡|\[[\d*a-z]{1,4}\]|\{\d{1,3}[a-z]?\}|\(\d{1,3}\))\s*\S")
_STARS = re.compile(r"[\s*_.·—-]*\*[\s*_.·—-]*")
_PAGE = re.compile(r"\[\d{1,4}\]")
_CUES = 2
"""Signs of an advertisement in a section's first lines that make it one."""
_TAIL = 0.15
"""Share of the text that may follow THE END; more, and it was the end of something within the book."""


def find(paras: list[Para], start: int, *, keep_notes: bool) -> tuple[set[int], Counter[str]]:
    """The paragraphs from `start` (the last heading) that are no part of the text; characters by kind."""
    dropped: set[int] = set()
    gone: Counter[str] = Counter()
    what = ""
    ended = False
    size = sum(p.chars for p in paras)
    left = sum(p.chars for p in paras[start:])
    for index in range(start, len(paras)):
        para = paras[index]
        left -= para.chars
        after_stars = index > start and _STARS.fullmatch(paras[index - 1].text) is not None
        if (is_editorial(para) or is_apparatus(para)) and (para.gap >= 2 or after_stars):
            what = "editorial sections" if is_editorial(para) else "apparatus"
        elif is_notes(para) and para.gap >= 2:
            what = "" if keep_notes else "notes"
        elif not keep_notes and not what and para.gap >= SECTION_GAP and _are_footnotes(paras, index):
            what = "notes"
        elif (is_special(para) or is_kept(para)) and para.gap >= 2 and what != "notes":
            what = ""
        elif para.gap >= SECTION_GAP and not what and _is_advert(paras[index : index + 8]):
            what = "advertisements"
        elif ended and not what:
            what = "after the end"
        if what:
            dropped.add(index)
            gone[what] += para.chars
        elif is_end(para) and left <= _TAIL * size:
            ended = True
    for index in range(len(paras) - 1, start, -1):
        text = paras[index].text
        if index not in dropped and not (_PAGE.fullmatch(text) or _STARS.fullmatch(text)):
            break
        if index not in dropped:
            dropped.add(index)
            gone["page marks and rules"] += paras[index].chars
    return dropped, gone


def _are_footnotes(paras: list[Para], start: int) -> bool:
    """All of the section that begins at `start` is notes."""
    if not _FOOTNOTE.match(paras[start].lines[0]):
        return False
    for index in range(start + 1, len(paras)):
        para = paras[index]
        if para.gap >= SECTION_GAP:
            break
        if not _FOOTNOTE.match(para.lines[0]) and not para.lines[0].startswith("  "):
            return False
    return True


def _is_advert(section: list[Para]) -> bool:
    """The first paragraphs of a section, up to the next one, speak of prices and bindings."""
    text = section[0].text
    for para in section[1:]:
        if para.gap >= SECTION_GAP:
            break
        text += "\n" + para.text
    return len({found.lower() for found in _ADVERT.findall(text[:1500])}) >= _CUES
