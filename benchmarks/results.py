"""A benchmark's table, written beside it: the command, the machine, the date, then the rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import psutil

HERE = Path(__file__).parent


def machine() -> str:
    """'2 cores, 24 GB, no GPU'."""
    import torch

    memory = psutil.virtual_memory().total / 2**30
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return f"{psutil.cpu_count()} cores, {memory:.0f} GB, {gpu}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write(name: str, title: str, text: str, *, into: str = "") -> None:
    """`benchmarks/<into or name>.md`, and the same on stdout; `name` is the module that was run."""
    load = psutil.getloadavg()[0]
    # Where somebody's folders lie is nobody else's business.
    given = " ".join("FOLDER" if Path(argument).exists() else argument for argument in sys.argv[1:])
    header = (
        f"# {title}\n\n`python -m benchmarks.{name} {given}`"
        + f", {machine()}, {datetime.now(UTC):%Y-%m-%d}; load average at the end {load:.1f}.\n\n"
    )
    (HERE / f"{into or name}.md").write_text(header + text.strip() + "\n", encoding="utf-8")
    print(header + text)
