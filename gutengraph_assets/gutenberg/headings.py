"""What a heading looks like on its own: `CHAPTER I. Down the Hole`, `Letter 4`, `[ 7 ]`, `Book the First`.

Whether a paragraph that looks like one *is* one is for `chapters` to decide, from the others around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from gutengraph_assets.gutenberg.numerals import LAST, number
from gutengraph_assets.gutenberg.paragraphs import Para, ends_in_page, is_caps
from gutengraph_core.names import squeeze

Level = Literal["chapter", "part", "bare"]

_CHAPTER_WORDS = {
    **dict.fromkeys("chapter chap chapitre chap kapitel capítulo capitulo capitolo".split(), "chapter"),
    **dict.fromkeys("letter lettre brief".split(), "letter"),
    **dict.fromkeys("scene scène szene auftritt".split(), "scene"),
    **dict.fromkeys("canto chant gesang".split(), "canto"),
    **{word: word for word in "stave adventure episode lecture tale story".split()},
}
_PART_WORDS = {
    **dict.fromkeys("volume vol tome band".split(), "volume"),
    **dict.fromkeys("part partie teil theil parte".split(), "part"),
    **dict.fromkeys("book livre buch libro".split(), "book"),
    **dict.fromkeys("act acte akt aufzug".split(), "act"),
    **{word: word for word in "section phase epoch".split()},
}
PART_ORDER = ("volume", "part", "book", "act", "phase", "epoch", "section")
"""From the widest division to the narrowest, where several stand together."""
_ANY_WORD = "|".join(sorted({*_CHAPTER_WORDS, *_PART_WORDS}, key=len, reverse=True))
_NAME = r"[^\W\d_]+"
_WORD_FIRST = re.compile(rf"(?P<word>{_ANY_WORD})\b\.?\s*(?P<rest>.*)", re.IGNORECASE)
_NUMBER_FIRST = re.compile(
    rf"(?:the\s+)?(?P<num>{_NAME})\s+(?P<word>{_ANY_WORD})\b(?P<rest>.*)", re.IGNORECASE
)
_TITLE_FIRST = re.compile(rf"[^a-z]{{2,50}}?[\s,.:—-]+(?P<mark>(?i:{_ANY_WORD})\b.{{1,20}})")
_LEADING = re.compile(rf"(?:the\s+)?(?P<num>\d{{1,3}}|{_NAME}(?:[ -]{_NAME})?)(?P<rest>.*)", re.IGNORECASE)
_BARE = re.compile(
    rf"(?P<open>[\[(—–§*-]*)\s*(?P<num>\d{{1,3}}|{_NAME}(?:-{_NAME})?)\s*(?P<close>[\])—–*.:-]*)"
)
_TITLED = re.compile(r"(?P<num>\d{1,3}|[IVXLC]{1,8})(?:[.:)]+\s*|\s*[—–]\s*|\s*--\s*|\s{2,})(?P<title>\S.*)")
_SPECIAL = re.compile(
    r"(?:the |author[’']s )?(?:epilogue|épilogue|epilog|conclusion|postscript|afterword|finale|interlude"
    r"|appendix|envoi|l[’']envoi|sequel|nachwort|nachspiel)\b.{0,60}",
    re.IGNORECASE,
)
_QUOTES = "\"'“‘«»„"
_TITLE_LINES = 4
"""Lines that a heading with its title fills at most: some titles tell the chapter."""
_LONGEST_TITLE = 320
_LONGEST = 120
"""No heading's line is longer."""


@dataclass(frozen=True)
class Mark:
    """A paragraph that looks like a numbered heading."""

    index: int
    """Of the paragraph."""
    level: Level
    word: str
    """`chapter`, `book`, …; for bare numbers their form, `roman` or `[arabic]`, `+` if a title follows."""
    value: int
    text: str
    """The heading on one line."""
    has_title: bool
    numeral: str = "roman"
    """`roman`, `arabic` or `word`."""

    @property
    def key(self) -> tuple[str, int]:
        return self.word, self.value


def mark(index: int, para: Para) -> Mark | None:
    """Read a paragraph as a numbered heading, or None."""
    first = para.lines[0].strip()
    if len(first) > _LONGEST or (len(para.lines) > 1 and para.is_list):
        return None
    line = squeeze(first.strip("=~|{}")) if first.strip("=~|{}") else first
    if ends_in_page(first):
        return None
    found = _keyworded(index, line) or _bare(index, line, first)
    if found is None or len(para.lines) == 1:
        return found
    rest = squeeze(" ".join(para.lines[1:]))
    if found.level != "bare" and found.has_title:
        return _titled(found, rest) if len(para.lines) <= _TITLE_LINES else None
    if len(para.lines) <= 3 and is_title(rest, caps_only=found.level == "bare"):
        return _titled(found, rest)
    # 'CHAPTER I' with the text on the very next line happens; a number alone with text below it does not.
    return found if found.level != "bare" else None


def is_title(text: str, *, caps_only: bool = False) -> bool:
    """A line that could be a heading's title: capitals, or no more than a line, and no sentence's end."""
    if not text or len(text) > _LONGEST_TITLE:
        return False
    if text[0] in _QUOTES and any(stop in text for stop in ".,!?"):
        return False
    if _mostly_caps(text):
        return text[-1] not in ",;:-—"
    if caps_only or len(text) > 90 or text[0] in "([{—-":
        return False
    return text[-1] not in ".,;:!?—-)]_" and not text[0].islower()


def is_stopped_title(text: str) -> bool:
    """'The Widow and her Child.': a full stop, but capitals on most of the longer words, and few words."""
    longer = [word for word in text.split() if len(word) >= 4]
    capitals = sum(word[0].isupper() for word in longer)
    return text[-1] == "." and is_title(text[:-1]) and len(text.split()) <= 10 and capitals > len(longer) / 2


def _mostly_caps(text: str) -> bool:
    """Capitals but for a word or two: 'THE BANQUET.--_Continued_.'"""
    letters = [c for c in text if c.isalpha()]
    return len(letters) >= 2 and sum(c.isupper() for c in letters) >= 0.6 * len(letters)


def is_special(para: Para) -> bool:
    """EPILOGUE, CONCLUSION, …: unnumbered, and yet a chapter where it stands after numbered ones."""
    text = para.text.rstrip(".:")
    if len(para.lines) > 2 or len(text) > 80 or not _SPECIAL.fullmatch(text):
        return False
    return is_caps(text) or (para.gap >= 2 and is_title(text))


def joined(text: str, title: str) -> str:
    """'CHAPTER I' and its title as one."""
    return f"{text} {title}" if text[-1] in ".:—–-!?" else f"{text}. {title}"


def _titled(found: Mark, title: str) -> Mark:
    text = f"{found.text} {title}" if found.has_title else joined(found.text, title)
    return replace(found, text=text, has_title=True)


def _keyworded(index: int, line: str) -> Mark | None:
    if parsed := _WORD_FIRST.match(line):
        return _numbered(index, line, parsed["word"], parsed["rest"])
    if (parsed := _NUMBER_FIRST.match(line)) and (value := number(parsed["num"])) and value[1] == "word":
        rest = parsed["rest"]
        if rest and not _separates(rest):
            return None
        return _keyword_mark(index, line, parsed["word"], value, rest)
    if is_caps(line) and (parsed := _TITLE_FIRST.fullmatch(line)):
        inner = _keyworded(index, parsed["mark"])
        if inner is not None and inner.level == "part" and not inner.has_title:
            return replace(inner, text=line)
    return None


def _numbered(index: int, line: str, word: str, rest: str) -> Mark | None:
    parsed = _LEADING.match(rest)
    if parsed is None:
        return None
    token, after = parsed["num"], parsed["rest"]
    value = _value(token)
    if value is None and (cut := re.match(r"([^\W\d_]+)([ -].*)", token)):
        value, after = _value(cut[1]), cut[2] + after
    if value is None or (after and not _separates(after)):
        return None
    return _keyword_mark(index, line, word, value, after)


def _value(token: str) -> tuple[int, str] | None:
    found = number(token)
    if found is None or found[1] != "roman":
        return found
    return found if found[0] <= 200 and (token.isupper() or token.islower()) else None


def _separates(text: str) -> bool:
    return text[0] in " .:;,)]—–-_"


def _keyword_mark(index: int, line: str, word: str, number: tuple[int, str], rest: str) -> Mark | None:
    title = rest.strip(" .:;,)]—–-_")
    if title and ((title[0].islower() and rest[: rest.index(title)].isspace()) or _is_sentence(title)):
        return None
    level: Level = "chapter" if word.casefold() in _CHAPTER_WORDS else "part"
    canonical = (_CHAPTER_WORDS if level == "chapter" else _PART_WORDS)[word.casefold()]
    return Mark(index, level, canonical, number[0], line, bool(title), number[1])


def _is_sentence(title: str) -> bool:
    """'Part I played in it was small': most of its longer words begin small, and it goes on."""
    longer = [word for word in title.split() if len(word) >= 4]
    small = sum(word[0].islower() for word in longer)
    return len(longer) >= 6 and small > 0.6 * len(longer)


def _bare(index: int, line: str, raw: str) -> Mark | None:
    if (parsed := _BARE.fullmatch(line)) and (found := number(parsed["num"])):
        value, kind = found
        if value in (0, LAST) or (kind != "arabic" and not parsed["num"].isupper()):
            return None
        form = f"{parsed['open']}{kind}{parsed['close'].rstrip('.')}"
        return Mark(index, "bare", form, value, line, False, kind)
    if parsed := _TITLED.fullmatch(raw):
        found = number(parsed["num"])
        title = squeeze(parsed["title"])
        if found is None or not found[0] or not (title[0].isupper() or title[0] in "“\"‘'"):
            return None
        stopped = title[-1] in ".,;?!" and not is_caps(title) and len(title) > 50
        if len(title) > 100 or stopped or _is_sentence(title):
            return None
        return Mark(index, "bare", f"{found[1]}+", found[0], squeeze(raw), True, found[1])
    return None
