"""Kinship that is known of whole novels, and what a run's relations are against it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from experiments.relations.recall import KIN, RANK
from experiments.relations.rerun import Rerun
from gutengraph_assets.extraction.entities import Entity
from gutengraph_assets.extraction.relations.find import Relation
from gutengraph_core.graph.schema import SYMMETRIC
from gutengraph_query.evaluate.gold import GoldBook

NOT_KIN = "not_kin"
_JUDGED = KIN | RANK | {NOT_KIN, "grandparent_of", "step_parent_of"}
Verdict = Literal["right", "wrong", "unknown"]


@dataclass(frozen=True)
class Known:
    """`a` is `type` `b`; each end under any of several names."""

    book: int
    a: tuple[str, ...]
    type: str
    b: tuple[str, ...]
    reason: str = ""


def load_known(path: Path, gold: Sequence[GoldBook] = ()) -> list[Known]:
    """The lines 'book | a | type | b' of a file, and the gold relations with all names that the gold gives an end."""
    known = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            book, a, type_, b, *reason = (part.strip() for part in line.split("|"))
            ends = tuple(a.split(" = ")), tuple(b.split(" = "))
            known.append(Known(int(book), ends[0], type_, ends[1], reason[0] if reason else ""))
    for novel in gold:
        names = {c.name: (c.name, *c.aliases, *c.also_accept) for c in novel.characters}
        known += [
            Known(novel.gutenberg_id, names.get(r.a, (r.a,)), r.type, names.get(r.b, (r.b,)))
            for r in novel.relations
        ]
    return known


class Facts:
    """What is known of one book, by the ids of a run."""

    def __init__(self, known: Sequence[Known], run: Rerun) -> None:
        self._ids: dict[str, set[str]] = defaultdict(set)
        for entity in [*run.people, *run.others]:
            for name in (entity.name, *entity.aliases):
                self._ids[name.casefold()].add(entity.id)
        self._run = run
        self.wanted = [k for k in known if k.book == run.book]
        self._types: dict[frozenset[str], set[tuple[str, str, str]]] = defaultdict(set)
        for fact in self.wanted:
            for a in self.ends(fact.a):
                for b in self.ends(fact.b):
                    self._types[frozenset((a, b))].add((a, fact.type, b))
                    if fact.type in SYMMETRIC:
                        self._types[frozenset((a, b))].add((b, fact.type, a))

    def ends(self, names: Sequence[str]) -> set[str]:
        """Whom the names are of; the first name that is the chief name of somebody decides alone."""
        chief = {e.id for e in self._entities() for name in names if e.name.casefold() == name.casefold()}
        return chief or set().union(*(self._ids.get(name.casefold(), set()) for name in names))

    def _entities(self) -> Sequence[Entity]:
        return [*self._run.people, *self._run.others]

    def reason(self, relation: Relation) -> str:
        """Why, in the words of whoever knows the novel; else what is known of the two."""
        pair = frozenset((relation.source, relation.target))
        for fact in self.wanted:
            if fact.reason and any(
                frozenset((a, b)) == pair for a in self.ends(fact.a) for b in self.ends(fact.b)
            ):
                return fact.reason
        types = self._types.get(pair, set())
        if (relation.source, relation.type, relation.target) in types:
            return "so in the novel"
        names = self._run.names
        said = sorted(f"{names[a]} {t} {names[b]}" for a, t, b in types if t not in SYMMETRIC or a < b)
        return "; ".join(said).replace("not_kin", "is no kin of") or "nothing is known of the two"

    def verdict(self, relation: Relation) -> Verdict:
        """Right, or wrong where something else of its group is known of the two; else unknown."""
        types = self._types.get(frozenset((relation.source, relation.target)), set())
        if (relation.source, relation.type, relation.target) in types:
            return "right"
        if relation.type == "engaged_to" and any(t == "spouse_of" for _, t, _ in types):
            return "right"
        grouped = {t for _, t, _ in types if t in _JUDGED}
        if any(t == f"not {relation.type}" for _, t, _ in types):
            return "wrong"
        return "wrong" if grouped and relation.type in _JUDGED else "unknown"

    def found(self, fact: Known) -> bool:
        """Whether the run has a relation that says this."""
        a, b = self.ends(fact.a), self.ends(fact.b)
        return any(
            r.type == fact.type
            and (
                (r.source in a and r.target in b)
                or (fact.type in SYMMETRIC and r.source in b and r.target in a)
            )
            for r in self._run.relations
        )
