"""`app`: the query graph, compiled once.

    supervisor -> vector_agent -> graph_agent -> merge
               -> tools_agent

The route decides which of the two agents is asked; in `auto`, a route that finds too little goes on to the other.
In `tools` a model that can call tools asks and answers by itself.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph

from gutengraph_query.nodes.graph_agent import graph_agent
from gutengraph_query.nodes.merge import merge
from gutengraph_query.nodes.supervisor import supervisor
from gutengraph_query.nodes.tools_agent import tools_agent
from gutengraph_query.nodes.vector_agent import vector_agent
from gutengraph_query.state import QueryInput, QueryState

RECURSION_LIMIT = 12
"""The longest way is five steps; LangGraph's own default is 10,007."""


def after_supervisor(state: QueryState) -> Literal["vector_agent", "graph_agent", "tools_agent"]:
    if state["routed_to"] == "tools":
        return "tools_agent"
    return "graph_agent" if state["routed_to"] == "graph" else "vector_agent"


def after_vector(state: QueryState) -> Literal["graph_agent", "merge"]:
    return "graph_agent" if _goes_on(state, "graph_agent", found="vector_results") else "merge"


def after_graph(state: QueryState) -> Literal["vector_agent", "merge"]:
    return "vector_agent" if _goes_on(state, "vector_agent", found="graph_results") else "merge"


def _goes_on(state: QueryState, other: str, *, found: Literal["vector_results", "graph_results"]) -> bool:
    if other in state["asked"]:
        return False
    return state["routed_to"] == "hybrid" or (state["mode"] == "auto" and not _enough(state, found))


def _enough(state: QueryState, found: Literal["vector_results", "graph_results"]) -> bool:
    """Passages are; of the graph only what was looked up: a walk is near the question, an answer it is seldom."""
    if found == "vector_results":
        return bool(state["vector_results"])
    return any(hit["by"] == "lookup" for hit in state["graph_results"])


def build() -> StateGraph[QueryState, None, QueryInput, QueryState]:
    """The graph before it is compiled."""
    graph = StateGraph(QueryState, input_schema=QueryInput)
    graph.add_node("supervisor", supervisor)
    graph.add_node("vector_agent", vector_agent)
    graph.add_node("graph_agent", graph_agent)
    graph.add_node("tools_agent", tools_agent)
    graph.add_node("merge", merge)
    graph.add_edge(START, "supervisor")
    graph.add_conditional_edges("supervisor", after_supervisor)
    graph.add_conditional_edges("vector_agent", after_vector)
    graph.add_conditional_edges("graph_agent", after_graph)
    graph.add_edge("merge", END)
    graph.add_edge("tools_agent", END)
    return graph


app = build().compile(name="gutengraph").with_config(recursion_limit=RECURSION_LIMIT)
