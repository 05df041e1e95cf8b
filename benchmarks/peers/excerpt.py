"""The text that all peers get: a book from its first word to the end of a paragraph, with the gold that it bears out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_core import names
from gutengraph_core.errors import SettingsError
from gutengraph_query.evaluate.gold import GoldBook, load_gold

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True)
class Excerpt:
    """`text`, and the people, places, relations and questions of the book's gold that stand in it."""

    text: str
    gold: GoldBook
    rdf: Path | None

    @property
    def words(self) -> int:
        return len(self.text.split())


def excerpt(book: int, words: int, *, mirror: Path, gold: Path) -> Excerpt:
    """The first paragraphs of a book that have `words` words, or all of it. Raises SettingsError, BadText."""
    folder = mirror / "cache" / "epub" / str(book)
    standard = next((one for one in load_gold(gold) if one.gutenberg_id == book), None)
    if standard is None or not (folder / f"pg{book}.txt").exists():
        raise SettingsError(
            "The mirror or the gold folder lacks it.", book=book, remedy="Name others: --mirror, --gold."
        )
    body = read_book((folder / f"pg{book}.txt").read_bytes(), book=book).body
    text = first_words(body, words)
    rdf = folder / f"pg{book}.rdf"
    return Excerpt(text, within(standard, text), rdf if rdf.exists() else None)


def first_words(body: str, words: int) -> str:
    """The body up to the end of the paragraph that holds its `words`th word."""
    found = list(re.finditer(r"\S+", body))
    if len(found) <= words:
        return body
    end = _PARAGRAPH_END.search(body, found[words - 1].end())
    return body[: end.start()] if end else body


def within(gold: GoldBook, text: str) -> GoldBook:
    """What of a gold standard `text` bears out: names that stand in it, relations between these, questions whose
    quote does."""
    told = f" {names.key(text)} "

    def stands(name: str) -> bool:
        return f" {names.key(name)} " in told

    people = [c for c in gold.characters if any(map(stands, (c.name, *c.aliases)))]
    places = [p for p in gold.places if any(map(stands, (p.name, *p.also_accept)))]
    known = {one.name for one in (*people, *places)}
    return gold.model_copy(
        update={
            "characters": tuple(people),
            "places": tuple(places),
            "relations": tuple(r for r in gold.relations if {r.a, r.b} <= known),
            "questions": tuple(q for q in gold.questions if q.quote and stands(q.quote)),
        }
    )
