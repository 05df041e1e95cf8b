"""Asks the graph brain: typed lookups and ready queries first, then Cypher by a model that can write it, then the
ego graph around the nodes that the question enters by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gutengraph_core.graph.records import Edge, book_of
from gutengraph_core.llm.compiled import load_compiled
from gutengraph_query.brains import Brains, GraphView, brains
from gutengraph_query.nodes.common import Update, count, message, spent, timed
from gutengraph_query.prompts.cypher import CypherReply
from gutengraph_query.retrieval.any_graph import AnyGraph
from gutengraph_query.retrieval.cypher import Written, cells, told, write_and_run
from gutengraph_query.retrieval.edges import edge_quote
from gutengraph_query.retrieval.ego import ScoredWalk, joining, keep_relevant, walk
from gutengraph_query.retrieval.entry import Entry, named, nearest
from gutengraph_query.retrieval.lookup import Found, Lookup, Lookups
from gutengraph_query.retrieval.passages import passage_hit
from gutengraph_query.retrieval.templates import NEEDS_EDGE, Call, by_shape, fill
from gutengraph_query.scope import Scope
from gutengraph_query.state import EntryNode, GraphHit, PassageHit, QueryState
from gutengraph_query.understanding.question import Question, read_question

ENTRIES = 3
"""Nodes entered by vector where the question names none: the gold entry node is among the first three."""
NO_PATHS = "no relevant paths"
_TOLD = 3
"""Edges told of one node: its surest."""
_SHOWN = 10


@dataclass
class _Search:
    """One question on its way through the graph."""

    here: Brains
    view: GraphView
    question: Question
    book: int | None
    title: str
    hits: list[GraphHit] = field(default_factory=list)
    total: int = 0
    entry: Entry | None = None
    statements: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    written: Written = field(default_factory=Written)
    passage_ids: list[str] = field(default_factory=list)


@timed("graph_agent")
def graph_agent(state: QueryState) -> Update:
    """Fill `graph_results`, `graph_passages`, `entry` and `cypher`.

    Raises NotBuilt, EmbedderMismatch, StoreError, and what the model raises.
    """
    here = brains()
    scope = Scope.of(state)
    book = scope.book
    view = here.graph(scope)
    question = read_question(state["query"], lambda words: view.index.knows(words, book))
    search = _Search(here, view, question, book, here.title(book) if book is not None else "")
    if question.lists and question.names:  # 'which people do A and B both know' lists not everybody
        text = _ready_query(search) or _looked_up(search)
    else:
        text = _looked_up(search) or _ready_query(search)
    # What a model's own query returns cannot be held to chapters, nor to some books.
    if not text and scope.up_to is None and (scope.books is None or book is not None):
        text = _model_query(search)
    if not text:
        text = _walked(search)
    entry = search.entry
    return {
        "graph_results": search.hits,
        "graph_passages": _tied(search, scope),
        "graph_total": search.total,
        "entry": EntryNode(node=entry.node.name, score=round(entry.score, 4)) if entry else None,
        "cypher": ";\n".join(dict.fromkeys(search.statements)),
        "asked": [*state.get("asked", []), "graph_agent"],
        "tokens": spent(
            state,
            calls=search.written.calls,
            prompt=search.written.prompt_tokens,
            completion=search.written.completion_tokens,
        ),
        "messages": [message("graph_agent", note) for note in (*search.notes, text)],
    }


def _looked_up(search: _Search) -> str:
    """What a typed lookup found, in words; '' if nothing."""
    lookup = Lookups(search.view.graph, search.view.index, book=search.book).answer(search.question)
    search.statements += lookup.statements
    if not lookup.found:
        return ""
    search.entry = _first_named(search)
    search.total = len(lookup.found)
    search.hits = [_of_lookup(found, search.view.graph) for found in lookup.found[: _most(search)]]
    return _told(lookup)


def _ready_query(search: _Search) -> str:
    """What the template for the question's shape found, in words; '' if nothing."""
    call = by_shape(search.question, title=search.title)
    return _called(search, call, book=search.book) if call is not None else ""


def _called(search: _Search, call: Call, *, book: int | None) -> str:
    graph = search.view.graph
    filled = fill(call, graph, search.view.index, book=book)
    search.statements.append(filled.statement)
    hits: list[GraphHit] = []
    edges = graph.edges_of([*filled.anchors], book=book) if filled.anchors else []
    for row in filled.rows:
        joined = [edge for edge in edges if row.id in (edge.source, edge.target)]
        if joined or call.template.name not in NEEDS_EDGE:
            hits.append(_named_hit(row.id, row.name, joined, graph))
    if not hits:
        search.notes.append(f"The ready query {call.template.name} found nothing.")
        return ""
    search.entry = _first_named(search)
    search.total = len(hits)
    search.hits = hits[: _most(search)]
    if not search.entry:
        search.passage_ids += [p for row in filled.rows[:_TOLD] for p in row.passages[:1]]
    shown = "\n".join(hit["line"] for hit in search.hits[:_SHOWN])
    return f"{count(len(hits), 'answer')} by the ready query {call.template.name}:\n{shown}"


def _model_query(search: _Search) -> str:
    """What the model's own query found, in words; '' if it wrote none that finds something."""
    llm = search.here.instructed()
    if llm is None:
        return ""
    compiled = load_compiled(search.here.settings.compiled_prompts, "cypher", llm.identity, reply=CypherReply)
    written = write_and_run(
        search.question.text, title=search.title, llm=llm, run=search.here.worker.run, compiled=compiled
    )
    search.written = written
    search.statements += written.statements
    search.notes += written.notes
    if written.call is not None:
        return _called(search, written.call, book=search.book)
    if written.rows is None:
        return ""
    graph, index = search.view.graph, search.view.index
    anchors = {node.id for name in search.question.names for node in index.find(name.text, search.book)[:1]}
    rows = [row for row in written.rows.rows if cells(row)]
    for row in rows[: _most(search)]:
        near = [node for cell in cells(row) for node in index.find(cell, search.book)[:1]]
        ids = {node.id for node in near} | anchors
        edges = [
            edge
            for edge in (graph.edges_of([node.id for node in near], book=search.book) if near else [])
            if {edge.source, edge.target} <= ids
        ]
        answer = next((node.name for node in near if node.id not in anchors), cells(row)[0])
        search.hits.append(
            GraphHit(
                by="cypher",
                line=told(written.rows, row),
                answer=answer,
                book=near[0].book if near else search.book or 0,
                score=1.0,
                edges=[edge_quote(edge, graph, first=near[0].id) for edge in edges[:_TOLD]],
            )
        )
    search.total = len(rows)
    search.entry = _first_named(search)
    shown = "\n".join(hit["line"] for hit in search.hits[:_SHOWN])
    return f"{count(len(rows), 'row')} by Cypher:\n{shown}"


def _walked(search: _Search) -> str:
    """The relevant paths around the entry nodes, as lines; or that there are none."""
    entries = entry_nodes(search.here, search.view, search.question, search.book)
    walks = _walks(search.here, search.view, search.question, entries, search.book, search.statements)
    if search.question.between:
        walks = joining(walks, entries) or walks
    search.hits = [hit_of_walk(w, search.view.graph) for w in walks]
    search.entry = entries[0] if entries else None
    return "\n".join(hit["line"] for hit in search.hits) if search.hits else f"Found {NO_PATHS}."


def _first_named(search: _Search) -> Entry | None:
    exact = named(search.view.index, [name.text for name in search.question.names], search.book)
    return exact[0] if exact else None


def _most(search: _Search) -> int:
    return search.here.settings.max_paths


def _tied(search: _Search, scope: Scope) -> list[PassageHit]:
    """The passages in which the words of the paths stand, in the order of the paths, as many as the merge reads."""
    places: dict[int, list[int]] = {}
    for hit in search.hits:
        for edge in hit["edges"]:
            places.setdefault(edge["book"], []).append(edge["start"])
    ids = list(search.passage_ids)
    for book, starts in places.items():
        ids += search.view.graph.passages_at(book, starts)
    most = search.here.settings.top_k
    table = search.here.passages(scope)
    return [passage_hit(passage) for passage in table.passages(list(dict.fromkeys(ids))[:most])]


def entry_nodes(here: Brains, view: GraphView, question: Question, book: int | None) -> list[Entry]:
    """The nodes that the question names, else those nearest to it whose cosine reaches the threshold."""
    exact = named(view.index, [name.text for name in question.names], book)
    if exact:
        return exact
    near = nearest(view.graph, here.query_vector(question.text), book=book, limit=ENTRIES)
    return [entry for entry in near if entry.score >= here.path_threshold]


def _named_hit(node: str, name: str, edges: Sequence[Edge], graph: AnyGraph) -> GraphHit:
    """An answer of a ready query, with the edges that say so where it rests on some."""
    return GraphHit(
        by="lookup",
        line=edges[0].line if edges else name,
        answer=name,
        book=book_of(node),
        score=round(max((edge.confidence for edge in edges), default=1.0), 4),
        edges=[edge_quote(edge, graph, first=node) for edge in edges[:_TOLD]],
    )


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
        threshold=here.path_threshold,
        limit=settings.max_paths,
    )


def _told(lookup: Lookup) -> str:
    asked = f" for '{lookup.asked}'" if lookup.asked else ""
    shown = "\n".join(
        found.edges[0].line if found.edges else found.node.name for found in lookup.found[:_SHOWN]
    )
    return f"{count(len(lookup.found), 'answer')}{asked}:\n{shown}"


def _of_lookup(found: Found, graph: AnyGraph) -> GraphHit:
    edges = found.edges[:_TOLD]
    return GraphHit(
        by="lookup",
        line=edges[0].line if edges else found.node.name,
        answer=found.node.name,
        book=found.node.book,
        score=round(found.confidence, 4),
        edges=[edge_quote(edge, graph, first=found.node.id) for edge in edges],
    )


def hit_of_walk(scored: ScoredWalk, graph: AnyGraph) -> GraphHit:
    """A path as the state holds it, with the quotes of its edges."""
    trail = scored.walk
    return GraphHit(
        by="walk",
        line=trail.line,
        answer="",
        book=trail.edges[0].book,
        score=round(scored.score, 4),
        edges=[
            edge_quote(edge, graph, first=node) for node, edge in zip(trail.nodes, trail.edges, strict=False)
        ],
    )
