"""The graph brain: one book's graph as files, and the merged graph of the library as a database."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from gutengraph_assets.assets.columns import described
from gutengraph_assets.assets.extraction import CODE, filtered_entities, ledger_table, window_names
from gutengraph_assets.assets.library import chunks
from gutengraph_assets.assets.metadata import OWNERS, gutenberg_page, markdown_table, picture
from gutengraph_assets.assets.step import BookStep, book_step, digest, library_step, made_by_this_code, park
from gutengraph_assets.assets.vectors import embeddings_table
from gutengraph_assets.code_version import code_version
from gutengraph_assets.extraction.book_graph import build_book_graph, why_no_themes, write_book_graph
from gutengraph_assets.extraction.ledger import Ledger, Summary
from gutengraph_assets.extraction.naming import STEP
from gutengraph_assets.extraction.notions.norms import load_norms
from gutengraph_assets.extraction.reading import chapters
from gutengraph_assets.extraction.reading.book import Reader, reader_options, steps_read
from gutengraph_assets.how_it_went import how_it_went, verdict
from gutengraph_assets.partitions import LIBRARY_FRESHNESS, after_the_last_book, books, every_book
from gutengraph_assets.pictures import draw_appearances, draw_network
from gutengraph_assets.pools import pool
from gutengraph_assets.resources import GutenGraph
from gutengraph_assets.status import parked_reason
from gutengraph_core.errors import StoreError
from gutengraph_core.files import sha256
from gutengraph_core.graph import versions
from gutengraph_core.graph.build import build_merged
from gutengraph_core.graph.schema import NODE_TABLES, NOTIONS, REL_TABLES
from gutengraph_core.graph.stage import is_complete
from gutengraph_core.library import BookRecord
from gutengraph_core.settings import load_settings
from gutengraph_core.tables import EDGES, EVIDENCE, MERGES, NODES
from gutengraph_core.vectors import ChunkTable

SHOWN = 40
"""Rows of a table in the UI; the file has them all."""
NETWORK, APPEARANCES = "network.png", "appearances.png"
_FILES = {
    "graph/nodes.parquet": NODES,
    "graph/edges.parquet": EDGES,
    "graph/evidence.parquet": EVIDENCE,
    "graph/merges.parquet": MERGES,
}


@dg.asset(
    deps=[filtered_entities, window_names, chunks, embeddings_table],
    partitions_def=books,
    group_name="graph",
    kinds={"parquet", "graph"},
    # The embedded model is a base model, which is asked nothing here.
    pool=pool(None if load_settings().llm == "embedded" else "llm", uses_card=True),
    owners=OWNERS,
    code_version=code_version(*CODE, "gutengraph_assets.pictures", "gutengraph_core.tables"),
    metadata={"dagster/column_schema": described("edges", EDGES)},
)
def enriched_graph(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> dg.MaterializeResult[None]:
    """The book's own graph, survivors of the filter only: roles and genders, relations and events with the sentence
    that says them, every mention tied to its passage, a vector on every node. An instruct model draws the cast
    and reads the chapters besides, each call in the ledger. Four files, the same bytes for the same input."""

    def depends(record: BookRecord) -> dict[str, object]:
        if reason := parked_reason(record):
            return {"parked": reason}
        norms = load_norms(gutengraph.models.embedder.identity, gutengraph.library.home)
        return {
            "embedder": str(gutengraph.models.embedder.identity),
            "kind": record.kind,
            "norms": norms.model_dump_json() if norms else "",
            "reader": reader_options(gutengraph.models.llm, gutengraph.settings),
        }

    with book_step(context, gutengraph, depends=depends, outputs=tuple(_FILES)) as step:
        if reason := parked_reason(step.record):
            park(step, reason, _FILES)
            step.counts = {"cast": 0, "relations": 0}
            # Empty and whole: the merged graph has the book and its passages.
            step.fields["graph_sha256"] = {
                Path(name).name: sha256(step.library.path(step.book, name)) for name in _FILES
            }
        else:
            ledger = Ledger(step.library.path(step.book, "ledger.jsonl"), book=step.book)
            if any(
                entry.to_retry for name in _read_steps(step, gutengraph) for entry in ledger.standing(name)
            ):
                step.fresh = False
            if not step.fresh:
                _build(step, gutengraph, ledger)
            _report(step, gutengraph, ledger)
        _draw(step)
        _show_how_it_went(step, gutengraph)
    return step.result


def _build(step: BookStep, gutengraph: GutenGraph, ledger: Ledger) -> None:
    embedder = gutengraph.models.embedder
    _, passages = ChunkTable.open(step.library, embedder.identity).rows(step.book)
    graph = build_book_graph(
        record=step.record,
        body=step.library.body(step.book),
        windows=step.table("windows.parquet"),
        chunks=step.table("chunks.parquet"),
        entities=step.table("entities.parquet"),
        merges=step.table("merges.parquet"),
        settings=gutengraph.settings,
        embedder=embedder,
        passages=passages,
        reader=Reader(gutengraph.models.llm, ledger, gutengraph.settings),
    )
    write_book_graph(step.library, step.book, graph)
    step.counts = graph.counts


def _report(step: BookStep, gutengraph: GutenGraph, ledger: Ledger) -> None:
    nodes = step.table("graph/nodes.parquet").drop_columns(["embedding"]).to_pylist()
    edges = step.table("graph/edges.parquet").to_pylist()
    names = {node["id"]: node["name"] for node in nodes}
    cast = [n for n in nodes if n["label"] == "Character" and n["standing"] == "cast"]
    cast.sort(key=lambda n: (-n["windows"], n["name"]))
    edges.sort(key=lambda e: (-e["confidence"], e["start"]))
    counts = {**step.record.counts, **step.counts}
    read_steps = _read_steps(step, gutengraph)
    step.text = f"{len(nodes):,} nodes, {len(cast)} of them cast, {len(edges):,} relations"
    step.metadata = {
        "dagster/row_count": len(edges),
        "gutenberg": gutenberg_page(step.book),
        "nodes": len(nodes),
        "cast_count": len(cast),
        "cast": markdown_table(
            ("name", "role", "gender", "windows", "degree"),
            [(n["name"], n["role"], n["gender"], n["windows"], n["degree"]) for n in cast[:SHOWN]],
        ),
        "themes": _themes(nodes, step, gutengraph),
        "themes_by": themes_by(counts, ledger.summary(chapters.STEP) if read_steps else None),
        "events": markdown_table(
            ("event", "kind", "mentions"),
            [(n["name"], n["kind"], n["mentions"]) for n in nodes if n["label"] == "Event"],
        ),
        "normalised": counts.get("normalised", 0),
        "not_normalised": counts.get("not_normalised", 0),
        "portraits": counts.get("portraits", 0),
        **{f"{name}_ledger": ledger_table(ledger.summary(name)) for name in read_steps},
        "relations": markdown_table(
            ("who", "is", "whom", "confidence", "quote"),
            [
                (names[e["source"]], e["type"], names[e["target"]], f"{e['confidence']:.2f}", e["quote"])
                for e in edges[:SHOWN]
            ],
        ),
    }


def _read_steps(step: BookStep, gutengraph: GutenGraph) -> tuple[str, ...]:
    return steps_read(gutengraph.models.llm, gutengraph.settings, step.record.kind)


def themes_by(counts: Mapping[str, int], read: Summary | None) -> str:
    """Who found the themes and atmospheres, from the book's counts and what came of reading its chapters (None: nobody
    reads them). That the model's reading gave nothing, and vectors stand in for it, must not pass unseen."""
    told = {"themes": counts.get("themes_told", 0), "atmospheres": counts.get("atmospheres_told", 0)}
    if read is None:
        found = counts.get("themes", 0) or counts.get("atmospheres", 0)
        return "The passages' vectors." if found else "Nobody found any."
    by_model = " and ".join(name for name, n in told.items() if n)
    by_vectors = " and ".join(name for name, n in told.items() if not n and counts.get(name, 0))
    said = [f"The model's reading of the chapters: {by_model}."] if by_model else []
    if by_vectors:
        replies = f"{read.failed} of {read.asked} replies on the chapters could not be read"
        said.append(
            f"The passages' vectors, as that reading gave none with support: {by_vectors} ({replies})."
        )
    return " ".join(said) or "Nobody found any."


def _schema_table() -> dg.MarkdownMetadataValue:
    """The database's tables: nodes, and relationships as arrows."""
    nodes = [(t.name, "nodes", ", ".join(t.properties)) for t in NODE_TABLES]
    pairs = [
        (t.name, "; ".join(f"{a} to {b}" for a, b in t.pairs), ", ".join(t.properties)) for t in REL_TABLES
    ]
    return markdown_table(("table", "joins", "properties"), nodes + pairs)


def _draw(step: BookStep) -> None:
    """The pictures lie beside the graph, where other programs find them; they are drawn anew with it."""
    library, title = step.library, step.record.title or f"Book {step.book}"
    network, appearances = (library.path(step.book, name) for name in (NETWORK, APPEARANCES))
    if not step.fresh or not (network.exists() and appearances.exists()):
        nodes, edges, evidence = (
            step.table(f"graph/{name}.parquet") for name in ("nodes", "edges", "evidence")
        )
        draw_network(nodes, edges, evidence, network, title)
        draw_appearances(nodes, evidence, step.record.chapters, appearances, title)
    for name, path in (("network", network), ("appearances", appearances)):
        if path.exists():  # a book of no cast has none
            step.metadata[name] = picture(path)


def _show_how_it_went(step: BookStep, gutengraph: GutenGraph) -> None:
    """The whole book in a few lines: this is the last asset that can make it unfit to be asked."""
    ledger = Ledger(step.library.path(step.book, "ledger.jsonl"), book=step.book)
    record = step.record.model_copy(update={"counts": {**step.record.counts, **step.counts}})
    parked = parked_reason(record)
    readings = [] if parked else [ledger.summary(name) for name in _read_steps(step, gutengraph)]
    lines = how_it_went(record, ledger.summary(STEP), gutengraph.settings, readings=readings)
    step.metadata = {
        "verdict": verdict(lines),
        "book": markdown_table(
            ("what", "came out", "look at"), [(line.what, line.came_out, line.look) for line in lines]
        ),
        **step.metadata,
    }


def _themes(
    nodes: list[dict[str, Any]], step: BookStep, gutengraph: GutenGraph
) -> dg.MarkdownMetadataValue | str:
    notions = [(n["label"], n["name"], n["mentions"]) for n in nodes if n["label"] in NOTIONS]
    if notions:
        return markdown_table(("", "name", "passages shown"), notions)
    return why_no_themes(step.record.kind, gutengraph.models.embedder.identity, gutengraph.settings)


@dg.asset(
    deps=[every_book(enriched_graph)],
    automation_condition=after_the_last_book(),
    freshness_policy=LIBRARY_FRESHNESS,
    group_name="graph",
    kinds={"kuzu", "graph"},
    owners=OWNERS,
    code_version=code_version("gutengraph_core.graph"),
    pool="kuzu",
    metadata={"schema": _schema_table()},
)
def merged_graph(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> dg.MaterializeResult[None]:
    """All books in one graph database, loaded fresh, counted against the books' files, then published by
    moving a pointer: whoever reads the version before goes on undisturbed. A removed book is left out by
    building without it."""
    with library_step(context, gutengraph) as step:
        library = gutengraph.library
        try:
            version = versions.current(library)
        except StoreError:  # a broken pointer: the build mends it
            version = None
        complete = [record for record in library.records() if is_complete(record)]
        published = version.manifest() if version is not None else None
        step.fresh = (
            not gutengraph.force
            and made_by_this_code(context)
            and published is not None
            and published.books == {record.id: record.graph_sha256 for record in complete}
            and all(record.built_at <= published.built_at for record in complete)
        )
        if not step.fresh:
            build_merged(library, progress=step.progress)
        version = versions.require(library)
        manifest = version.manifest()
        step.version = digest({"books": manifest.books, "embedder": manifest.embedder})
        relations = manifest.counts.get("RELATED_TO", 0) + manifest.counts.get("INTERACTS_WITH", 0)
        step.text = (
            f"{len(manifest.books)} {'book' if len(manifest.books) == 1 else 'books'}, "
            f"{relations:,} relations, version {manifest.version}"
        )
        step.metadata = {
            "version": manifest.version,
            "built_at": manifest.built_at,
            "books": len(manifest.books),
            "relations": relations,
            "dagster/row_count": sum(manifest.counts.values()),
            "rows": markdown_table(("table", "rows"), sorted(manifest.counts.items())),
            "members": markdown_table(
                ("book", "title", "cast", "relations", "passages"),
                [
                    (r.id, r.title, *(r.counts.get(name, 0) for name in ("cast", "relations", "chunks")))
                    for r in complete
                    if r.id in manifest.books
                ],
            ),
            "left_out": markdown_table(
                ("book", "reason"), [(left.book, left.reason) for left in manifest.left_out]
            ),
            "embedder": manifest.embedder,
            "folder": dg.MetadataValue.path(str(version.folder)),
        }
    return step.result
