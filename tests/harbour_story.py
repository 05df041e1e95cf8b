"""A very short original story and its graph, as the build side would have written them; a toy embedder.

Five characters, a ship and a quay: small enough to know by heart, with a relation of every shape.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from gutengraph_core import names, tables
from gutengraph_core.embedding.protocol import Embedder, EmbeddingIdentity, Matrix, Tokenizer
from gutengraph_core.files import sha256, write_table, write_text
from gutengraph_core.library import Chapter, Library

CHAPTERS = [
    (
        "I. The Quay",
        "Captain Tobias Wren commanded the Kittiwake, and nobody in Harrow Quay had ever seen him afraid. "
        "His sister, Mrs. Agnes Pell, kept the lamp in the tower and counted the days of every voyage in "
        "chalk upon the wall. Her daughter Lucy could read the weather from the smell of the tar barrels.",
    ),
    (
        "II. The Crossing",
        "Silas Crane, the boatswain of the Kittiwake, had a parrot that spoke only Danish, and he fed it on "
        "dried apricots. In the third week the water turned green, and Captain Wren nailed a silver "
        "spoon to the mast for whoever should first sight land.",
    ),
    (
        "III. The Fever",
        "When the ship came home Lucy lay ill with the marsh fever. Dr. Marlow sat with her four nights "
        "together and sent no bill. Silas brought her the parrot in a basket, and she taught it to say "
        "good morning. Before the winter was out Dr. Marlow had asked Agnes to marry him, and she had "
        "laughed, and said yes.",
    ),
]

EMBEDDER = EmbeddingIdentity(name="toy-words", revision="1", dimension=256, prefix_scheme="none")


class ToyEmbedder:
    """Bags of words, hashed: texts that share words are near, others are not. Unit length."""

    tokenizer: Tokenizer

    def __init__(self, identity: EmbeddingIdentity = EMBEDDER) -> None:
        self.identity = identity

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return np.vstack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Matrix:
        vector = np.zeros(self.identity.dimension, dtype=np.float32)
        for word in re.findall(r"[a-z]+", text.lower()):
            if word not in _EMPTY:
                slot = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
                vector[slot % self.identity.dimension] += 1.0
        if not vector.any():
            vector[0] = 1.0
        return vector / np.linalg.norm(vector)


_EMPTY = frozenset(
    "a an and the of in on to is was who what which did does his her it with for by at".split()
)


def body() -> str:
    """The story as `body.txt`."""
    return "\n\n".join(f"{title}\n\n{text}" for title, text in CHAPTERS) + "\n"


_NODES: list[dict[str, Any]] = [
    {"name": "Captain Tobias Wren", "aliases": ["Captain Wren", "Wren", "Tobias"], "gender": "M"},
    {"name": "Mrs. Agnes Pell", "aliases": ["Agnes", "Mrs. Pell"], "gender": "F"},
    {"name": "Lucy", "aliases": ["Lucy Pell"], "gender": "F"},
    {"name": "Dr. Marlow", "aliases": ["Marlow"], "gender": "M"},
    {"name": "Silas Crane", "aliases": ["Silas"], "gender": "M"},
    {"name": "Kittiwake", "label": "Location", "kind": "vessel", "aliases": []},
    {"name": "Harrow Quay", "label": "Location", "kind": "", "aliases": []},
]

_EDGES: list[tuple[str, str, str, str, float]] = [
    ("Captain Tobias Wren", "captain_of", "Kittiwake", "Captain Tobias Wren commanded the Kittiwake", 1.0),
    ("Captain Tobias Wren", "sibling_of", "Mrs. Agnes Pell", "His sister, Mrs. Agnes Pell", 0.9),
    ("Mrs. Agnes Pell", "parent_of", "Lucy", "Her daughter Lucy", 0.9),
    ("Silas Crane", "boatswain_of", "Kittiwake", "Silas Crane, the boatswain of the Kittiwake", 1.0),
    ("Lucy", "patient_of", "Dr. Marlow", "Dr. Marlow sat with her four nights together", 0.6),
    ("Dr. Marlow", "engaged_to", "Mrs. Agnes Pell", "Dr. Marlow had asked Agnes to marry him", 0.7),
    ("Mrs. Agnes Pell", "lives_in", "Harrow Quay", "Mrs. Agnes Pell, kept the lamp in the tower", 0.5),
]


def build_library(
    library: Library, *books: int, embedder: Embedder | None = None, merged: bool = True
) -> None:
    """Both brains of `books` (7 if none is named), as after a whole build; before its last step if not `merged`."""
    from gutengraph_core.graph.build import build_merged
    from gutengraph_core.vectors import ChunkTable

    used = embedder or ToyEmbedder()
    table = ChunkTable.open(library, used.identity, create=True)
    for book in books or (7,):
        write_book(library, book, embedder=used)
        rows = chunk_rows(book)
        vectors = used.embed_documents([row["text"] for row in rows])
        table.replace_book(book, pa.Table.from_pylist(rows, schema=tables.CHUNKS), vectors)
    if merged:
        build_merged(library)


def node_id(name: str, book: int) -> str:
    return f"{book}:{names.slug(name)}"


def write_book(
    library: Library,
    book: int,
    *,
    title: str = "The Lamp at Harrow Quay",
    embedder: Embedder | None = None,
    identity: str | None = None,
    vectors: bool = True,
    extra_nodes: Sequence[dict[str, Any]] = (),
    extra_edges: Sequence[tuple[str, str, str, str, float]] = (),
) -> None:
    """Write what a complete build leaves: body, chunks, the four graph files, book.json with their hashes."""
    used = embedder or ToyEmbedder()
    text = body()
    write_text(library.path(book, "body.txt"), text)
    chunks = chunk_rows(book, title)
    write_table(library.path(book, "chunks.parquet"), pa.Table.from_pylist(chunks, schema=tables.CHUNKS))

    persons = {n["name"] for n in (*_NODES, *extra_nodes) if n.get("label", "Character") == "Character"}
    edges = [_edge(book, text, persons, *edge) for edge in (*_EDGES, *extra_edges)]
    told: dict[str, list[str]] = {}
    for edge in edges:
        told.setdefault(edge["source"], []).append(f"{edge['type']} {edge['target']}")
    nodes, evidence = [], []
    for given in (*_NODES, *extra_nodes):
        node = _node(book, given)
        said = told.get(node["id"], [])[:5]
        words = f"{node['name']} {' '.join(said)}".replace("_", " ").replace("-", " ")
        node["embedding"] = used.embed_documents([words])[0].tolist() if vectors else None
        found = list(re.finditer(re.escape(given["name"]), text))
        node["mentions"] = len(found)
        node["windows"] = len(found)
        nodes.append(node)
        evidence += [_mention(node["id"], m, chunks) for m in found]
    frames = {
        "nodes": pa.Table.from_pylist(nodes, schema=tables.NODES),
        "edges": pa.Table.from_pylist(edges, schema=tables.EDGES),
        "evidence": pa.Table.from_pylist(evidence, schema=tables.EVIDENCE),
        "merges": pa.Table.from_pylist([], schema=tables.MERGES),
    }
    for name, frame in frames.items():
        write_table(library.path(book, f"graph/{name}.parquet"), frame)
    library.update(
        book,
        title=title,
        authors=["A. Nonymous"],
        subjects=["Sea stories"],
        language="en",
        kind="fiction",
        status="built",
        chapters=[c.model_dump() for c in chapters(text)],
        embedder=str(used.identity) if identity is None else identity,
    )
    record_hashes(library, book)


def record_hashes(library: Library, book: int) -> None:
    """Set the hashes in book.json to those of the files as they stand."""
    files = ("nodes.parquet", "edges.parquet", "evidence.parquet", "merges.parquet")
    library.update(book, graph_sha256={name: sha256(library.path(book, f"graph/{name}")) for name in files})


@lru_cache
def chapters(text: str) -> list[Chapter]:
    starts = [text.index(title) for title, _ in CHAPTERS]
    ends = [*starts[1:], len(text)]
    titles = [title for title, _ in CHAPTERS]
    return [
        Chapter(index=i, title=title, start=start, end=end)
        for i, (title, start, end) in enumerate(zip(titles, starts, ends, strict=True), start=1)
    ]


def chunk_rows(book: int, title: str = "The Lamp at Harrow Quay") -> list[dict[str, Any]]:
    """One chunk a chapter."""
    text = body()
    return [
        {
            "id": f"{book}:{c.index - 1:06d}",
            "gutenberg_id": book,
            "chunk_index": c.index - 1,
            "chapter": c.index,
            "start": c.start,
            "end": c.end,
            "text": text[c.start : c.end],
            "title": title,
            "authors": ["A. Nonymous"],
            "subjects": ["Sea stories"],
            "kind": "fiction",
            "token_count": len(text[c.start : c.end].split()),
        }
        for c in chapters(text)
    ]


def _node(book: int, given: dict[str, Any]) -> dict[str, Any]:
    label = given.get("label", "Character")
    return {
        **dict.fromkeys(tables.NODES.names),
        "id": given.get("id", node_id(given["name"], book)),
        "label": label,
        "gutenberg_id": book,
        "name": given["name"],
        "aliases": [given["name"], *given.get("aliases", [])],
        "standing": "cast" if label == "Character" else None,
        "gender": given.get("gender"),
        "kind": given.get("kind", ""),
        "degree": 0,
    }


def _edge(
    book: int, text: str, persons: set[str], a: str, kind: str, b: str, quote: str, confidence: float
) -> dict[str, Any]:
    start = max(text.find(quote), 0)
    return {
        "source": node_id(a, book),
        "target": node_id(b, book),
        "rel": "RELATED_TO" if b in persons else "INTERACTS_WITH",
        "type": kind,
        "quote": quote,
        "start": start,
        "end": start + len(quote),
        "chapter": next((c.index for c in chapters(text) if c.start <= start < c.end), 0),
        "how": "pattern:test",
        "confidence": confidence,
    }


def _mention(entity: str, found: re.Match[str], chunks: list[dict[str, Any]]) -> dict[str, Any]:
    chunk = next(c for c in chunks if c["start"] <= found.start() < c["end"])
    return {
        "entity": entity,
        "surface": found.group(),
        "start": found.start(),
        "end": found.end(),
        "window": 0,
        "chapter": chunk["chapter"],
        "chunk_id": chunk["id"],
    }
