"""The passages for a question: vectors and words together, and nothing where nothing is near."""

from __future__ import annotations

from gutengraph_core import names
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.passages import Passage
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.state import PassageHit


def find_passages(
    table: ChunkTable, question: str, query: Matrix, *, k: int, threshold: float, book: int | None
) -> list[PassageHit]:
    """The `k` best passages by cosine and full text, best first; none if the nearest of all has a cosine under
    `threshold`: then the books are about something else.
    """
    nearest = table.search(query, k=1, book=book)
    if not nearest or nearest[0].score < threshold:
        return []
    return [passage_hit(p) for p in table.hybrid_search(query, question, k=k, book=book)]


def passage_hit(passage: Passage) -> PassageHit:
    """A passage as the state holds it."""
    return PassageHit(
        chunk_id=passage.id,
        book=passage.gutenberg_id,
        title=passage.title,
        chapter=passage.chapter,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        score=round(passage.score, 4),
    )


def absent(table: ChunkTable, name: str, *, book: int | None) -> bool:
    """Whether some word of a capitalised name stands in no passage: then the books do not have its bearer."""
    words = [word for word in names.words(name) if word not in names.TITLES]
    return any(not _stands(table, word, book) for word in words)


def _stands(table: ChunkTable, word: str, book: int | None) -> bool:
    return bool(table.text_search(word, k=1, book=book))
