"""What a peer found, counted against the gold by the rules that GutenGraph is counted by."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.peers.job import Output
from gutengraph_core import names
from gutengraph_query.evaluate.gold import GoldBook, character_matcher, place_matcher
from gutengraph_query.evaluate.score import (
    Entry,
    FoundRelation,
    answer_is_right,
    character_scores,
    relation_scores,
)

_PEOPLE = frozenset({"person", "people", "character"})
_PLACES = frozenset({"place", "location", "gpe", "loc", "fac", "geo"})


@dataclass(frozen=True)
class Counted:
    """One peer's line. `right`: names of people and places that the gold knows; its lists lack true minor people and
    most places. Of relations the pair of ends, in either order: no peer has our types. None: it does not do that, or
    did not come to it."""

    peer: str
    version: str
    stage: str
    names: int
    right: int
    people_found: int
    people: int
    relations: int | None
    pairs_found: int | None
    pairs: int
    answers_right: int | None
    answers: int
    questions: int
    read_seconds: float | None
    answer_seconds: float | None
    tokens_read: int
    tokens_written: int
    peak_mb: float
    note: str

    def document(self) -> dict[str, Any]:
        return asdict(self)


def counted(output: Output, gold: GoldBook, *, tokens: tuple[int, int] = (0, 0), note: str = "") -> Counted:
    """The line of an output, however far the peer came."""
    kinds = {name: kind.strip().casefold() for name, kind in output.names}
    once = {names.key(name): name for name, kind in kinds.items() if kind in _PEOPLE | _PLACES}
    entries = [Entry(name, (name, *output.aliases.get(name, ())), cast=True) for name in once.values()]
    people = [entry for entry in entries if kinds[entry.id] in _PEOPLE]
    matchers = character_matcher(gold), place_matcher(gold)
    # the ends of a relation count whatever kind the peer gave them
    ends = [Entry(name, (name, *output.aliases.get(name, ())), cast=True) for name in _ends(output)]
    relations = output.relations or []
    found = [FoundRelation(a, what, b) for a, b, what in relations]
    relates = output.relations is not None
    right = [
        q.id for q in gold.questions if q.id in output.answers and answer_is_right(output.answers[q.id], q)
    ]
    return Counted(
        peer=output.peer,
        version=output.version,
        stage=output.stage,
        names=len(entries),
        right=sum(any(m.of_names(entry.names) for m in matchers) for entry in entries),
        people_found=character_scores(gold, people)["recall_all"]["hits"],
        people=len(gold.characters),
        relations=len(relations) if relates else None,
        pairs_found=relation_scores(gold, ends, found)["relation_recall_pair"]["hits"] if relates else None,
        pairs=len(gold.relations),
        answers_right=len(right) if output.answers else None,
        answers=len(output.answers),
        questions=len(gold.questions),
        read_seconds=output.read_seconds,
        answer_seconds=(
            sum(output.answer_seconds) / len(output.answer_seconds) if output.answer_seconds else None
        ),
        tokens_read=tokens[0],
        tokens_written=tokens[1],
        peak_mb=output.peak_mb,
        note="; ".join(part for part in (note, output.note) if part),
    )


def _ends(output: Output) -> list[str]:
    return list(dict.fromkeys(end for a, b, _ in output.relations or () for end in (a, b)))
