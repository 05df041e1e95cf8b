"""How a book writes each of its words: the evidence that tells a name from a word that begins a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from gutengraph_assets.extraction.lexicon import FUNCTION_WORDS, INTERJECTIONS, NAMES_TOO
from gutengraph_assets.extraction.scan import Token

_ENDINGS = ("s", "es", "ed", "d", "ing", "ly", "er", "est", "y", "ful", "less", "ness")


@dataclass
class CaseStatistics:
    """Counts by folded word. `inside`: with a capital where nothing but being a name calls for one."""

    lower: Counter[str] = field(default_factory=Counter)
    inside: Counter[str] = field(default_factory=Counter)
    opening: Counter[str] = field(default_factory=Counter)
    capitals: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, tokens: Iterable[Token]) -> CaseStatistics:
        found = cls()
        for token in tokens:
            if token.shape == "lower":
                found.lower[token.low] += 1
            elif token.shape == "capitals":
                found.capitals[token.low] += 1
            elif token.shape == "capital" and not token.heading:
                (found.opening if token.opens else found.inside)[token.low] += 1
        return found

    def is_common(self, word: str) -> bool:
        """A word that the book writes small at least as often as it writes it large inside a sentence."""
        if (word in FUNCTION_WORDS and word not in NAMES_TOO) or word in INTERJECTIONS:
            return True
        lower = self.lower[word]
        return lower > 0 and lower >= self.inside[word]

    def is_name(self, word: str) -> bool:
        """A word that stands inside sentences with a capital, and mostly so."""
        return self.inside[word] > self.lower[word] and (word not in FUNCTION_WORDS or word in NAMES_TOO)

    def looks_common(self, word: str) -> bool:
        """`is_common`, or known only from sentence openings while a form of it is written small
        ('Trembling')."""
        if self.is_common(word):
            return True
        if self.inside[word]:
            return False
        return any(self.lower[form] for form in _forms(word))


def _forms(word: str) -> Iterable[str]:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            yield stem
            yield stem + "e"
            if len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]
        yield word + ending
