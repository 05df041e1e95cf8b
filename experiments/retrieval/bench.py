"""What the studies of retrieval share: the gold questions, a library's passages, and how a ranking is scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.passages import Passage
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import GoldQuestion, load_gold
from gutengraph_query.evaluate.score import holds_answer, holds_quote
from gutengraph_query.nodes.supervisor import book_of_question
from gutengraph_query.understanding.question import names_apart

K = 5


@dataclass(frozen=True)
class Asked:
    """A gold question, its vector, and the book that it leads to by itself (None: all)."""

    gold: GoldQuestion
    vector: Matrix
    book: int | None


def questions(here: Brains, gold_dir: Path, books: Sequence[int] = ()) -> list[Asked]:
    """Every question of the gold's books, or of these, in their order."""
    return [
        Asked(question, here.query_vector(question.question), book_of_question(here, question.question))
        for book in load_gold(gold_dir)
        if not books or book.gutenberg_id in books
        for question in book.questions
    ]


@dataclass(frozen=True)
class Score:
    """Shares: of the questions whose quote holds the answer, and of all."""

    hit: float
    answer: float


SCORES = tuple(Score.__dataclass_fields__)


def score(asked: Sequence[Asked], find: Callable[[Asked], Sequence[Passage]]) -> Score:
    """The shares for which one of the five passages of `find` has the quote, and the answer."""
    hits, answers = [], []
    for question in asked:
        texts = [passage.text for passage in find(question)[:K]]
        answers.append(any(holds_answer(text, question.gold) for text in texts))
        if question.gold.answer_in_quote:
            hits.append(any(holds_quote(text, question.gold) for text in texts))
    return Score(round(float(np.mean(hits)), 3), round(float(np.mean(answers)), 3))


FIGURES = tuple(
    f"{what}@5_{by}{wide}"
    for wide in ("", "_wide")
    for by in ("vector", "hybrid")
    for what in ("hit", "answer")
)
"""What `table_scores` tells; `_wide`: with a neighbour on either side of each passage."""


def _by(table: ChunkTable) -> dict[str, Callable[[Asked], list[Passage]]]:
    def by_vector(one: Asked) -> list[Passage]:
        return table.search(one.vector, k=K, book=one.book)

    def by_both(one: Asked) -> list[Passage]:
        words, named = names_apart(one.gold.question)
        return table.hybrid_search(one.vector, words, names=named, k=K, book=one.book)

    return {"vector": by_vector, "hybrid": by_both}


def table_scores(table: ChunkTable, asked: Sequence[Asked]) -> dict[str, float]:
    """FIGURES of a table of chunks, over all its books at once: by vectors, and by vectors and full text."""
    found: dict[str, float] = {}
    for name, find in _by(table).items():
        ranked = {one.gold.id: find(one) for one in asked}
        alone = score(asked, lambda one, r=ranked: r[one.gold.id])
        wide = score(asked, lambda one, r=ranked: table.widen(r[one.gold.id], by=1))
        found |= {
            f"hit@5_{name}": alone.hit,
            f"answer@5_{name}": alone.answer,
            f"hit@5_{name}_wide": wide.hit,
            f"answer@5_{name}_wide": wide.answer,
        }
    return found


def found_by(table: ChunkTable, asked: Sequence[Asked]) -> dict[str, list[int]]:
    """`vector` and `hybrid` -> for each question 1 where five passages with their neighbours hold its answer."""
    return {
        name: [
            int(any(holds_answer(p.text, one.gold) for p in table.widen(find(one), by=1))) for one in asked
        ]
        for name, find in _by(table).items()
    }
