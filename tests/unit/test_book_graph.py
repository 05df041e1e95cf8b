"""One book's graph: nodes, edges, evidence and merges that agree with one another and with the text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from stories import mentions_of, record_of, windows_of

from gutengraph_assets.extraction.book_graph import BookGraph, build_book_graph, write_book_graph
from gutengraph_assets.extraction.filter import filter_entities
from gutengraph_core.files import read_table, sha256
from gutengraph_core.library import Library
from gutengraph_core.names import key
from gutengraph_core.settings import Settings

STORY = """Mr. and Mrs. Quill lived at Saltby, near the quay, and kept a dog.

Amos Thorne, second mate of the _Curlew_, came to see Mrs. Quill at Saltby.

Mr. Quill was out. Amos Thorne waited for him until the evening, and was given soup.

The _Curlew_ sailed without Amos Thorne, and Mr. Quill laughed. Mrs. Quill did not.

Zebedee saw it. Zebedee was the sexton. Zebedee told all Saltby."""
NAMES = {
    "Mr. Quill": "person",
    "Mrs. Quill": "person",
    "Amos Thorne": "person",
    "Zebedee": "person",
    "Curlew": "vessel",
    "Saltby": "place",
}


@pytest.fixture
def graph(settings: Settings) -> BookGraph:
    return build(settings)


def build(settings: Settings) -> BookGraph:
    record, windows = record_of(STORY), windows_of(STORY, words=15)
    found = filter_entities(
        record=record,
        body=STORY,
        windows=windows,
        mentions=mentions_of(STORY, NAMES, words=15),
        settings=settings,
    )
    half = STORY.index("Mr. Quill was out")
    chunks = pa.table({"id": ["7:000000", "7:000001"], "start": [0, half], "end": [half, len(STORY)]})
    return build_book_graph(
        record=record,
        body=STORY,
        windows=windows,
        chunks=chunks,
        entities=found.entities,
        merges=found.merges,
        settings=settings,
    )


def edges(graph: BookGraph) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(e["source"], e["type"], e["target"]): e for e in graph.edges.to_pylist()}


def test_what_the_text_states_becomes_an_edge_with_its_quote(graph: BookGraph) -> None:
    found = edges(graph)
    assert ("7:mr-quill", "spouse_of", "7:mrs-quill") in found
    rank = found[("7:amos-thorne", "second_mate_of", "7:curlew")]
    assert rank["rel"] == "INTERACTS_WITH"
    assert STORY[rank["start"] : rank["end"]].replace("_", "") == rank["quote"].replace("_", "")
    assert "second mate of the Curlew" in rank["quote"]


def test_every_mention_is_in_the_text_and_tied_to_its_passage(graph: BookGraph) -> None:
    nodes = {node["id"]: node for node in graph.nodes.to_pylist()}
    rows = graph.evidence.to_pylist()
    half = STORY.index("Mr. Quill was out")
    for row in rows:
        surface = STORY[row["start"] : row["end"]]
        assert key(surface) in {key(alias) for alias in nodes[row["entity"]]["aliases"]}
        assert row["chunk_id"] == ("7:000000" if row["start"] < half else "7:000001")
    for entity, node in nodes.items():
        assert node["mentions"] == sum(row["entity"] == entity for row in rows)


def test_degree_counts_neighbours_and_an_orphan_keeps_its_mentions(graph: BookGraph) -> None:
    degree = {node["id"]: node["degree"] for node in graph.nodes.to_pylist()}
    assert degree["7:amos-thorne"] == 1
    assert degree["7:zebedee"] == 0
    assert "7:zebedee" in graph.orphans
    assert graph.orphan_twins == []


def test_the_same_input_gives_the_same_bytes(settings: Settings, library: Library) -> None:
    first = write_book_graph(library, 7, build(settings))
    again = write_book_graph(library, 7, build(settings))
    assert first == again
    assert library.record(7).graph_sha256 == first
    for name, digest in first.items():
        assert sha256(library.path(7, f"graph/{name}")) == digest
    assert read_table(library.path(7, "graph/edges.parquet")).num_rows == len(edges(build(settings)))
