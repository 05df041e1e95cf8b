"""Asks the vector brain: the passages nearest to the question."""

from __future__ import annotations

from gutengraph_query.brains import brains
from gutengraph_query.nodes.common import Update, count, message, timed
from gutengraph_query.retrieval.passages import Search, find_passages
from gutengraph_query.scope import Scope
from gutengraph_query.state import QueryState


@timed("vector_agent")
def vector_agent(state: QueryState) -> Update:
    """Fill `vector_results`. Raises NotBuilt, EmbedderMismatch, StoreError."""
    here = brains()
    found = find_passages(
        here.passages(Scope.of(state)),
        state["query"],
        here.query_vector(state["query"]),
        Search.of(here.settings),
        book=state.get("book"),
    )
    if found:
        places = ", ".join(f"{p['title']} chapter {p['chapter']}" for p in found)
        text = f"Found {count(len(found), 'passage')}: {places}."
    else:
        text = "No passage comes near the question."
    return {
        "vector_results": found,
        "asked": [*state.get("asked", []), "vector_agent"],
        "messages": [message("vector_agent", text)],
    }
