"""An edge as evidence: its line, its quote, and what it says in words."""

from __future__ import annotations

from gutengraph_core.graph.records import Edge
from gutengraph_core.graph.schema import STATED, SYMMETRIC
from gutengraph_query.retrieval.any_graph import AnyGraph
from gutengraph_query.state import EdgeQuote
from gutengraph_query.understanding.relation_words import said


def edge_quote(edge: Edge, graph: AnyGraph, *, first: str) -> EdgeQuote:
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


def in_words(edge: Edge, graph: AnyGraph, *, first: str) -> str:
    """An edge as a sentence: 'Ahab is captain of Pequod.' A symmetric relation begins with `first`."""
    turned = edge.type in SYMMETRIC and edge.target == first
    subject, other = (edge.target, edge.source) if turned else (edge.source, edge.target)
    gender = graph.vectors.nodes[graph.vectors.row[subject]].gender
    kind = said(edge.type, gender=gender, sure=edge.confidence >= STATED)
    return f"{edge.name(subject)} {kind} {edge.name(other)}."
