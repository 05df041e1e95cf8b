"""What a backfill from Dagster's page costs besides its steps: a process a run, imports, models, the queue.

    python -m benchmarks.run_queue build  --home FOLDER --mirror FOLDER [--book ID]…
    python -m benchmarks.run_queue report --home FOLDER

`build` registers the books, starts `dagster dev` over FOLDER, asks it over GraphQL for the backfill as the page's button
does, and waits for the books and for the library that follows them. `report` reads the runs of backfills in FOLDER's
instance and writes `run_queue.json` and `run_queue.md` beside this file.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import click
import httpx

from benchmarks.backfill import MOST_OVERHEAD, mirror_books
from benchmarks.machine import machine, table
from gutengraph_core.files import write_json, write_text
from gutengraph_core.library import Library

HERE = Path(__file__).parent
ENDED = ("COMPLETED_SUCCESS", "COMPLETED_FAILED", "COMPLETED", "FAILED", "CANCELED")
BACKFILL = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
STATUS = "query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"
PATIENCE_S = 120
"""Until `dagster dev` answers."""


@click.group()
def main() -> None:
    """A backfill through Dagster's queue, measured."""


@main.command()
@click.option("--home", type=click.Path(path_type=Path), required=True)
@click.option("--mirror", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--book", "books", type=int, multiple=True, help="Only these; default: all of the mirror.")
def build(home: Path, mirror: Path, books: tuple[int, ...]) -> None:
    """Build books as the page's 'Materialize' of partitions does."""
    os.environ |= {"GUTENGRAPH_HOME": str(home.absolute()), "GUTENGRAPH_MIRROR": str(mirror.absolute())}
    from gutengraph_assets.automation import BOOK_ASSETS
    from gutengraph_assets.instance import open_instance, prepare
    from gutengraph_assets.registry import add_partitions, register
    from gutengraph_core.settings import load_settings

    settings = load_settings()
    added, refused = register(list(books) or mirror_books(mirror), settings)
    for error in refused:
        click.echo(f"Refused: {error}", err=True)
    ids = [one.record.id for one in added]
    with open_instance(settings.library) as instance:
        add_partitions(ids, instance)
    with _dagster_dev(prepare(settings.library)[0]) as port:
        wanted = {
            "assetSelection": [{"path": [name]} for name in BOOK_ASSETS],
            "partitionNames": [str(book) for book in ids],
        }
        launched = _ask(port, BACKFILL, p=wanted)["launchPartitionBackfill"]
        if launched["__typename"] != "LaunchBackfillSuccess":
            raise click.ClickException(f"Dagster refused the backfill: {launched}")
        began = time.monotonic()
        while (status := _status(port, launched["backfillId"])) not in ENDED:
            done = [r.status for r in settings.library.records() if r.id in ids]
            built = sum(s in ("built", "parked", "failed") for s in done)
            click.echo(f"{time.monotonic() - began:6.0f} s  {built} of {len(ids)} books", err=True)
            time.sleep(10)
        click.echo(f"{status} after {time.monotonic() - began:.0f} s")


@contextmanager
def _dagster_dev(dagster_home: Path) -> Iterator[int]:
    """`dagster dev` on a free port of loopback, stopped afterwards as Ctrl-C does. Yields the port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    root = HERE.parent
    process = subprocess.Popen(
        [
            *(str(Path(sys.executable).with_name("dagster")), "dev", "-w", str(root / "workspace.yaml")),
            *("-h", "127.0.0.1", "-p", str(port)),
        ],
        env=os.environ | {"DAGSTER_HOME": str(dagster_home)},
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                _ask(port, "{ version }")
                break
            except httpx.TransportError:
                if process.poll() is not None or time.monotonic() > until:
                    raise click.ClickException(
                        "`dagster dev` did not start; start it by hand to see why."
                    ) from None
                time.sleep(0.5)
        yield port
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _ask(port: int, query: str, **variables: object) -> dict[str, Any]:
    reply = httpx.post(
        f"http://127.0.0.1:{port}/graphql", json={"query": query, "variables": variables}, timeout=60
    ).json()
    if "errors" in reply:
        raise click.ClickException(f"Dagster: {reply['errors']}")
    data: dict[str, Any] = reply["data"]
    return data


def _status(port: int, backfill: str) -> str:
    status: str = _ask(port, STATUS, id=backfill)["partitionBackfillOrError"]["status"]
    return status


@main.command()
@click.option("--home", type=click.Path(path_type=Path, exists=True), required=True)
def report(home: Path) -> None:
    """Measure the runs that backfills have made in HOME."""
    import dagster as dg

    from gutengraph_assets.instance import open_instance

    runs, steps = [], []
    with open_instance(Library(home.absolute())) as instance:
        for run in instance.get_runs(filters=dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS])):
            if "dagster/backfill" in run.tags:
                one = _measured(instance, run)
                steps += one.pop("intervals")
                runs.append(one)
    if not runs:
        raise click.ClickException(f"No backfill has ended well in {home}.")
    wall = max(run["ended"] for run in runs) - min(run["queued"] for run in runs)
    inside, busy = sum(run["inside_s"] for run in runs), covered(steps)
    result = {
        **machine(),
        "load": round(os.getloadavg()[2], 1),
        "runs": len(runs),
        "wall_s": round(wall, 1),
        "inside_s": round(inside, 1),
        "busy_s": round(busy, 1),
        "idle": round(1 - busy / wall, 3),
        "start_s": round(median(run["start_s"] for run in runs), 1),
        "outside_s": round(median(run["outside_s"] for run in runs), 1),
        "each": runs,
    }
    write_json(HERE / "run_queue.json", result)
    write_text(HERE / "run_queue.md", page(result))
    click.echo(f"{len(runs)} runs, {result['idle']:.1%} of the wall with no step running")


def covered(intervals: Iterable[tuple[float, float]]) -> float:
    """Seconds in which at least one of the intervals (start, end) runs."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _measured(instance: Any, run: Any) -> dict[str, Any]:
    stats = instance.get_run_stats(run.run_id)
    steps = [s for s in instance.get_run_step_stats(run.run_id) if s.start_time and s.end_time]
    inside = sum(step.end_time - step.start_time for step in steps)
    return {
        "book": run.tags.get("dagster/partition", ""),
        "steps": len(steps),
        "inside_s": round(inside, 2),
        "start_s": round(stats.start_time - stats.launch_time, 2),
        "outside_s": round(stats.end_time - stats.launch_time - inside, 2),
        "queued": stats.enqueued_time or stats.launch_time,
        "ended": stats.end_time,
        "intervals": [(step.start_time, step.end_time) for step in steps],
    }


def page(result: dict[str, Any]) -> str:
    """The figures as a page."""
    rows = [
        [r["book"], r["steps"], f"{r['inside_s']:.1f}", f"{r['start_s']:.1f}", f"{r['outside_s']:.1f}"]
        for r in result["each"]
    ]
    return f"""# What a backfill through the queue costs besides its steps

`python -m benchmarks.run_queue build`, then `report`, on {result["cores"]} cores, {result["memory_gb"]} GB, {result["date"]}, at a load of {result["load"]} over a
quarter of an hour. A backfill from Dagster's page launches a process a book, which imports Dagster and opens the models anew;
`gutengraph build` makes all books in one process ([backfill.md](backfill.md)).

{result["runs"]} books in {result["wall_s"]:.0f} s by the wall, from the first in the queue to the end of the last. For {result["wall_s"] - result["busy_s"]:.0f} of them no step ran at all:
**{result["idle"]:.1%}** ({MOST_OVERHEAD:.0%} allowed). Up to four runs go on at once, so their steps overlap and slow each other: {result["inside_s"]:.0f} s inside of steps, which is
{result["inside_s"] / result["wall_s"]:.2f} of the wall. Whether the queue is faster than one process this does not say; building the same books with `gutengraph build` does.

Median of a run: {result["start_s"]} s from launch to its start, {result["outside_s"]} s outside of its steps from launch to end (waiting for pools among them).

{table(["book", "steps", "s inside steps", "s to start", "s outside of steps"], rows)}
"""


if __name__ == "__main__":
    main()
