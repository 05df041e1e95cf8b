"""Events by rule: 'the murder of Amos Thorne', 'Jane's wedding', 'the ball at Saltby', 'Amos was drowned', 'the Battle of Hastings'.

An event needs a name of its own, or somebody of the cast or a place of the book to hang on. What is feared, planned, denied
or asked about in its sentence has not happened.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gutengraph_assets.extraction.book_text import BookText, Span
from gutengraph_assets.extraction.entities import Entity, Mention
from gutengraph_assets.extraction.events.lexicon import (
    COMPOUND,
    DENIED,
    ENDS,
    KIND_OF_NAMED,
    KIND_OF_NOUN,
    NAMED,
    OF_A_PERSON,
    OF_A_PLACE,
    STATED,
    UNSURE,
    noun_of,
)
from gutengraph_assets.extraction.relations.find import Relation
from gutengraph_assets.extraction.relations.quoting import cut
from gutengraph_core.graph.schema import HAPPENS_AT, TAKES_PART
from gutengraph_core.library import Kind
from gutengraph_core.names import key, slug, squeeze

CONFIDENCE = 0.92
"""Measured: `python -m experiments.events precision`."""
_NOUN = "|".join(sorted(KIND_OF_NOUN, key=len, reverse=True))
_OF = re.compile(
    rf"\b(?P<noun>{_NOUN})\s+(?P<link>of|at|in|near)\s+(?:(?:the|my|our|his|her|poor|old|young|little|dear|late|unfortunate|"
    r"unhappy|beloved)\s+){0,3}$"
)
_POSSESSED = re.compile(
    rf"_?['’]s?\s+(?:(?!(?:intended|future|approaching|expected|supposed|possible|probable|projected)\b)[a-z]+\s+)?(?P<noun>{_NOUN})"
    rf"\b(?![-\w]){COMPOUND}"
)
_COMPOUND = re.compile(rf"\s+(?P<noun>{_NOUN})\b(?![-\w]){COMPOUND}")
_THE = re.compile(r"\b[Tt](?:he|hat)\s+\Z")
_TITLE_OF = re.compile(r"(?:['’]s|[\"“‘'_])\s*(?:[Tt]he\s+)?\Z")
"""Before an event with a name of its own: a poem or a picture of it."""
_POSSESSIVE = re.compile(r"_?['’]")
"""'the death of Amos's father' is not that of Amos."""
_BEFORE = 60
"""Characters before a name in which 'the unhappy death of my poor' finds room."""


@dataclass(frozen=True)
class Sighting:
    """One place that tells of an event. `noun` is the text's own word for it, or that of its verb."""

    kind: str
    noun: str
    anchor: str | None
    """Id of the person or place it hangs on; None for one with a name of its own."""
    name: str
    start: int
    end: int


@dataclass
class FoundEvents:
    """Events as entities, and who took part or where, as edges with their quotes."""

    events: list[Entity] = field(default_factory=list)
    edges: list[Relation] = field(default_factory=list)
    normalised: int = 0
    """Words that were brought to a canonical kind: 'wedding' is a marriage."""
    dropped: dict[str, int] = field(default_factory=dict)


def find_events(
    text: BookText, people: Sequence[Entity], others: Sequence[Entity], *, book: int, kind: Kind
) -> FoundEvents:
    """The book's events, in reading order. In non-fiction only those with a name of their own or of a place of the book: whom
    it names are mostly people of whom it tells nothing else."""
    anchors = {e.id: e for e in others if e.label == "Location" and e.kind != "vessel"}
    if kind != "non-fiction":
        anchors |= {e.id: e for e in people if e.standing == "cast"}
    found = FoundEvents()
    dropped: Counter[str] = Counter()
    taken: set[str] = set()
    gathered = _gathered(_sightings(text, anchors.values(), people))
    for sightings in sorted(gathered, key=lambda s: (s[0].start, s[0].name)):
        same = _from_the_first_fact(text, sightings, dropped)
        if not same:
            continue
        event = _event(same, book, taken)
        taken.add(event.id)
        found.events.append(event)
        found.normalised += sum(s.noun != event.kind for s in same)
        if anchor := anchors.get(same[0].anchor or ""):
            found.edges.append(_edge(text, event, anchor))
    found.dropped = dict(sorted(dropped.items()))
    return found


def _sightings(text: BookText, anchors: Iterable[Entity], people: Iterable[Entity]) -> Iterator[Sighting]:
    persons = {key(alias) for person in people for alias in person.aliases}
    for match in NAMED.finditer(text.body):
        noun = match["noun"].casefold()
        before = text.body[max(0, match.start() - 8) : match.start()]
        if key(match["of"]) in persons or _TITLE_OF.search(before):
            continue
        yield Sighting(KIND_OF_NAMED[noun], noun, None, squeeze(match["whole"]), *match.span("whole"))
    for anchor in anchors:
        for mention in anchor.mentions:
            yield from _at(text, anchor, mention)


def _at(text: BookText, anchor: Entity, mention: Mention) -> Iterator[Sighting]:
    """What is said of an event around one mention of a person or a place."""
    place = anchor.label == "Location"
    kinds = OF_A_PLACE if place else OF_A_PERSON
    before = text.body[max(0, mention.start - _BEFORE) : mention.start]
    offset = mention.start - len(before)

    def sighting(noun: str, span: Span) -> Iterator[Sighting]:
        noun = noun.casefold()
        kind = KIND_OF_NOUN[noun]
        if kind in kinds:
            link = "at" if place and kind == "gathering" else "in" if place and kind == "killing" else "of"
            yield Sighting(kind, noun, anchor.id, f"{noun} {link} {anchor.name}", *span)

    of = _OF.search(before)
    if of and (place or of["link"] == "of") and not _POSSESSIVE.match(text.body, mention.end):
        yield from sighting(of["noun"], (offset + of.start("noun"), mention.end))
    if place:
        compound = _COMPOUND.match(text.body, mention.end)
        if compound and _THE.search(before):
            yield from sighting(compound["noun"], (mention.start, compound.end()))
        return
    if possessed := _POSSESSED.match(text.body, mention.end):
        yield from sighting(possessed["noun"], (mention.start, possessed.end()))
    if stated := STATED.match(text.body, mention.end):
        yield from sighting(noun_of(stated), (mention.start, stated.end()))


def _from_the_first_fact(
    text: BookText, same: Sequence[Sighting], dropped: Counter[str]
) -> Sequence[Sighting]:
    """What is told as a fact once stays one however it is spoken of later; before that it was feared or planned."""
    for at, sighting in enumerate(same):
        if not (reason := _no_fact(text, sighting)):
            return same[at:]
        dropped[reason] += 1
    return ()


def _no_fact(text: BookText, sighting: Sighting) -> str:
    """Why its sentence does not tell it as a fact, or ''. A named event is one however it is spoken of."""
    if sighting.anchor is None:
        return ""
    start, end = text.sentences[text.sentence_of(sighting.start)]
    if text.body[start:end].rstrip("\"'”’)_ \n").endswith("?"):
        return "asked about"
    before = text.body[start : sighting.start]
    return "not told as a fact" if UNSURE.search(before) or DENIED.search(before) else ""


def _gathered(sightings: Iterable[Sighting]) -> list[list[Sighting]]:
    """Sightings of one event together, in reading order."""
    by_event: dict[tuple[str, str], list[Sighting]] = defaultdict(list)
    for sighting in sightings:
        kind = "end" if sighting.kind in ENDS else sighting.kind
        by_event[kind, sighting.anchor or key(sighting.name)].append(sighting)
    return [sorted(same, key=lambda s: (s.start, s.end)) for same in by_event.values()]


def event_id(book: int, name: str, taken: Container[str]) -> str:
    """The id of an event of this name, with the least number from 2 on that makes it none of `taken`."""
    plain = id_ = f"{book}:event-{slug(name)}"
    number = 1
    while id_ in taken:
        number += 1
        id_ = f"{plain}-{number}"
    return id_


def _event(same: Sequence[Sighting], book: int, taken: Container[str]) -> Entity:
    kinds = Counter(s.kind for s in same)
    kind = next((end for end in ENDS if end in kinds), same[0].kind)
    names = Counter(s.name for s in same if s.kind == kind)
    name = min(names, key=lambda n: (-names[n], n))
    id_ = event_id(book, name, taken)
    spans = {(s.start, s.end): s for s in same}
    mentions = tuple(Mention(id_, s.name, *span) for span, s in sorted(spans.items()))
    return Entity(id_, "Event", name, (name,), "kept", kind, mentions)


def _edge(text: BookText, event: Entity, anchor: Entity) -> Relation:
    """Who took part in it, or where it happened, by its first place."""
    first = event.mentions[0]
    start, end = text.sentences[text.sentence_of(first.start)]
    start, end = cut(text, min(start, first.start), max(end, first.end), [first])
    place = anchor.label == "Location"
    return Relation(
        source=event.id if place else anchor.id,
        target=anchor.id if place else event.id,
        rel="INTERACTS_WITH",
        type=HAPPENS_AT if place else TAKES_PART,
        quote=squeeze(text.body[start:end]),
        start=start,
        end=end,
        chapter=text.chapter_of(start),
        how="pattern:event",
        confidence=CONFIDENCE,
    )
