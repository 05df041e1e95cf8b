"""`gutengraph evaluate`: every built book of a gold folder scored, each by itself and in total."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict

from gutengraph_core import names
from gutengraph_core.errors import NotBuilt, UnknownBook
from gutengraph_core.graph.read import Graph
from gutengraph_core.library import now
from gutengraph_query.ask import run
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.foreign import FOREIGN
from gutengraph_query.evaluate.gold import GoldBook, GoldQuestion, load_gold
from gutengraph_query.evaluate.memo import RememberingEmbedder
from gutengraph_query.evaluate.passages import passage_shares, passages_found
from gutengraph_query.evaluate.score import (
    Entry,
    FoundRelation,
    Share,
    added,
    alias_scores,
    answer_is_right,
    character_scores,
    holds_answer,
    holds_quote,
    relation_scores,
    share,
)
from gutengraph_query.listing import graph_with
from gutengraph_query.merging.spans import capitalised
from gutengraph_query.state import Mode, QueryState

MODES: tuple[Mode, ...] = ("vector", "graph", "hybrid", "auto")

Scores = dict[str, Share]
Say = Callable[[str], None]


class BookReport(TypedDict, total=False):
    """Scores of one book, or why it has none."""

    title: str
    built: bool
    reason: str
    scores: Scores
    answers: list[dict[str, Any]]
    """Question by question: its kind, whether each mode is right, and what it answered."""


class Report(TypedDict):
    """What `gutengraph evaluate --json` prints."""

    per_book: dict[str, BookReport]
    total: Scores
    foreign: list[dict[str, Any]]
    """Questions whose answer is in no book: what each mode answered, and whether it claimed to know."""
    models: dict[str, str]
    command: str
    date: str


def evaluate(here: Brains, gold_dir: Path, *, command: str, say: Say) -> Report:
    """Score every gold book that is built; questions are asked within their book. `say` gets a line of progress.

    Books that are not built are listed with the reason and count in no total. Raises SettingsError if the folder
    holds no gold, NotBuilt if none of its books is built.
    """
    gold = load_gold(gold_dir)
    here = here.with_embedder(RememberingEmbedder(here.embedder))
    per_book: dict[str, BookReport] = {}
    for book in gold:
        try:
            graph = graph_with(here, book.gutenberg_id)
        except (NotBuilt, UnknownBook) as missing:
            per_book[str(book.gutenberg_id)] = BookReport(title=book.title, built=False, reason=missing.what)
            say(f"{book.title}: not built, left out.")
            continue
        per_book[str(book.gutenberg_id)] = _score_book(here, graph, book, say)
    built = [report["scores"] for report in per_book.values() if report["built"]]
    if not built:
        ids = " ".join(per_book)
        raise NotBuilt(
            "None of the gold's books is built.",
            remedy=f"Run `gutengraph add {ids}`, then `gutengraph build {ids}`.",
        )
    foreign = _ask_foreign(here, say)
    return Report(
        per_book=per_book,
        total={**_total(built), **foreign_scores(foreign)},
        foreign=foreign,
        models=_models(here, [int(b) for b, report in per_book.items() if report["built"]]),
        command=command,
        date=now(),
    )


def _score_book(here: Brains, graph: Graph, book: GoldBook, say: Say) -> BookReport:
    entries, relations = what_was_found(graph, book.gutenberg_id)
    characters = [entry for entry, label in entries if label == "Character"]
    scores = {
        **character_scores(book, characters),
        **alias_scores(book, characters),
        **relation_scores(book, [entry for entry, _ in entries], relations),
    }
    say(f"{book.title}: {len(characters)} characters, {len(relations)} relations scored.")
    others = _names_of_others(graph, here, book.gutenberg_id) if book.questions else frozenset()
    answers = []
    for n, question in enumerate(book.questions, start=1):
        states = {m: run(here, question.question, mode=m, book=book.gutenberg_id) for m in MODES}
        found = passages_found(here, question)
        answers.append(_scored_question(question, states, found, others))
        say(f"{book.title}: question {n} of {len(book.questions)} asked in {len(MODES)} modes.")
    scores |= question_scores(answers)
    return BookReport(title=book.title, built=True, scores=scores, answers=answers)


def what_was_found(graph: Graph, book: int) -> tuple[list[tuple[Entry, str]], list[FoundRelation]]:
    """A book's entries with their labels, and its relations, as the gold's scores take them."""
    nodes = [node for node in graph.vectors.nodes if node.book == book]
    entries = [
        (Entry(n.id, tuple(dict.fromkeys((n.name, *n.aliases))), n.standing == "cast"), n.label)
        for n in nodes
    ]
    return entries, [FoundRelation(e.source, e.type, e.target) for e in graph.relations(book)]


def _names_of_others(graph: Graph, here: Brains, book: int) -> frozenset[str]:
    """Names of the other books' characters that do not stand in this one, folded."""
    rows, _ = here.table.rows(book)
    text = f" {' '.join(names.words(' '.join(rows['text'].to_pylist())))} "
    theirs = {
        names.key(name)
        for node in graph.vectors.nodes
        if node.label == "Character" and node.book != book
        for name in (node.name, *node.aliases)
    }
    return frozenset(name for name in theirs if name and f" {name} " not in text)


def _ask_foreign(here: Brains, say: Say) -> list[dict[str, Any]]:
    found = []
    for question in FOREIGN:
        states = {m: run(here, question, mode=m) for m in MODES}
        found.append(
            {
                "question": question,
                "known": {mode: state["known"] for mode, state in states.items()},
                "answer": {mode: state["answer"] for mode, state in states.items()},
            }
        )
    say(f"{len(FOREIGN)} questions asked whose answer is in no book.")
    return found


def foreign_scores(asked: Sequence[dict[str, Any]]) -> Scores:
    """For each mode, of how many questions whose answer is in no book it says that it does not know."""
    return {
        f"unknown_{mode}_on_foreign_questions": share(sum(not a["known"][mode] for a in asked), len(asked))
        for mode in MODES
    }


def _scored_question(
    question: GoldQuestion,
    states: dict[Mode, QueryState],
    found: dict[str, bool | None],
    others: frozenset[str],
) -> dict[str, Any]:
    passages = [hit["text"] for hit in states["vector"]["vector_results"]][:5]
    return {
        "id": question.id,
        "kind": question.mode,
        "question": question.question,
        "routed_to": states["auto"]["routed_to"],
        "hit@5": any(holds_quote(p, question) for p in passages) if question.answer_in_quote else None,
        "answer@5": any(holds_answer(p, question) for p in passages),
        "all_books": found,
        "right": {mode: answer_is_right(state["answer"], question) for mode, state in states.items()},
        "known": {mode: state["known"] for mode, state in states.items()},
        "answer": {mode: state["answer"] for mode, state in states.items()},
        "cross_book": {mode: cross_book(state["answer"], others) for mode, state in states.items()},
    }


def cross_book(answer: str, others: frozenset[str]) -> list[str]:
    """The names in an answer that are of characters of other books."""
    return [name for name in capitalised(answer) if names.key(name) in others]


def question_scores(answers: Sequence[dict[str, Any]]) -> Scores:
    """Passage and answer rates over scored questions; answer rates also by the kind of question.

    `passage_hit@5` and `answer@5`: of what the vector agent found within the book; with a search's name behind
    it, of what that search found over all books.
    """
    quoted = [a for a in answers if a["hit@5"] is not None]
    scores = {
        "passage_hit@5": share(sum(a["hit@5"] for a in quoted), len(quoted)),
        "answer@5": share(sum(a["answer@5"] for a in answers), len(answers)),
        **passage_shares([a["all_books"] for a in answers]),
    }
    for mode in MODES:
        scores[f"answer_{mode}"] = share(sum(a["right"][mode] for a in answers), len(answers))
    for mode in MODES:
        scores[f"known_{mode}"] = share(sum(a["known"][mode] for a in answers), len(answers))
        scores[f"cross_book_names_{mode}"] = share(
            sum(bool(a["cross_book"][mode]) for a in answers), len(answers)
        )
    for kind in ("vector", "graph", "hybrid"):
        of_kind = [a for a in answers if a["kind"] == kind]
        for mode in MODES:
            name = f"answer_{mode}_on_{kind}_questions"
            scores[name] = share(sum(a["right"][mode] for a in of_kind), len(of_kind))
    return scores


def _total(per_book: Sequence[Scores]) -> Scores:
    return {name: added(scores[name] for scores in per_book) for name in per_book[0]}


def _models(here: Brains, books: Sequence[int]) -> dict[str, str]:
    """What built the books, and what answered."""
    records = [here.library.record(book) for book in books]
    return {
        "llm": ", ".join(sorted({record.llm for record in records if record.llm})),
        "embedder": ", ".join(sorted({record.embedder for record in records if record.embedder})),
        "query_llm": str(here.llm.identity),
    }
