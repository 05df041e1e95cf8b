"""A graph that questions are put to: the published one, or what may be told of it."""

from __future__ import annotations

from gutengraph_core.graph.read import Graph
from gutengraph_query.retrieval.reading import ReadGraph
from gutengraph_query.retrieval.some_books import SomeBooks

AnyGraph = Graph | ReadGraph | SomeBooks
