"""What follows from kinships already taken: children of one parent are brothers and sisters, a parent's sister is an aunt.

A conclusion is as sure as its premises together, so that it is drawn from sure ones only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.entities import Person

LEAST_PREMISE = 0.6
"""Premises less sure than this prove nothing."""

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Conclusion:
    """`a` is `type` `b` because of two relations already taken."""

    key: Key
    family: str
    premises: tuple[Key, Key]


def conclude(taken: Mapping[Key, float], people: Sequence[Person]) -> Iterator[tuple[float, Conclusion]]:
    """Conclusions with the product of their premises' confidences, every one once for each pair of premises."""
    known = _Known(taken, people)
    for family, type_, found in (
        ("parent_by_marriage", "parent_of", known.spouses_of_parents()),
        ("parent_by_sibling", "parent_of", known.parents_of_siblings()),
        ("siblings_by_parent", "sibling_of", known.children_of_one()),
        ("siblings_by_sibling", "sibling_of", known.siblings_of_siblings()),
        ("aunt_by_sibling", "aunt_or_uncle_of", known.siblings_of_parents()),
        ("aunt_by_marriage", "aunt_or_uncle_of", known.spouses_of_aunts()),
        ("niece_by_sibling", "aunt_or_uncle_of", known.siblings_of_nieces()),
        ("cousin_by_aunt", "cousin_of", known.children_of_aunts()),
    ):
        for a, b, first, second in found:
            if a != b:
                yield taken[first] * taken[second], Conclusion((a, type_, b), family, (first, second))


class _Known:
    """The sure kinships by type; every symmetric one stands both ways."""

    def __init__(self, taken: Mapping[Key, float], people: Sequence[Person]) -> None:
        self._people = {person.id: person for person in people}
        sure = [key for key, confidence in taken.items() if confidence >= LEAST_PREMISE]
        self._parents = [key for key in sure if key[1] == "parent_of"]
        self._aunts = [key for key in sure if key[1] == "aunt_or_uncle_of"]
        self._siblings = [(x, y, key) for key in sure if key[1] == "sibling_of" for x, y in _both(key)]
        self._spouses = [(x, y, key) for key in sure if key[1] == "spouse_of" for x, y in _both(key)]

    def spouses_of_parents(self) -> Iterator[tuple[str, str, Key, Key]]:
        """The wife of a father, where the child bears their name or none: it may be of another marriage otherwise."""
        for parent, _, child in self._parents:
            for one, other, key in self._spouses:
                if one == parent and self._of_one_house(other, child):
                    yield other, child, (parent, "parent_of", child), key

    def parents_of_siblings(self) -> Iterator[tuple[str, str, Key, Key]]:
        for parent, _, child in self._parents:
            for one, other, key in self._siblings:
                if one == child and self._of_one_house(parent, other):
                    yield parent, other, (parent, "parent_of", child), key

    def children_of_one(self) -> Iterator[tuple[str, str, Key, Key]]:
        for first in self._parents:
            for second in self._parents:
                if first[0] == second[0] and first[2] < second[2]:
                    yield first[2], second[2], first, second

    def siblings_of_siblings(self) -> Iterator[tuple[str, str, Key, Key]]:
        for one, other, key in self._siblings:
            for third, fourth, second in self._siblings:
                if other == third and one < fourth:
                    yield one, fourth, key, second

    def siblings_of_parents(self) -> Iterator[tuple[str, str, Key, Key]]:
        for parent, type_, child in self._parents:
            for one, other, key in self._siblings:
                if one == parent:
                    yield other, child, (parent, type_, child), key

    def spouses_of_aunts(self) -> Iterator[tuple[str, str, Key, Key]]:
        for aunt, type_, niece in self._aunts:
            for one, other, key in self._spouses:
                if one == aunt:
                    yield other, niece, (aunt, type_, niece), key

    def siblings_of_nieces(self) -> Iterator[tuple[str, str, Key, Key]]:
        for aunt, type_, niece in self._aunts:
            for one, other, key in self._siblings:
                if one == niece:
                    yield aunt, other, (aunt, type_, niece), key

    def children_of_aunts(self) -> Iterator[tuple[str, str, Key, Key]]:
        for aunt, type_, niece in self._aunts:
            for parent in self._parents:
                if parent[0] == aunt:
                    yield parent[2], niece, (aunt, type_, niece), parent

    def _of_one_house(self, a: str, b: str) -> bool:
        one, other = self._people[a].surnames, self._people[b].surnames
        return not one or not other or bool(one & other)


def _both(key: Key) -> Iterator[tuple[str, str]]:
    yield key[0], key[2]
    yield key[2], key[0]
