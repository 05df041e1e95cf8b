"""Whether the five passages found for a question hold its quote or its answer, over all books at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import GoldQuestion
from gutengraph_query.evaluate.score import Share, holds_answer, holds_quote, share
from gutengraph_query.nodes.supervisor import book_of_question
from gutengraph_query.retrieval.passages import Search, find_passages

K = 5

SEARCHES: tuple[Literal["vector", "hybrid"], ...] = ("vector", "hybrid")


def passages_found(here: Brains, question: GoldQuestion) -> dict[str, bool | None]:
    """`hit@5_…` (None where the quote does not hold the answer) and `answer@5_…` by each search, as
    if no book had been named: it is the question that may lead to one. `…_core`: of the chunks by themselves,
    without their neighbours.
    """
    query = here.query_vector(question.question)
    book = book_of_question(here, question.question)
    found: dict[str, bool | None] = {}
    for by in SEARCHES:
        search = replace(Search.of(here.settings), k=K, by=by)
        hits = find_passages(here.table, question.question, query, search, book=book)
        found |= _held(by, [hit["text"] for hit in hits], question)
        found |= _held(f"{by}_core", [hit["core"] for hit in hits], question)
    return found


def _held(name: str, texts: Sequence[str], question: GoldQuestion) -> dict[str, bool | None]:
    quoted = any(holds_quote(text, question) for text in texts)
    return {
        f"hit@5_{name}": quoted if question.answer_in_quote else None,
        f"answer@5_{name}": any(holds_answer(text, question) for text in texts),
    }


def passage_shares(found: Sequence[dict[str, bool | None]]) -> dict[str, Share]:
    """The shares over scored questions, of each search even where there was no question: hits over those whose quote
    holds the answer, answers over all."""
    shares = {}
    for name in (
        f"{what}@{K}_{by}{core}" for by in SEARCHES for core in ("", "_core") for what in ("hit", "answer")
    ):
        counted = [one[name] for one in found if one.get(name) is not None]
        shares[name] = share(sum(map(bool, counted)), len(counted))
    return shares
