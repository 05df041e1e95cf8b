"""What Project Gutenberg wraps around a text: header fields, START and END, small print, licence.

Four generations are in use: `*** START OF THE PROJECT GUTENBERG EBOOK X ***` (over one line or two, with
or without spaces), the same with a second `*** START: FULL LICENSE ***` after the end, the small print of the
1990s in front, closed by `*END*THE SMALL PRINT!`, and files with neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gutengraph_core.errors import TruncatedDownload
from gutengraph_core.names import squeeze

_START = re.compile(r"[ ]{0,4}\*{2,3} ?START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_END = re.compile(r"[ ]{0,4}\*{2,3} ?END OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_PRINT_END = re.compile(r"[ ]{0,4}\*END ?\*? ?THE SMALL PRINT", re.IGNORECASE)
_PRINT_START = re.compile(
    r"[ ]{0,4}\*{0,3}START\*{0,3} ?THE SMALL PRINT|[ ]{0,4}\*\*The Legal Small Print", re.I
)
_END_LINE = re.compile(
    r"[ ]{0,4}\W{0,4}(?:This is the )?End of (?:(?:the|this) )?Project Gutenberg", re.IGNORECASE
)
_LICENCE = re.compile(
    r"\*{2,3} ?START: FULL LICENSE|START: FULL LICENSE|THE FULL PROJECT GUTENBERG LICENSE"
    r"|Updated editions will replace the previous one|\*{5} This file should be named",
    re.IGNORECASE,
)
_TITLE_LINE = re.compile(
    r"^\W{0,8}(?:The |This is the )?Project Gutenberg(?:[’']s)?(?: (?:EBook|Etext))?(?: of)?,? (.+)$",
    re.IGNORECASE,
)
_FIELD = re.compile(r"^([A-Z][A-Za-z ]{2,30}):[ \t]*(.*)$")
_FINISHED = re.compile(r"(?:[.!?]|\*{3,}|\bTHE END|\bFINIS|\bFIN|\bENDE)\W*$", re.IGNORECASE)
_LINES_ABOVE = 6
_HEADER_LINES = 400
"""The longest small print ends at line 377."""


@dataclass(frozen=True)
class Envelope:
    """Where the text lies, as line numbers (`end` is past the last), and what the header says."""

    start: int
    end: int
    title: str = ""
    author: str = ""
    language: str = ""
    notes: list[str] = field(default_factory=list)


def open_envelope(lines: list[str], *, book: int) -> Envelope:
    """Find the text between header and licence.

    Raises TruncatedDownload if a START stands and the text breaks off without any sign of an end. A file with
    no marks at all is all text, and a note says so.
    """
    notes: list[str] = []
    start, old = _start(lines)
    end = _end(lines, start)
    if start == 0 and end is None:
        notes.append("no Gutenberg header or footer: read as it is")
    elif end is None:
        _refuse_if_cut(lines[start:], old=old, book=book)
        notes.append("no Gutenberg footer")
    title, author, language = _fields(lines, start)
    return Envelope(start, len(lines) if end is None else end, title, author, language, notes)


def _start(lines: list[str]) -> tuple[int, bool]:
    """The line after the header, and whether the header is one of the 1990s. 0 if there is none."""
    start, old = 0, False
    for number, line in enumerate(lines):
        if _START.match(line):
            start = number + 1
            while start < min(number + 4, len(lines)) and not lines[start - 1].rstrip().endswith("***"):
                start += 1
            if not lines[start - 1].rstrip().endswith("***"):
                start = number + 1
            break
        if number > _HEADER_LINES and not start:
            break
        if _PRINT_END.match(line):
            start, old = number + 1, True
            # Some add a bracketed claim to the header itself, in the same paragraph.
            while start < len(lines) and lines[start].strip():
                start += 1
    return start, old


def _end(lines: list[str], start: int) -> int | None:
    """The first line of the footer, or None. The last END counts: parts bound together keep their own."""
    ends = [n for n in range(start, len(lines)) if _END.match(lines[n])]
    if not ends:
        ends = [
            n
            for n in range(start, len(lines))
            if _LICENCE.match(lines[n].strip()) or _PRINT_START.match(lines[n])
        ][:1]
    plain = [n for n in range(start, ends[-1] if ends else len(lines)) if _END_LINE.match(lines[n])]
    if not ends and not plain:
        return None
    end = ends[-1] if ends else plain[-1]
    # 'End of Project Gutenberg's X' stands a few lines before the mark, and is no part of X.
    above = 0
    for number in range(end - 1, start - 1, -1):
        if _END_LINE.match(lines[number]):
            end = number
        above += bool(lines[number])
        if above > _LINES_ABOVE:
            break
    return end


def _refuse_if_cut(lines: list[str], *, old: bool, book: int) -> None:
    """A new header promises a footer; an old one may lack it if the text comes to a full stop."""
    last = next((line for line in reversed(lines) if line.strip()), "")
    whole = re.search(r"\bTHE END\b|\bFINIS\b|\bFIN\b|\bENDE\b", last) is not None
    if whole or (old and _FINISHED.search(last)):
        return
    raise TruncatedDownload(
        f"The text breaks off without Gutenberg's closing lines (after {squeeze(last)[-60:]!r}).",
        remedy="Build it again to fetch it anew; if it stays so, set GUTENGRAPH_MIRROR to another mirror.",
        book=book,
    )


def _fields(lines: list[str], start: int) -> tuple[str, str, str]:
    """Title, author and language of a header; a field may go on over the next lines of its paragraph."""
    header = lines[: start or 60]
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in header:
        match = _FIELD.match(line)
        if match:
            current = found.setdefault(match[1].strip().casefold(), [])
            if current:
                current = None
            elif match[2].strip():
                current.append(match[2].strip())
        elif not line.strip():
            current = None
        elif current is not None:
            current.append(line.strip())
    title = one_line(found.get("title", []))
    author = squeeze(", ".join(found.get("author", [])))
    if not title and start:
        title, by = _from_first_line(lines[: start + 12])
        author = author or by
    return title, author, squeeze(" ".join(found.get("language", [])))


def _from_first_line(header: list[str]) -> tuple[str, str]:
    """'The Project Gutenberg EBook of X, by Y'."""
    for line in header:
        if found := _TITLE_LINE.match(line.strip()):
            title, _, author = found[1].strip(" *").partition(", by ")
            if not author:
                title, _, author = title.partition(" by ")
            return squeeze(title), squeeze(author)
    return "", ""


def one_line(parts: list[str]) -> str:
    """A title of several lines as one: a colon before a subtitle, unless the break was only a wrap."""
    title = ""
    for part in (squeeze(p) for p in parts if p.strip()):
        if not title:
            title = part
        elif title[-1] in ",;:-" or part[0].islower() or len(title) >= 55:
            title += f" {part}"
        else:
            title += f": {part}"
    return title
