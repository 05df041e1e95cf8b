"""How far it reaches: hours and disk for 100 to 75,000 books, by formula from measured points.

    python -m benchmarks.capacity measure --home HOME --mirror FOLDER     points, into capacity.json
    python -m benchmarks.capacity page                                    docs/scale.md's tables, from the points

HOME was built cold on a quiet machine: its records hold the seconds of each step. `merged_graph.json` beside this file gives the
merge. Every point is printed above the table it goes into, so that another machine's can be put in its place.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path
from statistics import mean
from typing import Any

import click

from benchmarks.library_copy import FIRST_ID, renumbered
from benchmarks.machine import machine, table
from gutengraph_core.files import read_text, write_json, write_text
from gutengraph_core.library import Library
from gutengraph_core.vectors import ChunkTable

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "scale.md"
BEGIN, END = "<!-- made by benchmarks.capacity: begin -->", "<!-- made by benchmarks.capacity: end -->"
SIZES = (100, 1_000, 10_000, 75_000)
WORKERS = (1, 4, 16, 64)
MODEL_STEPS = {"window_names", "embeddings_table"}


@click.group()
def main() -> None:
    """Capacity by formula."""


@main.command()
@click.option("--home", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--mirror", type=click.Path(path_type=Path, exists=True), required=True)
def measure(home: Path, mirror: Path) -> None:
    """Read the points of a built home; time commits into a copy of its table."""
    library = Library(home.absolute())
    records = [record for record in library.records() if record.status == "built"]
    counts = {name: sum(r.counts[name] for r in records) for name in ("words", "chars", "chunks")}
    seconds = {name: sum(r.steps[name].seconds for r in records) for name in records[0].steps}
    texts = [path.stat().st_size for path in mirror.glob("cache/epub/*/pg*.txt")]
    words = mean(texts) * counts["words"] / counts["chars"]
    merged = json.loads(read_text(HERE / "merged_graph.json"))
    points = {
        **machine(),
        "books_measured": len(records),
        "words_a_book": round(words),
        "passages_a_book": round(words * counts["chunks"] / counts["words"]),
        "names_s_per_1000_words": round(1000 * seconds["window_names"] / counts["words"], 3),
        "vectors_s_per_passage": round(seconds["embeddings_table"] / counts["chunks"], 4),
        "others_s_a_book": round(
            sum(s for n, s in seconds.items() if n not in MODEL_STEPS) / len(records), 2
        ),
        "commit_s_a_book": round(_commit_seconds(library), 2),
        "merge_s_a_book": round(min(run["wall_s"] for run in merged["runs"]) / merged["books"], 3),
        "graph_mb_a_book": round(merged["bytes"] / merged["books"] / 2**20, 2),
        "files_mb_a_book": _mb(library.books_dir, len(records)),
        "vectors_mb_a_book": _mb(library.lancedb_dir, len(records)),
        "replies_mb_a_book": _mb(library.cache_dir, len(records)),
        "events_mb_a_book": _mb(library.dagster_dir, len(records)),
    }
    write_json(HERE / "capacity.json", points)
    click.echo(json.dumps(points, indent=1))


def _mb(folder: Path, books: int) -> float:
    return round(sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / books / 2**20, 2)


def _commit_seconds(library: Library) -> float:
    """Seconds for which one book holds the table's lock, in a copy of the table."""
    with tempfile.TemporaryDirectory(prefix="gutengraph-commit-") as folder:
        copy = Library(Path(folder))
        shutil.copytree(library.lancedb_dir, copy.lancedb_dir)
        chunks = ChunkTable.open(copy, None)
        took = []
        for number, book in enumerate(sorted(chunks.books())):
            rows, vectors = chunks.rows(book)
            renamed = renumbered(rows, book, FIRST_ID + number)
            start = time.monotonic()
            chunks.replace_book(FIRST_ID + number, renamed, vectors)
            took.append(time.monotonic() - start)
        return mean(took)


@main.command()
def page() -> None:
    """Put the tables into docs/scale.md."""
    points = json.loads(read_text(HERE / "capacity.json"))
    text = read_text(PAGE)
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    write_text(PAGE, f"{before}{BEGIN}\n{tables(points)}\n{END}{after}")


def book_seconds(points: dict[str, Any]) -> float:
    """Seconds that one worker of two cores needs for a book of the mean length."""
    return float(
        points["names_s_per_1000_words"] * points["words_a_book"] / 1000
        + points["vectors_s_per_passage"] * points["passages_a_book"]
        + points["others_s_a_book"]
    )


def hours(points: dict[str, Any], books: int, workers: int) -> float:
    """Hours for `books` books with `workers` workers: they share the books, and wait for one another only at the
    table's commit; the merge comes once, at the end.
    """
    shared = max(book_seconds(points) / workers, float(points["commit_s_a_book"]))
    return books * (shared + float(points["merge_s_a_book"])) / 3600


def tables(points: dict[str, Any]) -> str:
    """The points, and what follows from them."""
    book = book_seconds(points)
    rows = [
        [name.replace("_", " "), value] for name, value in points.items() if isinstance(value, int | float)
    ]
    reach = [
        [
            f"{books:,} books",
            *(_span(hours(points, books, workers)) for workers in WORKERS),
            _span(books * points["merge_s_a_book"] / 3600),
            f"{books * points['passages_a_book'] / 1e6:,.1f} M",
            *(
                _bytes(books * points[f"{what}_mb_a_book"])
                for what in ("files", "vectors", "graph", "replies", "events")
            ),
        ]
        for books in SIZES
    ]
    header = ["", *(f"{w} worker{'s' * (w > 1)}" for w in WORKERS), "of it the merge", "passages"]
    return f"""
Measured on {points["cores"]} cores, {points["memory_gb"]} GB, no GPU, {points["date"]} (`python -m benchmarks.capacity measure`):

{table(["point", "value"], rows)}

A worker (two cores, the embedded models) makes a book of the mirror's mean length in
{points["names_s_per_1000_words"]} × {points["words_a_book"] / 1000:.0f} + {points["vectors_s_per_passage"]} × {points["passages_a_book"]} + {points["others_s_a_book"]} = **{book:.0f} s**. It holds the table's lock for {points["commit_s_a_book"]} s of them, so that
the commit is what everybody waits for only from **{book / points["commit_s_a_book"]:.0f} workers** on.

{table([*header, "books/", "table", "graph", "cache/", "events"], reach)}
"""


def _span(value: float) -> str:
    if value < 1:
        return f"{value * 60:.0f} min"
    return f"{value:.0f} h" if value < 72 else f"{value / 24:.0f} days"


def _bytes(megabytes: float) -> str:
    return f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1024:.0f} GB"


if __name__ == "__main__":
    main()
