"""What every node does: it takes its time, and says what it found in a message."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol

from langchain_core.messages import AIMessage

from gutengraph_query.state import QueryState, Tokens

Update = dict[str, Any]


class Node(Protocol):
    """A node of the query graph: the state in, what changes out."""

    def __call__(self, state: QueryState) -> Update: ...


def timed(name: str) -> Callable[[Node], Node]:
    """Adds the seconds that the node took to `timings[name]`."""

    def wrap(node: Node) -> Node:
        @wraps(node)
        def run(state: QueryState) -> Update:
            start = time.perf_counter()
            update = node(state)
            earlier = update.get("timings", state.get("timings") or {})
            update["timings"] = {**earlier, name: round(time.perf_counter() - start, 4)}
            return update

        return run

    return wrap


def message(name: str, text: str) -> AIMessage:
    """What a node found, for Studio and for whoever follows the run."""
    return AIMessage(content=text, name=name)


def count(n: int, noun: str) -> str:
    """'1 passage', '5 passages'."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def spent(state: QueryState, *, calls: int, prompt: int, completion: int, estimated: bool = False) -> Tokens:
    """The question's tokens so far and those of one more node."""
    before = state.get("tokens") or Tokens(calls=0, prompt=0, completion=0, estimated=False)
    return Tokens(
        calls=before["calls"] + calls,
        prompt=before["prompt"] + prompt,
        completion=before["completion"] + completion,
        estimated=before["estimated"] or estimated,
    )
