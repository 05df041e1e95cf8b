"""Where people live and were born, as sentences state it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gutengraph_assets.extraction.entities import Entity
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.marked import PERSON, PLACE, Marked
from gutengraph_assets.extraction.relations.owners import Owners

_LIVE = r"(?:lived|lives|living|resided|resides|residing|dwelt|dwelling|settled|lodged)"
_OF = re.compile(rf"{PERSON}, of {PLACE}(?!,? (?:and|or) {PLACE})")
_LIVED = re.compile(
    rf"{PERSON},? (?:who )?(?:(?:had|has|now|then|still|once|always|formerly|long|also) )*{_LIVE} (?:\w+ )?(?:at|in|upon|on) (?:the )?(?:(?:\w+ ){{0,3}}of )?{PLACE}"
)
_SEAT = re.compile(
    rf"{PLACE},? (?:which )?(?:(?:was|is) )?(?:the )?(?:seat|residence|home|house|estate|abode) of {PERSON}"
)
_HOUSE_AT = re.compile(
    rf"{PERSON}'s? (?:house|home|lodgings|rooms|cottage|place|estate|residence) (?:at|in) {PLACE}"
)
_BORN = re.compile(
    rf"{PERSON},? (?:who )?(?:was |were |had been )?(?:a )?(?:native of|born (?:at|in|on)) (?:the )?{PLACE}"
)
_HE = re.compile(rf"\b(?P<owner>[Hh]e|[Ss]he) (?:\w+ )?{_LIVE} (?:at|in) (?:the )?{PLACE}")
_HE_BORN = re.compile(
    rf"\b(?P<owner>[Hh]e|[Ss]he) (?:was|had been) (?:a native of|born (?:at|in|on)) (?:the )?{PLACE}"
)

_UNREAL = re.compile(r"\b(?:wish\w*|if|whether|suppose|fancied|imagined?)\b")
_INSTITUTION = re.compile(r"\b(?:Yard|Office|Bank|Club|Station|Museum|Hospital|College|University|Police)$")
_OFFICER = re.compile(r"\b(?:inspector|constable|detective|sergeant)\b", re.IGNORECASE)


def stated(sentence: Marked, owners: Owners) -> Iterator[Claim]:
    """Every claim of a dwelling or a birthplace that a sentence makes."""
    text = sentence.text
    if "<L" not in text:
        return
    for pattern, person, place, type_, family in (
        (_OF, 1, 2, "lives_in", "of_place"),
        (_LIVED, 1, 2, "lives_in", "lived"),
        (_SEAT, 2, 1, "lives_in", "seat"),
        (_HOUSE_AT, 1, 2, "lives_in", "house_at"),
        (_BORN, 1, 2, "born_in", "born"),
    ):
        for match in pattern.finditer(text):
            a, b = sentence.person(match.group(person)), sentence.entity(match.group(place))
            if _UNREAL.search(text[max(0, match.start() - 30) : match.start()]):
                continue
            if family == "of_place" and _serves_at(sentence, match.group(person), b):
                continue
            yield Claim(a.id, type_, b.id, family, sentence.start, sentence.end)
    for pattern, type_ in ((_HE, "lives_in"), (_HE_BORN, "born_in")):
        for match in pattern.finditer(text):
            if _UNREAL.search(text[max(0, match.start() - 30) : match.start()]):
                continue
            pronoun = "his" if match.group("owner").casefold() == "he" else "her"
            owner = owners.of(pronoun, sentence, match.start())
            if owner is not None:
                where = sentence.entity(match.group(2))
                yield Claim(owner.id, type_, where.id, "pronoun_place", sentence.start, sentence.end)


def _serves_at(sentence: Marked, mark: str, place: Entity) -> bool:
    """'Inspector N, of L' and 'Mr. N, of L Yard' serve there; they need not live there."""
    if _INSTITUTION.search(place.name):
        return True
    surface = sentence.named[int(mark)].mention.surface
    before = sentence.text[: sentence.text.index(f"<P{mark}>")].rstrip()
    return bool(_OFFICER.search(surface) or _OFFICER.search(before[-20:]))
