"""Valid, right in direction and right by form of the prompt, a group of bars a form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gutengraph_core import names

_SHARES = ("valid", "right in direction", "right")


def draw(rows: Sequence[dict[str, Any]], model: str, folder: Path) -> Path:
    """Write `cypher-<model>.png`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    forms = [f"{row['critical rule']}, {row['schema']}, {row['pairs']} pairs" for row in rows]
    for n, share in enumerate(_SHARES):
        at = [i + (1 - n) * 0.27 for i in range(len(rows))]
        axes.barh(at, [row[share] for row in rows], 0.25, label=share)
    axes.set_yticks(range(len(rows)), forms, fontsize=7)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of the questions")
    axes.set_title(model, fontsize=9)
    axes.legend(fontsize=8)
    path = folder / f"cypher-{names.slug(model)}.png"
    figure.savefig(path, dpi=110)
    return path
