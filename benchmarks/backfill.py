"""Every book of a mirror built through Dagster in a data folder of its own, and what it took.

    python -m benchmarks.backfill build  --home FOLDER --mirror FOLDER [--book ID]…
    python -m benchmarks.backfill report --home FOLDER --mirror FOLDER [--also FOLDER]…

`build` registers the mirror's books, smallest first, builds them as `gutengraph build` does (one run a book, all in
this process, then the index and the merged graph) and keeps what it measures in FOLDER/backfill.jsonl, a line a
book, so that a run that was stopped still has its figures. `report` makes `backfill.md` and `backfill.json` beside
this file from it.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import psutil

from benchmarks.machine import machine, table
from gutengraph_core.files import write_json, write_text
from gutengraph_core.library import Library

LINES = "backfill.jsonl"
HERE = Path(__file__).parent
QUIET = 3.0
"""Load below which the seconds by the wall are about those of a machine with nothing else to do."""
MOST_OVERHEAD = 0.15
"""Share of the time by the wall that may pass outside of asset functions."""


class Recorder:
    """Listens to the steps of this process: seconds inside asset functions, by book and step."""

    def __init__(self) -> None:
        self._began: dict[tuple[int | None, str], float] = {}
        self.seconds: dict[int | None, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def __call__(self, event: Any) -> None:
        key = (event.book, event.step)
        if event.kind == "began":
            self._began[key] = time.monotonic()
        elif event.kind == "ended":
            self.seconds[event.book][event.step] += time.monotonic() - self._began.pop(key)


@dataclass
class Sampler:
    """This machine and this process, looked at every `every_s` seconds."""

    every_s: float = 0.5
    peak_bytes: int = 0
    """Largest resident size since `take` was called last."""
    _loads: list[float] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def take(self) -> tuple[int, float]:
        """(peak in bytes, mean number of processes that wanted a core) since the last call."""
        peak, self.peak_bytes = self.peak_bytes, 0
        loads, self._loads = self._loads, []
        return peak, sum(loads) / len(loads) if loads else os.getloadavg()[0]

    @contextmanager
    def running(self) -> Iterator[Sampler]:
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()

    def _look(self) -> None:
        process = psutil.Process()
        while not self._stop.wait(self.every_s):
            self.peak_bytes = max(self.peak_bytes, process.memory_info().rss)
            self._loads.append(os.getloadavg()[0])


def mirror_books(mirror: Path) -> list[int]:
    """The mirror's books, those with the shortest text first."""
    found = {
        int(match[1]): path.stat().st_size
        for path in mirror.glob("cache/epub/*/pg*.txt")
        if (match := re.fullmatch(r"pg(\d+)\.txt", path.name))
    }
    return sorted(found, key=lambda book: (found[book], book))


@click.group()
def main() -> None:
    """A backfill of a whole mirror, measured."""


@main.command()
@click.option("--home", type=click.Path(path_type=Path), required=True)
@click.option("--mirror", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--book", "books", type=int, multiple=True, help="Only these; default: all of the mirror.")
def build(home: Path, mirror: Path, books: tuple[int, ...]) -> None:
    """Register and build."""
    os.environ |= {"GUTENGRAPH_HOME": str(home.absolute()), "GUTENGRAPH_MIRROR": str(mirror.absolute())}
    os.environ.setdefault("LANCEDB_LOG", "error")
    from gutengraph_assets import building
    from gutengraph_assets.instance import open_instance
    from gutengraph_assets.progress import Console, listening
    from gutengraph_assets.registry import add_partitions, register
    from gutengraph_assets.resources import models_kept_open
    from gutengraph_assets.runs import run_job
    from gutengraph_core.settings import load_settings

    settings = load_settings()
    wanted = list(books) or mirror_books(mirror)
    added, refused = register(wanted, settings)
    for error in refused:
        click.echo(f"Refused: {error}", err=True)
    recorder, sampler = Recorder(), Sampler()
    began = time.monotonic()
    with (
        models_kept_open(settings) as models,
        open_instance(settings.library) as instance,
        listening(Console()),
        listening(recorder),
        sampler.running(),
    ):
        add_partitions([one.record.id for one in added], instance)
        building.preflight([one.record.id for one in added], settings, models)
        _keep(settings.library, {"what": "start", "seconds": time.monotonic() - began, **machine()})
        for number, one in enumerate(added, start=1):
            book = one.record.id
            click.echo(f"[{number}/{len(added)}] {book} {one.record.title}", err=True)
            sampler.take()
            start, cpu = time.monotonic(), sum(psutil.Process().cpu_times()[:2])
            run = run_job(instance, "build_book", book=book)
            _keep(settings.library, _row("book", book, run, start, cpu, sampler, recorder))
        sampler.take()
        start, cpu = time.monotonic(), sum(psutil.Process().cpu_times()[:2])
        run = run_job(instance, "finish_library")
        _keep(settings.library, _row("library", None, run, start, cpu, sampler, recorder))
    _keep(settings.library, {"what": "end", "seconds": time.monotonic() - began})


def _row(
    what: str, book: int | None, run: Any, start: float, cpu: float, sampler: Sampler, recorder: Recorder
) -> dict[str, Any]:
    wall = time.monotonic() - start
    peak, load = sampler.take()
    return {
        "what": what,
        "book": book,
        "wall_s": round(wall, 3),
        "cpu_s": round(sum(psutil.Process().cpu_times()[:2]) - cpu, 3),
        "steps_s": {step: round(s, 3) for step, s in recorder.seconds[book].items()},
        "peak_bytes": peak,
        "load": round(load, 2),
        "success": run.success,
        "error": run.error,
        "warnings": run.warnings,
    }


def _keep(library: Library, row: dict[str, Any]) -> None:
    with (library.home / LINES).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(row, ensure_ascii=False) + "\n")


@main.command()
@click.option("--home", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--mirror", type=click.Path(path_type=Path, exists=True), required=True)
@click.option(
    "--also",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    help="A data folder in which `build --book` built others.",
)
def report(home: Path, mirror: Path, also: tuple[Path, ...]) -> None:
    """Write the page and the figures of what `build` has done so far."""
    rows = _lines(home)
    start = next(row for row in rows if row["what"] == "start")
    books = _books(home, rows)
    for folder in also:
        apart = [row | {"apart": True} for row in _books(folder, _lines(folder))]
        books += [row for row in apart if row["book"] not in {one["book"] for one in books}]
    finished = [row for row in rows if row["what"] == "library"]
    inside = sum(sum(row["steps_s"].values()) for row in [*books, *finished])
    wall = sum(row["wall_s"] for row in [*books, *finished])
    figures = {
        **{name: start[name] for name in ("cores", "memory_gb", "python", "date")},
        "mirror": len(mirror_books(mirror)),
        "books": books,
        "library": finished[-1] if finished else None,
        "wall_s": round(wall, 1),
        "inside_s": round(inside, 1),
        "overhead": round(1 - inside / wall, 3),
        "overhead_quiet": _overhead([row for row in books if row["load"] < QUIET]),
        "peak_bytes": max(row["peak_bytes"] for row in books),
    }
    write_json(HERE / "backfill.json", figures)
    write_text(HERE / "backfill.md", page(figures))
    click.echo(f"{len(books)} of {figures['mirror']} books, overhead {figures['overhead']:.1%}")


def _lines(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / LINES).read_text(encoding="utf-8").splitlines()]


def _books(home: Path, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The line of each book, the latest of one that was built again, with what the library counts of it."""
    library = Library(home.absolute())
    latest = {row["book"]: row for row in rows if row["what"] == "book"}
    return [_with_counts(library, row) for row in latest.values()]


def _overhead(rows: list[dict[str, Any]]) -> float | None:
    wall = sum(row["wall_s"] for row in rows)
    return round(1 - sum(sum(row["steps_s"].values()) for row in rows) / wall, 3) if rows else None


def _with_counts(library: Library, row: dict[str, Any]) -> dict[str, Any]:
    record = library.record(row["book"])
    counts = {
        name: record.counts.get(name, 0) for name in ("words", "windows", "chunks", "cast", "relations")
    }
    return row | {
        "title": record.title,
        "kind": record.kind,
        "status": record.status,
        "reason": record.reason,
        "counts": counts,
    }


def _percent(share: float | None) -> str:
    return "none was" if share is None else f"{share:.1%}"


STEPS = {"window_names": "names", "embeddings_table": "vectors", "enriched_graph": "graph"}
"""The steps that take long, and their columns; the others are summed."""


def page(figures: dict[str, Any]) -> str:
    """The figures as a page."""
    books = figures["books"]
    rows = []
    for row in books:
        steps = row["steps_s"]
        rest = sum(seconds for name, seconds in steps.items() if name not in STEPS)
        rows.append(
            [
                f"{row['book']} {row['title'].splitlines()[0][:40]}",
                f"{row['counts']['words']:,}",
                f"{row['wall_s']:.0f}",
                *(f"{steps.get(name, 0):.0f}" for name in STEPS),
                f"{rest:.0f}",
                f"{row['cpu_s']:.0f}",
                f"{row['load']:.0f}",
                row["counts"]["chunks"],
                row["counts"]["cast"],
                row["counts"]["relations"],
                f"{row['peak_bytes'] / 2**30:.1f}",
                row["status"],
            ]
        )
    header = [
        "book",
        "words",
        "s",
        *STEPS.values(),
        "others",
        "core s",
        "load",
        "passages",
        "cast",
        "relations",
    ]
    counted = {s: sum(r["status"] == s for r in books) for s in ("built", "parked", "failed")}
    said = [
        f"- {row['book']}: {row['reason'] or text}"
        for row in books
        for text in row["warnings"][:1] or [""]
        if row["reason"] or text
    ]
    missing = figures["mirror"] - len(books)
    apart = ", ".join(str(row["book"]) for row in books if row.get("apart"))
    return f"""# A backfill, cold

`python -m benchmarks.backfill build`, then `report`: one run a book through Dagster in one process, as `gutengraph build` does, with the
embedded models on {figures["cores"]} cores, {figures["memory_gb"]} GB, no GPU, {figures["date"]}; the smallest books first.

- **{len(books)} of the mirror's {figures["mirror"]} books.** {"All." if not missing else f"Not reached, of the longest: {missing}."}{f" By itself, in a data folder of its own: {apart}." if apart else ""}
- {", ".join(f"{n} {status}" for status, n in counted.items() if n)}. {figures["wall_s"] / 60:.0f} minutes by the wall, of which {figures["inside_s"] / 60:.0f} inside asset functions: **overhead
  {figures["overhead"]:.1%}** ({MOST_OVERHEAD:.0%} allowed); of the books built at a load under {QUIET} alone: {_percent(figures["overhead_quiet"])}. Checks are
  counted as overhead.
- Memory peaked at {figures["peak_bytes"] / 2**30:.1f} GB.
- *Load* is the mean number of processes that wanted a core while the book was built. Above {figures["cores"]} the seconds are too many: they count
  the waiting for a core, and for the model, which one process at a time may use. *Core s* is what the process itself has burnt,
  llama.cpp's waiting threads included. Both are upper bounds; the one quiet measurement is README's.

{table([*header, "GB", "status"], rows)}

{"What was said of single books:" if said else ""}

{chr(10).join(said)}
"""


if __name__ == "__main__":
    main()
