"""The merged graph of a hundred books: how long it takes to load, check and publish.

    python -m benchmarks.merged_graph --from HOME… [--books 100]

Copies the built books of the data folders under other ids until there are enough, merges them in a temporary folder, twice (the
second time another version stands already), and writes `merged_graph.json` and `merged_graph.md` beside this file.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path

import click
import psutil

from benchmarks.library_copy import copy_library
from benchmarks.machine import machine, table
from gutengraph_core.files import write_json, write_text
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library

HERE = Path(__file__).parent
MOST_S = 60.0


@click.command()
@click.option("--from", "homes", type=click.Path(path_type=Path, exists=True), multiple=True, required=True)
@click.option("--books", default=100, show_default=True)
def main(homes: tuple[Path, ...], books: int) -> None:
    """Merge `books` books and write down what it took."""
    with tempfile.TemporaryDirectory(prefix="gutengraph-merge-") as folder:
        library = copy_library([Library(home.absolute()) for home in homes], Path(folder), books=books)
        runs = []
        for _ in range(2):
            start, cpu = time.monotonic(), time.process_time()
            merged = build_merged(library)
            runs.append(
                {
                    "wall_s": round(time.monotonic() - start, 1),
                    "cpu_s": round(time.process_time() - cpu, 1),
                    "load": round(os.getloadavg()[0], 1),
                }
            )
        size = sum(path.stat().st_size for path in merged.path.rglob("*") if path.is_file())
        different = len({record.title.split(" (copy")[0] for record in library.records()})
    result = {
        **machine(),
        "books": books,
        "different": different,
        "rows": sum(merged.counts.values()),
        "nodes": sum(merged.counts.get(n, 0) for n in ("Character", "Location", "Object", "Event")),
        "relations": merged.counts.get("RELATED_TO", 0) + merged.counts.get("INTERACTS_WITH", 0),
        "bytes": size,
        "peak_bytes": psutil.Process().memory_info().rss,
        "runs": runs,
    }
    write_json(HERE / "merged_graph.json", result)
    write_text(HERE / "merged_graph.md", report(result))
    click.echo(json.dumps(result, indent=1))


def report(result: dict[str, object]) -> str:
    """The result as a page."""
    runs = result["runs"]
    assert isinstance(runs, list)
    rows = [
        [n, f"{run['wall_s']:.1f}", f"{run['cpu_s']:.1f}", run["load"]] for n, run in enumerate(runs, start=1)
    ]
    return f"""# A merged graph of {result["books"]} books

`python -m benchmarks.merged_graph` on {result["cores"]} cores, {result["memory_gb"]} GB, no GPU, {result["date"]}. {result["different"]} different
books, copied under other ids: {result["nodes"]:,} nodes, {result["relations"]:,} relations, {result["rows"]:,} rows in all tables, {int(str(result["bytes"])) / 2**20:.0f} MB on disk,
the process at {int(str(result["peak_bytes"])) / 2**30:.1f} GB. Wanted: under {MOST_S:.0f} s. 'Load' is the number of processes that wanted a core meanwhile: above {result["cores"]} the
machine had other work, and the seconds by the wall are too many.

{table(["run", "seconds by the wall", "seconds of a core", "load"], rows)}
"""


if __name__ == "__main__":
    main()
