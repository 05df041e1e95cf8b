"""Pictures of one book's cast: who stands beside whom, and who is in which chapter."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gutengraph_core.files import write_atomic
from gutengraph_core.graph.schema import STATED

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gutengraph_core.library import Chapter

MOST_PEOPLE = 24
"""Persons in a picture, those of the most windows: more names than that lie on top of each other."""
NEIGHBOURS = 3
"""Lines of mere company that a person may draw: with all of them a novel is one grey ball."""
MOST_COLUMNS = 40
"""Chapters side by side; a book of more is cut into as many equal stretches."""
STRANGERS_APART = 3.0
"""Distance in the network of two who never meet; those who always do stand 1 apart."""
FEWEST_COLUMNS = 4
"""A book of fewer chapters is cut into tenths: two columns show no course."""

_INK, _FAINT, _STATED, _LIKELY = "#2b2b2b", "#8a8a8a", "#8e3b8a", "#d9700d"


@dataclass(frozen=True)
class Appearances:
    """How often each person is named in each stretch of the book."""

    names: list[str]
    columns: list[str]
    """What stands under a column: a chapter's number, or the share of the book read."""
    by_chapter: bool
    counts: np.ndarray[Any, np.dtype[np.int64]]  # [names, columns]


def draw_network(nodes: pa.Table, edges: pa.Table, evidence: pa.Table, path: Path, title: str) -> bool:
    """Draw the cast as a network (PNG at `path`); False, and no picture, where there are not two of them.

    `nodes`, `edges`, `evidence` as in `tables`. A coloured line is a relation that the text says, with its
    type; a grey one joins persons who are named in the same windows, the thicker the more often. Raises
    DataFolderError.
    """
    graph = cast_network(nodes, edges, evidence)
    if len(graph) < 2:
        path.unlink(missing_ok=True)
        return False
    _save(_network_figure(graph, title), path)
    return True


def cast_network(nodes: pa.Table, edges: pa.Table, evidence: pa.Table) -> nx.Graph[str]:
    """The cast as a networkx graph: nodes with `name`, `windows`, `role`; edges with `together` (windows that
    name both), and `type` and `stated` where the book's graph has a relation.
    """
    import networkx as nx

    people = main_cast(nodes)
    windows: dict[str, set[int]] = defaultdict(set)
    for row in evidence.select(["entity", "window"]).to_pylist():
        windows[row["entity"]].add(row["window"])
    graph: nx.Graph[str] = nx.Graph()
    for person in people:
        graph.add_node(person["id"], name=person["name"], windows=person["windows"], role=person["role"])
    together = {
        (a, b): shared
        for a, b in combinations(graph.nodes, 2)
        if (shared := len(windows[a] & windows[b])) > 0
    }
    for pair in _nearest(together):
        graph.add_edge(*pair, together=together[pair])
    for edge in sorted(edges.to_pylist(), key=lambda e: (e["confidence"], -e["start"])):
        a, b = edge["source"], edge["target"]
        if edge["rel"] == "RELATED_TO" and a in graph and b in graph:
            shared = together.get((a, b), together.get((b, a), 0))
            # In ascending order of confidence: of two relations of a pair the surer one stays.
            graph.add_edge(a, b, together=shared, type=edge["type"], stated=edge["confidence"] >= STATED)
    return graph


def main_cast(nodes: pa.Table) -> list[dict[str, Any]]:
    """Rows of the persons that pictures show, those of the most windows first."""
    rows = nodes.select(["id", "label", "standing", "name", "role", "windows"]).to_pylist()
    cast = [row for row in rows if row["label"] == "Character" and row["standing"] == "cast"]
    return sorted(cast, key=lambda row: (-row["windows"], row["name"]))[:MOST_PEOPLE]


def _nearest(together: Mapping[tuple[str, str], int]) -> list[tuple[str, str]]:
    """Pairs of which one is among the other's NEIGHBOURS most frequent companions."""
    drawn: Counter[str] = Counter()
    kept = []
    for pair in sorted(together, key=lambda p: (-together[p], p)):
        if min(drawn[pair[0]], drawn[pair[1]]) < NEIGHBOURS:
            kept.append(pair)
            drawn.update(pair)
    return kept


def _network_figure(graph: nx.Graph[str], title: str) -> Figure:
    import networkx as nx
    from matplotlib.lines import Line2D

    figure, axes = _canvas(title, (8.4, 6.2))
    most = max([1, *(data["together"] for *_, data in graph.edges(data=True))])
    places = _places(graph, most)
    company = [(a, b) for a, b, data in graph.edges(data=True) if "type" not in data]
    nx.draw_networkx_edges(
        graph,
        places,
        edgelist=company,
        width=[0.5 + 3.5 * graph.edges[pair]["together"] / most for pair in company],
        edge_color="#c9c9c9",
        ax=axes,
    )
    told = [(a, b) for a, b, data in graph.edges(data=True) if "type" in data]
    nx.draw_networkx_edges(
        graph,
        places,
        edgelist=told,
        width=2,
        edge_color=[_STATED if graph.edges[pair]["stated"] else _LIKELY for pair in told],
        ax=axes,
    )
    nx.draw_networkx_edge_labels(
        graph,
        places,
        {pair: graph.edges[pair]["type"].replace("_", " ") for pair in told},
        font_size=6.5,
        font_color=_INK,
        ax=axes,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
    )
    largest = max(data["windows"] for _, data in graph.nodes(data=True)) or 1
    nx.draw_networkx_nodes(
        graph,
        places,
        node_size=[40 + 700 * data["windows"] / largest for _, data in graph.nodes(data=True)],
        node_color="#7d8fb3",
        edgecolors="white",
        ax=axes,
    )
    for node, (x, y) in places.items():
        axes.annotate(
            _shortened(graph.nodes[node]["name"], 26),
            (x, y),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=_INK,
            parse_math=False,
            zorder=6,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
        )
    axes.margins(0.1)
    axes.set_axis_off()
    lines = [("#c9c9c9", "named together"), (_STATED, "relation, stated"), (_LIKELY, "relation, likely")]
    axes.legend(
        [Line2D([], [], color=colour, linewidth=2.4) for colour, _ in lines],
        [name for _, name in lines],
        loc="lower center",
        bbox_to_anchor=(0.5, -0.06),
        ncols=3,
        fontsize=8,
        frameon=False,
    )
    return figure


def _places(graph: nx.Graph[str], most: int) -> dict[str, Any]:
    """Where each person stands: those of much company near each other, strangers apart but in sight."""
    import networkx as nx

    apart = {a: {b: 0.0 if a == b else STRANGERS_APART for b in graph.nodes} for a in graph.nodes}
    for a, b, data in graph.edges(data=True):
        closeness = (data["together"] / most) ** 0.5 + 0.3 * ("type" in data)
        apart[a][b] = apart[b][a] = 1 + 1.2 * max(0.0, 1 - closeness)
    places: dict[str, Any] = nx.kamada_kawai_layout(graph, dist=apart, pos=nx.circular_layout(graph))
    return places


def draw_appearances(
    nodes: pa.Table, evidence: pa.Table, chapters: Sequence[Chapter], path: Path, title: str
) -> bool:
    """Draw who is named in which chapter (PNG at `path`); False, and no picture, where there is no cast.

    Raises DataFolderError.
    """
    found = appearances(nodes, evidence, chapters)
    if not found.names:
        path.unlink(missing_ok=True)
        return False
    _save(_appearance_figure(found, title), path)
    return True


def appearances(nodes: pa.Table, evidence: pa.Table, chapters: Sequence[Chapter]) -> Appearances:
    """Mentions of the main cast by chapter, or by equal stretches where there are too few or too many."""
    people = main_cast(nodes)
    rows = {person["id"]: number for number, person in enumerate(people)}
    starts = np.array([chapter.start for chapter in chapters])
    end = max((chapter.end for chapter in chapters), default=1)
    by_chapter = FEWEST_COLUMNS <= len(chapters) <= MOST_COLUMNS
    if by_chapter:
        columns = [str(chapter.index) for chapter in chapters]
    else:
        stretches = MOST_COLUMNS if len(chapters) > MOST_COLUMNS else 10
        starts = np.linspace(0, end, stretches, endpoint=False)
        columns = [f"{100 * number // stretches}%" for number in range(stretches)]
    counts = np.zeros((len(people), len(columns)), dtype=np.int64)
    for mention in evidence.select(["entity", "start"]).to_pylist():
        if (row := rows.get(mention["entity"])) is not None:
            column = int(np.searchsorted(starts, mention["start"], side="right")) - 1
            counts[row, max(0, column)] += 1
    return Appearances([person["name"] for person in people], columns, by_chapter, counts)


def _appearance_figure(found: Appearances, title: str) -> Figure:
    from matplotlib.colors import PowerNorm

    figure, axes = _canvas(title, (8.4, 1.3 + 0.21 * len(found.names)))
    most = max(1, int(found.counts.max(initial=0)))
    # A square root: who is named twice in a chapter is seen beside a hero of two hundred times.
    image = axes.imshow(
        np.ma.masked_equal(found.counts, 0),
        aspect="auto",
        cmap="viridis_r",
        norm=PowerNorm(0.5, vmin=0, vmax=most),
        interpolation="nearest",
    )
    axes.set_yticks(range(len(found.names)))
    axes.set_yticklabels([_shortened(name, 28) for name in found.names], fontsize=8, parse_math=False)
    step = max(1, len(found.columns) // 20)
    axes.set_xticks(range(0, len(found.columns), step))
    axes.set_xticklabels(found.columns[::step], fontsize=7)
    axes.set_xlabel("chapter" if found.by_chapter else "share of the book read", fontsize=8, color=_FAINT)
    axes.tick_params(length=0, colors=_INK)
    for side in axes.spines.values():
        side.set_visible(False)
    bar = figure.colorbar(image, ax=axes, fraction=0.03, pad=0.01)
    bar.set_label("mentions", fontsize=8, color=_FAINT)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)
    return figure


def _canvas(title: str, size: tuple[float, float]) -> tuple[Figure, Axes]:
    # Figure and canvas by themselves: pyplot keeps global state, and assets run in threads.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=96, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(_shortened(title, 70), fontsize=11, loc="left", color=_INK, parse_math=False)
    return figure, axes


def _save(figure: Figure, path: Path) -> None:
    # Without the version of the library in it, the same book gives the same bytes.
    write_atomic(path, lambda p: figure.savefig(p, format="png", metadata={"Software": None}))


def _shortened(text: str, most: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"
