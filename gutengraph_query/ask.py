"""One question asked, and its answer as the document that every face shows."""

from __future__ import annotations

import time
from typing import cast

from typing_extensions import TypedDict

from gutengraph_core.kinds import Kind
from gutengraph_query.brains import Brains, using
from gutengraph_query.state import Citation, EntryNode, Mode, QueryState, Route, Tokens
from gutengraph_query.tracing import tracing

COMPARED: tuple[Mode, ...] = ("vector", "graph", "hybrid")


class Answer(TypedDict):
    """What `gutengraph ask --json` prints."""

    question: str
    mode: Mode
    routed_to: Route
    notice: str
    """Which brain could not be asked yet, and why; '' if none was left out."""
    answer: str
    known: bool
    citations: list[Citation]
    cypher: str
    entry: EntryNode | None
    paths: list[str]
    model: str
    timings: dict[str, float]
    tokens: Tokens


class Comparison(TypedDict):
    """What `gutengraph compare --json` prints."""

    question: str
    answers: dict[str, Answer]


def run(
    here: Brains,
    question: str,
    *,
    mode: Mode = "auto",
    book: int | None = None,
    up_to: int | None = None,
    author: str | None = None,
    kind: Kind | None = None,
) -> QueryState:
    """The final state for one question. Raises what the nodes raise."""
    from gutengraph_query.app import app

    with using(here), tracing():
        state = app.invoke(
            {"query": question, "mode": mode, "book": book, "up_to": up_to, "author": author, "kind": kind}
        )
    return cast(QueryState, state)


def ask(
    here: Brains,
    question: str,
    *,
    mode: Mode = "auto",
    book: int | None = None,
    up_to: int | None = None,
    author: str | None = None,
    kind: Kind | None = None,
) -> Answer:
    """Answer one question, about one book, an author's books, a kind of books, or all."""
    start = time.perf_counter()
    state = run(here, question, mode=mode, book=book, up_to=up_to, author=author, kind=kind)
    return answer_of(state, seconds=time.perf_counter() - start)


def answer_of(state: QueryState, *, seconds: float) -> Answer:
    """The document of a final state."""
    return Answer(
        question=state["query"],
        mode=state["mode"],
        routed_to=state["routed_to"],
        notice=state["notice"],
        answer=state["answer"],
        known=state["known"],
        citations=state["citations"],
        cypher=state["cypher"],
        entry=state["entry"],
        paths=[hit["line"] for hit in state["graph_results"] if hit["edges"]],
        model=state["model"],
        timings={**state["timings"], "total": round(seconds, 4)},
        tokens=state["tokens"],
    )


def compare(
    here: Brains,
    question: str,
    *,
    book: int | None = None,
    up_to: int | None = None,
    author: str | None = None,
    kind: Kind | None = None,
) -> Comparison:
    """The same question in three modes. The models are loaded first, so that no mode pays for it."""
    here.warm(question)
    answers: dict[str, Answer] = {
        m: ask(here, question, mode=m, book=book, up_to=up_to, author=author, kind=kind) for m in COMPARED
    }
    return Comparison(question=next(iter(answers.values()))["question"], answers=answers)
