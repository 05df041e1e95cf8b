"""The ego graph: an undirected walk from the entry nodes, hubs pruned, kept where it fits the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.graph.records import Edge, Node
from gutengraph_query.retrieval.any_graph import AnyGraph
from gutengraph_query.retrieval.entry import Entry

_FRONTIER = 32
"""Walks that go on from one hop to the next, and walks whose lines are embedded: the ones whose last node is
nearest to the question. It bounds the work whatever the graph (a line costs 2 ms to embed on two cores)."""


@dataclass(frozen=True)
class Walk:
    """A trail (no edge twice) from an entry node: `nodes[i]` and `nodes[i + 1]` are joined by `edges[i]`."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    @property
    def line(self) -> str:
        """`Ahab -[CAPTAIN_OF]-> Pequod <-[FIRST_MATE_OF]- Starbuck`: arrows as the edges point."""
        text = self.edges[0].name(self.nodes[0])
        for node, edge in zip(self.nodes, self.edges, strict=False):
            kind, other = edge.type.upper(), edge.other(node)
            arrow = f"-[{kind}]->" if edge.source == node else f"<-[{kind}]-"
            text += f" {arrow} {edge.name(other)}"
        return text


@dataclass(frozen=True)
class ScoredWalk:
    """A walk with the cosine of its line and the question."""

    walk: Walk
    score: float


def walk(
    graph: AnyGraph,
    entries: Sequence[Entry],
    query: Matrix,
    *,
    max_hops: int,
    hub_degree: int,
    book: int | None,
    statements: list[str] | None = None,
) -> list[Walk]:
    """Trails of 1 to `max_hops` edges over RELATED_TO and INTERACTS_WITH from each entry, either way.

    A node with `hub_degree` or more distinct neighbours ends a trail and is never walked through; an entry
    node is, whatever its degree. At most 32 trails a hop, those whose last node is nearest to the question.
    The statements that were run are appended to `statements`.
    """
    nodes = {node.id: node for node in graph.vectors.nodes}
    nearness = _nearness(graph, query)
    start = {entry.node.id for entry in entries}
    trails = [Walk((entry.node.id,), ()) for entry in entries]
    found: list[Walk] = []
    for _ in range(max_hops):
        open_ends = [t for t in trails if _goes_on(nodes[t.nodes[-1]], start, hub_degree)]
        if not open_ends:
            break
        ends = sorted({t.nodes[-1] for t in open_ends})
        edges = _by_node(graph.edges_of(ends, book=book, statements=statements), ends)
        longer = [
            Walk((*t.nodes, edge.other(t.nodes[-1])), (*t.edges, edge))
            for t in open_ends
            for edge in edges.get(t.nodes[-1], ())
            if edge not in t.edges and edge.other(t.nodes[-1]) not in t.nodes
        ]
        longer.sort(key=lambda t: (-nearness(t.nodes[-1]), -t.edges[-1].confidence, t.nodes, t.line))
        trails = longer[:_FRONTIER]
        found += trails
    return found


def keep_relevant(
    walks: Sequence[Walk],
    query: Matrix,
    embed: Callable[[Sequence[str]], Matrix],
    *,
    threshold: float,
    limit: int,
) -> list[ScoredWalk]:
    """The walks whose line has a cosine of `threshold` or more with the question, best first, at most `limit`."""
    if not walks:
        return []
    lines = [w.line for w in walks]
    distinct = list(dict.fromkeys(lines))
    cosines = dict(zip(distinct, (embed(distinct) @ query).tolist(), strict=True))
    scored = [ScoredWalk(w, cosines[line]) for w, line in zip(walks, lines, strict=True)]
    kept = [s for s in scored if s.score >= threshold]
    kept.sort(key=lambda s: (-s.score, len(s.walk.edges), s.walk.line))
    once = {
        frozenset(e.key for e in s.walk.edges): s for s in reversed(kept)
    }  # a trail, told from either end
    return [s for s in kept if once[frozenset(e.key for e in s.walk.edges)] is s][:limit]


def joining(walks: Sequence[ScoredWalk], entries: Sequence[Entry]) -> list[ScoredWalk]:
    """The walks that lead from one entry to another, shortest first."""
    ends = {entry.node.id for entry in entries}
    found = [s for s in walks if s.walk.nodes[0] in ends and s.walk.nodes[-1] in ends]
    return sorted(found, key=lambda s: (len(s.walk.edges), -s.score))


def _goes_on(node: Node, start: set[str], hub_degree: int) -> bool:
    return node.id in start or node.degree < hub_degree


def _by_node(edges: Sequence[Edge], ends: Sequence[str]) -> dict[str, list[Edge]]:
    """Each end's edges."""
    wanted = set(ends)
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        for end in {edge.source, edge.target} & wanted:
            found.setdefault(end, []).append(edge)
    return found


def _nearness(graph: AnyGraph, query: Matrix) -> Callable[[str], float]:
    cosines = graph.vectors.cosines(query)
    row = graph.vectors.row
    return lambda node: float(np.float32(cosines[row[node]]))
