"""Which of a family are of one generation, and by how many some are older than others."""

from __future__ import annotations

from gutengraph_assets.extraction.relations.claims import Claim

_ABOVE = {"sibling_of": 0, "parent_of": 1, "aunt_or_uncle_of": 1, "grandparent_of": 2}
"""Generations by which `a` is above `b`. Husbands, wives and cousins may be of two."""


class Generations:
    """Families, joined claim by claim; a family knows of every two of its members how far apart they are."""

    def __init__(self) -> None:
        self._family: dict[str, dict[str, int]] = {}
        """Person -> all of the family, each with the generations they are above whoever came first."""

    def agree(self, claim: Claim) -> bool:
        """Whether a claim fits what was taken; who are not yet of one family may be anything to each other."""
        above = _ABOVE.get(claim.type)
        family = self._family.get(claim.a, {})
        if above is None or claim.b not in family:
            return True
        return family[claim.a] - family[claim.b] == above

    def take(self, claim: Claim) -> None:
        """Join the families of both ends of a claim that agrees."""
        above = _ABOVE.get(claim.type)
        family = self._family.setdefault(claim.a, {claim.a: 0})
        other = self._family.setdefault(claim.b, {claim.b: 0})
        if above is None or family is other:
            return
        shift = family[claim.a] - above - other[claim.b]
        for person, generation in other.items():
            family[person] = generation + shift
            self._family[person] = family
