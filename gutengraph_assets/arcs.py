"""A book's arc: its passages in reading order through the embedding space, and how glad or sad they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gutengraph_assets.sentiment import Series, embedding_sentiment, lexicon_sentiment, smooth
from gutengraph_core.errors import NotBuilt
from gutengraph_core.files import write_atomic
from gutengraph_core.library import Chapter

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

    from gutengraph_core.embedding.protocol import Embedder, Matrix

Points = npt.NDArray[np.float64]

PATH_SHARE = 0.018
"""Width of the smoothing of the path, as a share of the book: of 60 chapters, about the one at hand."""

SENTIMENT_SHARE = 0.03
"""Width of the smoothing of the sentiment: Reagan et al. 2016 use windows of about a tenth of a book, which a
Gaussian of this standard deviation spans."""

MOST_MARKS = 14
"""Chapter numbers that a panel can carry without a crowd."""

_LEXICON, _EMBEDDING, _INK, _FAINT = "#8e3b8a", "#14776f", "#2b2b2b", "#8a8a8a"
_FEELING = ("#27408b", "#7d8fb3", "#a9a29b", "#dd9a4a", "#d9700d")  # sad is blue, glad is gold, none is white


@dataclass(frozen=True)
class Arc:
    """What the picture shows, passage by passage in reading order."""

    chapters: list[int]
    raw: Points  # [n, 2], the two main directions of the book's own vectors
    path: Points  # [n, 2], smoothed
    lexicon: Series  # [n], in [-1, 1]
    embedding: Series  # [n], SAD -1 to GLAD +1
    explained: tuple[float, float]  # share of the variance that each direction holds

    @property
    def chapter_starts(self) -> list[int]:
        """Places at which a chapter begins."""
        marks = [0] if self.chapters else []
        return marks + [i for i in range(1, len(self.chapters)) if self.chapters[i] != self.chapters[i - 1]]


def draw_arcs(
    chunks: pa.Table,
    vectors: Matrix,
    path: Path,
    title: str,
    *,
    embedder: Embedder,
    chapters: Sequence[Chapter] = (),
) -> dict[str, Any]:
    """Draw a book's arc as a PNG at `path` and return what it shows, as JSON can hold it.

    `chunks` (`tables.CHUNKS`) and `vectors` (float32 [n, dimension]) are in reading order, as
    `ChunkTable.rows` gives them; `embedder` is the one that made the vectors. Raises NotBuilt if there are
    no passages, DataFolderError if the picture cannot be written.
    """
    if chunks.num_rows == 0:
        raise NotBuilt("There are no passages to draw an arc from.", remedy="Build the book first.")
    arc = measure_arc(chunks, vectors, embedder=embedder)
    figure = _figure(arc, title)
    # Without the version of the library in it, the same book gives the same bytes.
    write_atomic(path, lambda p: figure.savefig(p, format="png", metadata={"Software": None}))
    return arc_document(chunks, arc, title, chapters)


def measure_arc(chunks: pa.Table, vectors: Matrix, *, embedder: Embedder) -> Arc:
    """The numbers behind the picture."""
    raw, explained = main_directions(vectors)
    count = chunks.num_rows
    return Arc(
        chapters=chunks["chapter"].to_pylist(),
        raw=raw,
        path=smooth(raw, width=max(1.0, PATH_SHARE * count)),
        lexicon=lexicon_sentiment(chunks["text"].to_pylist()),
        embedding=embedding_sentiment(vectors, embedder),
        explained=explained,
    )


def main_directions(vectors: Matrix) -> tuple[Points, tuple[float, float]]:
    """Principal components 1 and 2: float64 [n, 2], and the share of the variance that each holds.

    Signs are fixed, so that a rerun does not mirror the picture: the book begins at the lower left of its
    middle.
    """
    centred = np.asarray(vectors, dtype=np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(centred), 2))
    kept = min(2, len(singular))
    points[:, :kept] = left[:, :kept] * singular[:kept]
    start = points[: max(1, len(points) // 20)].mean(axis=0)
    points *= np.where(start > 0, -1.0, 1.0)
    total = float((singular**2).sum()) or 1.0
    shares = [float(s**2) / total for s in [*singular[:2], 0.0, 0.0][:2]]
    return points, (shares[0], shares[1])


def arc_document(chunks: pa.Table, arc: Arc, title: str, chapters: Sequence[Chapter]) -> dict[str, Any]:
    """The arc for a web page (`arcs.json`), rounded to what a screen shows:

    - `title`; `explained`: share of the variance along x and y; `means` of both series over the book, unsmoothed
    - `chunks`, in reading order: `chunk_id`, `chapter`, `start` (character of the body), `x` and `y` on the
      smoothed path, `lexicon` and `embedding`: the smoothed sentiment as `Arc` scales it
    - `chapters`: `chapter`, `title`, `chunk` (the place in `chunks` at which it begins), `start`
    """
    titles = {chapter.index: chapter.title for chapter in chapters}
    width = _sentiment_width(arc)
    ids, starts = chunks["id"].to_pylist(), chunks["start"].to_pylist()
    lexicon, embedding = smooth(arc.lexicon, width=width), smooth(arc.embedding, width=width)
    return {
        "title": title,
        "explained": [round(share, 4) for share in arc.explained],
        "means": {
            "lexicon": round(float(arc.lexicon.mean()), 4),
            "embedding": round(float(arc.embedding.mean()), 4),
        },
        "chapters": [
            {
                "chapter": arc.chapters[i],
                "title": titles.get(arc.chapters[i], ""),
                "chunk": i,
                "start": starts[i],
            }
            for i in arc.chapter_starts
        ],
        "chunks": [
            {
                "chunk_id": ids[i],
                "chapter": arc.chapters[i],
                "start": starts[i],
                "x": round(float(arc.path[i, 0]), 4),
                "y": round(float(arc.path[i, 1]), 4),
                "lexicon": round(float(lexicon[i]), 4),
                "embedding": round(float(embedding[i]), 4),
            }
            for i in range(len(ids))
        ],
    }


def _sentiment_width(arc: Arc) -> float:
    return max(1.0, SENTIMENT_SHARE * len(arc.chapters))


def _figure(arc: Arc, title: str) -> Figure:
    # Figure and canvas by themselves: pyplot keeps global state, and assets run in threads.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 9.6), dpi=110, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 2, height_ratios=(1.35, 1))
    figure.suptitle(_shortened(title), fontsize=17, fontweight="bold", color=_INK, parse_math=False)
    by_chapter, by_feeling = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
    _draw_path(figure, by_chapter, arc, _progress(arc), "viridis", "Path through the book, by chapter")
    feeling = _standard(smooth(arc.embedding, width=_sentiment_width(arc)))
    colours = LinearSegmentedColormap.from_list("feeling", _FEELING)
    _draw_path(figure, by_feeling, arc, feeling, colours, "The same path, by feeling")
    _draw_sentiment(figure.add_subplot(grid[1, :]), arc)
    return figure


def _shortened(title: str, most: int = 80) -> str:
    plain = " ".join(title.split())
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def _progress(arc: Arc) -> Points:
    """0 for the passages of the first chapter to 1 for those of the last."""
    order = {start: number for number, start in enumerate(arc.chapter_starts)}
    steps = np.zeros(len(arc.chapters))
    for start in order:
        steps[start:] = order[start]
    return steps / max(1, len(order) - 1)


def _draw_path(
    figure: Figure, axes: Axes, arc: Arc, values: Points, colours: str | Colormap, heading: str
) -> None:
    from matplotlib.collections import LineCollection

    axes.scatter(arc.raw[:, 0], arc.raw[:, 1], s=5, color="#d9d9d9", linewidths=0, zorder=1)
    segments = np.stack([arc.path[:-1], arc.path[1:]], axis=1) if len(arc.path) > 1 else np.zeros((0, 2, 2))
    line: LineCollection = LineCollection(list(segments), cmap=colours, linewidths=2.4, zorder=3)
    line.set_capstyle("round")
    line.set_array(np.asarray(values[:-1]))
    bound = max(1e-9, float(np.abs(values).max()))
    low = -bound if values.min() < 0 else 0.0
    line.set_clim(low, bound)
    axes.add_collection(line)
    _mark_chapters(axes, arc, line)
    for place, name, below in ((0, "start", -15), (-1, "end", 7)):
        axes.annotate(
            name,
            arc.path[place],
            xytext=(9, below),
            textcoords="offset points",
            fontsize=10,
            fontweight="bold",
            color=_INK,
            zorder=6,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )
        axes.plot(*arc.path[place], marker="o", markersize=8, color="white", markeredgecolor=_INK, zorder=5)
    axes.set_title(heading, fontsize=12, loc="left", color=_INK)
    axes.set_xlabel(f"first direction ({arc.explained[0]:.0%} of the variance)", fontsize=9, color=_FAINT)
    axes.set_ylabel(f"second direction ({arc.explained[1]:.0%})", fontsize=9, color=_FAINT)
    axes.set_xticks([])
    axes.set_yticks([])
    _zoom(axes, arc.path)
    for side in axes.spines.values():
        side.set_color("#dddddd")
    bar = figure.colorbar(line, ax=axes, fraction=0.035, pad=0.015)
    bar.set_ticks([low, bound])
    bar.set_ticklabels(["first", "last"] if low == 0 else ["sad", "glad"], fontsize=9)
    bar.outline.set_visible(False)


def _zoom(axes: Axes, path: Points) -> None:
    """The path fills the panel: passages by themselves scatter far wider than where the book as a whole
    goes.
    """
    low, high = path.min(axis=0), path.max(axis=0)
    margin = np.maximum((high - low) * 0.12, 1e-3)
    axes.set_xlim(low[0] - margin[0], high[0] + margin[0])
    axes.set_ylim(low[1] - margin[1], high[1] + margin[1])


def _marks(arc: Arc) -> list[int]:
    """The chapter starts that are numbered: those that stand far enough from the one before, and from the end,
    where a number would leave the panel.
    """
    apart = len(arc.chapters) / MOST_MARKS
    last = len(arc.chapters) - apart / 2
    marks: list[int] = []
    for start in arc.chapter_starts:
        if not marks or marks[-1] + apart <= start <= last:
            marks.append(start)
    return marks if len(marks) > 1 else []


def _mark_chapters(axes: Axes, arc: Arc, line: LineCollection) -> None:
    for start in _marks(arc):
        axes.plot(*arc.path[start], marker="o", markersize=3.5, color="white", markeredgecolor=_INK, zorder=4)
        axes.annotate(
            str(arc.chapters[start]),
            arc.path[start],
            xytext=(4, 4),
            textcoords="offset points",
            fontsize=8,
            color=_INK,
            zorder=4,
        )


def _draw_sentiment(axes: Axes, arc: Arc) -> None:
    width = _sentiment_width(arc)
    place = 100 * (np.arange(len(arc.chapters)) + 0.5) / len(arc.chapters)
    lexicon, embedding = (_standard(smooth(s, width=width)) for s in (arc.lexicon, arc.embedding))
    axes.axhline(0, color="#cccccc", linewidth=1)
    axes.fill_between(place, lexicon, embedding, color="#efe9dc", zorder=1, label="where they disagree")
    for values, name, colour, mean in (
        (lexicon, "lexicon (VADER)", _LEXICON, arc.lexicon.mean()),
        (embedding, "embedding (between two poles)", _EMBEDDING, arc.embedding.mean()),
    ):
        axes.plot(place, values, color=colour, linewidth=2.2, label=f"{name}, mean {mean:+.2f}", zorder=3)
    for start in _marks(arc):
        x = 100 * start / len(arc.chapters)
        axes.axvline(x, color="#e6e6e6", linewidth=0.9, zorder=0)
        axes.annotate(
            str(arc.chapters[start]),
            (x, 1),
            xycoords=("data", "axes fraction"),
            xytext=(2, -10),
            textcoords="offset points",
            fontsize=8,
            color=_FAINT,
        )
    axes.set_xlim(0, 100)
    axes.set_title("Feeling over the book: two ways of reading it", fontsize=12, loc="left", color=_INK)
    axes.set_xlabel("share of the book read (%); small numbers are chapters", fontsize=9, color=_FAINT)
    axes.set_ylabel("from the book's own mean,\nin standard deviations", fontsize=9, color=_FAINT)
    axes.tick_params(colors=_FAINT, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#dddddd")
    axes.legend(loc="lower left", fontsize=9, frameon=False, ncols=3)
    low, high = axes.get_ylim()
    axes.set_ylim(low - 0.18 * (high - low), high + 0.06 * (high - low))


def _standard(values: Series) -> Series:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
