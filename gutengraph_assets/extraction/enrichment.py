"""What the text says of each survivor: gender and role. What it does not say stays null."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gutengraph_assets.extraction.aliases.person_name import parse
from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Entity, Mention, Person, windows_of
from gutengraph_assets.extraction.gender import by_votes, pronoun_votes
from gutengraph_assets.extraction.narrator import find_narrator

PROTAGONIST_SHARE = 0.75
"""Of the windows of the person who stands in most: a second one near it carries the book as well."""
SUPPORTING_SHARE = 0.1
"""Of the book's windows. Below it a person comes and goes."""

Rows = Iterable[Mapping[str, Any]]


def enrich(
    text: BookText, rows: Rows, mentions: Mapping[str, Sequence[Mention]]
) -> tuple[list[Person], list[Entity]]:
    """The kept Characters, with gender and narrator, and the other kept entities, both in the order of `rows`.

    `rows` are ENTITIES rows, `mentions` what `entities.locate` found for them.
    """
    kept = [row for row in rows if row["standing"] != "dropped" and mentions[row["id"]]]
    persons = [row for row in kept if row["label"] == "Character"]
    spans = {row["id"]: [(m.start, m.end) for m in mentions[row["id"]]] for row in persons}
    votes = pronoun_votes(text, spans)
    narrator = find_narrator(
        text, {row["id"]: mentions[row["id"]] for row in persons if row["standing"] == "cast"}
    )
    people = [
        Person(
            **_common(row, mentions),
            gender=_gender(row["aliases"], mentions[row["id"]]) or by_votes(*votes[row["id"]]),
            narrator=row["id"] == narrator,
        )
        for row in persons
    ]
    others = [Entity(**_common(row, mentions)) for row in kept if row["label"] != "Character"]
    return people, others


def _common(row: Mapping[str, Any], mentions: Mapping[str, Sequence[Mention]]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "label": row["label"],
        "name": row["name"],
        "aliases": tuple(row["aliases"]),
        "standing": row["standing"],
        "kind": row["kind"],
        "mentions": tuple(mentions[row["id"]]),
    }


def _gender(aliases: Sequence[str], mentions: Sequence[Mention]) -> str | None:
    """By titles and given names: the gender of most mentions that have one."""
    count = Counter(mention.surface for mention in mentions)
    said: Counter[str] = Counter()
    for alias in aliases:
        if gender := parse(alias).gender:
            said[gender] += max(1, count[alias])
    if not said:
        return None
    (gender, most), *rest = said.most_common()
    return gender if not rest or most > 3 * rest[0][1] else None


def roles(text: BookText, people: Sequence[Person]) -> dict[str, str]:
    """Role of each member of the cast by the share of windows that name him or her.

    Nobody is made an antagonist: who opposes whom is told by the plot, which rules do not read.
    """
    stands_in = {person.id: len(windows_of(text, person.mentions)) for person in people}
    most = max((stands_in[p.id] for p in people if p.standing == "cast"), default=0)
    found = {}
    for person in people:
        if person.standing != "cast":
            continue
        windows = stands_in[person.id]
        if windows >= PROTAGONIST_SHARE * most:
            found[person.id] = "protagonist"
        elif windows >= SUPPORTING_SHARE * len(text.windows):
            found[person.id] = "supporting"
        else:
            found[person.id] = "minor"
    return found
