"""The tool router's three tools. A model chooses among them by their docstrings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from langchain_core.tools import BaseTool, tool

from gutengraph_query.brains import Brains
from gutengraph_query.catalogue import SCHEMA, Catalogue
from gutengraph_query.retrieval.edges import edge_quote
from gutengraph_query.retrieval.ego import walk
from gutengraph_query.retrieval.entry import named, nearest
from gutengraph_query.retrieval.passages import Search, find_passages
from gutengraph_query.scope import Scope
from gutengraph_query.state import GraphHit, PassageHit

_PATHS = 20
_TEXT = 600
"""Characters of a passage that go back to the model: five of them fit its context beside the rest."""


@dataclass
class Gathered:
    """What the tools of one question have returned: the evidence for its answer."""

    passages: list[PassageHit] = field(default_factory=list)
    paths: list[GraphHit] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    """SQL and Cypher that was run."""


def tools_for(here: Brains, gathered: Gathered, scope: Scope) -> list[BaseTool]:
    """The three tools over what one question may be answered from."""
    book = scope.book

    def query_catalogue(sql: str) -> dict[str, Any]:
        graph = here.published() if scope.up_to is None else None  # who is in a book is told by its chapters
        catalogue = Catalogue(here.library, graph, books=scope.books)
        try:
            found = catalogue.query(sql)
        finally:
            catalogue.close()
        gathered.statements.append(sql)
        return {"columns": found.columns, "rows": found.rows}

    query_catalogue.__doc__ = (
        "Count, list or compare: run one SQL SELECT (DuckDB) over the catalogue and its statistics. "
        f"Tables: {'; '.join(SCHEMA)}. `book` is books.id. At most 50 rows come back."
    )

    def search_documents(query: str, book_id: int | None = None) -> list[dict[str, Any]]:
        """Find passages of prose by meaning and words: what happens, how something is described, what is said.
        `book_id` keeps to one book (books.id)."""
        found = find_passages(
            here.passages(scope),
            query,
            here.query_vector(query),
            Search.of(here.settings),
            book=book if book is not None else book_id,
        )
        gathered.passages += [
            p for p in found if p["chunk_id"] not in {q["chunk_id"] for q in gathered.passages}
        ]
        return [
            {"book": p["book"], "title": p["title"], "chapter": p["chapter"], "text": p["text"][:_TEXT]}
            for p in found
        ]

    def traverse_knowledge_graph(
        start: str, hops: int = 1, book_id: int | None = None
    ) -> list[dict[str, Any]]:
        """Walk the graph from a character, place or ship: who is related to whom, and where it says so.
        `start` is a name, `hops` 1 or 2, `book_id` keeps to one book (books.id)."""
        within = book if book is not None else book_id
        view = here.graph(scope)
        query = here.query_vector(start)
        entries = named(view.index, [start], within)
        if not entries:
            near = nearest(view.graph, query, book=within, limit=1)
            entries = [e for e in near if e.score >= here.path_threshold]
        found = walk(
            view.graph,
            entries,
            query,
            max_hops=max(1, min(hops, here.settings.max_hops)),
            hub_degree=here.settings.hub_degree,
            book=within,
            statements=gathered.statements,
        )[:_PATHS]
        known = {hit["line"] for hit in gathered.paths}
        for trail in found:
            if trail.line not in known:
                edges = [
                    edge_quote(edge, view.graph, first=node)
                    for node, edge in zip(trail.nodes, trail.edges, strict=False)
                ]
                gathered.paths.append(
                    GraphHit(
                        by="walk",
                        line=trail.line,
                        answer="",
                        book=trail.edges[0].book,
                        score=1.0,
                        edges=edges,
                    )
                )
        return [{"path": t.line, "chapter": t.edges[-1].chapter, "quote": t.edges[-1].quote} for t in found]

    return [tool(query_catalogue), tool(search_documents), tool(traverse_knowledge_graph)]
