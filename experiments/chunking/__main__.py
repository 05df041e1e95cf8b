"""Strategies × sizes × overlaps of chunks, by what is found in them.

    python -m experiments.chunking GOLD_DIR [--book 84 --book 120 …]

Cuts the bodies of a built library (GUTENGRAPH_HOME) in each way and asks the gold questions of them, over all these
books at once, by vectors and by vectors with full text. The bodies go through the configured model once (`pooled`).
What is measured is kept in `results.json` beside this file, so that a run that was stopped goes on; with `--keep` so is
what the model said of each body (3 KB a token), and `--minutes` stops it. The table is `results.md`. Only for a model
that runs here by sentence-transformers.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, get_args

import click
import numpy as np

from experiments.chunking.pooled import Pooled, pooled
from experiments.retrieval.bench import FIGURES, Asked, questions, table_scores
from gutengraph_assets.text.chunking import Chunk, Strategy, chunk_body, chunk_table
from gutengraph_core.embedding.folders import find_folder
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.embedding.sentence_transformers import LocalModel
from gutengraph_core.files import write_atomic, write_json, write_text
from gutengraph_core.library import Library
from gutengraph_core.settings import load_settings
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.brains import Brains

HERE = Path(__file__).parent
SIZES = (100, 150, 250)
OVERLAPS = (0, 30, 60)
WAYS = tuple((s, n, o) for s, n, o in product(get_args(Strategy), SIZES, OVERLAPS) if 2 * o < n)
FIRST = (250, 30)
"""Size and overlap nearest to the pipeline's own: every strategy at these comes before all else, should time be short."""
OWN = "the library's own chunks, each embedded by itself"


@dataclass(frozen=True)
class Bodies:
    """The books that are cut, with one pass of the model over each."""

    here: Brains
    books: tuple[int, ...]
    pools: dict[int, Pooled]
    asked: list[Asked]

    def sentences(self, book: int) -> Any:
        """`embed` for semantic chunks: the sentences come in the order of the body."""
        body, pool = self.here.library.body(book), self.pools[book]

        def embed(texts: Sequence[str]) -> Matrix:
            spans, place = [], 0
            for text in texts:
                start = body.index(text, place)
                spans.append((start, start + len(text)))
                place = start + len(text)
            return pool.vectors(spans)

        return embed


@click.command()
@click.argument("gold_dir", type=click.Path(exists=True, path_type=Path))
@click.option("--book", "books", type=int, multiple=True, help="Only these; default: all that are built.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for what the model says of the bodies: the next run does not ask it again.",
)
@click.option("--minutes", type=float, default=1e9, help="Begin nothing new after this long.")
def chunking(gold_dir: Path, books: tuple[int, ...], keep: Path | None, minutes: float) -> None:
    """Measure every way that has not been measured yet, and write the table."""
    until = time.monotonic() + 60 * minutes
    settings = load_settings()
    here = Brains(settings)
    chosen = books or tuple(here.table.books())
    path = HERE / "results.json"
    document = json.loads(path.read_text()) if path.exists() else {}
    key = {"embedder": str(here.embedder.identity), "books": list(chosen)}
    if {name: document.get(name) for name in key} != key:
        document = {**key, "rows": []}
    missing = [w for w in WAYS if list(w) not in [row["way"] for row in document["rows"]]]
    missing.sort(key=lambda way: way[1:] != FIRST)
    if missing:
        model = LocalModel(find_folder(settings.embedding), threads=settings.threads)
        pools: dict[int, Pooled] = {}
        for book in chosen:
            if time.monotonic() > until:
                raise SystemExit(f"{len(pools)} of {len(chosen)} bodies are read; run it again to go on.")
            pools[book] = _kept(here, book, model, keep)
        asked = questions(here, gold_dir, chosen)
        document |= {"questions": len(asked), "date": time.strftime("%Y-%m-%d")}
        bodies = Bodies(here, chosen, pools, asked)
        if "own" not in document:
            document["own"] = _own(bodies)
        for way in missing:
            if time.monotonic() > until:
                break
            document["rows"].append(_measured(bodies, *way))
            click.echo(json.dumps(document["rows"][-1]), err=True)
            write_json(path, document)
    text = _table(document)
    write_text(HERE / "results.md", text)
    click.echo(text)


def _kept(here: Brains, book: int, model: LocalModel, keep: Path | None) -> Pooled:
    """The body's pass, from the folder if it is there."""
    body = here.library.body(book)
    if keep is None:
        return pooled(body, here.embedder.tokenizer, model)
    key = hashlib.sha256(f"{here.embedder.identity}\n{body}".encode()).hexdigest()[:16]
    path = keep / f"{book}-{key}.npz"
    if path.exists():
        found = np.load(path)
        return Pooled(found["starts"], found["sums"])
    pool = pooled(body, here.embedder.tokenizer, model)

    def write(partial: Path) -> None:
        with open(partial, "wb") as file:
            np.savez(file, starts=pool.starts, sums=pool.sums)

    write_atomic(path, write)
    return pool


def _own(bodies: Bodies) -> dict[str, Any]:
    """The library's own rows of these books, to see what pooling does to the figures."""
    with tempfile.TemporaryDirectory(prefix="gutengraph-chunking-") as folder:
        table = ChunkTable.open(Library(Path(folder)), bodies.here.embedder.identity, create=True)
        for book in bodies.books:
            table.replace_book(book, *bodies.here.table.rows(book))
        return table_scores(table, bodies.asked)


def _measured(bodies: Bodies, strategy: Strategy, size: int, overlap: int) -> dict[str, Any]:
    here, tokens, whole = bodies.here, 0, 0
    with tempfile.TemporaryDirectory(prefix="gutengraph-chunking-") as folder:
        table = ChunkTable.open(Library(Path(folder)), here.embedder.identity, create=True)
        seconds = 0.0
        for book in bodies.books:
            record, body = here.library.record(book), here.library.body(book)
            began = time.monotonic()
            found: list[Chunk] = chunk_body(
                body,
                record.chapters,
                here.embedder.tokenizer,
                target_tokens=size,
                overlap=overlap,
                strategy=strategy,
                embed=bodies.sentences(book) if strategy == "semantic" else None,
            )
            seconds += time.monotonic() - began
            tokens += sum(chunk.token_count for chunk in found)
            whole += len(bodies.pools[book].starts)
            vectors = bodies.pools[book].vectors([(chunk.start, chunk.end) for chunk in found])
            table.replace_book(book, chunk_table(record, body, found), vectors)
        return {
            "way": [strategy, size, overlap],
            "chunks": table.count(),
            "mean_tokens": round(tokens / max(1, table.count())),
            # What the model reads: each chunk, and for semantic cuts each sentence once before.
            "passes": round(tokens / whole + (1.0 if strategy == "semantic" else 0.0), 2),
            "cutting_s": round(seconds, 1),
            **table_scores(table, bodies.asked),
        }


def _table(document: dict[str, Any]) -> str:
    lines = [
        "# Chunks",
        "",
        f"`python -m experiments.chunking GOLD_DIR`: {document['embedder']}; books {', '.join(map(str, document['books']))} at once, "
        f"{document['questions']} questions, five passages; 2 cores, 24 GB, no GPU, {document['date']}. Vectors pooled from one pass over "
        "each body; passes: how often the model would read the text; +1: with one neighbour on either side shown. With this few questions "
        "a difference under .1 is chance.",
        "",
        "| strategy | tokens | overlap | chunks | passes | cutting s | hit@5 vector | answer@5 | hit@5 hybrid | answer@5 "
        "| hit@5 vector +1 | answer@5 +1 | hit@5 hybrid +1 | answer@5 +1 |",
        "|" + "---|" * 14,
    ]
    rows = sorted(document["rows"], key=lambda row: WAYS.index(tuple(row["way"])))
    for row in rows:
        lead = [*row["way"], row["chunks"], row["passes"], row["cutting_s"]]
        lines.append("| " + " | ".join([*map(str, lead), *(f"{row[f]:.2f}" for f in FIGURES)]) + " |")
    own = " | ".join(f"{document['own'][f]:.2f}" for f in FIGURES)
    lines.append(f"| {OWN} | 254 | 30 | | | | {own} |")
    if len(rows) < len(WAYS):
        return "\n".join([*lines, "", f"{len(rows)} of {len(WAYS)} ways are measured.", ""])
    lines += [
        "",
        "## Means over the other two",
        "",
        "| | hit@5 hybrid | answer@5 hybrid | hit@5 hybrid +1 | answer@5 hybrid +1 |",
        "|---|---|---|---|---|",
    ]
    for place, values in enumerate((get_args(Strategy), SIZES, OVERLAPS)):
        for value in values:
            of_it = [row for row in rows if row["way"][place] == value]
            figures = [f for f in FIGURES if "hybrid" in f]
            means = [float(np.mean([row[f] for row in of_it])) for f in figures]
            name = (value, f"{value} tokens", f"overlap {value}")[place]
            lines.append(f"| {name} | " + " | ".join(f"{m:.3f}" for m in means) + " |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    chunking()
