"""The index of passages at a size that no five novels have: recall, time and space, with the sizing rule's figures.

    python -m benchmarks.index run GOLD_DIR [--rows 100000 --rows 1000000]
    python -m benchmarks.index report

`run` takes the vectors of a built library (GUTENGRAPH_HOME), cuts them to 256 dimensions, and makes as many rows
from them as are wanted: each a real vector plus noise in a random direction, as long as the way to that vector's
own nearest neighbour. The queries are the gold questions. Each size is a table of its own on disk, indexed and
asked by the library's own code; what it measured is kept in `index.json` beside this file. `report` makes the
table `index.md` and the picture `index.png` from that, with the 91 million rows of all of Project Gutenberg
extrapolated. The real vectors come first, without noise.
"""

from __future__ import annotations

import json
import math
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.files import write_json, write_text
from gutengraph_core.index_size import index_size

if TYPE_CHECKING:
    from lancedb.table import LanceTable

HERE = Path(__file__).parent
DIMENSION = 256
K = 10
ALL_OF_GUTENBERG = 91_000_000
"""75,000 books of about 1,200 passages."""
AT_ONCE = 50_000
ROWS_A_BOOK = 1_200
FLAT_QUERIES = 10
"""Of a flat scan, which takes a second at a million rows."""
_SEED = 20_261


@click.group()
def index() -> None:
    """Measure the index of passages."""


@index.command()
@click.argument("gold_dir", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--rows", "sizes", type=int, multiple=True, default=(100_000, 300_000, 1_000_000), show_default=True
)
def run(gold_dir: Path, sizes: tuple[int, ...]) -> None:
    """Build and ask a table of each size."""
    real, questions = _vectors(gold_dir)
    path = HERE / "index.json"
    document = json.loads(path.read_text()) if path.exists() else {"points": []}
    for rows in sorted(sizes):
        with tempfile.TemporaryDirectory(prefix="gutengraph-index-") as folder:
            point = _measure(Path(folder), real, questions, rows)
        click.echo(json.dumps(point))
        kept = [p for p in document["points"] if p["rows"] != rows]
        document = {
            "dimension": DIMENSION,
            "real_vectors": len(real),
            "queries": len(questions),
            "points": sorted([*kept, point], key=lambda p: int(p["rows"])),
        }
        write_json(path, document)


@index.command()
def report() -> None:
    """Write the table and the picture from what was measured."""
    document = json.loads((HERE / "index.json").read_text())
    if len(document["points"]) < 2:
        raise click.ClickException("The growth of a query's time takes two sizes: run another with --rows.")
    write_text(HERE / "index.md", table_of(document))
    draw(document, HERE / "index.png")
    click.echo(table_of(document))


def _vectors(gold_dir: Path) -> tuple[Matrix, Matrix]:
    """The library's vectors and the gold questions', both cut to 256 dimensions and of unit length again."""
    from gutengraph_core.embedding import open_embedder
    from gutengraph_core.settings import load_settings
    from gutengraph_core.vectors import ChunkTable
    from gutengraph_query.evaluate.gold import load_gold

    settings = load_settings()
    embedder = open_embedder(settings)
    table = ChunkTable.open(settings.library, embedder.identity)
    passages = np.vstack([table.rows(book)[1] for book in table.books()])
    asked = [question.question for book in load_gold(gold_dir) for question in book.questions]
    return _cut(passages), _cut(np.vstack([embedder.embed_query(question) for question in asked]))


def _cut(vectors: Matrix) -> Matrix:
    shorter = vectors[:, :DIMENSION]
    unit: Matrix = (shorter / np.linalg.norm(shorter, axis=1, keepdims=True)).astype(np.float32)
    return unit


def nearest_distances(vectors: Matrix) -> Matrix:
    """The way from each unit vector to its nearest other: float32 [n]."""
    found = np.zeros(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), 2_000):
        cosines = vectors[start : start + 2_000] @ vectors.T
        cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))] = -1
        found[start : start + 2_000] = np.sqrt(np.maximum(2 - 2 * cosines.max(axis=1), 0))
    return found


def multiplied(real: Matrix, rows: int) -> Matrix:
    """`rows` unit vectors: the real ones first, then the real ones with noise."""
    rng = np.random.default_rng(_SEED)
    reach = nearest_distances(real)
    out = np.empty((rows, real.shape[1]), dtype=np.float32)
    for start in range(0, rows, AT_ONCE):
        stop = min(start + AT_ONCE, rows)
        source = np.arange(start, stop) % len(real)
        noise = rng.standard_normal((stop - start, real.shape[1]), dtype=np.float32)
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        noise[np.arange(start, stop) < len(real)] = 0
        made = real[source] + reach[source, None] * noise
        out[start:stop] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return out


def _measure(folder: Path, real: Matrix, questions: Matrix, rows: int) -> dict[str, Any]:
    from gutengraph_core.table_queries import nearest, of_book
    from gutengraph_core.vector_index import VECTOR_INDEX, train

    vectors = multiplied(real, rows)
    cosines = vectors @ questions.T
    truth = [set(np.argpartition(-column, K)[:K].tolist()) for column in cosines.T]
    del cosines
    table = _written(folder, vectors)
    del vectors
    few = questions[:FLAT_QUERIES]
    plain = _timed(lambda q: nearest(table, q, k=K, rows=rows, exact=True), few, warm=few[:1])[0]
    size = index_size(rows, DIMENSION)
    began, cpu = time.monotonic(), _cpu()
    train(table, rows, DIMENSION)
    table.wait_for_index([VECTOR_INDEX], timeout=timedelta(minutes=20))
    built, built_cpu = time.monotonic() - began, _cpu() - cpu
    asked, found = _timed(lambda q: nearest(table, q, k=K, rows=rows), questions)
    within, _ = _timed(lambda q: nearest(table, q, k=K, rows=rows, where=of_book(7), exact=True), few)
    stats = table.index_stats(VECTOR_INDEX)
    sizes = {i.name: int(i.size_bytes or 0) for i in table.list_indices()}
    return {
        "rows": rows,
        "partitions": size.partitions,
        "sub_vectors": size.sub_vectors,
        "probes": size.probes,
        "indexed_rows": int(stats.num_indexed_rows) if stats is not None else 0,
        "recall_at_10": round(
            sum(len(right & got) for right, got in zip(truth, found, strict=True)) / (K * len(truth)), 4
        ),
        "query_ms": _spread(asked),
        "flat_ms": _spread(plain),
        "book_ms": _spread(within),
        "index_bytes_per_vector": round(sizes[VECTOR_INDEX] / rows, 2),
        "formula_bytes_per_vector": round(size.bytes_per_vector, 2),
        "other_index_bytes_per_row": round((sum(sizes.values()) - sizes[VECTOR_INDEX]) / rows, 2),
        "build_s": round(built, 1),
        "build_cpu_s": round(built_cpu, 1),
        "build_gflop": round(size.build_operations / 1e9, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "date": time.strftime("%Y-%m-%d"),
    }


def _written(folder: Path, vectors: Matrix) -> LanceTable:
    """A table with the columns that the library's filters and indices use."""
    import lancedb
    import pyarrow as pa

    from gutengraph_core.table_queries import VECTOR

    def batches() -> Any:
        for start in range(0, len(vectors), AT_ONCE):
            part = vectors[start : start + AT_ONCE]
            numbers = np.arange(start, start + len(part))
            column = pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), DIMENSION)
            yield pa.record_batch(
                {
                    "row": pa.array(numbers),
                    "gutenberg_id": pa.array(numbers // ROWS_A_BOOK),
                    "authors": pa.array([[f"Author {n // ROWS_A_BOOK // 3}"] for n in numbers.tolist()]),
                    "kind": pa.array(["fiction"] * len(part)),
                    VECTOR: column,
                }
            )

    first = next(batches())
    reader = pa.RecordBatchReader.from_batches(first.schema, batches())
    table: LanceTable = lancedb.connect(folder).create_table("chunks", reader)
    return table


def _timed(
    query: Callable[[Matrix], Any], questions: Matrix, *, warm: Matrix | None = None
) -> tuple[list[float], list[set[int]]]:
    """Milliseconds of each query once everything is warm (asked `warm`, or all of them, before), and the rows that
    it found.
    """
    columns = ["row", "_distance"]
    for question in questions if warm is None else warm:
        query(question).select(columns).to_arrow()
    seconds: list[float] = []
    found: list[set[int]] = []
    for question in questions:
        began = time.perf_counter()
        rows = query(question).select(columns).to_arrow()
        seconds.append(1e3 * (time.perf_counter() - began))
        found.append(set(rows["row"].to_pylist()))
    return seconds, found


def _spread(milliseconds: list[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    return {
        "median": round(statistics.median(ordered), 1),
        "p95": round(ordered[int(0.95 * len(ordered))], 1),
    }


def _cpu() -> float:
    return sum(os.times()[:2])


def extrapolated(points: list[dict[str, Any]], rows: int = ALL_OF_GUTENBERG) -> dict[str, float]:
    """What the largest measured size says of `rows`.

    Bytes and memory come by formula. The build takes its CPU seconds by the operations of the formula, at the
    rate of the largest build; a query its milliseconds by the rows that it reads, at the rate of the largest
    table beyond the smallest; nan where the largest is no slower than the smallest.
    """
    last = points[-1]
    size = index_size(rows, DIMENSION)
    rate = last["build_gflop"] / last["build_cpu_s"]
    read = {p["rows"]: p["rows"] * p["probes"] / p["partitions"] for p in points}
    slower = last["query_ms"]["median"] - points[0]["query_ms"]["median"]
    slope = slower / (read[last["rows"]] - read[points[0]["rows"]])
    # Where the rows read do not show in the time yet, nothing can be said of a size at which they will.
    query = math.nan
    if slope > 0:
        query = last["query_ms"]["median"] + slope * (size.rows_read - read[last["rows"]])
    return {
        "rows": rows,
        "partitions": size.partitions,
        "sub_vectors": size.sub_vectors,
        "probes": size.probes,
        "bytes_per_vector": size.bytes_per_vector,
        "index_gb": size.index_bytes / 1e9,
        "vectors_gb": size.vector_bytes / 1e9,
        "training_gb": size.training_bytes / 1e9,
        "build_cpu_h": size.build_operations / 1e9 / rate / 3600,
        "query_ms": query,
    }


def table_of(document: dict[str, Any]) -> str:
    """Markdown."""
    points = document["points"]
    end = extrapolated(points)
    far = "?" if math.isnan(end["query_ms"]) else f"*{end['query_ms']:.0f}*"
    rows = [
        "# The index of passages",
        "",
        f"`python -m benchmarks.index run GOLD_DIR`, then `report`: {document['real_vectors']:,} real passage vectors cut to "
        f"{document['dimension']} dimensions and multiplied with noise as long as the way to their own nearest neighbour; "
        f"{document['queries']} gold questions as queries; warm; {points[-1]['cores']} cores, 24 GB, no GPU, {points[-1]['date']}.",
        "The machine was shared: `load` is its load average at the end of each point, and a quiet one is faster.",
        "",
        "| rows | partitions | probes | bytes a vector, code | recall@10 | query ms (p95) | flat ms | one book ms | index B a vector (formula) "
        "| build s (CPU s) | peak MB | load |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {p['rows']:,} | {p['partitions']} | {p['probes']} | {p['sub_vectors']} | {p['recall_at_10']:.3f} "
        f"| {p['query_ms']['median']} ({p['query_ms']['p95']}) | {p['flat_ms']['median']} | {p['book_ms']['median']} "
        f"| {p['index_bytes_per_vector']} ({p['formula_bytes_per_vector']}) | {p['build_s']} ({p['build_cpu_s']}) "
        f"| {p['peak_mb']} | {p['load']} |"
        for p in points
    ]
    rows += [
        f"| *{end['rows']:,}* | {end['partitions']:.0f} | {end['probes']:.0f} | {end['sub_vectors']:.0f} | – | {far} | – | – "
        f"| *({end['bytes_per_vector']:.0f})* | *{end['build_cpu_h']:.1f} CPU hours* | *{1e3 * end['training_gb']:.0f} to train* | – |",
        "",
        "The last line is extrapolated (75,000 books of about 1,200 passages): the index takes "
        f"{end['index_gb']:.1f} GB and the vectors {end['vectors_gb']:.0f} GB by formula; its build is as fast an "
        "operation as the largest measured one; a query's time grows with the rows it reads ('?': it did not "
        "grow over the sizes measured, so nothing can be said). Assumed: codes and "
        "vectors on a local SSD, the index in memory, and a recall that holds, which nothing here has shown beyond "
        f"{points[-1]['rows']:,} rows. The formulas stand in `gutengraph_core/index_size.py`.",
        "",
        "![growth](index.png)",
        "",
    ]
    return "\n".join(rows)


def draw(document: dict[str, Any], path: Path) -> None:
    """Three panels over the number of rows: query time, size of the index, time to build it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    points, end = document["points"], extrapolated(document["points"])
    rows = [p["rows"] for p in points]
    figure = Figure(figsize=(11, 3.4), dpi=90, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    panels = (
        ("query, ms", [p["query_ms"]["median"] for p in points], end["query_ms"]),
        ("index, GB", [p["rows"] * p["index_bytes_per_vector"] / 1e9 for p in points], end["index_gb"]),
        ("build, CPU hours", [p["build_cpu_s"] / 3600 for p in points], end["build_cpu_h"]),
    )
    for axes, (title, measured, far) in zip(figure.subplots(1, 3), panels, strict=True):
        axes.plot(rows, measured, "o-", color="#14776f", label="measured")
        axes.plot([rows[-1], end["rows"]], [measured[-1], far], "o:", color="#8a8a8a", label="extrapolated")
        if title.startswith("query"):
            flat = [p["flat_ms"]["median"] for p in points]
            axes.plot(rows, flat, "s-", color="#d9700d", label="flat scan, measured")
        axes.set(xscale="log", yscale="log", xlabel="rows")
        axes.set_title(title, loc="left", fontsize=11)
        axes.grid(color="#e6e6e6", linewidth=0.8)
        axes.legend(fontsize=8, frameon=False)
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    index()
