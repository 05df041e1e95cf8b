"""A claim: what one sentence, read by one family of patterns, says of two entities."""

from __future__ import annotations

from dataclasses import dataclass

from gutengraph_assets.extraction.relations.precision import PRECISION
from gutengraph_core.graph.schema import SYMMETRIC


@dataclass(frozen=True)
class Claim:
    """`a` is TYPE `b` (entity ids), as the text between `start` and `end` has it."""

    a: str
    type: str
    b: str
    family: str
    start: int
    end: int

    @property
    def confidence(self) -> float:
        """The measured precision of the family."""
        return PRECISION[self.family]

    @property
    def key(self) -> tuple[str, str, str]:
        """Symmetric types have one key for both readings."""
        if self.type in SYMMETRIC and self.b < self.a:
            return (self.b, self.type, self.a)
        return (self.a, self.type, self.b)
