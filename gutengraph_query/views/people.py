"""The cast, the relations, the places and the network of a book, whole or as far as a reader has read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel, Field

from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.records import Edge, Node, book_of
from gutengraph_core.graph.schema import HAPPENS_AT, LABELS, STATED, TAKES_PART
from gutengraph_core.library import Library
from gutengraph_query.listing import relation_row
from gutengraph_query.views.appearances import Appearances, Seen, appearances

_NOWHERE = Seen({}, {}, (0, 0))
_DRAWN = 200
"""Nodes whose company is told: more than a screen can show."""
_COMPANIONS = 3
_LEAST_SHARED = 2
"""One passage shared is chance as often as not."""


class Being(BaseModel):
    """A node of a book: a person, place, thing or event."""

    id: str
    label: str = Field(examples=["Character"])
    name: str
    aliases: list[str]
    standing: str = Field(description="Of a character: cast or mentioned. Else empty.")
    role: str | None = Field(description="A judgement on the whole book: not given with `up_to`.")
    gender: str | None
    character_type: str | None = Field(
        default=None, description="Not given with `up_to`, as all down to `arc`."
    )
    social_class: str | None = None
    motivation: str | None = Field(
        default=None, description="By an instruct model only, from a quote that stands."
    )
    arc: str | None = None
    kind: str = Field(
        description="Of a place, thing or event, for instance 'vessel' or 'battle'. Empty for an event of which a later "
        "chapter than `up_to` tells too: a death may turn out to be a murder."
    )
    mentions: int
    windows: int
    degree: int = Field(description="Distinct neighbours over the relations that are given.")
    chapters: list[tuple[int, int]] = Field(description="Chapter, mentions in it.")
    first: tuple[int, int] = Field(description="Offsets of the first mention in the book's body.")


class Relation(BaseModel):
    """Read: a is TYPE b."""

    source: str
    target: str
    a: str
    type: str
    b: str
    quote: str
    start: int
    end: int
    chapter: int
    how: str
    confidence: float
    stated: bool = Field(description="The text says so; else it is likely.")


class Event(BaseModel):
    """Something that happens in a book, or that it names."""

    event: Being
    people: list[Being] = Field(description="Who took part: who died, married, was tried.")
    places: list[Being]
    told: list[Relation] = Field(description="The sentences that say so.")


class Together(BaseModel):
    """Two nodes that are mentioned in the same passages. It claims no relation."""

    a: str
    b: str
    passages: int
    chapters: list[tuple[int, int]] = Field(description="Chapter, passages in it.")


class Network(BaseModel):
    """Nodes and relations of a book; nodes by how many others they are related to, then by mentions."""

    book: int
    version: int = Field(description="Of the published graph.")
    up_to: int | None
    nodes: list[Being]
    edges: list[Relation]
    together: list[Together] = Field(description="For each node the few that it shares most passages with.")


def network(graph: Graph, library: Library, book: int, *, up_to: int | None = None) -> Network:
    """Everything of `book` in the graph that chapter `up_to` has told. Raises NotBuilt, StoreError."""
    seen = appearances(library, book)
    nodes = {n.id: n for n in nodes_of(graph, book) if _met(seen, n, up_to)}
    edges = [
        edge
        for edge in graph.relations(book)
        if edge.source in nodes and edge.target in nodes and (up_to is None or edge.chapter <= up_to)
    ]
    shown = {n.id: seen.by_node.get(n.id, _NOWHERE).shown_name(n.name, up_to) for n in nodes.values()}
    near = _neighbours(edges)
    traits = _traits(graph, book) if up_to is None else {}
    beings = [
        _being(n, seen, shown[n.id], len(near.get(n.id, ())), up_to, traits.get(n.id, {}))
        for n in nodes.values()
    ]
    beings.sort(key=lambda b: (-b.degree, -b.mentions, b.id))
    told = [_relation(edge, shown) for edge in edges]
    return Network(
        book=book,
        version=graph.version,
        up_to=up_to,
        nodes=beings,
        edges=told,
        together=_together(seen, [b.id for b in beings[:_DRAWN]], up_to),
    )


def nodes_of(graph: Graph, book: int) -> list[Node]:
    """The book's people, places, things and events."""
    return [node for node in graph.vectors.nodes if node.label in LABELS and book_of(node.id) == book]


def cast(found: Network) -> list[Being]:
    """The characters, cast before mentioned, most mentioned first."""
    people = [being for being in found.nodes if being.label == "Character"]
    return sorted(people, key=lambda b: (b.standing, -b.mentions, b.id))


def places(found: Network) -> list[Being]:
    """The places, most mentioned first."""
    return sorted((b for b in found.nodes if b.label == "Location"), key=lambda b: (-b.mentions, b.id))


def events(found: Network) -> list[Event]:
    """The events in the book's order, each with who took part and where."""
    named = {being.id: being for being in found.nodes}
    told = [b for b in found.nodes if b.label == "Event"]
    listed = []
    for being in sorted(told, key=lambda b: (b.first, b.id)):
        own = [e for e in found.edges if being.id in (e.source, e.target)]
        listed.append(
            Event(
                event=being,
                people=[named[e.source] for e in own if e.type == TAKES_PART],
                places=[named[e.target] for e in own if e.type == HAPPENS_AT],
                told=own,
            )
        )
    return listed


def _met(seen: Appearances, node: Node, up_to: int | None) -> bool:
    return up_to is None or seen.by_node.get(node.id, _NOWHERE).mentions(up_to) > 0


def _neighbours(edges: Iterable[Edge]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = {}
    for edge in edges:
        near.setdefault(edge.source, set()).add(edge.target)
        near.setdefault(edge.target, set()).add(edge.source)
    return near


def _together(seen: Appearances, nodes: list[str], up_to: int | None) -> list[Together]:
    shared = {
        pair: chapters
        for pair, chapters in seen.together(frozenset(nodes), up_to).items()
        if chapters.total() >= _LEAST_SHARED
    }
    surest = sorted(shared, key=lambda pair: (-shared[pair].total(), pair))
    kept: dict[str, int] = {}
    found = []
    for a, b in surest:
        if min(kept.get(a, 0), kept.get(b, 0)) < _COMPANIONS:
            kept[a], kept[b] = kept.get(a, 0) + 1, kept.get(b, 0) + 1
            chapters = sorted(shared[a, b].items())
            found.append(Together(a=a, b=b, passages=shared[a, b].total(), chapters=chapters))
    return found


def _traits(graph: Graph, book: int) -> dict[str, dict[str, str | None]]:
    """What is known of each character beside role and gender, by id."""
    rows = graph.rows(
        "MATCH (c:Character) WHERE starts_with(c.id, $prefix) RETURN c.id AS id, c.character_type AS character_type, "
        "c.social_class AS social_class, c.motivation AS motivation, c.arc AS arc",
        {"prefix": f"{book}:"},
    )
    return {row.pop("id"): row for row in rows}


def _being(
    node: Node,
    seen: Appearances,
    name: str,
    degree: int,
    up_to: int | None,
    traits: Mapping[str, str | None],
) -> Being:
    where = seen.by_node.get(node.id, _NOWHERE)
    return Being(
        id=node.id,
        label=node.label,
        name=name,
        aliases=list(node.aliases) if up_to is None else where.names(up_to),
        standing=node.standing,
        role=node.role if up_to is None else None,
        gender=node.gender,
        **traits,
        kind="" if node.label == "Event" and where.goes_on(up_to) else node.kind,
        mentions=node.mentions if up_to is None else where.mentions(up_to),
        windows=node.windows,
        degree=degree,
        chapters=[(c, n) for c, n in sorted(where.chapters.items()) if up_to is None or c <= up_to],
        first=where.first,
    )


def _relation(edge: Edge, shown: dict[str, str]) -> Relation:
    return Relation(
        source=edge.source,
        target=edge.target,
        stated=edge.confidence >= STATED,
        **relation_row(edge, a=shown[edge.source], b=shown[edge.target]),
    )
