"""Kin, friends and service as sentences state them: 'her sister N', "N's wife", 'N, the daughter of M'.

The confidences are estimates, set from the trial on five novels that `crews` and `families` name (owner of a pronoun
right in 29 of 40) and from reading the edges found there: of the kin edges by pronoun alone 4 of 7 were right before
the subject of a sentence was looked for. They order the families; they are not yet calibrated on a checked sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.lexicon import ROLES, Role
from gutengraph_assets.extraction.relations.marked import PERSON, Marked
from gutengraph_assets.extraction.relations.owners import Owners

GENITIVE = 0.85
"""'N's sister M'."""
OF = 0.85
"""'N, the daughter of M'."""
PRONOUN = 0.7
"""'her sister N'."""
PREDICATE = 0.7
"""'N was her sister'."""
FRIEND = 0.5
"""'her friend N': right in 3 of 7, so that it takes two chapters to be believed."""
MARRIAGE = 0.75
"""'N married M', 'N and his wife M', 'engaged to N'."""

_WORDS = "|".join(sorted((re.escape(word) for word in ROLES), key=len, reverse=True))
_ROLE = rf"(?:(?:own|dear|poor|good|beloved|late|old|young|little|only|eldest|elder|younger|youngest|second|third|excellent|faithful|worthy) ){{0,2}}(?P<role>{_WORDS})(?!-|'s\b)\b"
_OWNER = r"\b(?P<owner>[Hh]is|[Hh]er|[Mm]y)"

_GENITIVE = re.compile(rf"{PERSON}'s? {_ROLE},? {PERSON}(?!'s?\b)")
_GENITIVE_BEFORE = re.compile(rf"{PERSON},? (?:who )?(?:(?:was|is|being) )?{PERSON}'s? {_ROLE}")
_OF = re.compile(
    rf"{PERSON},? (?:who )?(?:(?:was|is|being) )?(?:(?:the|a|an) )?{_ROLE} (?:of|to) {PERSON}(?!'s\b)"
)
_PRONOUN = re.compile(rf"{_OWNER} {_ROLE},? (?:(?:the|called|named) ?)?{PERSON}(?!'s? (?:{_WORDS})\b)")
_PREDICATE = re.compile(rf"{PERSON},? (?:(?:who )?(?:was|is|being) )?{_OWNER} {_ROLE}(?! {PERSON})")
_MARRIED = re.compile(rf"{PERSON} (?:has |had |have |is |was )?(?:married|wedded) (?:to )?{PERSON}")
_ENGAGED = re.compile(
    rf"{PERSON}(?:,| who)?(?: is| was| being| had been| has been)? (?:engaged|betrothed) to (?:be married to )?{PERSON}"
)
_ENGAGED_PRONOUN = re.compile(
    rf"\b(?P<owner>[Hh]e|[Ss]he) (?:is|was|had been) (?:engaged|betrothed) to {PERSON}"
)
_AND_WIFE = re.compile(rf"{PERSON} and (?:his|her) (?P<role>{_WORDS}),? {PERSON}")
_UNREAL = re.compile(r"\b(?:not|never|no|if|like|would|should|could|hoped|wish\w*|to be|as if|in-law)\b")


def stated(sentence: Marked, owners: Owners) -> Iterator[Claim]:
    """Every claim that a sentence's grammar makes."""
    text = sentence.text
    if "<P" not in text:
        return
    for match in _GENITIVE.finditer(text):
        yield from _claim(sentence, match, match.group(3), match.group(1), "genitive", GENITIVE)
    for match in _GENITIVE_BEFORE.finditer(text):
        if "," in match.group() or re.search(r"\b(?:was|is|being)\b", match.group()):
            yield from _claim(sentence, match, match.group(1), match.group(2), "genitive_after", GENITIVE)
    for match in _OF.finditer(text):
        yield from _claim(sentence, match, match.group(1), match.group(3), "of", OF)
    for match in _AND_WIFE.finditer(text):
        yield from _claim(sentence, match, match.group(3), match.group(1), "and_his", OF)
    yield from _by_pronoun(sentence, owners)
    for pattern, type_ in ((_MARRIED, "spouse_of"), (_ENGAGED, "engaged_to")):
        for match in pattern.finditer(text):
            if not _UNREAL.search(text[max(0, match.start() - 30) : match.end()]):
                a, b = sentence.person(match.group(1)), sentence.person(match.group(2))
                if a.id != b.id and not (a.gender and a.gender == b.gender):
                    yield Claim(a.id, type_, b.id, type_, MARRIAGE, sentence.start, sentence.end)


def _by_pronoun(sentence: Marked, owners: Owners) -> Iterator[Claim]:
    text = sentence.text
    for pattern, family, confidence, named in (
        (_PRONOUN, "pronoun", PRONOUN, 3),
        (_PREDICATE, "predicate", PREDICATE, 1),
    ):
        for match in pattern.finditer(text):
            if family == "predicate" and not re.search(r",|\b(?:was|is|being)\b", match.group()):
                continue
            bearer = match.group(named)
            owner = owners.of(match.group("owner"), sentence, match.start("owner"))
            if owner is None or owner.id == sentence.person(bearer).id:
                continue
            yield from _make(sentence, match, sentence.person(bearer), owner, family, confidence)
    for match in _ENGAGED_PRONOUN.finditer(text):
        pronoun = "his" if match.group("owner").casefold() == "he" else "her"
        owner = owners.of(pronoun, sentence, match.start())
        other = sentence.person(match.group(2))
        if owner and owner.id != other.id and not (owner.gender and owner.gender == other.gender):
            yield Claim(
                owner.id, "engaged_to", other.id, "engaged_pronoun", PRONOUN, sentence.start, sentence.end
            )


def _claim(
    sentence: Marked, match: re.Match[str], bearer: str, owner: str, family: str, confidence: float
) -> Iterator[Claim]:
    yield from _make(sentence, match, sentence.person(bearer), sentence.person(owner), family, confidence)


def _make(
    sentence: Marked, match: re.Match[str], bearer: Person, owner: Person, family: str, confidence: float
) -> Iterator[Claim]:
    role = ROLES[match.group("role")]
    around = sentence.text[max(0, match.start() - 12) : match.end() + 8]
    if bearer.id == owner.id or not _fits(role, bearer, owner) or _UNREAL.search(around):
        return
    if family in ("pronoun", "predicate") and role.type == "friend_of":
        confidence = FRIEND
    a, b = (owner, bearer) if role.inverse else (bearer, owner)
    yield Claim(a.id, role.type, b.id, family, confidence, sentence.start, sentence.end)


def _fits(role: Role, bearer: Person, owner: Person) -> bool:
    """A wife is no man, and a couple is a man and a woman."""
    if role.gender and bearer.gender and bearer.gender != role.gender:
        return False
    couple = role.type in ("spouse_of", "engaged_to")
    return not (couple and bearer.gender and bearer.gender == owner.gender)
