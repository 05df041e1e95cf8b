"""What the studies of retrieval share: the gold questions, a library's passages, and how a ranking is scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.passages import Passage
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import GoldQuestion, load_gold
from gutengraph_query.evaluate.score import holds_answer, holds_quote
from gutengraph_query.nodes.supervisor import book_of_question

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


def score(asked: Sequence[Asked], find: Callable[[Asked], Sequence[Passage]]) -> Score:
    """The shares for which one of the five passages of `find` has the quote, and the answer."""
    hits, answers = [], []
    for question in asked:
        texts = [passage.text for passage in find(question)[:K]]
        answers.append(any(holds_answer(text, question.gold) for text in texts))
        if question.gold.answer_in_quote:
            hits.append(any(holds_quote(text, question.gold) for text in texts))
    return Score(round(float(np.mean(hits)), 3), round(float(np.mean(answers)), 3))
