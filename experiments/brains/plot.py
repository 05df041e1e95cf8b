"""Right answers by kind of question, a bar a mode, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.lab.results import plot_path
from gutengraph_query.ask import COMPARED


def draw(rows: Sequence[dict[str, Any]], model: str, folder: Path) -> Path:
    """Write `brains-<model>.png` of the study's rows that have a key."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    keyed = [row for row in rows if row["right"] is not None]
    kinds = list(dict.fromkeys(row["question"] for row in keyed))
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    width = 0.8 / len(COMPARED)
    for n, mode in enumerate(COMPARED):
        bars = {row["question"]: row for row in keyed if row["mode"] == mode}
        at = [kinds.index(kind) + (n - 1) * width for kind in bars]
        shares = [row["right"] for row in bars.values()]
        below = [row["right"] - row["from"] for row in bars.values()]
        above = [row["to"] - row["right"] for row in bars.values()]
        axes.bar(at, shares, width, yerr=[below, above], capsize=2, label=mode, error_kw={"linewidth": 0.8})
    counts = {row["question"]: row["questions"] for row in keyed}
    axes.set_xticks(range(len(kinds)), [f"{kind}\n({counts[kind]})" for kind in kinds], fontsize=8)
    axes.set(ylim=(0, 1), ylabel="right answers")
    axes.set_title(model, fontsize=9)
    axes.legend(fontsize=8)
    path = plot_path("brains", model, folder)
    figure.savefig(path, dpi=110)
    return path
