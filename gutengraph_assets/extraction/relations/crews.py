"""Who is what on which ship, and who owns which house."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Entity, Person, windows_of
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.couples import nearest
from gutengraph_assets.extraction.relations.lexicon import OWNERS, RANKS
from gutengraph_assets.extraction.relations.marked import PERSON, PLACE, VESSEL, Marked

MOSTLY, SOMETIMES, OFTEN_SEEN = 0.5, 0.25, 5
"""Shares of the rarer one's windows that have both, and how many such windows at least where it is less than half."""
CAPTAIN_SHARE = 0.1
"""Of his mentions, those that must have the title."""

SEVERAL, PASSING = 5, 0.6
"""Chapters from which a book has several, and the share of somebody's mentions in one that makes him of that chapter."""
_REACH = 30_000
"""Characters to both sides in which the dominating ship is counted: about ten windows."""
_RANK = "|".join(sorted(map(re.escape, RANKS), key=len, reverse=True))
_ADJECTIVES = r"(?:(?:old|young|late|new|worthy|our|her|his|their|its) )?"
_OF_SHIP = re.compile(
    rf"{PERSON},? (?:who )?(?:(?:was|is|being|as) )?(?:the )?{_ADJECTIVES}(?P<rank>{_RANK}) (?:of|in|on board) (?:the )?{VESSEL}"
)
_SHIPS = re.compile(
    rf"(?:(?:the )?(?P<rank>{_RANK}) of (?:the )?{VESSEL},? (?:was |is )?{PERSON})|(?:{VESSEL}'s (?P<rank2>{_RANK}),? {PERSON})"
)
_APPOSED = re.compile(
    rf"{PERSON}, (?:the|her|our|their) {_ADJECTIVES}(?P<rank>{_RANK})\b(?! of\b|'s\b| was\b| were\b| had\b| is\b)"
)
_IS = re.compile(rf"{PERSON} (?:was|is) (?:the|her|our|their) {_ADJECTIVES}(?P<rank>{_RANK})\b(?! of\b|'s\b)")
_BEFORE = re.compile(
    rf"\b(?:[Tt]he|[Oo]ur|[Hh]er|[Tt]heir) {_ADJECTIVES}(?P<rank>{_RANK})(?: {PERSON}|, {PERSON}(?=[,.;-]))"
)
_WAS = re.compile(rf"\b[Tt]he (?P<rank>{_RANK}) (?:was|is) {PERSON}")
_ONE_OF_OWNERS = re.compile(
    rf"\bone of the (?:\w+ )?(?:owners|proprietors) of (?:the )?(?:{VESSEL}|vessel\b|ship\b)"
)
_CLAUSE = 150
"""Characters before 'one of the owners' in which the person it is said of stands."""
_CAPTAIN_OF_SHIP = re.compile(rf"{PERSON},? (?:of|in) (?:the )?{VESSEL}")
_OWNS = re.compile(
    rf"{PERSON},? (?:who )?(?:(?:was|is|being) )?(?:the )?(?:{'|'.join(OWNERS)}) of (?:the )?(?:{PLACE}|{VESSEL})"
)
_BELONGED = re.compile(rf"(?:{PLACE}|{VESSEL}|[Ss]he),? (?:which )?(?:belong(?:s|ed)|belonging) to {PERSON}")


def stated(sentence: Marked, ships: Ships) -> Iterator[Claim]:
    """Ranks and owners that a sentence states."""
    text = sentence.text
    if "<P" not in text:
        return
    for match in _OF_SHIP.finditer(text):
        yield _rank(sentence, match.group(1), match.group("rank"), sentence.entity(match.group(3)).id)
    for match in _SHIPS.finditer(text):
        if match.group("rank"):
            yield _rank(sentence, match.group(3), match.group("rank"), sentence.entity(match.group(2)).id)
        else:
            yield _rank(sentence, match.group(6), match.group("rank2"), sentence.entity(match.group(4)).id)
    for match in _CAPTAIN_OF_SHIP.finditer(text):
        surface = sentence.named[int(match.group(1))].mention.surface
        if surface.startswith(("Captain ", "Capt. ")):
            yield _rank(sentence, match.group(1), "captain", sentence.entity(match.group(2)).id)
    for pattern in (_APPOSED, _IS, _BEFORE, _WAS):
        for match in pattern.finditer(text):
            word = match.group("rank")
            if word in ("captain", "master", "skipper") and pattern is not _APPOSED:
                continue
            if sentence.quoted and " was " in match.group():
                continue  # 'N was the mate', said of another time and another ship
            person = next(g for g in match.groups() if g and g.isdigit())
            ship = _last_vessel(sentence, match.start()) or ships.of(sentence.person(person), sentence.start)
            if ship is not None:
                yield _rank(sentence, person, word, ship, near=True)
    for match in _ONE_OF_OWNERS.finditer(text):
        ship = sentence.entity(match.group(1)).id if match.group(1) else ships.dominating(sentence.start)
        before = re.findall(PERSON, text[max(0, match.start() - _CLAUSE) : match.start()])
        if ship is not None and before:
            yield _owner(sentence, before[-1], ship)
    for match in _OWNS.finditer(text):
        what = match.group(2) or match.group(3)
        yield _owner(sentence, match.group(1), sentence.entity(what).id)
    for match in _BELONGED.finditer(text):
        what = match.group(1) or match.group(2)
        ship = sentence.entity(what).id if what else ships.dominating(sentence.start)
        if ship is not None:
            yield _owner(sentence, match.group(3), ship)


class Ships:
    """The vessels of a book, and which of them a stretch is about."""

    def __init__(self, text: BookText, others: Sequence[Entity]) -> None:
        self._text = text
        self.vessels = [entity for entity in others if entity.kind == "vessel"]
        self._starts = {v.id: [m.start for m in v.mentions] for v in self.vessels}
        named = Counter({v.id: len(v.mentions) for v in self.vessels})
        self.home = named.most_common(1)[0][0] if named else None
        """The ship most named in the book."""

    def of(self, person: Person, offset: int) -> str | None:
        """The ship of a man of whom a rank is said at an offset: who comes up in one chapter is of the ship met there."""
        met = self.met_in(self._text.chapter_of(offset))
        return met if met is not None and self.passing(person) else self.dominating(offset)

    def met_in(self, chapter: int) -> str | None:
        """The ship, other than the book's own, that a chapter names most, if it names one twice or more."""
        counts: Counter[str] = Counter()
        for ship, starts in self._starts.items():
            counts[ship] = sum(self._text.chapter_of(start) == chapter for start in starts)
        del counts[self.home or ""]
        (first, most), *rest = counts.most_common(2) or [("", 0)]
        return first if most >= 2 and not (rest and rest[0][1] == most) else None

    def passing(self, person: Person) -> bool:
        """Whether most mentions of somebody stand in one chapter of a book that has several."""
        chapters = Counter(self._text.chapter_of(m.start) for m in person.mentions)
        return len(self._text.chapters) >= SEVERAL and max(chapters.values()) >= PASSING * chapters.total()

    def dominating(self, offset: int) -> str | None:
        """The ship most named around an offset, if it is named twice as often as the next."""
        counts: Counter[str] = Counter()
        for ship, starts in self._starts.items():
            counts[ship] = bisect_left(starts, offset + _REACH) - bisect_left(starts, offset - _REACH)
        (first, most), *rest = counts.most_common(2) or [("", 0)]
        if most == 0 or (rest and rest[0][1] * 2 > most):
            return None
        return first


def captains(text: BookText, people: Sequence[Person], ships: Ships) -> Iterator[Claim]:
    """A man called Captain and the ship he is always seen with, one to one."""
    commanders = [p for p in people if _often_captain(p)]
    yield from _met(text, commanders, ships)
    stands = {p.id: windows_of(text, p.mentions) for p in commanders}
    sails = {v.id: windows_of(text, v.mentions) for v in ships.vessels}

    def best(own: set[int], others: dict[str, set[int]]) -> str | None:
        shared = Counter({other: len(own & windows) for other, windows in others.items()})
        (first, most), *rest = shared.most_common(2) or [("", 0)]
        clear = not rest or rest[0][1] < most
        return first if most >= 2 and clear else None

    for captain in commanders:
        ship = best(stands[captain.id], sails)
        if ship is None or best(sails[ship], stands) != captain.id:
            continue
        shared = len(stands[captain.id] & sails[ship]) / min(len(stands[captain.id]), len(sails[ship]))
        if shared < MOSTLY and len(stands[captain.id] & sails[ship]) < OFTEN_SEEN:
            continue
        if shared < SOMETIMES:
            continue
        vessel = next(v for v in ships.vessels if v.id == ship)
        place = nearest(text, captain, vessel)
        if place is not None:
            family = "captain_and_ship" if shared >= MOSTLY else "captain_often_seen"
            yield Claim(captain.id, "captain_of", ship, family, *place)


def _met(text: BookText, commanders: Sequence[Person], ships: Ships) -> Iterator[Claim]:
    """The one captain and the one ship that a chapter brings."""
    by_chapter: dict[int, list[Person]] = defaultdict(list)
    for captain in commanders:
        if ships.passing(captain):
            chapters = Counter(text.chapter_of(m.start) for m in captain.mentions)
            by_chapter[chapters.most_common(1)[0][0]].append(captain)
    for chapter, captains_here in sorted(by_chapter.items()):
        ship = ships.met_in(chapter)
        if ship is None or len(captains_here) != 1:
            continue
        captain = captains_here[0]
        vessel = next(v for v in ships.vessels if v.id == ship)
        here = [m for m in vessel.mentions if text.chapter_of(m.start) == chapter]
        if len(here) * 2 <= len(vessel.mentions):
            continue  # a ship that the whole book speaks of
        named = min(captain.mentions, key=lambda m: min(abs(m.start - other.start) for other in here))
        start, end = text.sentences[text.sentence_of(named.start)]
        place = nearest(text, captain, vessel, reach=1200) or (min(start, named.start), max(end, named.end))
        yield Claim(captain.id, "captain_of", ship, "captain_of_chapter", *place)


def _often_captain(person: Person) -> bool:
    """Not only by way of a joke or a mutiny."""
    captain = {name.surface for name in person.parsed if name.titles[-1:] == ("captain",)}
    return sum(m.surface in captain for m in person.mentions) >= CAPTAIN_SHARE * len(person.mentions)


def _last_vessel(sentence: Marked, position: int) -> str | None:
    """The vessel named last before a position: 'her' is the ship that the sentence speaks of."""
    named = re.findall(VESSEL, sentence.text[:position])
    return sentence.entity(named[-1]).id if named else None


def _rank(sentence: Marked, person: str, rank: str, ship: str, *, near: bool = False) -> Claim:
    family = "rank_near_ship" if near else "rank_of_ship"
    return Claim(sentence.person(person).id, RANKS[rank], ship, family, sentence.start, sentence.end)


def _owner(sentence: Marked, person: str, what: str) -> Claim:
    return Claim(sentence.person(person).id, "owner_of", what, "owner", sentence.start, sentence.end)
