"""All relations of a book: claims from every family, then one answer a pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Entity, Mention, Person
from gutengraph_assets.extraction.relations import (
    couples,
    crews,
    families,
    homes,
    kinship,
    letters,
    vocatives,
)
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.inferred import Conclusion, Key, conclude
from gutengraph_assets.extraction.relations.marked import mark_sentences
from gutengraph_assets.extraction.relations.namesakes import Namesakes
from gutengraph_assets.extraction.relations.nearby import Nearby
from gutengraph_assets.extraction.relations.owners import Owners
from gutengraph_assets.extraction.relations.possible import Arbiter
from gutengraph_assets.extraction.relations.precision import PRECISION
from gutengraph_assets.extraction.relations.quoting import cut
from gutengraph_assets.extraction.speech import Speeches
from gutengraph_assets.extraction.tellers import Tellers
from gutengraph_core.graph.schema import SYMMETRIC
from gutengraph_core.names import squeeze

LEAST = 0.55
"""Families that are right less often mislead more than they tell."""
MOST = 0.97
"""However many sentences agree, a rule that reads no plot may be wrong."""
BOOKWIDE = frozenset(("nearby_surname", "surname_kin"))
"""Families that read every place where both are named, and not one sentence."""
NAMESAKE = 0.55
"""Confidence of what one sentence says against them."""
ROUNDS = 2
"""Of conclusions: a brother's mother is a mother, whose sister is an aunt."""


@dataclass(frozen=True)
class Relation:
    """`source` is TYPE `target`; symmetric types once, source < target by id."""

    source: str
    target: str
    rel: str
    type: str
    quote: str
    start: int
    end: int
    chapter: int
    how: str
    confidence: float


@dataclass(frozen=True)
class FoundRelations:
    """What was kept, and how many claims were dropped for which reason."""

    relations: list[Relation]
    dropped: dict[str, int]


def find_relations(text: BookText, people: Sequence[Person], others: Sequence[Entity]) -> FoundRelations:
    """Relations between people, and of people with places, each with the sentence that says it best."""
    labels = {entity.id: entity.label for entity in [*people, *others]}
    places = {entity.id: entity.mentions for entity in [*people, *others]}
    claims = claims_of(text, people, others)
    gathered: dict[tuple[str, str, str], list[Claim]] = defaultdict(list)
    for claim in claims:
        gathered[claim.key].append(claim)
    scores = {key: _score(text, same) for key, same in gathered.items()}
    for key in _of_namesakes(gathered):
        scores[key] = min(scores[key], NAMESAKE)
    scored = sorted(((score, key) for key, score in scores.items()), key=lambda item: (-item[0], item[1]))
    dropped: Counter[str] = Counter()
    relations: list[Relation] = []
    arbiter = Arbiter(people)
    for score, key in scored:
        reason = (
            "too unsure" if score < LEAST else arbiter.refuse(replace(gathered[key][0], a=key[0], b=key[2]))
        )
        if reason:
            dropped[reason] += 1
            continue
        relations.append(_relation(text, *key, gathered[key], score, labels, places))
    by_key = {(r.source, r.type, r.target): r for r in relations}
    for _ in range(ROUNDS):
        by_key |= _inferred(text, people, by_key, arbiter, dropped, places)
    relations = sorted(by_key.values(), key=lambda r: (r.start, r.source, r.target, r.type))
    return FoundRelations(relations, dict(sorted(dropped.items())))


def _of_namesakes(gathered: Mapping[Key, Sequence[Claim]]) -> Iterator[Key]:
    """Parents by one sentence of whom the whole book speaks as a brother or sister: the sentence means an elder of that name."""
    for (a, type_, b), same in gathered.items():
        if type_ != "parent_of" or len(same) > 1 or same[0].family in BOOKWIDE:
            continue
        siblings = gathered.get((min(a, b), "sibling_of", max(a, b)), ())
        if any(claim.family in BOOKWIDE for claim in siblings):
            yield a, type_, b


def _inferred(
    text: BookText,
    people: Sequence[Person],
    by_key: Mapping[Key, Relation],
    arbiter: Arbiter,
    dropped: Counter[str],
    places: Mapping[str, Sequence[Mention]],
) -> dict[Key, Relation]:
    """What follows from the relations taken so far, the surest first. Its quote names both ends near each other, or is the
    less sure premise's.
    """
    known = {entity.id: entity for entity in people}
    sure = {key: r.confidence for key, r in by_key.items() if key[0] in known and key[2] in known}
    ways: dict[Key, list[tuple[float, Conclusion]]] = defaultdict(list)
    for product, conclusion in conclude(sure, people):
        a, type_, b = conclusion.key
        key = (b, type_, a) if type_ in SYMMETRIC and b < a else conclusion.key
        ways[key].append((product, conclusion))
    found: dict[Key, Relation] = {}
    for key, drawn in sorted(ways.items(), key=lambda item: (-max(p for p, _ in item[1]), item[0])):
        product, best = max(drawn, key=lambda d: (d[0], d[1].key))
        sureness = min(product, PRECISION[best.family])
        if key in by_key or sureness < LEAST:
            continue
        a, type_, b = key
        place = couples.nearest(text, known[a], known[b])
        premise = min((by_key[p] for p in best.premises), key=lambda r: (r.confidence, r.start))
        start, end = place or (premise.start, premise.end)
        claim = Claim(a, type_, b, best.family, start, end)
        if reason := arbiter.refuse(claim):
            dropped[reason] += 1
            continue
        start, end = cut(text, start, end, [*places[a], *places[b]])
        how = ",".join(sorted({f"inferred:{c.family}" for _, c in drawn}))
        found[key] = Relation(
            source=a,
            target=b,
            rel="RELATED_TO",
            type=type_,
            quote=squeeze(text.body[start:end]),
            start=start,
            end=end,
            chapter=text.chapter_of(start),
            how=how,
            confidence=round(sureness, 3),
        )
    return found


def claims_of(text: BookText, people: Sequence[Person], others: Sequence[Entity]) -> Iterator[Claim]:
    """Everything that any family says of anybody, before it is weighed."""
    men = couples.husbands(people)
    ships = crews.Ships(text, others)
    tellers = Tellers(text, people)
    speeches = Speeches(text, people, tellers)
    owners = Owners(text, people, speeches, tellers)
    namesakes = Namesakes(people)
    nearby = Nearby(text, people)
    for sentence in mark_sentences(text, [*people, *others]):
        if sentence.named:
            yield from couples.said_together(sentence, men)
            yield from kinship.stated(sentence, owners, namesakes)
            yield from crews.stated(sentence, ships)
            yield from homes.stated(sentence, owners)
        nearby.read(sentence, owners)
        owners.push(sentence)
    yield from nearby.claims()
    yield from vocatives.spoken(text, people, speeches)
    yield from letters.written(text, people, tellers)
    yield from couples.same_surname(text, people, men)
    yield from crews.captains(text, people, ships)
    yield from families.same_surname(text, people)


def _score(text: BookText, same: Sequence[Claim]) -> float:
    """The surest family's precision, raised a third of the way to MOST for another family or chapter."""
    best = max(claim.confidence for claim in same)
    ways = {claim.family for claim in same}
    chapters = {text.chapter_of(claim.start) for claim in same}
    for _ in range(min(2, max(len(ways), len(chapters)) - 1)):
        best += max(0.0, MOST - best) / 3
    return round(best, 3)


def _relation(
    text: BookText,
    a: str,
    type_: str,
    b: str,
    claims: Sequence[Claim],
    score: float,
    labels: dict[str, str],
    places: Mapping[str, Sequence[Mention]],
) -> Relation:
    best = min(claims, key=lambda c: (-c.confidence, c.end - c.start, c.start))
    families = sorted({claim.family for claim in claims}, key=lambda family: (-PRECISION[family], family))
    ways = [f"pattern:{family}" for family in families]
    start, end = cut(text, best.start, best.end, [*places[a], *places[b]])
    return Relation(
        source=a,
        target=b,
        rel="RELATED_TO" if labels[a] == labels[b] == "Character" else "INTERACTS_WITH",
        type=type_,
        quote=squeeze(text.body[start:end]),
        start=start,
        end=end,
        chapter=text.chapter_of(start),
        how=",".join(ways),
        confidence=score,
    )
