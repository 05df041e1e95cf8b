"""A small library as the page shows it: the harbour story with its arc, ledger and joins, a book whose title and
text are markup, one that is parked, one that failed, one that is being built. Real stores, a toy embedder."""

from __future__ import annotations

import json
import os
from typing import Any

import harbour_story as story
import pyarrow as pa

from gutengraph_assets.arcs import arc_document, measure_arc
from gutengraph_core import tables
from gutengraph_core.files import write_json, write_table, write_text
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.vectors import ChunkTable

STORY = 7
HOSTILE = 13
HOSTILE_TITLE = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>"
HOSTILE_TEXT = (
    "The sign on the tower said <script>window.pwned = 3</script> and nobody in Harrow Quay minded."
)
EVENT = "marsh fever"
"""Of the same book, told in its third chapter."""
PARKED, FAILED, BUILDING = 20, 21, 22
FAILURE = "The model answered nothing. Run `gutengraph build 21`."


def build(library: Library) -> None:
    """All of it, and the merged graph."""
    story.build_library(library, STORY)
    _finish(library, STORY)
    _hostile(library)
    build_merged(library)
    library.update(PARKED, title="Le port", language="fr", status="parked", reason="Its language is 'fr'.")
    library.update(FAILED, title="The Wreck", status="failed", reason=FAILURE)
    library.update(BUILDING, title="The Slow Boat", status="building", pid=os.getpid())


def _hostile(library: Library) -> None:
    event = {"name": EVENT, "label": "Event", "kind": "illness", "aliases": []}
    told = ("Lucy", "takes_part_in", EVENT, "Lucy lay ill with the marsh fever", 0.7)
    story.write_book(library, HOSTILE, title=HOSTILE_TITLE, extra_nodes=[event], extra_edges=[told])
    rows = story.chunk_rows(HOSTILE, HOSTILE_TITLE)
    body = f"{story.body()}\n{HOSTILE_TEXT}\n"
    rows[-1] |= {"end": len(body), "text": body[rows[-1]["start"] :]}
    chapters = [c.model_dump() for c in library.record(HOSTILE).chapters]
    chapters[-1]["end"] = len(body)
    library.update(HOSTILE, chapters=chapters, counts={"chunks": len(rows)})
    write_text(library.path(HOSTILE, "body.txt"), body)
    _put(library, HOSTILE, rows)


def _put(library: Library, book: int, rows: list[dict[str, Any]]) -> None:
    embedder = story.ToyEmbedder()
    vectors = embedder.embed_documents([row["text"] for row in rows])
    table = ChunkTable.open(library, embedder.identity)
    table.replace_book(book, pa.Table.from_pylist(rows, schema=tables.CHUNKS), vectors)


def _finish(library: Library, book: int) -> None:
    """What a build leaves besides the graph."""
    embedder = story.ToyEmbedder()
    chunks, vectors = ChunkTable.open(library, embedder.identity).rows(book)
    drawn = measure_arc(chunks, vectors, embedder=embedder)
    record = library.record(book)
    write_json(library.path(book, "arcs.json"), arc_document(chunks, drawn, record.title, record.chapters))
    entry = {"step": "names", "basis": "x", "run": 1}
    lines = [
        {**entry, "item": "0", "words": 90, "calls": 1, "proposed": 4, "grounded": 4, "kept": 3, "dropped": {"in doubt": 1}},
        {**entry, "item": "1", "words": 90, "outcome": "no_json", "final": True, "calls": 1},
        {**entry, "item": "2", "words": 90, "truncated": True, "calls": 1, "proposed": 2, "grounded": 2, "kept": 2},
        {**entry, "seconds": 1.5},
    ]  # fmt: skip
    path = library.path(book, "ledger.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    start = story.body().index("Captain Wren nailed")
    merge = {
        "entity": story.node_id("Captain Tobias Wren", book),
        "a": "Captain Wren",
        "b": "Captain Tobias Wren",
        "rule": "title",
        "quote": "Captain Wren nailed a silver spoon",
        "start": start,
        "end": start + 34,
    }
    merges = pa.Table.from_pylist([merge], schema=tables.MERGES)
    write_table(library.path(book, "graph/merges.parquet"), merges)
    library.update(book, counts={"chunks": 3, "cast": 5, "relations": 7, "words": 160})
    story.record_hashes(library, book)
