"""Who and what is in a book, with every place where the text has them: what relations and enrichment work on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gutengraph_assets.extraction.aliases.given_names import is_given
from gutengraph_assets.extraction.aliases.person_name import PersonName, parse
from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.occurrences import NameFinder


@dataclass(frozen=True)
class Mention:
    """One place where the text has a name; `entity` is the id of whom it names."""

    entity: str
    surface: str
    start: int
    end: int


@dataclass(frozen=True)
class Entity:
    """A Character, Location, Object or Event that the filter kept."""

    id: str
    label: str
    name: str
    aliases: tuple[str, ...]
    standing: str
    kind: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True)
class Person(Entity):
    """A Character. `gender` is M, F or None where the text does not say; `narrator` says 'I' in the book."""

    gender: str | None = None
    narrator: bool = False

    @cached_property
    def parsed(self) -> tuple[PersonName, ...]:
        """Each alias taken apart."""
        return tuple(parse(alias) for alias in self.aliases)

    @cached_property
    def surnames(self) -> frozenset[str]:
        """Folded surnames, where the form of a name leaves no doubt: 'Doctor Jo' has none if 'Jo' is her given name."""
        given = {n.rest[0] for n in self.parsed if n.single and not n.titles and is_given(n.rest[0])}
        return frozenset(
            n.surname for n in self.parsed if n.surname and not (n.single and n.titles and n.rest[0] in given)
        )


def locate(text: BookText, rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mention]]:
    """Every mention of every entity in ENTITIES rows, by id, in reading order.

    Dropped entities take part, so that a longer dropped name does not leave its words to a shorter kept one.
    """
    owner = {alias: row["id"] for row in rows for alias in row["aliases"]}
    found: dict[str, list[Mention]] = {entity: [] for entity in owner.values()}
    for surface, spans in NameFinder(owner).find(text).items():
        entity = owner[surface]
        found[entity] += [Mention(entity, surface, start, end) for start, end in spans]
    for mentions in found.values():
        mentions.sort(key=lambda m: m.start)
    return found


def windows_of(text: BookText, mentions: Sequence[Mention]) -> set[int]:
    """Indices of the windows whose text has one of the mentions."""
    return {text.window_of(mention.start) for mention in mentions}
