"""Husband and wife by their titles."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Entity, Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.marked import PERSON, Marked

LEAST_MR = 0.2
"""Of a man's mentions, those that have a title and the surname alone."""
_WIFE = frozenset(("mrs", "lady", "madame"))
_HUSBAND = frozenset(
    ("mr", "sir", "lord", "captain", "dr", "colonel", "major", "admiral", "general", "reverend", "squire")
)
_AND = re.compile(rf"\b(?:Mr|Captain|Dr|Doctor|Colonel|Major|Admiral|General)\.? and {PERSON}")
_BLOOD = re.compile(r"\b(?:mother|mamma|mama|son|aunt|nephew)\b")
_MARRIED = re.compile(r"\b(?:husband|wife|married|marriage)\b")
_MY_MOTHER, _MY_WIFE = re.compile(r"\bmy mother\b"), re.compile(r"\bmy (?:dear )?wife\b")
_SUPPOSED = re.compile(r"\b(?:an?|no|any|another|future)\s+\Z", re.IGNORECASE)
_BOTH = re.compile(rf"{PERSON} and {PERSON}")


def said_together(sentence: Marked, men: dict[str, list[Person]]) -> Iterator[Claim]:
    """'Mr. and Mrs. S', 'Sir William and Lady S', 'Captain S and Mrs. S'."""
    for match in _AND.finditer(sentence.text):
        wife = sentence.person(match.group(1))
        surface = sentence.named[int(match.group(1))].mention.surface
        if any(n.surface == surface and not n.single for n in wife.parsed):
            continue  # 'Mr. and Mrs. Charles S': her husband is Charles, not any Mr. S
        for surname in _wife_of(wife):
            if len(men[surname]) == 1:
                man = men[surname][0]
                if _called_mr(man, surname):
                    yield _claim(man, wife, "mr_and_mrs", sentence)
                else:
                    yield _claim(man, wife, "mr_and_mrs_rarely", sentence)
    for match in _BOTH.finditer(sentence.text):
        one, other = sentence.person(match.group(1)), sentence.person(match.group(2))
        surface = sentence.named[int(match.group(2))].mention.surface
        titled = [n for n in other.parsed if n.surface == surface and set(n.titles) & _WIFE and n.single]
        if any(n.rest[-1] in one.surnames for n in titled) and one.gender == "M":
            yield _claim(one, other, "mr_and_mrs", sentence)


def husbands(people: Sequence[Person]) -> dict[str, list[Person]]:
    """Grown men by surname: those called Mr., Sir, Captain, … with it."""
    found: dict[str, list[Person]] = defaultdict(list)
    for person in people:
        if person.gender == "F":
            continue
        for surname in sorted({n.surname for n in person.parsed if n.surname and set(n.titles) & _HUSBAND}):
            found[surname].append(person)
    return found


def same_surname(text: BookText, people: Sequence[Person], men: dict[str, list[Person]]) -> Iterator[Claim]:
    """The only Mr. S and the only Mrs. S of a book, where they are named near each other."""
    yield from _full_names(text, people)
    wives: dict[str, list[Person]] = defaultdict(list)
    for person in people:
        for surname in sorted(_wife_of(person)):
            wives[surname].append(person)
    for surname, found in sorted(wives.items()):
        if len(found) != 1 or len(men[surname]) != 1 or men[surname][0] is found[0]:
            continue
        place = nearest(text, men[surname][0], found[0])
        if place is None or _only_supposed(text, found[0]):
            continue
        man, woman = men[surname][0], found[0]
        if man.narrator and _tells_of_mother(text):
            yield Claim(woman.id, "parent_of", man.id, "narrators_mother", *place)
        elif not _other_kin(text, man, woman):
            if len(woman.mentions) > 1:
                yield Claim(man.id, "spouse_of", woman.id, "same_surname_couple", *place)
            else:  # named once, she may be one who only might be
                yield Claim(man.id, "spouse_of", woman.id, "couple_named_once", *place)


def _full_names(text: BookText, people: Sequence[Person]) -> Iterator[Claim]:
    """'Mrs. Charles S' is the wife of Charles S."""
    men = {name.rest: p for p in people if p.gender == "M" for name in p.parsed if len(name.rest) > 1}
    for woman in people:
        for rest in sorted({n.rest for n in woman.parsed if n.titles[-1:] == ("mrs",) and len(n.rest) > 1}):
            man = men.get(rest)
            if woman.gender == "F" and man is not None and (place := nearest(text, man, woman)) is not None:
                yield Claim(man.id, "spouse_of", woman.id, "mrs_first_surname", *place)


def _called_mr(man: Person, surname: str) -> bool:
    named = {n.surface for n in man.parsed if n.titles and n.single and n.surname == surname}
    plain = {n.surface for n in man.parsed if not n.titles and n.single and n.surname == surname}
    said = sum(m.surface in named or m.surface in plain for m in man.mentions)
    return said >= LEAST_MR * len(man.mentions)


def _tells_of_mother(text: BookText) -> bool:
    """Whether a first-person book speaks more of 'my mother' than of 'my wife'."""
    return len(_MY_MOTHER.findall(text.body)) > 3 * len(_MY_WIFE.findall(text.body))


def nearest(text: BookText, a: Entity, b: Entity, *, reach: int = 600) -> tuple[int, int] | None:
    """The shortest stretch of whole sentences, at most about `reach` characters, that names both."""
    best: tuple[int, int] | None = None
    merged = sorted([(m.start, m.end, 0) for m in a.mentions] + [(m.start, m.end, 1) for m in b.mentions])
    for (s1, _, w1), (_, e2, w2) in itertools.pairwise(merged):
        if w1 != w2 and e2 - s1 <= reach and (best is None or e2 - s1 < best[1] - best[0]):
            best = (s1, e2)
    if best is None:
        return None
    start = text.sentences[text.sentence_of(best[0])][0]
    end = text.sentences[text.sentence_of(best[1] - 1)][1]
    return min(start, best[0]), max(end, best[1])


def _only_supposed(text: BookText, woman: Person) -> bool:
    """'There might have been a Mrs. S': she is nobody."""
    return all(_SUPPOSED.search(text.body, max(0, m.start - 12), m.start) for m in woman.mentions)


def _other_kin(text: BookText, a: Person, b: Person) -> bool:
    """Whether more of the sentences that name both speak of mother, son or aunt than of husband or wife."""
    both = {text.sentence_of(m.start) for m in a.mentions} & {text.sentence_of(m.start) for m in b.mentions}
    near = {text.paragraph_of(text.sentences[i][0]) for i in both} | {
        text.paragraph_of(m.start) for m in a.mentions
    } & {text.paragraph_of(m.start) for m in b.mentions}
    said = " ".join(text.body[slice(*text.paragraphs[p])] for p in sorted(near)).casefold()
    return len(_BLOOD.findall(said)) > len(_MARRIED.findall(said))


def _wife_of(person: Person) -> set[str]:
    """Surnames under which she is called Mrs. or Lady, without a given name of her own: 'Mrs. S'."""
    return {n.surname for n in person.parsed if n.surname and set(n.titles) & _WIFE} | {
        n.rest[-1] for n in person.parsed if n.titles[-1:] == ("lady",) and n.single and not n.given
    }


def _claim(a: Person, b: Person, family: str, sentence: Marked) -> Claim:
    return Claim(a.id, "spouse_of", b.id, family, sentence.start, sentence.end)
