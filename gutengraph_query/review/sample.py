"""What a person is asked to judge of a book: some of its cast, its places, its joins of names, its relations.

Of each kind the first `per_kind` by the hash of what they claim. Nothing is chosen by how sure the build was, the
same graph gives the same sample, a larger sample holds the smaller one, and a book that was built again keeps
the items that still stand. They are shown in that order too, so that a review that is stopped early has judged a
random part of each kind that it reached.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from pydantic import BaseModel, Field

from gutengraph_core import names
from gutengraph_core.files import read_table
from gutengraph_core.graph.records import Node
from gutengraph_core.library import Library
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import Importance
from gutengraph_query.listing import graph_with
from gutengraph_query.views.notions import Merge, merges
from gutengraph_query.views.people import nodes_of

Kind = Literal["person", "place", "merge", "relation"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PER_KIND = 30
"""Items of each kind: Wilson's interval is then .05 to .18 to either side, in about a quarter of an hour."""
_SPOTS = 3
_IMPORTANCE: dict[str | None, Importance] = {
    "protagonist": "major",
    "antagonist": "major",
    "supporting": "intermediate",
}


class Spot(BaseModel):
    """A place of the body that bears on an item: body[start:end]."""

    start: int
    end: int


class Item(BaseModel):
    """One claim. A person or place: that `a` is one of the book. A merge: that `a` and `b` are one person. A relation:
    that `a` is TYPE `b`."""

    key: str
    kind: Kind
    a: str
    type: str = ""
    b: str = ""
    entity: str = Field(default="", description="Of a merge: the name of the person whose names they became.")
    names: list[str] = Field(default=[], description="Of a person or place: its other names.")
    importance: Importance = Field(
        default="minor", description="Of a person: what the build's own role suggests."
    )
    ends: list[str] = Field(default=[], description="Of a relation: the labels of a and b.")
    spots: list[Spot] = Field(default=[], description="Where to look, best first.")


class Sample(BaseModel):
    """The items, and how many of each kind they were drawn from."""

    items: list[Item]
    population: dict[Kind, int]


def draw(here: Brains, book: int, *, per_kind: int) -> Sample:
    """The sample of a built book. Raises UnknownBook, NotBuilt, StoreError."""
    graph = graph_with(here, book)
    nodes = nodes_of(graph, book)
    spots = _Spots(here.library, book)
    labels = {node.id: node.label for node in nodes}
    claims: dict[Kind, list[Item]] = {
        "person": [_person(n, spots) for n in nodes if n.label == "Character" and n.standing == "cast"],
        "place": [_named("place", n, spots) for n in nodes if n.label == "Location"],
        "merge": [_merge(row, spots) for row in merges(here.library, book)],
        "relation": [
            Item(
                key=f"relation:{edge.source_name}|{edge.type}|{edge.target_name}",
                kind="relation",
                a=edge.source_name,
                type=edge.type,
                b=edge.target_name,
                ends=[labels.get(edge.source, ""), labels.get(edge.target, "")],
                spots=[Spot(start=edge.start, end=edge.end)],
            )
            for edge in graph.relations(book)
        ],
    }
    drawn = {kind: first(book, _distinct(found), per_kind) for kind, found in claims.items()}
    return Sample(
        items=[item for kind in KINDS for item in drawn[kind]],
        population={kind: len(_distinct(claims[kind])) for kind in KINDS},
    )


def first(book: int, items: Iterable[Item], most: int) -> list[Item]:
    """The first `most` by SHA-256 of the book's number and the item's key."""
    return sorted(items, key=lambda item: hashlib.sha256(f"{book} {item.key}".encode()).digest())[:most]


def _distinct(items: Sequence[Item]) -> list[Item]:
    """Two people of one name make one claim of it."""
    return list({item.key: item for item in reversed(items)}.values())


def _person(node: Node, spots: _Spots) -> Item:
    item = _named("person", node, spots)
    return item.model_copy(update={"importance": _IMPORTANCE.get(node.role, "minor")})


def _named(kind: Kind, node: Node, spots: _Spots) -> Item:
    others = [alias for alias in dict.fromkeys(node.aliases) if alias != node.name]
    return Item(key=f"{kind}:{node.name}", kind=kind, a=node.name, names=others, spots=spots.spread(node.id))


def _merge(row: Merge, spots: _Spots) -> Item:
    quoted = [Spot(start=row.start, end=row.end)] if row.start is not None and row.end is not None else []
    seen = [spot for name in (row.a, row.b) for spot in spots.of_name(row.entity, name)]
    a, b = sorted((row.a, row.b))
    return Item(key=f"merge:{a}|{b}", kind="merge", a=row.a, b=row.b, entity=row.name, spots=[*quoted, *seen])


class _Spots:
    """Mentions of the book's nodes, in reading order."""

    def __init__(self, library: Library, book: int) -> None:
        columns = ("entity", "surface", "start", "end")
        table = read_table(library.path(book, "graph/evidence.parquet")).select(columns)
        self._of: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for row in sorted(table.to_pylist(), key=lambda row: row["start"]):
            self._of[row["entity"]].append((row["start"], row["end"], names.key(row["surface"] or "")))

    def spread(self, entity: str) -> list[Spot]:
        """The first, the middle and the last mention."""
        found = self._of.get(entity, [])
        places = sorted({round(i * (len(found) - 1) / (_SPOTS - 1)) for i in range(_SPOTS)}) if found else []
        return [Spot(start=found[i][0], end=found[i][1]) for i in places]

    def of_name(self, entity: str, name: str) -> list[Spot]:
        """The first mention by that name."""
        wanted = names.key(name)
        found = (Spot(start=a, end=b) for a, b, key in self._of.get(entity, []) if key == wanted)
        return [spot for spot in (next(found, None),) if spot is not None]
