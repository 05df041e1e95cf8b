"""The cliff as a picture: F1 by window length, a line a way of asking."""

from __future__ import annotations

from pathlib import Path

from experiments.lab.results import plot_path


def draw(curves: dict[str, dict[int, float]], model: str, folder: Path) -> Path:
    """Write `cliff-<model>.png`. `curves`: share by words of a window, by the way of asking."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for way, curve in curves.items():
        lengths = sorted(curve)
        axes.plot(lengths, [curve[length] for length in lengths], marker="o", markersize=3, label=way)
    axes.set(
        xscale="log", ylim=(0, 1), xlabel="words in the window", ylabel="F1 of people (control: share read)"
    )
    axes.set_title(model, fontsize=9)
    axes.grid(alpha=0.2)
    axes.legend(fontsize=7)
    path = plot_path("cliff", model, folder)
    figure.savefig(path, dpi=110)
    return path
