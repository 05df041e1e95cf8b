"""Events that an instruct model told, joined with those that rules found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Entity, Mention
from gutengraph_assets.extraction.events.find import FoundEvents, event_id
from gutengraph_assets.extraction.events.lexicon import ENDS
from gutengraph_assets.extraction.reading.chapters import Told
from gutengraph_assets.extraction.relations.find import Relation
from gutengraph_core.graph.schema import HAPPENS_AT, TAKES_PART
from gutengraph_core.names import slug, squeeze

CONFIDENCE = 0.7
"""Not measured, as it was not run with a real instruct model: 'likely', never 'stated'. `how` says 'model:chapter'."""
_ONCE = frozenset((*ENDS, "birth", "burial"))
"""What happens to somebody once in a life: told again, in whatever words, it is the same."""


def with_told(text: BookText, found: FoundEvents, told: Sequence[Told], *, book: int) -> FoundEvents:
    """The events of both, in reading order; an event of both is one node with the places of both."""
    events = {event.id: event for event in found.events}
    edges = {(e.source, e.type, e.target): e for e in found.edges}
    once = {(_once(e.kind), edge.source): e.id for edge in found.edges if (e := events.get(edge.target))}
    by_name = {(e.kind, slug(e.name)): e.id for e in found.events}
    for one in told:
        same = [once[pair] for who in one.people if (pair := (_once(one.kind), who)) in once and pair[0]]
        id_ = same[0] if same else by_name.get((one.kind, slug(one.name)))
        if id_ is None:
            id_ = event_id(book, one.name, events)
            events[id_] = Entity(id_, "Event", one.name, (one.name,), "kept", one.kind, ())
            by_name[one.kind, slug(one.name)] = id_
            if len(one.people) == 1 and _once(one.kind):
                once[_once(one.kind), one.people[0]] = id_
        event = events[id_]
        places = {(m.start, m.end): m for m in event.mentions}
        places.setdefault((one.start, one.end), Mention(id_, one.name, one.start, one.end))
        events[id_] = replace(event, mentions=tuple(places[span] for span in sorted(places)))
        for who in one.people:
            edges.setdefault((who, TAKES_PART, id_), _edge(text, who, TAKES_PART, id_, one))
        if one.place:
            edges.setdefault((id_, HAPPENS_AT, one.place), _edge(text, id_, HAPPENS_AT, one.place, one))
    ordered = sorted(events.values(), key=lambda e: (e.mentions[0].start, e.id))
    return FoundEvents(ordered, list(edges.values()), found.normalised, found.dropped)


def _once(kind: str) -> str:
    return "end" if kind in ENDS else kind if kind in _ONCE else ""


def _edge(text: BookText, source: str, type_: str, target: str, told: Told) -> Relation:
    return Relation(
        source=source,
        target=target,
        rel="INTERACTS_WITH",
        type=type_,
        quote=squeeze(text.body[told.start : told.end]),
        start=told.start,
        end=told.end,
        chapter=text.chapter_of(told.start),
        how="model:chapter",
        confidence=CONFIDENCE,
    )
