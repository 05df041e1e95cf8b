"""Pieces of prose that an answer is made of: the names in a text, and excerpts short enough to quote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from gutengraph_core import names

_CAPITALISED = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|St|M|Mme|Capt)\.\s)?[^\W\d_a-z][\w’'-]*"
    r"(?:\s(?:(?:de|of|the|von|van)\s)?(?:(?:Mr|Mrs|Dr|St)\.\s)?[^\W\d_a-z][\w’'-]*)*"
)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_POSSESSIVE = re.compile(r"[’']s?$")
_NO_NAME = frozenset(
    "i the a an and but so or if when he she it they we you his her its my your their our that this these those "
    "there then what who whom whose where why how which not no yes oh ah well now for in on at to of by from with "
    "as after before upon once o all some here such is was are were have had do did will would could should may "
    "might can me him them us one nothing nobody every each only still yet just never ever let come look said "
    "chapter letter book part project gutenberg good very more most many much indeed perhaps because while though "
    "although since until during through over under between among without within whether both either neither "
    "been being does than more any about against out up down off again further other own same too s t don just "
    "later finally eventually however therefore thus meanwhile initially ultimately additionally moreover "
    "furthermore according based despite together another others someone somebody people evidence instead also "
    "afterwards consequently hence nevertheless later soon again even like unlike given being having there's it's "
    "monday tuesday wednesday thursday friday saturday sunday sir madam".split()
)
_SENTENCE = re.compile(r"(?<=[.!?;])[\"”’]?\s+|\s*(?:--|—)\s*")
_CLAUSE = re.compile(r"(?<=[,:])\s+")
_TITLE_STOP = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|M|Mme|Capt|Messrs|Prof|Rev|Esq|No)\.\s")
_CONTRACTED = re.compile(r"'(s|ll|ve|d|m|re|t)$")
_HEADING = 3
"""Words in capitals that make a heading; fewer may be a ship or a shout."""
_GAP = "\u0000"

EXCERPT_WORDS = 20
"""Longest excerpt. With 50 words for evidence, 16 to 30 made no difference on 75 questions; two must fit."""
_SHORTEST = 3


def paragraphs(text: str) -> list[str]:
    """A text cut at blank lines, each part on one line: a heading is no part of the sentence below it."""
    return [names.squeeze(part) for part in re.split(r"\n\s*\n", text)]


@lru_cache(maxsize=512)
def capitalised(text: str) -> tuple[str, ...]:
    """The distinct capitalised names of a text in order, sentence openers and a possessive 's taken off."""
    found: dict[tuple[str, ...], str] = {}
    for match in (m for paragraph in paragraphs(text) for m in _CAPITALISED.finditer(paragraph)):
        words = match.group().split()
        if len(words) >= _HEADING and match.group().isupper():
            continue
        while words and _bare(words[0]) in _NO_NAME:
            words.pop(0)
        while words and (_bare(words[-1]) in _NO_NAME or words[-1] in ("of", "the", "de", "von", "van")):
            words.pop()
        name = _POSSESSIVE.sub("", " ".join(words))
        key = tuple(names.words(name))
        if key and not all(word in names.TITLES or len(word) < 2 for word in key):
            found.setdefault(key, name)
    return tuple(found.values())


@lru_cache(maxsize=512)
def content_words(text: str) -> tuple[str, ...]:
    """The distinct words of a text that carry meaning, names or not, as they stand in it."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(names.squeeze(text)):
        word = _POSSESSIVE.sub("", match.group())
        low = names.fold(word)
        if low not in _NO_NAME and len(low) > 2:
            found.setdefault(low, word)
    return tuple(found.values())


def _bare(word: str) -> str:
    """Folded, without stops, and without what is contracted onto it: "I'll" is "i", "That's" is "that"."""
    return _CONTRACTED.sub("", names.fold(word).strip(".,'"))


def opens_only(name: str, texts: Sequence[str]) -> bool:
    """Whether a single word has its capital only at the head of sentences: then it is hardly a name."""
    if len(name.split()) > 1:
        return False
    inside = re.compile(rf"[\w,;] _?{re.escape(name)}\b")
    return not any(inside.search(names.squeeze(text)) for text in texts)


def untitled(name: str) -> str:
    """'Mr. Day' -> 'Day'."""
    return names.split_title(name)[1]


def excerpts(text: str, *, longest: int = EXCERPT_WORDS) -> list[str]:
    """A text cut at the ends of sentences, then of clauses, into pieces of at most `longest` words, verbatim
    but for white space."""
    pieces: list[str] = []
    for paragraph in paragraphs(text):
        shielded = _TITLE_STOP.sub(rf"\1.{_GAP}", paragraph)
        for sentence in _SENTENCE.split(shielded):
            pieces += _pieces(sentence.replace(_GAP, " "), longest)
    return [piece for piece in pieces if len(piece.split()) >= _SHORTEST]


def _pieces(sentence: str, longest: int) -> list[str]:
    words = sentence.split()
    if len(words) <= longest:
        return [sentence.strip()]
    pieces: list[str] = []
    current: list[str] = []
    for clause in _CLAUSE.split(sentence):
        more = clause.split()
        if current and len(current) + len(more) > longest:
            pieces.append(" ".join(current))
            current = []
        current += more
        while len(current) > longest:
            pieces.append(" ".join(current[:longest]))
            current = current[longest:]
    return [*pieces, " ".join(current)] if current else pieces


def holds(text: str, name: str) -> bool:
    """Whether `name` stands in `text` as whole words, in any spelling that folds alike."""
    return f" {' '.join(names.words(name))} " in f" {' '.join(names.words(text))} "


_NESTED = str.maketrans({"“": "‘", "”": "’", '"': "'"})


def quoted(text: str) -> str:
    """In quotation marks: speech keeps its own, cut or whole, and within other words it has single ones."""
    inside = text.lstrip('“"').rstrip('”"')
    return f"“{inside}”" if not re.search('[“”"]', inside) else f"“{text.translate(_NESTED)}”"


def shortened(text: str, *, longest: int = EXCERPT_WORDS) -> str:
    """At most `longest` words, '…' where it was cut."""
    words = text.split()
    return text if len(words) <= longest else f"{' '.join(words[:longest])} …"
