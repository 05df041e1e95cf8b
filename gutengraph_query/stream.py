"""A question followed node by node: what each found as soon as it found it, and the answer at the end.

The answer itself comes whole. Its sentences are checked against the evidence, and those that name a stranger
are taken out: a reader who saw them as they were written would have read what the books do not say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from gutengraph_core.kinds import Kind
from gutengraph_query.ask import Answer, answer_of
from gutengraph_query.brains import Brains, using
from gutengraph_query.state import Mode, QueryState
from gutengraph_query.tracing import tracing


@dataclass(frozen=True)
class Step:
    """One node of the graph has done its part."""

    node: str
    said: list[str]
    """Its messages."""
    routed_to: str = ""
    passages: list[dict[str, Any]] = field(default_factory=list)
    """Book, chapter, start and end of the passages that it found."""
    paths: list[str] = field(default_factory=list)
    """Lines of the graph that it found."""


@dataclass(frozen=True)
class Answered:
    """The end: the answer, and the state it was made from."""

    answer: Answer
    state: QueryState


class Stopped(Exception):
    """Whoever asked has gone."""


def follow(
    here: Brains,
    question: str,
    *,
    mode: Mode = "auto",
    book: int | None = None,
    up_to: int | None = None,
    author: str | None = None,
    kind: Kind | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Step | Answered]:
    """Ask, and yield each step as it ends, then the answer. Raises what the nodes raise.

    Between two nodes `stopped` is asked: if it says yes, Stopped is raised and the rest is not done.
    """
    from gutengraph_query.app import app

    start = time.perf_counter()
    asked: Any = {
        "query": question,
        "mode": mode,
        "book": book,
        "up_to": up_to,
        "author": author,
        "kind": kind,
    }
    state: QueryState = {}
    with using(here), tracing():
        events = cast(Iterator[tuple[str, Any]], app.stream(asked, stream_mode=["updates", "values"]))
        for what, event in events:
            if what == "values":
                state = cast(QueryState, event)
                continue
            if stopped():
                raise Stopped
            for node, update in event.items():
                yield _step(node, update or {})
    yield Answered(answer_of(state, seconds=time.perf_counter() - start), state)


def _step(node: str, update: dict[str, Any]) -> Step:
    return Step(
        node=node,
        said=[str(m.content) for m in update.get("messages", []) if m.type == "ai"],
        routed_to=update.get("routed_to", ""),
        passages=[
            {key: hit[key] for key in ("book", "title", "chapter", "start", "end")}
            for hit in update.get("vector_results", [])
        ]
        if node == "vector_agent"
        else [],
        paths=[hit["line"] for hit in update.get("graph_results", [])] if node == "graph_agent" else [],
    )
