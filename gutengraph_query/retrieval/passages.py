"""The passages for a question: vectors and words together, and nothing where nothing is near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gutengraph_core import names
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.passages import Passage
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.state import PassageHit
from gutengraph_query.understanding.question import names_apart


@dataclass(frozen=True)
class Search:
    """How passages are looked for. `by`: vectors and words together, or vectors alone; `neighbours`: chunks shown
    on either side of each that was found; `threshold`: cosine that the nearest of all must reach."""

    k: int
    threshold: float
    neighbours: int
    by: Literal["hybrid", "vector"] = "hybrid"

    @classmethod
    def of(cls, settings: Settings) -> Search:
        return cls(
            settings.top_k, settings.passage_threshold, settings.passage_neighbours, settings.passage_search
        )


def find_passages(
    table: ChunkTable, question: str, query: Matrix, search: Search, *, book: int | None
) -> list[PassageHit]:
    """The `k` best passages, best first, each with its neighbours; none if the nearest of all is too far from the
    question: then the books are about something else.
    """
    if search.by == "hybrid":
        words, named = names_apart(question)
        found = table.hybrid_search(
            query, words, names=named, k=search.k, book=book, threshold=search.threshold
        )
    else:
        nearest = table.search(query, k=search.k, book=book)
        found = nearest if nearest and nearest[0].score >= search.threshold else []
    if not found:
        return []
    shown = table.widen(found, by=search.neighbours) if search.neighbours else found
    return [passage_hit(p, core=hit.text) for p, hit in zip(shown, found, strict=True)]


def passage_hit(passage: Passage, *, core: str = "") -> PassageHit:
    """A passage as the state holds it; `core`: the chunk alone, where its neighbours have been joined to it."""
    return PassageHit(
        chunk_id=passage.id,
        book=passage.gutenberg_id,
        title=passage.title,
        chapter=passage.chapter,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        core=core or passage.text,
        score=round(passage.score, 4),
    )


def absent(table: ChunkTable, name: str, *, book: int | None) -> bool:
    """Whether some word of a capitalised name stands in no passage: then the books do not have its bearer."""
    words = [word for word in names.words(name) if word not in names.TITLES]
    return any(not _stands(table, word, book) for word in words)


def _stands(table: ChunkTable, word: str, book: int | None) -> bool:
    return bool(table.text_search(word, k=1, book=book))
