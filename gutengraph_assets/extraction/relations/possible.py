"""What a kinship between two people cannot be, whatever a sentence seems to say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.generations import Generations

_OF_ONE_NAME = frozenset(("sibling_of", "parent_of"))
_COUPLE = frozenset(("spouse_of", "engaged_to"))
_AUNTS = (("aunt",), ("uncle",))
_MARRIED = frozenset(("mrs", "madame", "lady"))


def possible(type_: str, a: Person, b: Person) -> bool:
    """Whether `a` can be TYPE `b` by surnames and genders.

    Brothers, sisters and children who never married bear one surname; a wife bears her husband's.
    """
    if type_ in _COUPLE and a.gender and a.gender == b.gender:
        return False
    differ = bool(a.surnames and b.surnames) and not a.surnames & b.surnames
    if not differ:
        return True
    married = _is_mrs(a) or _is_mrs(b)
    if type_ in _OF_ONE_NAME:
        return married
    return not (type_ == "spouse_of" and married)


def of_an_age(a: Person, b: Person) -> bool:
    """Whether both go by their given names alone: a book mostly calls the children so, and the parents by a title."""
    return _by_given_name(a) and _by_given_name(b)


def called_aunt(person: Person) -> bool:
    """Mostly 'Aunt S' or 'Uncle S': so say the children of somebody else of that name."""
    named = {name.surface for name in person.parsed if name.titles[-1:] in _AUNTS}
    return sum(mention.surface in named for mention in person.mentions) * 2 > len(person.mentions)


def _by_given_name(person: Person) -> bool:
    given = {n.surface for n in person.parsed if n.single and not n.titles and not n.surname}
    return sum(mention.surface in given for mention in person.mentions) * 2 > len(person.mentions)


def _is_mrs(person: Person) -> bool:
    return person.gender != "M" and any(set(name.titles) & _MARRIED for name in person.parsed)


class Arbiter:
    """Says of each claim, the surest first, whether it can stand beside those already taken."""

    _KIN = frozenset(
        "parent_of step_parent_of grandparent_of aunt_or_uncle_of sibling_of cousin_of spouse_of engaged_to".split()
    )
    _EXCLUSIVE = _KIN - {"engaged_to"}
    """Of two people at most one of these is true; engaged people may marry."""

    def __init__(self, people: Sequence[Person]) -> None:
        self._people = {person.id: person for person in people}
        self._taken: dict[frozenset[str], set[str]] = defaultdict(set)
        self._married: set[str] = set()
        self._parents: set[tuple[str, str | None]] = set()
        self._generations = Generations()

    def refuse(self, claim: Claim) -> str | None:
        """Why a claim cannot stand, or None: it is then taken."""
        reason = self._reason(claim)
        if reason is None:
            self._take(claim)
        return reason

    def _reason(self, claim: Claim) -> str | None:
        known = self._taken[frozenset((claim.a, claim.b))]
        a, b = self._people.get(claim.a), self._people.get(claim.b)
        if a and b and not possible(claim.type, a, b):
            return "surnames or genders are against it"
        if claim.type in self._EXCLUSIVE and known & self._EXCLUSIVE:
            return "another kinship is surer"
        if claim.type in known:
            return "the other direction is surer"
        if claim.type not in self._KIN and known - self._KIN:
            return "another relation is surer"
        if claim.type == "spouse_of" and {claim.a, claim.b} & self._married:
            return "a surer marriage"
        if claim.type == "parent_of" and a and a.gender and (claim.b, a.gender) in self._parents:
            return "a surer mother or father"
        if not self._generations.agree(claim):
            return "surer kin are of other generations"
        return None

    def _take(self, claim: Claim) -> None:
        self._generations.take(claim)
        self._taken[frozenset((claim.a, claim.b))].add(claim.type)
        if claim.type == "spouse_of":
            self._married |= {claim.a, claim.b}
        if claim.type == "parent_of" and claim.a in self._people:
            self._parents.add((claim.b, self._people[claim.a].gender))
