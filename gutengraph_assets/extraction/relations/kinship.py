"""Kin, friends and service as sentences state them: 'her sister N', "N's wife", 'N, the daughter of M'.

Read by hand in eight novels, names as found: by grammar alone ('N's sister M', 'N, the daughter of M', 'N and his wife M')
6 of 7 right; 'his', 'her', 'my' or 'your' with a known owner 20 of 25.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.lexicon import ROLES, Role
from gutengraph_assets.extraction.relations.marked import PERSON, Marked
from gutengraph_assets.extraction.relations.namesakes import Namesakes
from gutengraph_assets.extraction.relations.owners import Owners

GENITIVE = 0.85
"""'N's sister M'."""
OF = 0.85
"""'N, the daughter of M'."""
PRONOUN = 0.75
"""'her sister N'."""
PREDICATE = 0.75
"""'N was her sister'."""
FRIEND = 0.5
"""'her friend N': right in 3 of 7, so that it takes two chapters to be believed."""
TURN = 0.45
"""'my sister N' in a speech without a tag: it takes two chapters to be believed."""
MARRIAGE = 0.75
"""'N married M', 'N and his wife M', 'engaged to N'."""

_WORDS = "|".join(sorted((re.escape(word) for word in ROLES), key=len, reverse=True))
_ROLE = rf"(?:(?:own|dear|poor|good|beloved|late|old|young|little|only|eldest|elder|younger|youngest|second|third|excellent|faithful|worthy) ){{0,2}}(?P<role>{_WORDS})(?!-|'s\b)\b"
_OWNER = r"\b(?P<owner>[Hh]is|[Hh]er|[Mm]y|[Yy]our)"

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
_COPULA = re.compile(r",|\b(?:was|is|being)\b")
_UNREAL = re.compile(r"\b(?:not|never|no|if|like|would|should|could|hoped|wish\w*|to be|as if|in-law)\b")


def stated(sentence: Marked, owners: Owners, namesakes: Namesakes) -> Iterator[Claim]:
    """Every claim that a sentence's grammar makes."""
    text = sentence.text
    if "<P" not in text:
        return
    for pattern, bearer, owner, family, confidence in (
        (_GENITIVE, 3, 1, "genitive", GENITIVE),
        (_GENITIVE_BEFORE, 1, 2, "genitive_after", GENITIVE),
        (_OF, 1, 3, "of", OF),
        (_AND_WIFE, 3, 1, "and_his", OF),
    ):
        for match in pattern.finditer(text):
            if family == "genitive_after" and not _COPULA.search(match.group()):
                continue
            if family == "of" and " to <P" in match.group() and ROLES[match.group("role")].inverse:
                continue  # 'a child to N' is one beside him
            whose = sentence.person(match.group(owner))
            yield from _make(sentence, match, match.group(bearer), whose, namesakes, family, confidence)
    yield from _by_pronoun(sentence, owners, namesakes)
    for pattern, type_ in ((_MARRIED, "spouse_of"), (_ENGAGED, "engaged_to")):
        for match in pattern.finditer(text):
            if not _UNREAL.search(text[max(0, match.start() - 30) : match.end()]):
                a, b = sentence.person(match.group(1)), sentence.person(match.group(2))
                if a.id != b.id and not (a.gender and a.gender == b.gender):
                    yield Claim(a.id, type_, b.id, type_, MARRIAGE, sentence.start, sentence.end)


def _by_pronoun(sentence: Marked, owners: Owners, namesakes: Namesakes) -> Iterator[Claim]:
    text = sentence.text
    for pattern, family, confidence, named in (
        (_PRONOUN, "pronoun", PRONOUN, 3),
        (_PREDICATE, "predicate", PREDICATE, 1),
    ):
        for match in pattern.finditer(text):
            if family == "predicate" and not _COPULA.search(match.group()):
                continue
            whose = match.group("owner"), sentence, match.start("owner")
            owner = owners.of(*whose)
            if owner is None or _is_address(sentence, match, named, owners):
                continue
            way, sureness = ("turn", TURN) if owners.by_turns(*whose) else (family, confidence)
            yield from _make(sentence, match, match.group(named), owner, namesakes, way, sureness)
    for match in _ENGAGED_PRONOUN.finditer(text):
        pronoun = "his" if match.group("owner").casefold() == "he" else "her"
        owner = owners.of(pronoun, sentence, match.start())
        other = sentence.person(match.group(2))
        if owner and owner.id != other.id and not (owner.gender and owner.gender == other.gender):
            yield Claim(
                owner.id, "engaged_to", other.id, "engaged_pronoun", PRONOUN, sentence.start, sentence.end
            )


def _is_address(sentence: Marked, match: re.Match[str], named: int, owners: Owners) -> bool:
    mine = match.group("owner").casefold() in ("my", "your")
    return (
        mine
        and "," in match.group()
        and owners.addressed(sentence.person(match.group(named)), sentence, match.start("owner"))
    )


def _make(
    sentence: Marked,
    match: re.Match[str],
    mark: str,
    owner: Person,
    namesakes: Namesakes,
    family: str,
    confidence: float,
) -> Iterator[Claim]:
    role = ROLES[match.group("role")]
    bearer = namesakes.meant(sentence.person(mark), sentence.named[int(mark)].mention, role.gender)
    around = sentence.text[max(0, match.start() - 12) : match.end() + 8]
    if bearer is None or bearer.id == owner.id or not _fits(role, bearer, owner) or _UNREAL.search(around):
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
