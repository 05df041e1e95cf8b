"""What paths cost and hold: tokens against the share of questions whose answer stands in them, a line a number of hops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.lab.results import plot_path


def draw(rows: Sequence[dict[str, Any]], model: str, folder: Path) -> Path:
    """Write `walk-<model>.png` of the study's rows: a point a threshold."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    holds, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for hops in sorted({row["hops"] for row in rows}):
        line = [row for row in rows if row["hops"] == hops]
        tokens = [row["tokens"] for row in line]
        named = f"{hops} hop{'s' if hops > 1 else ''}"
        holds.plot(tokens, [row["paths hold the answer"] for row in line], "o-", ms=3, lw=1, label=named)
        right.plot(tokens, [row["right"] for row in line], "o-", ms=3, lw=1)
    holds.set(ylim=(0, 1), xlabel="tokens of the paths", title="paths hold the answer")
    right.set(xlabel="tokens of the paths", title="right from paths alone")
    holds.legend(fontsize=8)
    figure.suptitle(model, fontsize=9)
    path = plot_path("walk", model, folder)
    figure.savefig(path, dpi=110)
    return path
