"""Contents lists: where they stand, so that no heading is found twice, and what they announce."""

from __future__ import annotations

import re

from gutengraph_assets.gutenberg.headings import Mark
from gutengraph_assets.gutenberg.paragraphs import SECTION_GAP, Para
from gutengraph_core.names import fold

_HEAD = re.compile(
    r"(?:\[illustration: ?)?(?:(?:table of )?contents|table des mati[eè]res|table|inhalt|inhaltsverzeichnis"
    r"|índice|indice|(?:list of )?(?:illustrations|plates|maps))(?: (?:of|to) .{1,40})?\W*",
    re.IGNORECASE,
)
_PAGE_END = re.compile(r"[\s.]*(?:\d{1,4}|\b[ivxlc]{1,7})\.?$")
_NUMBER_START = re.compile(r"\s*(?:(?:chapter|chap\.?)\s+)?(?:[IVXLC]+|\d{1,3})[.):\s—–-]+\s*", re.IGNORECASE)
_FRONT = 0.4
_BACK = 0.9
"""A contents list stands in the first two fifths of a text or in its last tenth."""
RUN = 4
"""Headings in a row, with next to no text between them, that make a list. VOLUME, BOOK, CHAPTER are three."""
_LONGEST_LINE = 160
_ENTRY_CHARS = 250
"""What may stand between two entries: a title, or a summary of what the chapter tells."""


def is_head(para: Para) -> bool:
    """CONTENTS, or ILLUSTRATIONS, on a line of its own."""
    return len(para.lines) == 1 and len(para.text) <= 60 and _HEAD.fullmatch(para.text) is not None


def find(paras: list[Para], marks: list[Mark]) -> set[int]:
    """The paragraphs of all contents lists, those with a heading and those without."""
    by_index = {m.index: m for m in marks}
    listed: set[int] = set()
    for index, para in enumerate(paras):
        if index not in listed and is_head(para) and not _BACK * len(paras) > index > _FRONT * len(paras):
            listed.update(range(index, _end(paras, by_index, index)))
    listed |= _runs(paras, [m for m in marks if m.index not in listed])
    return listed


def _end(paras: list[Para], marks: dict[int, Mark], head: int) -> int:
    """The index past a list's last entry: a section ends, an entry's title returns, or prose begins."""
    first: Mark | None = None
    last_entry = head
    announced: set[str] = set()
    for index in range(head + 1, len(paras)):
        para = paras[index]
        if para.gap >= SECTION_GAP and index > head + 1:
            return index
        found = marks.get(index)
        if found is not None and first is not None and found.key == first.key:
            return index
        if para.is_prose and not para.is_list:
            return _before_heading(marks, index, last_entry)
        entries = _titles_in(para)
        if len(entries) == 1 and para.gap > 1 and announced.issuperset(entries):
            return index
        announced.update(entries)
        if found is not None:
            first = first or found
            last_entry = index
    return len(paras)


def _before_heading(marks: dict[int, Mark], prose: int, last_entry: int) -> int:
    """The list ran into the text: its last heading, and divisions directly above it, belong to the text."""
    if last_entry not in marks or prose - last_entry > 3:
        return prose
    while last_entry - 1 in marks and marks[last_entry - 1].level == "part":
        last_entry -= 1
    return last_entry


def _runs(paras: list[Para], marks: list[Mark]) -> set[int]:
    """Lists that have no heading of their own: headings in a row that stand again elsewhere."""
    listed: set[int] = set()
    run: list[Mark] = []
    for at, here in enumerate(marks):
        run.append(here)
        after = marks[at + 1] if at + 1 < len(marks) else None
        if after is not None and _is_empty(paras[here.index + 1 : after.index]):
            continue
        if len(run) >= RUN and _at_an_edge(run, len(paras)):
            listed |= _entries(run, [*marks[: at + 1 - len(run)], *marks[at + 1 :]])
        run = []
    return listed


def _is_empty(between: list[Para]) -> bool:
    return len(between) <= 1 and all(
        p.is_list or (len(p.lines) <= 3 and p.chars <= _ENTRY_CHARS) for p in between
    )


def _at_an_edge(run: list[Mark], n_paras: int) -> bool:
    return run[-1].index <= _FRONT * n_paras or run[0].index >= _BACK * n_paras


def _entries(run: list[Mark], others: list[Mark]) -> set[int]:
    """Those of a run that the list holds: all but the text's own first heading, if the run goes into it."""
    keys = {m.key for m in others}
    end = len(run)
    while end and (run[end - 1].key not in keys or (end > 1 and run[end - 1].key == run[0].key)):
        end -= 1
    if not end or sum(m.key in keys for m in run[:end]) < 0.5 * len(run):
        return set()
    return set(range(run[0].index, run[end - 1].index + 1))


def titles(paras: list[Para], listed: set[int]) -> list[str]:
    """What the lists announce, folded, without numbers in front and pages behind."""
    return [t for index in sorted(listed) if not is_head(paras[index]) for t in _titles_in(paras[index])]


def _titles_in(para: Para) -> list[str]:
    found = []
    for line in para.lines:
        if len(line) <= _LONGEST_LINE:
            title = fold(_PAGE_END.sub("", _NUMBER_START.sub("", line.strip()))).strip(" .")
            if len(title) >= 3:
                found.append(title)
    return found
