"""Kill builds at random points, many times, and write what came of it: `make soak`.

Each round begins with no data, is killed with SIGKILL at a random point, recovered with `gutengraph recover`, run
again, and compared with an undisturbed build byte by byte. Half of the rounds kill `gutengraph build`; half kill a
run, the code server or everything of `dagster dev`. Rounds already in the state file are not run again.

    python scripts/soak.py --rounds 20 --state build/soak.jsonl --out benchmarks/soak.md
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import psutil  # noqa: E402
from kills import TARGETS, CommandLine, Daemon, Round  # noqa: E402

FIRST_SEED = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--rounds", type=int, default=20, help="of each kind")
    parser.add_argument("--kind", choices=("build", "dev"), help="only one of the two kinds")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop beginning rounds after this long")
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "soak.jsonl")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "soak.md")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    arguments.state.parent.mkdir(parents=True, exist_ok=True)
    done = _read(arguments.state)
    seeds = range(FIRST_SEED, FIRST_SEED + arguments.rounds)

    def keep(kind: str, play: Callable[[int], Round]) -> None:
        for seed in seeds:
            if (kind, seed) in done or time.monotonic() > end:
                continue
            try:
                row = {"kind": kind, "error": "", **asdict(play(seed))}
            except AssertionError as error:
                row = {"kind": kind, "seed": seed, "error": str(error).splitlines()[0]}
            print(json.dumps(row), flush=True)
            with open(arguments.state, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            done[kind, seed] = row

    with tempfile.TemporaryDirectory(prefix="gutengraph-soak-") as folder:
        if arguments.kind != "dev" and any(("build", seed) not in done for seed in seeds):
            keep("build", CommandLine(Path(folder) / "cli").round)
        due = arguments.kind != "build" and time.monotonic() < end
        if due and any(("dev", seed) not in done for seed in seeds):
            daemon = Daemon(Path(folder) / "dev")
            try:
                # In turn, so that a soak has as many of each.
                keep("dev", lambda seed: daemon.round(seed, TARGETS[seed % len(TARGETS)]))
            finally:
                daemon.close()
    done |= _read(arguments.state)  # another process may be at the other kind
    asked = f"--rounds {arguments.rounds}" + (f" --kind {arguments.kind}" if arguments.kind else "")
    _write(arguments.out, list(done.values()), f"python scripts/soak.py {asked}")
    sys.exit(any(row["error"] for row in done.values()))


def _read(state: Path) -> dict[tuple[str, int], dict[str, object]]:
    if not state.exists():
        return {}
    rows = [json.loads(line) for line in state.read_text().splitlines()]
    return {(row["kind"], row["seed"]): row for row in rows}


def _write(out: Path, rows: list[dict[str, object]], command: str) -> None:
    good = [row for row in rows if not row["error"]]
    memory = psutil.virtual_memory().total / 2**30
    lines = [
        "# Soak: killed and carried on",
        "",
        f"`{command}`, {date.today().isoformat()}, {os.cpu_count()} cores, {memory:.0f} GB, no GPU, load average "
        f"{os.getloadavg()[0]:.0f}; a small story of two parts, the embedded models.",
        "",
        "Every round begins without data or cached replies, is killed with SIGKILL after a random share of the time "
        "that an undisturbed build takes, is put right by `gutengraph recover` (a second call of which must find "
        "nothing to do), is launched again, and ends well only if the book is built, the four files of its graph have "
        "the very bytes of the undisturbed build, the table has its passages once, no partition that Dagster shows "
        "as materialised lacks a file on disk, and no pool slot is held.",
        "",
        f"**{len(good)} of {len(rows)} rounds ended well.**",
        "",
        "| kind | killed | rounds | ended well | runs ended by `recover` |",
        "| --- | --- | --- | --- | --- |",
    ]
    groups = dict.fromkeys((str(row["kind"]), str(row.get("target", "?"))) for row in rows)
    for kind, target in groups:
        mine = [row for row in rows if row["kind"] == kind and row.get("target", "?") == target]
        well = [row for row in mine if not row["error"]]
        ended = sum(any("Marked" in said for said in row["recovered"]) for row in well)  # type: ignore[attr-defined]
        lines.append(f"| {kind} | {target} | {len(mine)} | {len(well)} | {ended} |")
    lines += [
        "",
        "| kind | seed | killed | after s | last whole asset | result |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in sorted(rows, key=lambda row: (str(row["kind"]), int(str(row["seed"])))):
        after = f"{row['after_s']:.1f}" if "after_s" in row else ""
        cells = (
            row["kind"],
            row["seed"],
            row.get("target", ""),
            after,
            row.get("at", ""),
            row["error"] or "same",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
