"""Kin, friends and service as sentences state them: 'her sister N', "N's wife", 'N, the daughter of M'."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.lexicon import KIN, ROLES, Role
from gutengraph_assets.extraction.relations.marked import PERSON, Marked
from gutengraph_assets.extraction.relations.namesakes import Namesakes
from gutengraph_assets.extraction.relations.owners import Owners

_WORDS = "|".join(sorted((re.escape(word) for word in ROLES), key=len, reverse=True))
_ROLE = rf"(?:(?:own|dear|poor|good|beloved|late|old|young|little|only|eldest|elder|younger|youngest|second|third|excellent|faithful|worthy) ){{0,2}}(?P<role>{_WORDS})(?!-|'s\b)\b"
_OWNER = r"\b(?P<owner>[Hh]is|[Hh]er|[Mm]y|[Yy]our|[Oo]ur|[Tt]heir)"

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
_ENGAGEMENT = re.compile(
    rf"(?:{PERSON}'s?|\b(?P<owner>[Hh]is|[Hh]er)) (?:\w+ )?(?:engagement|betrothal) (?:to|with) {PERSON}(?!'s\b)"
)
_ENGAGED_PRONOUN = re.compile(
    rf"\b(?P<owner>[Hh]e|[Ss]he) (?:is|was|had been) (?:engaged|betrothed) to {PERSON}"
)
_OF_PRONOUN = re.compile(
    rf"\b(?P<owner>[Hh]e|[Ss]he) (?:is|was|being) (?:the |a |an |own )?{_ROLE} (?:of|to) {PERSON}(?!'s\b)"
)
_PLURALS = {
    **{
        f"{word}s": KIN[word] for word in "sister brother son daughter aunt uncle cousin niece nephew".split()
    },
    "children": KIN["child"],
}
_SEVERAL = re.compile(
    rf"(?:\b(?P<owner>[Hh]is|[Hh]er|[Mm]y|[Yy]our|[Oo]ur|[Tt]heir)|{PERSON}'s?) (?:\w+ ){{0,2}}(?P<role>{'|'.join(_PLURALS)}),? "
    rf"(?P<list>{PERSON}(?:, {PERSON})*,? and {PERSON})(?!'s\b)"
)
_TOGETHER = {
    "sisters": "sibling_of",
    "brothers": "sibling_of",
    "brother and sister": "sibling_of",
    "cousins": "cousin_of",
    "husband and wife": "spouse_of",
    "man and wife": "spouse_of",
}
_ARE = re.compile(
    rf"{PERSON} and {PERSON} (?:are|were|being) (?:(?:half|first|own|two) )?(?P<role>{'|'.join(_TOGETHER)})\b(?!-)"
)
_AND_WIFE = re.compile(rf"{PERSON} and (?:his|her) (?P<role>{_WORDS}),? {PERSON}")
_CLOSED = re.compile(r"[,.;:!?)\"-]|'(?!s\b)|\Z| who\b| whom\b")
_COPULA = re.compile(r",|\b(?:was|is|being)\b")
_POSSESSIVE = {"he": "his", "she": "her"}
_UNREAL = re.compile(
    r"\b(?:not|never|no|if|like|would|should|could|hoped|wish\w*|to be|as if|in-law|supposed|alleged|pretended|rumou?r\w*|report\w*)\b"
)


def stated(sentence: Marked, owners: Owners, namesakes: Namesakes) -> Iterator[Claim]:
    """Every claim that a sentence's grammar makes."""
    text = sentence.text
    if "<P" not in text:
        return
    for pattern, bearer, owner, family in (
        (_GENITIVE, 3, 1, "genitive"),
        (_GENITIVE_BEFORE, 1, 2, "genitive_after"),
        (_OF, 1, 3, "of"),
        (_AND_WIFE, 3, 1, "and_his"),
    ):
        for match in pattern.finditer(text):
            if family == "genitive_after" and not _COPULA.search(match.group()):
                continue
            if family in ("genitive", "and_his") and _is_list(match):
                continue
            if family == "of" and " to <P" in match.group() and ROLES[match.group("role")].inverse:
                continue  # 'a child to N' is one beside him
            whose = sentence.person(match.group(owner))
            yield from _make(sentence, match, match.group(bearer), whose, namesakes, family)
    yield from _by_pronoun(sentence, owners, namesakes)
    yield from _several(sentence, owners)
    yield from _engagements(sentence, owners)
    for pattern, type_ in ((_MARRIED, "spouse_of"), (_ENGAGED, "engaged_to")):
        for match in pattern.finditer(text):
            if not _UNREAL.search(text[max(0, match.start() - 30) : match.end()]):
                a, b = sentence.person(match.group(1)), sentence.person(match.group(2))
                if a.id != b.id and not (a.gender and a.gender == b.gender):
                    yield Claim(a.id, type_, b.id, type_, sentence.start, sentence.end)


def _engagements(sentence: Marked, owners: Owners) -> Iterator[Claim]:
    """'N's engagement with M', 'her engagement to M'. A marriage told of so is often one that is only thought of."""
    for match in _ENGAGEMENT.finditer(sentence.text):
        if _UNREAL.search(sentence.text[max(0, match.start() - 30) : match.end()]):
            continue
        owner, b = match.group("owner"), sentence.person(match.group(3))
        a = owners.of(owner, sentence, match.start()) if owner else sentence.person(match.group(1))
        if a is not None and a.id != b.id and not (a.gender and a.gender == b.gender):
            yield Claim(a.id, "engaged_to", b.id, "engagement", sentence.start, sentence.end)


def _by_pronoun(sentence: Marked, owners: Owners, namesakes: Namesakes) -> Iterator[Claim]:
    text = sentence.text
    for pattern, family, named in (
        (_PRONOUN, "pronoun", 3),
        (_PREDICATE, "predicate", 1),
    ):
        for match in pattern.finditer(text):
            if family == "predicate" and not _COPULA.search(match.group()):
                continue
            whose = match.group("owner"), sentence, match.start("owner")
            if family == "pronoun" and _is_list(match):
                continue
            if _is_address(sentence, match, named, owners):
                continue
            way = "turn" if owners.by_turns(*whose) else family
            for owner in owners.all_of(*whose):
                yield from _make(sentence, match, match.group(named), owner, namesakes, way)
    for match in _OF_PRONOUN.finditer(text):
        owner = sentence.person(match.group(3))
        bearer = owners.of(_POSSESSIVE[match.group("owner").casefold()], sentence, match.start("owner"))
        role = ROLES[match.group("role")]
        if bearer is None or bearer.id == owner.id or not _fits(role, bearer, owner):
            continue
        a, b = (owner, bearer) if role.inverse else (bearer, owner)
        if not _UNREAL.search(match.group()):
            yield Claim(a.id, role.type, b.id, "pronoun_of", sentence.start, sentence.end)
    for match in _ENGAGED_PRONOUN.finditer(text):
        who = owners.of(_POSSESSIVE[match.group("owner").casefold()], sentence, match.start())
        other = sentence.person(match.group(2))
        if who and who.id != other.id and not (who.gender and who.gender == other.gender):
            yield Claim(who.id, "engaged_to", other.id, "engaged_pronoun", sentence.start, sentence.end)


def _several(sentence: Marked, owners: Owners) -> Iterator[Claim]:
    """'her sisters, N and M'; 'N and M were sisters'."""
    text = sentence.text
    for match in _SEVERAL.finditer(text):
        role = _PLURALS[match.group("role")]
        if match.group("owner"):
            whose = owners.all_of(match.group("owner"), sentence, match.start())
        else:
            whose = [sentence.person(match.group(2))]
        listed = [sentence.person(mark) for mark in re.findall(PERSON, match.group("list"))]
        if role.gender and any(bearer.gender not in (role.gender, None) for bearer in listed):
            continue  # 'my brothers, Ann, and Tom': a list that begins with the brothers
        for owner in whose:
            for bearer in listed:
                if bearer.id != owner.id and _fits(role, bearer, owner):
                    a, b = (owner, bearer) if role.inverse else (bearer, owner)
                    yield Claim(a.id, role.type, b.id, "several", sentence.start, sentence.end)
    for match in _ARE.finditer(text):
        a, b = sentence.person(match.group(1)), sentence.person(match.group(2))
        if a.id != b.id and not _UNREAL.search(text[max(0, match.start() - 12) : match.end()]):
            type_ = _TOGETHER[match.group("role")]
            yield Claim(a.id, type_, b.id, "are", sentence.start, sentence.end)


def _is_list(match: re.Match[str]) -> bool:
    """'her sister, N was …' and 'his wife, N the maid, and M' set nobody in apposition: a comma has to close it too."""
    role_ends = match.end("role")
    comma = match.string[role_ends : role_ends + 1] == ","
    return comma and not _CLOSED.match(match.string, match.end())


def _is_address(sentence: Marked, match: re.Match[str], named: int, owners: Owners) -> bool:
    """'Thank your uncle, N!' and 'My father, N, is ill' are said to N."""
    word = match.group("owner").casefold()
    if word not in ("my", "your") or "," not in match.group():
        return False
    mark = match.group(named)
    if word == "your" and " " not in sentence.named[int(mark)].mention.surface:
        return True
    return owners.addressed(sentence.person(mark), sentence, match.start("owner"))


def _make(
    sentence: Marked,
    match: re.Match[str],
    mark: str,
    owner: Person,
    namesakes: Namesakes,
    family: str,
) -> Iterator[Claim]:
    role = ROLES[match.group("role")]
    bearer = namesakes.meant(sentence.person(mark), sentence.named[int(mark)].mention, role.gender)
    around = sentence.text[max(0, match.start() - 12) : match.end() + 8]
    if bearer is None or bearer.id == owner.id or not _fits(role, bearer, owner) or _UNREAL.search(around):
        return
    if family in ("pronoun", "predicate") and role.type == "friend_of":
        family = f"{family}_friend"
    a, b = (owner, bearer) if role.inverse else (bearer, owner)
    yield Claim(a.id, role.type, b.id, family, sentence.start, sentence.end)


def _fits(role: Role, bearer: Person, owner: Person) -> bool:
    """A wife is no man, and a couple is a man and a woman."""
    if role.gender and bearer.gender and bearer.gender != role.gender:
        return False
    couple = role.type in ("spouse_of", "engaged_to")
    return not (couple and bearer.gender and bearer.gender == owner.gender)
