"""The whole grid as a picture: F1 of every way, a panel a task."""

from __future__ import annotations

from pathlib import Path

from experiments.lab.results import plot_path
from experiments.lab.study import Bench


def draw(scores: dict[str, dict[str, float]], bench: Bench) -> Path:
    """Write `sweeps-<model>.png`. `scores`: mean F1 by way of asking, by task."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    model = str(bench.llm.identity)
    longest = max(len(ways) for ways in scores.values())
    figure = Figure(figsize=(9, 1 + 0.2 * longest), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(scores), sharey=True, squeeze=False)[0]
    for axes, (task, ways) in zip(panels, scores.items(), strict=True):
        axes.barh(list(ways), list(ways.values()), height=0.7)
        axes.set(xlim=(0, 1), xlabel=f"F1 of {task}")
        axes.tick_params(axis="y", labelsize=7)
        axes.grid(axis="x", alpha=0.2)
    panels[0].invert_yaxis()
    figure.suptitle(model, fontsize=9)
    path = plot_path("sweeps", model, bench.out)
    figure.savefig(path, dpi=110)
    return path
