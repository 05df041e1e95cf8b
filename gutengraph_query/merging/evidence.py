"""The evidence for an answer, numbered in the order in which the answer cites it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gutengraph_core import names
from gutengraph_query.state import Citation, EdgeQuote, GraphHit, PassageHit

_Key = tuple[str, int, int, int]


@dataclass
class Evidence:
    """What the agents found for one question."""

    facts: Sequence[GraphHit]
    passages: Sequence[PassageHit]
    _cited: dict[_Key, Citation] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return not self.facts and not self.passages

    def cite_passage(self, passage: PassageHit) -> str:
        """`[n]` for a passage."""
        return self._cite(_of_passage(passage))

    def cite_edge(self, edge: EdgeQuote) -> str:
        """`[n]` for an edge: it stands for the place whose words are the edge's quote."""
        return self._cite(_of_edge(edge))

    def citations(self) -> list[Citation]:
        """All evidence: what was cited first, by number, then the rest, numbered on."""
        for fact in self.facts:
            for edge in fact["edges"]:
                self.cite_edge(edge)
        for passage in self.passages:
            self.cite_passage(passage)
        return sorted(self._cited.values(), key=lambda c: c["n"])

    def cores(self) -> dict[_Key, str]:
        """The chunk alone of each passage, by the key of its citation: for a model that cannot read more."""
        return {key_of(_of_passage(p)): names.squeeze(p["core"]) for p in self.passages}

    def text(self) -> str:
        """Everything in it, in which a name of the answer must stand."""
        edges = [edge for fact in self.facts for edge in fact["edges"]]
        told = [fact["line"] for fact in self.facts] + [f"{e['sentence']} {e['quote']}" for e in edges]
        return "\n".join([*told, *(p["text"] for p in self.passages)])

    def _cite(self, citation: Citation) -> str:
        key = key_of(citation)
        if key not in self._cited:
            citation["n"] = len(self._cited) + 1
            self._cited[key] = citation
        return f"[{self._cited[key]['n']}]"


def key_of(citation: Citation) -> _Key:
    """What tells one citation from another, whatever its number."""
    return citation["kind"], citation["book"], citation["start"], citation["end"]


def _of_passage(passage: PassageHit) -> Citation:
    return Citation(
        n=0,
        kind="passage",
        book=passage["book"],
        chapter=passage["chapter"],
        start=passage["start"],
        end=passage["end"],
        text=names.squeeze(passage["text"]),
    )


def _of_edge(edge: EdgeQuote) -> Citation:
    return Citation(
        n=0,
        kind="edge",
        book=edge["book"],
        chapter=edge["chapter"],
        start=edge["start"],
        end=edge["end"],
        text=edge["quote"],
    )


@dataclass(frozen=True)
class Draft:
    """An answer before it is shown."""

    text: str
    known: bool
    model: str = ""
    """The model that had a part in it; '' where rules sufficed."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    notes: tuple[str, ...] = ()
    """What was caught and dropped on the way."""
