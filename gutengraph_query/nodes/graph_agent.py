"""Asks the graph brain: typed lookups first, then the ego graph around the nodes that the question enters by."""

from __future__ import annotations

from collections.abc import Sequence

from gutengraph_core.graph.read import Edge, Graph
from gutengraph_core.graph.schema import STATED, SYMMETRIC
from gutengraph_query.brains import Brains, GraphView, brains
from gutengraph_query.nodes.common import Update, count, message, timed
from gutengraph_query.retrieval.ego import ScoredWalk, joining, keep_relevant, walk
from gutengraph_query.retrieval.entry import Entry, named, nearest
from gutengraph_query.retrieval.lookup import Found, Lookup, Lookups
from gutengraph_query.state import EdgeQuote, EntryNode, GraphHit, QueryState
from gutengraph_query.understanding.question import Question, read_question
from gutengraph_query.understanding.relation_words import said

ENTRIES = 3
"""Nodes entered by vector where the question names none: the gold entry node is among the first three."""
NO_PATHS = "no relevant paths"
_TOLD = 3
"""Edges told of one node: its surest."""
_SHOWN = 10


@timed("graph_agent")
def graph_agent(state: QueryState) -> Update:
    """Fill `graph_results`, `entry` and `cypher`. Raises NotBuilt, EmbedderMismatch, StoreError."""
    here = brains()
    view = here.graph()
    book = state.get("book")
    question = read_question(state["query"], lambda words: view.index.knows(words, book))
    lookup = Lookups(view.graph, view.index, book=book).answer(question)
    statements = list(lookup.statements)
    entries = entry_nodes(here, view, question, book)
    if lookup.found:
        hits = [_of_lookup(found, view.graph) for found in lookup.found[: here.settings.max_paths]]
        text = _told(lookup)
    else:
        walks = _walks(here, view, question, entries, book, statements)
        if question.between:
            walks = joining(walks, entries) or walks
        hits = [_of_walk(w, view.graph) for w in walks]
        text = "\n".join(hit["line"] for hit in hits) if hits else f"Found {NO_PATHS}."
    return {
        "graph_results": hits,
        "graph_total": len(lookup.found),
        "entry": EntryNode(node=entries[0].node.name, score=round(entries[0].score, 4)) if entries else None,
        "cypher": ";\n".join(dict.fromkeys(statements)),
        "asked": [*state.get("asked", []), "graph_agent"],
        "messages": [message("graph_agent", text)],
    }


def entry_nodes(here: Brains, view: GraphView, question: Question, book: int | None) -> list[Entry]:
    """The nodes that the question names, else those nearest to it."""
    exact = named(view.index, [name.text for name in question.names], book)
    return exact or nearest(view.graph, here.query_vector(question.text), book=book, limit=ENTRIES)


def _walks(
    here: Brains,
    view: GraphView,
    question: Question,
    entries: Sequence[Entry],
    book: int | None,
    statements: list[str],
) -> list[ScoredWalk]:
    settings = here.settings
    query = here.query_vector(question.text)
    found = walk(
        view.graph,
        entries,
        query,
        max_hops=settings.max_hops,
        hub_degree=settings.hub_degree,
        book=book,
        statements=statements,
    )
    return keep_relevant(
        found,
        query,
        here.embedder.embed_documents,
        threshold=settings.path_threshold,
        limit=settings.max_paths,
    )


def _told(lookup: Lookup) -> str:
    asked = f" for '{lookup.asked}'" if lookup.asked else ""
    shown = "\n".join(
        found.edges[0].line if found.edges else found.node.name for found in lookup.found[:_SHOWN]
    )
    return f"{count(len(lookup.found), 'answer')}{asked}:\n{shown}"


def _of_lookup(found: Found, graph: Graph) -> GraphHit:
    edges = found.edges[:_TOLD]
    return GraphHit(
        by="lookup",
        line=edges[0].line if edges else found.node.name,
        answer=found.node.name,
        book=found.node.book,
        score=round(found.confidence, 4),
        edges=[_quoted(edge, graph, first=found.node.id) for edge in edges],
    )


def _of_walk(scored: ScoredWalk, graph: Graph) -> GraphHit:
    trail = scored.walk
    return GraphHit(
        by="walk",
        line=trail.line,
        answer="",
        book=trail.edges[0].book,
        score=round(scored.score, 4),
        edges=[
            _quoted(edge, graph, first=node) for node, edge in zip(trail.nodes, trail.edges, strict=False)
        ],
    )


def _quoted(edge: Edge, graph: Graph, *, first: str) -> EdgeQuote:
    return EdgeQuote(
        line=edge.line,
        book=edge.book,
        chapter=edge.chapter,
        start=edge.start,
        end=edge.end,
        quote=edge.quote,
        confidence=round(edge.confidence, 4),
        sentence=in_words(edge, graph, first=first),
    )


def in_words(edge: Edge, graph: Graph, *, first: str) -> str:
    """An edge as a sentence: 'Ahab is captain of Pequod.' A symmetric relation begins with `first`."""
    turned = edge.type in SYMMETRIC and edge.target == first
    subject, other = (edge.target, edge.source) if turned else (edge.source, edge.target)
    gender = graph.vectors.nodes[graph.vectors.row[subject]].gender
    kind = said(edge.type, gender=gender, sure=edge.confidence >= STATED)
    return f"{edge.name(subject)} {kind} {edge.name(other)}."
