"""Scores as the gold standard's own rules define them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypedDict

from gutengraph_core import names
from gutengraph_core.graph.schema import SYMMETRIC
from gutengraph_query.evaluate.gold import (
    GoldBook,
    GoldQuestion,
    Matcher,
    character_matcher,
    place_matcher,
)

ANSWER_WORDS = 60
_Z = 1.959964
"""Of the standard normal distribution: 95 %."""
_CITATION = re.compile(r"\[\d+\]")


class Share(TypedDict):
    """`hits` of `of`; `value` is null where there was nothing to hit. `interval`: Wilson's, 95 %."""

    value: float | None
    hits: int
    of: int
    interval: tuple[float, float] | None


def share(hits: int, of: int) -> Share:
    """A share with its Wilson interval (E. B. Wilson, JASA 22, 1927)."""
    if not of:
        return Share(value=None, hits=0, of=0, interval=None)
    p = hits / of
    scale = 1 + _Z**2 / of
    middle = (p + _Z**2 / (2 * of)) / scale
    half = _Z / scale * math.sqrt(p * (1 - p) / of + _Z**2 / (4 * of**2))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Share(value=round(p, 4), hits=hits, of=of, interval=(round(low, 4), round(high, 4)))


def added(shares: Iterable[Share]) -> Share:
    """The micro total of several."""
    listed = list(shares)
    return share(sum(s["hits"] for s in listed), sum(s["of"] for s in listed))


@dataclass(frozen=True)
class Entry:
    """A character or place of the graph with all its names."""

    id: str
    names: tuple[str, ...]
    cast: bool


@dataclass(frozen=True)
class FoundRelation:
    """An edge of the graph between two entries: a is TYPE b."""

    a: str
    type: str
    b: str


def character_scores(gold: GoldBook, entries: Sequence[Entry]) -> dict[str, Share]:
    """Recall by importance over cast entries, and precision in gold."""
    matcher = character_matcher(gold)
    cast = [entry for entry in entries if entry.cast]
    # a name without its title counts only where no entry has the name as it stands
    exact = {owner for entry in cast for name in entry.names for owner in matcher.exact(name)}
    loose = {owner for entry in cast for name in entry.names for owner in matcher.untitled(name)}
    found = exact | loose

    def recall(*importance: str) -> Share:
        wanted = [c for c in gold.characters if c.importance in importance]
        return share(sum(c.name in found for c in wanted), len(wanted))

    right = sum(bool(matcher.of_names(entry.names)) for entry in cast)
    return {
        "recall_major": recall("major"),
        "recall_intermediate": recall("intermediate"),
        "recall_main": recall("major", "intermediate"),
        "recall_minor": recall("minor"),
        "recall_all": recall("major", "intermediate", "minor"),
        "precision_in_gold": share(right, len(cast)),
    }


def alias_scores(gold: GoldBook, entries: Sequence[Entry]) -> dict[str, Share]:
    """Pairwise over the gold-matched names of all entries.

    In one entry and of one gold character: right; in one entry but of two: wrong; of one but in two entries: missed.
    """
    matcher = character_matcher(gold)
    known = [
        (entry.id, owners)
        for entry in entries
        for name in {names.key(n): n for n in entry.names}.values()
        if (owners := matcher.of_name(name))
    ]
    right = wrong = missed = 0
    for (entry_a, owners_a), (entry_b, owners_b) in combinations(known, 2):
        same = bool(owners_a & owners_b)
        if entry_a == entry_b:
            right += same
            wrong += not same
        else:
            missed += same
    return {"alias_precision": share(right, right + wrong), "alias_recall": share(right, right + missed)}


def relation_scores(
    gold: GoldBook, entries: Sequence[Entry], relations: Sequence[FoundRelation]
) -> dict[str, Share]:
    """Recall of the pair (either order), and of the pair with its type (a directed type in its direction)."""
    owners = _owners(entries, character_matcher(gold), place_matcher(gold))
    pairs: set[frozenset[str]] = set()
    typed: set[tuple[str, str, str]] = set()
    for relation in relations:
        for a in owners.get(relation.a, ()):
            for b in owners.get(relation.b, ()):
                pairs.add(frozenset((a, b)))
                typed.add((a, relation.type, b))
                if relation.type in SYMMETRIC:
                    typed.add((b, relation.type, a))
    of = len(gold.relations)
    return {
        "relation_recall_pair": share(sum(frozenset((r.a, r.b)) in pairs for r in gold.relations), of),
        "relation_recall_typed": share(sum((r.a, r.type, r.b) in typed for r in gold.relations), of),
    }


def _owners(entries: Sequence[Entry], *matchers: Matcher) -> Mapping[str, set[str]]:
    return {entry.id: set().union(*(m.of_names(entry.names) for m in matchers)) for entry in entries}


def holds_answer(text: str, question: GoldQuestion) -> bool:
    """Whether `text` has at least `min_match` of the accepted strings as whole words, those of the question not
    counted."""
    told, asked = _padded(text), _padded(question.question)
    accepted = {_padded(accept) for accept in question.accept_any}
    return sum(a in told and a not in asked for a in accepted) >= question.min_match


def answer_is_right(answer: str, question: GoldQuestion) -> bool:
    """`holds_answer` over the first 60 words of an answer, its citations taken out."""
    return holds_answer(" ".join(names.words(_CITATION.sub(" ", answer))[:ANSWER_WORDS]), question)


def holds_quote(text: str, question: GoldQuestion) -> bool:
    """Whether `text` has the quote, or its first or last half."""
    words = names.words(question.quote)
    half = len(words) // 2
    parts = [words, words[:half], words[-half:]] if half else [words]
    told = _padded(text)
    return any(f" {' '.join(part)} " in told for part in parts)


def _padded(text: str) -> str:
    return f" {' '.join(names.words(text))} "
