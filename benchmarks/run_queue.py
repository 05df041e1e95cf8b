"""What a run costs besides its steps when it comes from the queue: a process of its own, imports, models.

    python -m benchmarks.run_queue --home HOME

Reads the runs of backfills (launched from Dagster's page or a sensor, with a daemon) in HOME's instance, which a webserver and a
daemon have worked on, and says how many seconds of each passed outside of its steps. Writes `run_queue.json` and `run_queue.md`
beside this file.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.machine import machine, table
from gutengraph_core.files import write_json, write_text
from gutengraph_core.library import Library

HERE = Path(__file__).parent


@click.command()
@click.option("--home", type=click.Path(path_type=Path, exists=True), required=True)
def main(home: Path) -> None:
    """Measure the runs that backfills have made in HOME."""
    import dagster as dg

    from gutengraph_assets.instance import open_instance

    runs = []
    with open_instance(Library(home.absolute())) as instance:
        for run in instance.get_runs(filters=dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS])):
            if "dagster/backfill" in run.tags:
                runs.append(_measured(instance, run))
    if not runs:
        raise click.ClickException(f"No backfill has ended well in {home}.")
    result = {
        **machine(),
        "load": round(os.getloadavg()[2], 1),
        "runs": len(runs),
        "start_s": round(median(run["start_s"] for run in runs), 1),
        "outside_s": round(median(run["outside_s"] for run in runs), 1),
        "each": runs,
    }
    write_json(HERE / "run_queue.json", result)
    rows = [
        [r["book"], r["steps"], f"{r['inside_s']:.1f}", f"{r['start_s']:.1f}", f"{r['outside_s']:.1f}"]
        for r in runs
    ]
    write_text(
        HERE / "run_queue.md",
        f"""# What a run from the queue costs besides its steps

`python -m benchmarks.run_queue` on {result["cores"]} cores, {result["memory_gb"]} GB, no GPU, {result["date"]}, at a load of {result["load"]} over a quarter of an hour
(processes that wanted one of the {result["cores"]} cores: a quiet machine is several times faster). A backfill launches a process a book, which
imports Dagster and opens the models anew; `gutengraph build` makes all books in one process ([backfill.md](backfill.md)).

Median: {result["start_s"]} s from launch to the run's start, {result["outside_s"]} s outside of the steps from launch to end.

{table(["book", "steps", "s inside steps", "s to start", "s outside of steps"], rows)}
""",
    )
    click.echo(f"{len(runs)} runs, {result['outside_s']} s outside of the steps (median)")


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
    }


if __name__ == "__main__":
    main()
