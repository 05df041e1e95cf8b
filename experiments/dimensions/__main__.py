"""Fewer dimensions of the configured model's vectors: what they find, the bytes they take, the time of a search.

    python -m experiments.dimensions GOLD_DIR

Takes the vectors of a built library (GUTENGRAPH_HOME) and cuts them: the first n, and made unit length again. A
model trained for it (Matryoshka: nomic-embed-text-v1.5) keeps most of what it knows in the first; for another the
cut is arbitrary, and this tells what it costs. Writes `results.json` and `results.md` beside this file.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from experiments.retrieval.bench import Asked, K, questions, score
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.files import write_json, write_text
from gutengraph_core.library import Library
from gutengraph_core.passages import Passage
from gutengraph_core.settings import load_settings
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.brains import Brains
from gutengraph_query.understanding.question import names_apart

HERE = Path(__file__).parent
CUTS = (256, 128)
_ROUNDS = 3


def cut(vectors: Matrix, dimension: int) -> Matrix:
    """The first `dimension` of each, of unit length: float32 [n, dimension]."""
    shorter = vectors[:, :dimension]
    unit: Matrix = (shorter / np.linalg.norm(shorter, axis=1, keepdims=True)).astype(np.float32)
    return unit


@click.command()
@click.argument("gold_dir", type=click.Path(exists=True, path_type=Path))
def dimensions(gold_dir: Path) -> None:
    """Score the whole vectors and each cut."""
    here = Brains(load_settings())
    asked = questions(here, gold_dir)
    full = here.embedder.identity.dimension
    neighbours = here.settings.passage_neighbours
    rows = []
    for dimension in (full, *(n for n in CUTS if n < full)):
        with tempfile.TemporaryDirectory(prefix="gutengraph-dimensions-") as folder:
            table = _copied(here.table, Library(Path(folder)), dimension)
            rows.append(_scored(table, asked, dimension, neighbours))
    document = {
        "embedder": str(here.embedder.identity),
        "questions": len(asked),
        "rows_in_table": here.table.count(),
        "neighbours": neighbours,
        "date": time.strftime("%Y-%m-%d"),
        "rows": rows,
    }
    write_json(HERE / "results.json", document)
    text = _table(document, rows)
    write_text(HERE / "results.md", text)
    click.echo(text)


def _copied(source: ChunkTable, library: Library, dimension: int) -> ChunkTable:
    """The same passages in a table of their own, with shorter vectors."""
    table = ChunkTable.open(library, replace(source.identity, dimension=dimension), create=True)
    for book in source.books():
        rows, vectors = source.rows(book)
        table.replace_book(book, rows, cut(vectors, dimension))
    table.maintain()
    return table


def _scored(table: ChunkTable, asked: Sequence[Asked], dimension: int, neighbours: int) -> dict[str, float]:
    queries = {one.gold.id: cut(one.vector[None], dimension)[0] for one in asked}

    def by_vector(one: Asked) -> list[Passage]:
        found = table.search(queries[one.gold.id], k=K, book=one.book)
        return table.widen(found, by=neighbours)

    def by_both(one: Asked) -> list[Passage]:
        words, named = names_apart(one.gold.question)
        found = table.hybrid_search(queries[one.gold.id], words, names=named, k=K, book=one.book)
        return table.widen(found, by=neighbours)

    vector, hybrid = score(asked, by_vector), score(asked, by_both)
    seconds = []
    for _ in range(_ROUNDS):
        for one in asked:
            began = time.perf_counter()
            table.search(queries[one.gold.id], k=K)
            seconds.append(time.perf_counter() - began)
    return {
        "dimension": dimension,
        "bytes_per_vector": 4 * dimension,
        "hit@5_vector": vector.hit,
        "answer@5_vector": vector.answer,
        "hit@5_hybrid": hybrid.hit,
        "answer@5_hybrid": hybrid.answer,
        "search_ms": round(1e3 * float(np.median(seconds)), 2),
    }


def _table(document: dict[str, object], rows: Sequence[dict[str, float]]) -> str:
    lines = [
        "# Dimensions",
        "",
        f"`python -m experiments.dimensions GOLD_DIR`: {document['embedder']}; {document['questions']} questions over "
        f"{document['rows_in_table']} passages, five passages with {document['neighbours']} neighbour(s) on either side; flat scan; "
        f"2 cores, 24 GB, no GPU, {document['date']}.",
        "",
        "| dimensions | bytes a vector | hit@5 vector | answer@5 vector | hit@5 hybrid | answer@5 hybrid | search, ms (median) |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append("| " + " | ".join(str(value) for value in row.values()) + " |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    dimensions()
