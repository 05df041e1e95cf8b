"""How long a question takes without a language model: vector, graph and hybrid retrieval over a built library.

    python -m benchmarks.retrieval --home HOME --gold GOLD_DIR [--rounds 3]

Every gold question is asked of all books at once, in each mode, after one unmeasured round. Measured is what the
nodes do between the question and the evidence: the question's embedding, searches, lookups, the walk with the
embedding of its lines; the language model has no part in it. The machine should be quiet.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.results import table, write
from gutengraph_core.settings import Settings
from gutengraph_query.brains import Brains, using
from gutengraph_query.evaluate.gold import load_gold
from gutengraph_query.nodes.graph_agent import graph_agent
from gutengraph_query.nodes.vector_agent import vector_agent
from gutengraph_query.state import QueryState, fresh

TARGET_P50, TARGET_P95 = 150, 400
"""Milliseconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    here = Brains(Settings(home=given.home, llm="embedded", query_llm=None))
    questions = [q.question for book in load_gold(given.gold) for q in book.questions]
    with using(here):
        here.query_vector("Who?")
        here.graph()
        seconds = {name: _measured(here, ask, questions, given.rounds) for name, ask in MODES.items()}
    rows = [(name, *_row(found)) for name, found in seconds.items()]
    graph = here.graph().graph
    what = (
        f"{len(graph.books)} books, {here.table.count():,} passages, {len(graph.vectors.nodes):,} nodes; "
        f"{len(questions)} questions, {given.rounds} rounds. Milliseconds; the targets are {TARGET_P50} at p50 and "
        f"{TARGET_P95} at p95."
    )
    head = ("mode", "p50", "p95", "longest", "within the targets")
    write("retrieval", "Retrieval without a language model", f"{what}\n\n{table(head, rows)}")


def _row(seconds: list[float]) -> tuple[str, str, str, str]:
    p50, p95 = 1000 * statistics.median(seconds), 1000 * _percentile(seconds, 0.95)
    met = "yes" if p50 < TARGET_P50 and p95 < TARGET_P95 else "no"
    return f"{p50:.0f}", f"{p95:.0f}", f"{1000 * max(seconds):.0f}", met


def _vector(state: QueryState) -> None:
    vector_agent(state)


def _graph(state: QueryState) -> None:
    graph_agent(state)


def _hybrid(state: QueryState) -> None:
    vector_agent(state)
    graph_agent(state)


MODES: dict[str, Callable[[QueryState], None]] = {"vector": _vector, "graph": _graph, "hybrid": _hybrid}


def _measured(
    here: Brains, ask: Callable[[QueryState], None], questions: list[str], rounds: int
) -> list[float]:
    found = []
    for round_ in range(rounds + 1):
        for question in questions:
            state = QueryState(**fresh(), query=question, mode="hybrid", book=None, up_to=None)  # type: ignore[typeddict-item]
            start = time.perf_counter()
            ask(state)
            if round_:
                found.append(time.perf_counter() - start)
    return found


def _percentile(values: list[float], share: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(100 * share) - 1]


if __name__ == "__main__":
    main()
