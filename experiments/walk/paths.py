"""The walks of one question, scored once and then cut at any threshold."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_query.brains import Brains
from gutengraph_query.nodes.graph_agent import ENTRIES
from gutengraph_query.retrieval.ego import ScoredWalk, keep_relevant, walk
from gutengraph_query.retrieval.entry import Entry, named, nearest
from gutengraph_query.understanding.question import read_question

_ALL = -1.0
_EVERY = 10**6


@dataclass(frozen=True)
class Walked:
    """A question's entry nodes, nearest first, and all its walks with their cosines; `seconds`: to walk and score."""

    entries: tuple[Entry, ...]
    walks: tuple[ScoredWalk, ...]
    seconds: float

    @property
    def best(self) -> float:
        """The highest cosine of a path; -1 where there is none."""
        return max((one.score for one in self.walks), default=_ALL)

    def kept(self, threshold: float, *, limit: int) -> list[ScoredWalk]:
        """What the pipeline would show: from entries and over paths that reach the threshold, best first.

        An entry that the question names counts as 1. The walk itself was made from all entries, so that of two
        entries by vector, one under the threshold, the other's walks can be fewer than the pipeline's.
        """
        open_to = {entry.node.id for entry in self.entries if entry.score >= threshold}
        found = [s for s in self.walks if s.walk.nodes[0] in open_to and s.score >= threshold]
        return found[:limit]


def walked(here: Brains, question: str, *, book: int | None, hops: int) -> Walked:
    """Walk `hops` edges from the nodes that a question names, else from the three nearest, and score every path.

    Raises NotBuilt, StoreError, EmbedderMismatch.
    """
    view = here.graph()
    query = here.query_vector(question)
    began = time.perf_counter()
    read = read_question(question, lambda words: view.index.knows(words, book))
    entries: Sequence[Entry] = named(view.index, [name.text for name in read.names], book)
    entries = entries or nearest(view.graph, query, book=book, limit=ENTRIES)
    trails = walk(view.graph, entries, query, max_hops=hops, hub_degree=here.settings.hub_degree, book=book)
    scored = keep_relevant(trails, query, here.embedder.embed_documents, threshold=_ALL, limit=_EVERY)
    return Walked(tuple(entries), tuple(scored), time.perf_counter() - began)
