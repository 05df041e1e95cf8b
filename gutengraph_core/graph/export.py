"""A book's or the library's graph for other programs: GraphML, GEXF, CSV and JSON.

What goes out is what the text mentions and what the book rests on: Book, Character, Location, Object, Event, Theme and
Atmosphere, with every relation and its quote. Passages and vectors stay: they are of use only with the store.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gutengraph_core.files import write_bytes
from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.records import book_of
from gutengraph_core.graph.schema import NODE_TABLES, REL_TABLES, VECTOR

if TYPE_CHECKING:
    import networkx as nx

Format = Literal["graphml", "gexf", "csv", "json"]
FORMATS: tuple[Format, ...] = ("graphml", "gexf", "csv", "json")

_LEFT_OUT = "Passage"
_JOINED = " | "
"""Between the entries of a list where a format knows none."""


@dataclass(frozen=True)
class Exported:
    """Nodes have `id`, `label`, `name` and their own properties; edges `source`, `target`, `rel` and theirs."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]


def collect(graph: Graph, book: int | None) -> Exported:
    """All of a book's nodes and edges, or of the library's, by id. Unknown properties are absent."""
    nodes: list[dict[str, Any]] = []
    for table in NODE_TABLES:
        if table.name == _LEFT_OUT:
            continue
        properties = [name for name, kind in table.properties.items() if kind != VECTOR]
        columns = ", ".join(f"n.{name} AS {name}" for name in properties)
        for row in graph.rows(f"MATCH (n:{table.name}) RETURN {columns}"):
            row["name"] = row.get("name") or row.get("title") or row["id"]
            nodes.append({"id": row.pop("id"), "label": table.name, **_known(row)})
    edges: list[dict[str, Any]] = []
    for rel in REL_TABLES:
        for source, target in rel.pairs:
            if target == _LEFT_OUT:
                continue
            columns = "".join(f", r.`{name}` AS `{name}`" for name in rel.properties)
            ends = "a.id AS source, b.id AS target"
            for row in graph.rows(f"MATCH (a:{source})-[r:{rel.name}]->(b:{target}) RETURN {ends}{columns}"):
                edges.append(
                    {"source": row.pop("source"), "target": row.pop("target"), "rel": rel.name, **_known(row)}
                )
    if book is not None:
        nodes = [node for node in nodes if book_of(node["id"]) == book]
        edges = [edge for edge in edges if book_of(edge["source"]) == book]
    nodes.sort(key=lambda n: n["id"])
    edges.sort(key=lambda e: (e["source"], e["target"], e["rel"], str(e.get("type")), e.get("start") or 0))
    return Exported(nodes, edges)


def write_export(exported: Exported, format_: Format, target: Path) -> list[Path]:
    """Write to `target`, each file whole or not at all. CSV gives two files, `<target>-nodes.csv` and `<target>-edges.csv`.

    Returns what was written. Raises DataFolderError.
    """
    if format_ == "csv":
        stem = target.with_suffix("") if target.suffix == ".csv" else target
        parts = {"nodes": exported.nodes, "edges": exported.edges}
        written = []
        for part, rows in parts.items():
            path = stem.with_name(f"{stem.name}-{part}.csv")
            write_bytes(path, _csv(rows))
            written.append(path)
        return written
    write_bytes(target, _rendered(exported, format_))
    return [target]


def _rendered(exported: Exported, format_: Format) -> bytes:
    if format_ == "json":
        document = {"nodes": exported.nodes, "edges": exported.edges}
        return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
    import networkx as nx

    out = io.BytesIO()
    write = nx.write_graphml if format_ == "graphml" else nx.write_gexf
    write(as_networkx(exported), out)
    return out.getvalue()


def as_networkx(exported: Exported) -> nx.MultiDiGraph:
    """Every value a number or text: lists joined, so that GraphML and GEXF can carry them."""
    import networkx as nx

    graph = nx.MultiDiGraph()
    for node in exported.nodes:
        plain = _plain({k: v for k, v in node.items() if k != "id"})
        # Gephi shows `label`; the table's name is what one filters and colours by.
        graph.add_node(node["id"], **{**plain, "label": node["name"], "kind_of_node": node["label"]})
    for number, edge in enumerate(exported.edges):
        ends = (edge["source"], edge["target"])
        plain = _plain({k: v for k, v in edge.items() if k not in ("source", "target")})
        # 'start' and 'end' mean a time span in GEXF, 'type' the direction
        renamed = {_EDGE_NAMES.get(k, k): v for k, v in plain.items()}
        graph.add_edge(*ends, key=f"e{number}", label=str(edge.get("type") or edge["rel"]), **renamed)
    return graph


_EDGE_NAMES = {"start": "quote_start", "end": "quote_end", "type": "relation"}


def _known(row: dict[str, Any]) -> dict[str, Any]:
    return {
        k: round(v, 6) if isinstance(v, float) else v
        for k, v in row.items()
        if v is not None and v != [] and v != ""
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {k: _JOINED.join(map(str, v)) if isinstance(v, list) else v for k, v in row.items()}


def _csv(rows: list[dict[str, Any]]) -> bytes:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_plain(row) for row in rows)
    return out.getvalue().encode("utf-8")
