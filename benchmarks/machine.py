"""What every benchmark says of its machine, and how its tables are set."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Sequence
from typing import Any

import psutil


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "cores": psutil.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in markdown; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
