"""People of one surname, and the kin words that stand where both are spoken of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from gutengraph_assets.extraction.aliases.conflicts import RANKS
from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.possible import called_aunt

LEAST_WORDS = 2
"""Kin words of the winning kind that have to stand with both names."""
LEAST_SHARE = 0.6
OTHERS_MOST = 0.5
"""Words of cousins, aunts and uncles to one of the winning kind: with more, they are these to each other."""
_REACH = 300
"""Characters between the two names: about three sentences."""

_PARENT = frozenset(
    "father mother papa mamma mama son daughter daughters sons parent parents child children".split()
)
_SIBLING = frozenset("brother sister sisters brothers".split())
_COUPLE = frozenset("husband wife".split())
_OTHER_KIN = frozenset("cousin cousins uncle uncles aunt aunts nephew nephews niece nieces".split())
_OTHER = "other"
_WORD = re.compile(r"[a-z]+(?!-)")
_ELDER_TITLES = frozenset(("mr", "mrs", "sir", "lady", "lord", "madame", "monsieur")) | RANKS


def same_surname(text: BookText, people: Sequence[Person]) -> Iterator[Claim]:
    """Parent and child, or brother and sister, by what the text says where both are named."""
    cast = [person for person in people if person.surnames]
    for a, b in combinations(cast, 2):
        if not a.surnames & b.surnames:
            continue
        kinds: Counter[str] = Counter()
        best: tuple[int, int] | None = None
        for start, end in _together(text, a, b):
            found = Counter(_kind(word) for word in _WORD.findall(text.body[start:end]))
            del found[""]
            kinds += found
            if found and (best is None or end - start < best[1] - best[0]):
                best = (start, end)
        if best is None:
            continue
        others = kinds.pop(_OTHER, 0)
        (kind, most), *_ = kinds.most_common(1) or [("", 0)]
        if others > OTHERS_MOST * most:
            continue  # a cousin or an aunt, of whose father or daughter is spoken too
        if most < LEAST_WORDS or most < LEAST_SHARE * kinds.total():
            continue
        ends = _ends(kind, a, b)
        if ends is not None:
            yield Claim(ends[0].id, kind, ends[1].id, "surname_kin", *best)


def _kind(word: str) -> str:
    if word in _PARENT:
        return "parent_of"
    if word in _SIBLING:
        return "sibling_of"
    if word in _OTHER_KIN:
        return _OTHER
    return "spouse_of" if word in _COUPLE else ""


def _ends(kind: str, a: Person, b: Person) -> tuple[Person, Person] | None:
    if kind == "parent_of":
        if called_aunt(a) or called_aunt(b):
            return None
        elder_a, elder_b = _elder(a), _elder(b)
        if elder_a == elder_b:
            return None
        return (a, b) if elder_a else (b, a)
    if kind == "spouse_of":
        couple = {a.gender, b.gender} == {"M", "F"} and _elder(a) and _elder(b)
        return (a, b) if couple else None
    if _is_mrs(a) or _is_mrs(b):
        return None  # she has the name of her husband, and her brother another
    # Brothers and sisters are of an age: both go by given names, or neither does.
    return (a, b) if _elder(a) == _elder(b) else None


def _is_mrs(person: Person) -> bool:
    return any(name.titles[-1:] == ("mrs",) for name in person.parsed)


def _elder(person: Person) -> bool:
    """Mostly spoken of by a title: 'Mr. S' has children of whom the book speaks by their given names."""
    count = Counter(m.surface for m in person.mentions)
    titled = sum(n for s, n in count.items() if _titled(person, s))
    return titled * 2 > len(person.mentions)


def _titled(person: Person, surface: str) -> bool:
    return any(name.surface == surface and set(name.titles) & _ELDER_TITLES for name in person.parsed)


def _together(text: BookText, a: Person, b: Person) -> Iterator[tuple[int, int]]:
    """Whole sentences that name both within reach, each stretch once."""
    merged = sorted([(m.start, m.end, 0) for m in a.mentions] + [(m.start, m.end, 1) for m in b.mentions])
    last = -1
    for (s1, _, w1), (s2, e2, w2) in pairwise(merged):
        if w1 == w2 or s2 - s1 > _REACH:
            continue
        start = text.sentences[text.sentence_of(s1)][0]
        end = max(text.sentences[text.sentence_of(s2)][1], e2)
        if start > last:
            last = end
            yield min(start, s1), end
