"""One book's graph: nodes, edges, evidence and merges as four tables, and how they are written."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.canon import Normaliser
from gutengraph_assets.extraction.enrichment import enrich
from gutengraph_assets.extraction.entities import Entity, Mention, Person, locate, windows_of
from gutengraph_assets.extraction.events.find import FoundEvents, find_events
from gutengraph_assets.extraction.events.told import with_told
from gutengraph_assets.extraction.filter import book_text
from gutengraph_assets.extraction.notions.find import Notion, find_notions
from gutengraph_assets.extraction.notions.norms import load_norms
from gutengraph_assets.extraction.notions.told import told_notions
from gutengraph_assets.extraction.promotion import promote, with_rare
from gutengraph_assets.extraction.reading.book import BookReading, Reader, read_book
from gutengraph_assets.extraction.reading.chapters import Shown
from gutengraph_assets.extraction.relations.find import FoundRelations, Relation, find_relations
from gutengraph_assets.extraction.traits import Traits, traits
from gutengraph_core.embedding.protocol import Embedder, EmbeddingIdentity, Matrix
from gutengraph_core.files import sha256, write_table
from gutengraph_core.graph.schema import NOTIONS, STATED
from gutengraph_core.library import BookRecord, Kind, Library
from gutengraph_core.names import slug, squeeze, words
from gutengraph_core.settings import Settings
from gutengraph_core.tables import EDGES, EVIDENCE, MERGES, NODES


@dataclass(frozen=True)
class BookGraph:
    """The four tables, the orphans (G15) and the counts that a step reports."""

    nodes: pa.Table
    edges: pa.Table
    evidence: pa.Table
    merges: pa.Table
    orphan_twins: list[tuple[str, str]]
    """(orphan's id, connected node's id) with the same letters: an error to be mended upstream."""
    orphans: list[str]
    """Genuine ones: nodes without any relation, kept with their mentions."""
    counts: dict[str, int]
    """cast, mentioned, locations, objects, events, relations, stated, orphans, orphan_twins, themes, atmospheres
    (those of them that a model told: themes_told, atmospheres_told), normalised (answers brought to an enum), not_normalised (that fit none), …"""


def build_book_graph(
    *,
    record: BookRecord,
    body: str,
    windows: pa.Table,
    chunks: pa.Table,
    entities: pa.Table,
    merges: pa.Table,
    settings: Settings,
    embedder: Embedder | None = None,
    passages: Matrix | None = None,
    reader: Reader | None = None,
) -> BookGraph:
    """Enrich the entities, find their relations and assemble the graph. The same input gives the same tables.

    `entities` and `merges` are what `filter_entities` gave; `chunks` needs `id`, `chapter`, `start` and `end`.
    Without an `embedder` the nodes' embeddings are null; with one and `passages`, the vectors of `chunks`
    [len(chunks), dimension], a work that is not non-fiction has its themes and atmospheres. With a `reader` whose model
    follows instructions it has portraits, and its events and themes come from the chapters too. Raises what the model
    raises.
    """
    text = book_text(record, body, windows)
    rows = with_rare(entities.to_pylist(), record.kind)
    people, others = enrich(text, rows, locate(text, rows))
    found = find_relations(text, people, others)
    people, relations = promote(people, found.relations, record.kind)
    normaliser = Normaliser()
    reading = BookReading()
    if reader is not None and record.kind != "non-fiction":
        reading = read_book(text, people, others, reader, normaliser)
    events = find_events(text, people, others, book=record.id, kind=record.kind)
    events = with_told(text, events, reading.chapters.events, book=record.id)
    edges = _verified(body, [*relations, *events.edges])
    kept: list[Entity] = [*people, *others, *events.events]
    degree = _degrees(edges)
    twins, orphans = _orphans(kept, degree)
    known = traits(text, people, reading.portraits, normaliser)
    nodes = [_node(record.id, entity, text, degree[entity.id], known) for entity in kept]
    if embedder is not None and nodes:
        described = [describe(entity, edges, {e.id: e.name for e in kept}) for entity in kept]
        for node, vector in zip(nodes, embedder.embed_documents(described), strict=True):
            node["embedding"] = vector.tolist()
    told, measured = _notions(record, embedder, passages, settings, reading.chapters.notions, chunks)
    notions = told + measured
    nodes += [_notion_node(record.id, notion) for notion in notions]
    evidence = _evidence(text, kept, chunks) + _resting(record.id, notions, text, chunks)
    alive = {entity.id for entity in kept}
    return BookGraph(
        nodes=pa.Table.from_pylist(nodes, schema=NODES),
        edges=pa.Table.from_pylist([_edge(edge) for edge in edges], schema=EDGES),
        evidence=pa.Table.from_pylist(evidence, schema=EVIDENCE),
        merges=pa.Table.from_pylist([m for m in merges.to_pylist() if m["entity"] in alive], schema=MERGES),
        orphan_twins=twins,
        orphans=orphans,
        counts=_counts(kept, edges, found, orphans, twins)
        | _notion_counts(told, measured)
        | _answer_counts(normaliser, events, reading),
    )


def write_book_graph(library: Library, book: int, graph: BookGraph) -> dict[str, str]:
    """Write `graph/{nodes,edges,evidence,merges}.parquet`, each atomically, then their sha256 into `book.json`.

    The hashes are cleared first and set last: a graph whose hashes stand is whole. Returns file name -> sha256.
    """
    library.update(book, graph_sha256={})
    hashes = {}
    for name in ("nodes", "edges", "evidence", "merges"):
        path = library.path(book, f"graph/{name}.parquet")
        write_table(path, getattr(graph, name), book=book)
        hashes[path.name] = sha256(path)
    library.update(book, graph_sha256=hashes)
    return hashes


def _verified(body: str, relations: Sequence[Relation]) -> list[Relation]:
    """Every edge's quote is the text at its offsets. A finder that breaks this has a bug: it does not pass."""
    for relation in relations:
        if squeeze(body[relation.start : relation.end]) != relation.quote:
            raise AssertionError(f"the quote of {relation} is not what stands at its offsets")
    return sorted(relations, key=lambda r: (r.start, r.source, r.target, r.type))


def why_no_themes(kind: Kind, identity: EmbeddingIdentity, settings: Settings) -> str:
    """What there is to say of a book without themes."""
    if kind == "non-fiction":
        return "The vocabulary of themes is one of fiction."
    if load_norms(identity, settings.home) is None:
        return f"{identity} has no norms yet; `python -m experiments.themes norms` measures them."
    return "No theme of the vocabulary stands out from other books."


def _notions(
    record: BookRecord,
    embedder: Embedder | None,
    passages: Matrix | None,
    settings: Settings,
    shown: Sequence[Shown],
    chunks: pa.Table,
) -> tuple[list[Notion], list[Notion]]:
    """The book's themes and atmospheres: the model's, and by the passages' vectors those of a label of which it names
    none with support."""
    if record.kind == "non-fiction" or embedder is None or passages is None:
        return [], []
    told = told_notions(shown, chunks["start"].to_pylist(), embedder)
    norms = load_norms(embedder.identity, settings.home)
    labels = {notion.label for notion in told}
    measured = find_notions(passages, embedder, norms) if norms and len(labels) < len(NOTIONS) else []
    return told, [notion for notion in measured if notion.label not in labels]


def _notion_id(book: int, notion: Notion) -> str:
    return f"{book}:{notion.label.lower()}-{slug(notion.name)}"


def _notion_node(book: int, notion: Notion) -> dict[str, Any]:
    return {
        "id": _notion_id(book, notion),
        "label": notion.label,
        "gutenberg_id": book,
        "name": notion.name,
        "mentions": len(notion.passages),
        "embedding": list(notion.embedding),
    }


def _resting(book: int, notions: Sequence[Notion], text: BookText, chunks: pa.Table) -> list[dict[str, Any]]:
    """The passages that the notions rest on, the best first, as evidence without a surface."""
    rows = chunks.select(["id", "chapter", "start", "end"]).to_pylist() if notions else []
    return [
        {
            "entity": _notion_id(book, notion),
            "surface": "",
            "start": rows[at]["start"],
            "end": rows[at]["end"],
            "window": text.window_of(rows[at]["start"]),
            "chapter": rows[at]["chapter"],
            "chunk_id": rows[at]["id"],
        }
        for notion in notions
        for at in notion.passages
    ]


def _notion_counts(told: Sequence[Notion], measured: Sequence[Notion]) -> dict[str, int]:
    by_model, by_vectors = (Counter(notion.label for notion in notions) for notions in (told, measured))
    return {
        "themes": by_model["Theme"] + by_vectors["Theme"],
        "atmospheres": by_model["Atmosphere"] + by_vectors["Atmosphere"],
        "themes_told": by_model["Theme"],
        "atmospheres_told": by_model["Atmosphere"],
    }


def _answer_counts(normaliser: Normaliser, events: FoundEvents, reading: BookReading) -> dict[str, int]:
    return {
        "normalised": normaliser.normalised + events.normalised + reading.chapters.normalised,
        "not_normalised": normaliser.unknown,
        "portraits": len(reading.portraits),
        "events_dropped": sum(events.dropped.values()),
    }


def _degrees(edges: Sequence[Relation]) -> Counter[str]:
    """Distinct neighbours over both relationship tables."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        neighbours[edge.source].add(edge.target)
        neighbours[edge.target].add(edge.source)
    return Counter({entity: len(others) for entity, others in neighbours.items()})


def _orphans(kept: Sequence[Entity], degree: Mapping[str, int]) -> tuple[list[tuple[str, str]], list[str]]:
    connected = {"".join(words(e.name)): e.id for e in kept if degree[e.id]}
    twins, genuine = [], []
    for entity in kept:
        if degree[entity.id]:
            continue
        twin = connected.get("".join(words(entity.name)))
        if twin:
            twins.append((entity.id, twin))
        else:
            genuine.append(entity.id)
    return twins, genuine


def _node(
    book: int, entity: Entity, text: BookText, degree: int, known: Mapping[str, Traits]
) -> dict[str, Any]:
    person = entity if isinstance(entity, Person) else None
    return {
        "id": entity.id,
        "label": entity.label,
        "gutenberg_id": book,
        "name": entity.name,
        "aliases": list(entity.aliases),
        "standing": entity.standing,
        **known.get(entity.id, {}),
        "kind": "narrator" if person and person.narrator else entity.kind,
        "mentions": len(entity.mentions),
        "windows": len(windows_of(text, entity.mentions)),
        "degree": degree,
    }


def describe(entity: Entity, edges: Sequence[Relation], names: Mapping[str, str]) -> str:
    """What a node's vector is made from: its name, its aliases and its relations in words."""
    parts = [entity.name]
    others = [alias for alias in entity.aliases[:4] if alias != entity.name]
    if others:
        parts.append(f"also called {', '.join(others)}")
    for edge in edges:
        if entity.id in (edge.source, edge.target):
            parts.append(f"{names[edge.source]} {edge.type.replace('_', ' ')} {names[edge.target]}")
    return ". ".join(parts) + "."


def _edge(relation: Relation) -> dict[str, Any]:
    return {
        "source": relation.source,
        "target": relation.target,
        "rel": relation.rel,
        "type": relation.type,
        "quote": relation.quote,
        "start": relation.start,
        "end": relation.end,
        "chapter": relation.chapter,
        "how": relation.how,
        "confidence": relation.confidence,
    }


def _evidence(text: BookText, kept: Sequence[Entity], chunks: pa.Table) -> list[dict[str, Any]]:
    ids = chunks["id"].to_pylist()
    starts = chunks["start"].to_pylist()
    rows = [(mention, entity) for entity in kept for mention in entity.mentions]
    rows.sort(key=lambda row: (row[0].start, row[0].entity))
    return [
        {
            "entity": mention.entity,
            "surface": squeeze(text.body[mention.start : mention.end]),
            "start": mention.start,
            "end": mention.end,
            "window": text.window_of(mention.start),
            "chapter": text.chapter_of(mention.start),
            "chunk_id": _chunk_at(mention, starts, ids),
        }
        for mention, _ in rows
    ]


def _chunk_at(mention: Mention, starts: Sequence[int], ids: Sequence[str]) -> str | None:
    at = bisect_right(starts, mention.start) - 1
    return ids[at] if at >= 0 else None


def _counts(
    kept: Sequence[Entity],
    edges: Sequence[Relation],
    found: FoundRelations,
    orphans: Sequence[str],
    twins: Sequence[tuple[str, str]],
) -> dict[str, int]:
    labels = Counter(entity.label for entity in kept)
    standing = Counter(entity.standing for entity in kept if isinstance(entity, Person))
    return {
        "cast": standing["cast"],
        "mentioned": standing["mentioned"],
        "locations": labels["Location"],
        "objects": labels["Object"],
        "events": labels["Event"],
        "relations": len(edges),
        "stated": sum(edge.confidence >= STATED for edge in edges),
        "relations_dropped": sum(found.dropped.values()),
        "orphans": len(orphans),
        "orphan_twins": len(twins),
    }
