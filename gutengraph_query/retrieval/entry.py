"""Where a question enters the graph: the nodes it names, else those whose vectors are nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_core import names
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.records import Node
from gutengraph_query.retrieval.any_graph import AnyGraph

EXACT = 1.0
"""The score of a node that the question names: nothing is surer."""
_NAMESAKES = 3
"""Of several people of one name (in several books, or a father and a son) the most mentioned are entered."""


@dataclass(frozen=True)
class Entry:
    """A node where the walk begins. `score`: cosine of the node with the question; 1 if it is named."""

    node: Node
    score: float


class NameIndex:
    """All names and aliases of one version of the graph, by their folded words.

    A name without its title ('Bennet' for 'Mr. Bennet') leads to its bearers where nobody bears it as it stands.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._exact: dict[tuple[str, ...], list[Node]] = {}
        self._untitled: dict[tuple[str, ...], list[Node]] = {}
        for node in nodes:
            for name in dict.fromkeys((node.name, *node.aliases)):
                _put(self._exact, name, node)
                titles, rest = names.split_title(name)
                if titles:
                    _put(self._untitled, rest, node)

    def __contains__(self, words: Sequence[str]) -> bool:
        return tuple(words) in self._exact or tuple(words) in self._untitled

    def find(self, name: str, book: int | None = None) -> list[Node]:
        """The nodes that bear `name`, most mentioned first; only those of `book` if given."""
        for table in (self._exact, self._untitled):
            found = [n for n in table.get(tuple(names.words(name)), ()) if book in (None, n.book)]
            if found:
                return sorted(found, key=lambda n: (-n.mentions, n.id))
        return []

    def knows(self, words: Sequence[str], book: int | None) -> bool:
        """Whether some node (of `book`) bears the name that these folded words make."""
        return bool(self.find(" ".join(words), book))


def _put(table: dict[tuple[str, ...], list[Node]], name: str, node: Node) -> None:
    bearers = table.setdefault(tuple(names.words(name)), [])
    if node not in bearers:
        bearers.append(node)


def named(index: NameIndex, spans: Sequence[str], book: int | None) -> list[Entry]:
    """An entry for each node that the question names, in the order of the question."""
    found: dict[str, Entry] = {}
    for span in spans:
        for node in index.find(span, book)[:_NAMESAKES]:
            found.setdefault(node.id, Entry(node, EXACT))
    return list(found.values())


def nearest(graph: AnyGraph, query: Matrix, *, book: int | None, limit: int) -> list[Entry]:
    """The `limit` nodes whose vectors have the highest cosine with `query` [dimension], best first."""
    found = graph if isinstance(graph, Graph) else graph.vectors
    return [Entry(node, cosine) for node, cosine in found.nearest(query, book=book, limit=limit)]
