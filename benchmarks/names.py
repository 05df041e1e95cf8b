"""From names to the merged graph, cold and warm, by the step records and the ledger.

    python -m benchmarks.names --home FOLDER --mirror FOLDER [--book 2701]

Builds one book cold in a data folder of its own (which must not exist), then again with `--force`, a full reply cache and the
passages' vectors in the table. Writes what the steps took inside their functions, the merged graph's build beside them, what the model's replies took, and
both builds as a whole by the wall, each `gutengraph build` in a process of its own. The folder is kept: a second call with it
does the warm build only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.results import table, write
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP, name_book
from gutengraph_core.files import read_table
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.llm import open_llm
from gutengraph_core.settings import Settings

STEPS = ("window_names", "filtered_entities", "enriched_graph")


@dataclass(frozen=True)
class Build:
    """Seconds of one build."""

    steps: dict[str, float]
    calls: int
    model: float
    """The names step by the ledger's run, replies included."""
    replies: float
    """Of these, waiting for the model or for the cache."""
    merged: float
    """The merged graph built once more in this process: the book's record holds the book's own steps only."""
    wall: float


def _gutengraph(*arguments: str, home: Path, mirror: str) -> float:
    """Run a command; its seconds by the wall. Raises ClickException if it fails."""
    began = time.monotonic()
    done = subprocess.run(
        [str(Path(sys.executable).with_name("gutengraph")), *arguments],
        env={**os.environ, "GUTENGRAPH_HOME": str(home), "GUTENGRAPH_MIRROR": mirror},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise click.ClickException(done.stderr[-2000:])
    return time.monotonic() - began


def _replies(library: Library, book: int) -> float:
    """Seconds that the replies for a book's names take out of the cache."""
    settings = Settings(home=library.home)
    llm = open_llm(settings.llm, settings)
    asked, waited = llm.next_token_logprobs, [0.0]

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.monotonic()
        try:
            return asked(*arguments, **options)
        finally:
            waited[0] += time.monotonic() - began

    llm.next_token_logprobs = timed  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        windows = read_table(library.path(book, "windows.parquet"))
        name_book(
            library.body(book), windows, llm, settings, Ledger(Path(folder) / "ledger.jsonl", book=book)
        )
    llm.close()
    return waited[0]


def _measured(home: Path, book: int, wall: float, *, warm: bool = False) -> Build:
    library = Library(home)
    record = library.record(book)
    ledger = Ledger(library.path(book, "ledger.jsonl"), book=book)
    summary = ledger.summary(STEP)
    began = time.monotonic()
    build_merged(library)
    merged = time.monotonic() - began
    return Build(
        steps={name: record.steps[name].seconds for name in STEPS},
        calls=summary.calls,
        model=summary.wall_seconds,
        replies=_replies(library, book) if warm else summary.model_seconds,
        merged=merged,
        wall=wall,
    )


@click.command()
@click.option("--home", required=True, type=click.Path(path_type=Path))
@click.option("--mirror", required=True)
@click.option("--book", default=2701, show_default=True)
def names(home: Path, mirror: str, book: int) -> None:
    """Cold and warm figures of one book."""
    home, mirror = home.absolute(), str(Path(mirror).absolute()) if Path(mirror).exists() else mirror
    found: dict[str, Build] = {}
    if not home.exists():
        _gutengraph("add", str(book), home=home, mirror=mirror)
        found["cold"] = _measured(home, book, _gutengraph("build", str(book), home=home, mirror=mirror))
    wall = _gutengraph("build", str(book), "--force", home=home, mirror=mirror)
    found["warm, --force"] = _measured(home, book, wall, warm=True)
    unchanged = _gutengraph("build", str(book), home=home, mirror=mirror)
    rows = [
        [
            kind,
            *(f"{b.steps[name]:.1f}" for name in STEPS),
            f"{b.merged:.1f}",
            f"{sum(b.steps.values()) + b.merged:.1f}",
            f"{b.model:.2f}",
            f"{b.replies:.3f}",
            b.calls,
            f"{b.wall:.0f}",
        ]
        for kind, b in found.items()
    ]
    rows_table = table(
        [
            "build",
            *STEPS,
            "merged graph",
            "names to merged graph, s",
            "names step by the ledger, s",
            "waiting for replies, s",
            "calls",
            "whole, s",
        ],
        rows,
    )
    lines = [
        f"Book {book}.",
        "",
        rows_table,
        "",
        f"`gutengraph build` where nothing changed: {unchanged:.0f} s.",
    ]
    if "cold" in found:
        cold, warm = found["cold"], found["warm, --force"]
        lines += [
            "",
            f"Warm, the replies come {cold.replies / max(warm.replies, 0.001):.0f} times faster (out of the cache), the whole names "
            f"step {cold.model / max(warm.model, 0.01):.0f} times: what is left of it is reading the book's words.",
        ]
    write("names", "Names to merged graph, cold and warm", "\n".join(lines))


if __name__ == "__main__":
    names()
