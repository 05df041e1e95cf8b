"""Export, vector index, centrality and the themes' edges, on the real Kuzu."""

from __future__ import annotations

import csv
import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import harbour_story as story
import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from gutengraph_core import tables
from gutengraph_core.errors import StoreError
from gutengraph_core.files import read_table, write_table
from gutengraph_core.graph.build import build_merged
from gutengraph_core.graph.export import FORMATS, collect, write_export
from gutengraph_core.graph.published import PublishedGraph
from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.stage import centralities
from gutengraph_core.library import Library
from gutengraph_query.cli import export


def _with_theme(library: Library, book: int, *, rests: bool = True) -> None:
    """Add a theme that rests on the book's first and third passages."""
    paths = {name: library.path(book, f"graph/{name}.parquet") for name in ("nodes", "evidence")}
    vector = story.ToyEmbedder().embed_query("the sea").tolist()
    key = f"{book}:theme-the-sea"
    node = {"id": key, "label": "Theme", "gutenberg_id": book, "name": "the sea", "embedding": vector}
    nodes = [*read_table(paths["nodes"]).to_pylist(), node]
    write_table(paths["nodes"], pa.Table.from_pylist(nodes, schema=tables.NODES))
    chunks = story.chunk_rows(book)
    rows = [
        {"entity": key, "surface": "", "start": chunks[i]["start"], "end": chunks[i]["end"], "window": i}
        | {"chapter": chunks[i]["chapter"], "chunk_id": chunks[i]["id"]}
        for i in (2, 0)
    ]
    if rests:
        evidence = [*read_table(paths["evidence"]).to_pylist(), *rows]
        write_table(paths["evidence"], pa.Table.from_pylist(evidence, schema=tables.EVIDENCE))
    story.record_hashes(library, book)


def _published(library: Library, *books: int, **options: Any) -> Graph:
    for book in books:
        story.write_book(library, book)
        _with_theme(library, book)
    build_merged(library, **options)
    return PublishedGraph(library).current()


def test_a_theme_hangs_on_its_book_with_the_passages_it_rests_on(library: Library) -> None:
    graph = _published(library, 7, 8)
    rows = graph.rows(
        "MATCH (b:Book {id: '7'})-[h:HAS_THEME]->(t:Theme) RETURN t.name AS name, h.passages AS passages"
    )
    assert rows == [{"name": "the sea", "passages": ["7:p000000", "7:p000002"]}]
    known = graph.rows("MATCH (p:Passage) WHERE p.id IN ['7:p000000', '7:p000002'] RETURN count(*) AS n")
    assert known == [{"n": 2}]
    mentions = graph.rows("MATCH (n:Character)-[m:MENTIONED_IN]->(:Passage) RETURN count(*) AS n")
    assert mentions[0]["n"] > 0


def test_a_theme_without_passages_is_damage(library: Library) -> None:
    story.write_book(library, 7)
    _with_theme(library, 7, rests=False)
    with pytest.raises(StoreError, match="rests on no passage"):
        build_merged(library)


def test_a_removed_book_takes_its_themes_along(library: Library) -> None:
    _published(library, 7, 8)
    shutil.rmtree(library.book_dir(8))
    build_merged(library)
    graph = PublishedGraph(library).current()
    assert {row["id"] for row in graph.rows("MATCH (t:Theme) RETURN t.id AS id")} == {"7:theme-the-sea"}
    assert graph.rows("MATCH (n:Character) WHERE starts_with(n.id, '8:') RETURN n.id AS id") == []


def test_centrality_is_pagerank(library: Library) -> None:
    graph = _published(library, 7)
    found = {
        row["id"]: row["rank"]
        for label in ("Character", "Location")
        for row in graph.rows(f"MATCH (n:{label}) RETURN n.id AS id, n.centrality AS rank")
    }
    edges = read_table(library.path(7, "graph/edges.parquet")).to_pylist()
    wanted = nx.pagerank(nx.Graph((e["source"], e["target"]) for e in edges), alpha=0.85, tol=1e-10)
    assert found == pytest.approx(wanted, abs=1e-3)
    assert max(found, key=lambda k: found[k]) == story.node_id("Mrs. Agnes Pell", 7)
    assert centralities([]) == {}


def test_the_vector_index_finds_what_the_scan_finds(library: Library) -> None:
    indexed = _published(library, 7, index_min_nodes=1)
    assert indexed.manifest.vector_index == ["Character", "Location"]
    query = story.ToyEmbedder().embed_query("boatswain of the Kittiwake")
    by_index = indexed.nearest(query, book=None, limit=3)
    by_scan = indexed.vectors.nearest(query, book=None, limit=3)
    # two have one cosine: their order is nobody's business
    assert {node.id: cosine for node, cosine in by_index} == pytest.approx(
        {node.id: cosine for node, cosine in by_scan}, abs=1e-5
    )
    assert by_index[-1][0].id == by_scan[-1][0].id
    with pytest.raises(StoreError, match="dimensions"):
        indexed.nearest(np.zeros(3, dtype=np.float32), book=None, limit=3)


def test_a_small_library_is_scanned(library: Library) -> None:
    assert _published(library, 7).manifest.vector_index == []


# --- export ---
def _ids(graph: Any) -> set[str]:
    return set(graph.nodes)


@pytest.mark.parametrize("format_", ["graphml", "gexf"])
@pytest.mark.parametrize("book", [7, None])
def test_networkx_opens_what_is_exported(
    library: Library, tmp_path: Path, format_: Any, book: int | None
) -> None:
    exported = collect(_published(library, 7, 8), book)
    (path,) = write_export(exported, format_, tmp_path / f"out.{format_}")
    back = nx.read_graphml(path, force_multigraph=True) if format_ == "graphml" else nx.read_gexf(path)
    assert _ids(back) == {node["id"] for node in exported.nodes}
    assert back.number_of_edges() == len(exported.edges)
    assert {book_of.partition(":")[0] for book_of in _ids(back)} == ({"7"} if book else {"7", "8"})
    wren = back.nodes[story.node_id("Captain Tobias Wren", 7)]
    assert wren["label"] == "Captain Tobias Wren"
    assert wren["aliases"] == "Captain Tobias Wren | Captain Wren | Wren | Tobias"
    told = [d for _, _, d in back.edges(data=True) if d.get("relation") == "sibling_of"]
    assert told[0]["quote"] == "His sister, Mrs. Agnes Pell"


def test_gexf_keeps_gephis_rules(library: Library, tmp_path: Path) -> None:
    """What the GEXF 1.2 schema asks: declared attributes of known types, unique ids, ends that exist."""
    exported = collect(_published(library, 7), 7)
    (path,) = write_export(exported, "gexf", tmp_path / "7.gexf")
    root = ET.parse(path).getroot()
    space = root.tag.partition("}")[0] + "}"
    assert root.tag == f"{space}gexf"
    assert root.get("version", "").startswith("1.")
    graph = root.find(f"{space}graph")
    assert graph is not None
    assert graph.get("defaultedgetype") == "directed"
    declared: dict[str, dict[str, str]] = {}
    for attributes in graph.findall(f"{space}attributes"):
        kind = attributes.get("class")
        assert kind in ("node", "edge")
        for attribute in attributes:
            assert attribute.get("type") in ("string", "long", "integer", "double", "float", "boolean")
            declared.setdefault(kind, {})[attribute.get("id", "")] = attribute.get("title", "")
    nodes = graph.findall(f"{space}nodes/{space}node")
    edges = graph.findall(f"{space}edges/{space}edge")
    ids = [node.get("id") for node in nodes]
    assert len(ids) == len(set(ids)) == len(exported.nodes)
    edge_ids = [edge.get("id") for edge in edges]
    assert len(edge_ids) == len(set(edge_ids)) == len(exported.edges)
    for kind, elements in (("node", nodes), ("edge", edges)):
        for element in elements:
            for value in element.iter(f"{space}attvalue"):
                assert value.get("for") in declared[kind]
    for edge in edges:
        assert edge.get("source") in ids
        assert edge.get("target") in ids
        # a start or end here would be read as a time span
        assert edge.get("start") is None
        assert edge.get("end") is None
        assert edge.get("type") in (None, "directed", "undirected", "mutual")


def test_json_and_csv_hold_the_same(library: Library, tmp_path: Path) -> None:
    exported = collect(_published(library, 7), 7)
    (path,) = write_export(exported, "json", tmp_path / "7.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document == {"nodes": exported.nodes, "edges": exported.edges}
    nodes, edges = write_export(exported, "csv", tmp_path / "7.csv")
    assert (nodes.name, edges.name) == ("7-nodes.csv", "7-edges.csv")
    with edges.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["source"], r["target"], r["rel"]) for r in rows] == [
        (e["source"], e["target"], e["rel"]) for e in exported.edges
    ]
    with nodes.open(encoding="utf-8", newline="") as file:
        assert [r["id"] for r in csv.DictReader(file)] == [n["id"] for n in exported.nodes]
    assert not any("embedding" in node for node in exported.nodes)
    assert {edge["rel"] for edge in exported.edges} >= {"APPEARS_IN", "RELATED_TO", "HAS_THEME"}


def test_the_command_writes_a_file_and_asks_for_a_book(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _published(library, 7)
    monkeypatch.setenv("GUTENGRAPH_HOME", str(library.home))
    for format_ in FORMATS:
        out = tmp_path / f"seven.{format_}"
        result = CliRunner().invoke(export, ["7", "--format", format_, "--out", str(out)])
        assert result.exit_code == 0, result.output
        assert out.exists() or format_ == "csv"
    assert (tmp_path / "seven-nodes.csv").exists()
    assert CliRunner().invoke(export, []).exit_code == 2
    assert CliRunner().invoke(export, ["7", "--all"]).exit_code == 2
