"""The relation step alone, over what a library has stored of its books: seconds, no model."""

from __future__ import annotations

from dataclasses import dataclass

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.enrichment import enrich
from gutengraph_assets.extraction.entities import Entity, Person, locate
from gutengraph_assets.extraction.filter import book_text, filter_entities
from gutengraph_assets.extraction.promotion import promote, with_rare
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.find import FoundRelations, Relation, claims_of, find_relations
from gutengraph_core.files import read_table
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings


@dataclass(frozen=True)
class Rerun:
    """One book's people, other entities and relations, as `enriched_graph` would write them."""

    book: int
    text: BookText
    people: list[Person]
    others: list[Entity]
    relations: list[Relation]
    found: FoundRelations
    claims: list[Claim]
    """Every single claim, kept or not; empty unless asked for."""

    @property
    def names(self) -> dict[str, str]:
        """id -> name of everybody and everything kept."""
        return {entity.id: entity.name for entity in [*self.people, *self.others]}


def rerun(library: Library, book: int, settings: Settings, *, claims: bool = False) -> Rerun:
    """Aliases, filter, enrichment and relations again from the book's `windows` and `mentions`.

    Raises StoreError if the book has not been named yet.
    """
    record = library.record(book)
    body = library.body(book)
    windows = read_table(library.path(book, "windows.parquet"))
    mentions = read_table(library.path(book, "mentions.parquet"))
    kept = filter_entities(record=record, body=body, windows=windows, mentions=mentions, settings=settings)
    text = book_text(record, body, windows)
    rows = with_rare(kept.entities.to_pylist(), record.kind)
    people, others = enrich(text, rows, locate(text, rows))
    every = list(claims_of(text, people, others)) if claims else []
    found = find_relations(text, people, others)
    people, relations = promote(people, found.relations, record.kind)
    return Rerun(book, text, people, others, relations, found, every)
