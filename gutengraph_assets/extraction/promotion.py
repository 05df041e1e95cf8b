"""Who is of the cast by a relation alone: somebody rarely named who is a cast member's brother, wife or servant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.find import Relation
from gutengraph_assets.extraction.standing import is_too_rare
from gutengraph_core.library import Kind

RARE = "rare"
"""Standing, inside this step only, of a person named too rarely who may yet be the end of a relation."""
PROMOTES = 0.7
PROMOTES_RARE = 0.85
"""Confidence from which a relation makes its end a character: below it, a wrong edge would bring in a wrong person too. Who
is named hardly ever has to be stated to be one."""


def with_rare(rows: Iterable[Mapping[str, Any]], kind: Kind) -> list[Mapping[str, Any]]:
    """ENTITIES rows with the too rarely named persons among the living, in fiction and drama."""
    if kind == "non-fiction":
        return list(rows)
    return [
        {**row, "standing": RARE} if row["label"] == "Character" and is_too_rare(row["reason"]) else row
        for row in rows
    ]


def promote(
    people: Sequence[Person], relations: Sequence[Relation], kind: Kind
) -> tuple[list[Person], list[Relation]]:
    """The people with those made cast by a relation to one of the cast, without the rare that stay rare; and the relations
    whose ends are all left.
    """
    standing = {person.id: person.standing for person in people}
    raised = {
        end
        for relation in relations
        if relation.rel == "RELATED_TO" and kind != "non-fiction"
        for end, other in ((relation.source, relation.target), (relation.target, relation.source))
        if standing[end] != "cast" and standing[other] == "cast"
        if relation.confidence >= (PROMOTES_RARE if standing[end] == RARE else PROMOTES)
    }
    left = [
        replace(p, standing="cast") if p.id in raised else p
        for p in people
        if p.id in raised or p.standing != RARE
    ]
    gone = {person.id for person in people} - {person.id for person in left}
    return left, [r for r in relations if r.source not in gone and r.target not in gone]
