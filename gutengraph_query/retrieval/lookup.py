"""Typed lookups: a question that asks for a relation by its name is answered by the edges of that type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gutengraph_core.graph.records import Edge, Node
from gutengraph_core.graph.schema import SYMMETRIC
from gutengraph_query.retrieval.any_graph import AnyGraph
from gutengraph_query.retrieval.entry import NameIndex
from gutengraph_query.understanding.question import Anchor, Name, Question, Relation
from gutengraph_query.understanding.relation_words import Asked

_NAMESAKES = 3


@dataclass(frozen=True)
class Found:
    """A node that a relation of the question leads to, with the edges that say so, surest first."""

    node: Node
    edges: tuple[Edge, ...]
    met: int
    """How many of the question's relations it stands in."""

    @property
    def confidence(self) -> float:
        return max((edge.confidence for edge in self.edges), default=0.0)


@dataclass
class Lookup:
    """What the edges answer. `asked` is the relation's word; '' for lists, descriptions and pairs."""

    found: list[Found] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    asked: str = ""


class Lookups:
    """Answers questions from one version of the graph, within one book if one is given."""

    def __init__(self, graph: AnyGraph, index: NameIndex, *, book: int | None) -> None:
        self._graph = graph
        self._index = index
        self._book = book
        self._nodes = {node.id: node for node in graph.vectors.nodes}
        self._statements: list[str] = []

    def answer(self, question: Question) -> Lookup:
        """Whatever the shape of the question allows; an empty Lookup if it asks for no relation."""
        self._statements = []
        if question.between:
            found, asked = self._between(question), ""
        elif question.relations:
            found, asked = self._related(question.relations), question.relations[0].word
        elif question.lists:
            found, asked = self._all(question.lists), ""
        elif question.describes:
            found, asked = self._describe(question.names[0]), ""
        else:
            found, asked = [], ""
        return Lookup(found, list(self._statements), asked)

    def _related(self, relations: Sequence[Relation]) -> list[Found]:
        met: dict[str, list[tuple[Edge, ...]]] = {}
        for relation in relations:
            for node, edges in self._follow(relation).items():
                met.setdefault(node, []).append(edges)
        most = max((len(edges) for edges in met.values()), default=0)
        found = [
            Found(self._nodes[node], tuple(e for edges in parts for e in edges), len(parts))
            for node, parts in met.items()
            if len(parts) == most  # 'the aunt of A and patroness of B' is one person
        ]
        return sorted(found, key=lambda f: (-f.confidence, -f.node.mentions, f.node.id))

    def _follow(self, relation: Relation) -> dict[str, tuple[Edge, ...]]:
        """Node -> the edges that lead to it, the last step first."""
        anchors = self._anchors(relation.anchor)
        if not anchors:
            return {}
        asked = relation.asked
        types = sorted({kind for kind, _ in asked.ends})
        edges = self._graph.edges_of(list(anchors), types=types, book=self._book, statements=self._statements)
        reached: dict[str, tuple[Edge, ...]] = {}
        for edge in edges:
            for anchor in (edge.source, edge.target):
                other = edge.other(anchor)
                if anchor in anchors and other not in anchors and self._fits(edge, other, asked):
                    reached[other] = (*reached.get(other, ()), edge, *anchors[anchor])
        return {node: tuple(dict.fromkeys(edges)) for node, edges in reached.items()}

    def _anchors(self, anchor: Anchor) -> dict[str, tuple[Edge, ...]]:
        if isinstance(anchor, Relation):
            return self._follow(anchor)
        return {node.id: () for node in self._index.find(anchor.text, self._book)[:_NAMESAKES]}

    def _fits(self, edge: Edge, answer: str, asked: Asked) -> bool:
        node = self._nodes[answer]
        stands = "source" if answer == edge.source else "target"
        right_end = edge.type in SYMMETRIC or (edge.type, stands) in asked.ends
        right_gender = not (asked.gender and node.gender) or node.gender == asked.gender
        right_label = not asked.label or node.label == asked.label
        return right_end and right_gender and right_label

    def _between(self, question: Question) -> list[Found]:
        ends = [
            {n.id for n in self._index.find(name.text, self._book)[:_NAMESAKES]} for name in question.names
        ]
        edges = self._graph.edges_of(sorted(ends[0]), book=self._book, statements=self._statements)
        joined = [e for e in edges if any({e.source, e.target} & other for other in ends[1:])]
        by_node: dict[str, list[Edge]] = {}
        for edge in joined:
            by_node.setdefault(edge.source, []).append(edge)
        return [Found(self._nodes[node], tuple(told), 1) for node, told in by_node.items()]

    def _describe(self, name: Name) -> list[Found]:
        found = []
        for node in self._index.find(name.text, self._book)[:1]:
            edges = self._graph.edges_of([node.id], book=self._book, statements=self._statements)
            if edges:
                found.append(Found(node, tuple(edges), 1))
        return found

    def _all(self, label: str) -> list[Found]:
        conditions = [f"starts_with(n.id, '{self._book}:')"] if self._book is not None else []
        if label == "Character":
            conditions.append("n.standing = 'cast'")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        statement = f"MATCH (n:{label}){where} RETURN n.id AS id ORDER BY n.mentions DESC, n.id"
        self._statements.append(statement)
        return [Found(self._nodes[row["id"]], (), 1) for row in self._graph.rows(statement)]
