"""The evaluation as tables for people."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gutengraph_query.evaluate.run import MODES, Report
from gutengraph_query.evaluate.score import Share

_ROWS: tuple[tuple[str, str], ...] = (
    ("character recall, major", "recall_major"),
    ("character recall, intermediate", "recall_intermediate"),
    ("character recall, main (both)", "recall_main"),
    ("character recall, minor", "recall_minor"),
    ("character recall, all", "recall_all"),
    ("cast precision, in gold", "precision_in_gold"),
    ("alias pairs, precision", "alias_precision"),
    ("alias pairs, recall", "alias_recall"),
    ("relation recall, pair", "relation_recall_pair"),
    ("relation recall, pair and type", "relation_recall_typed"),
    ("passage hit@5, within the book", "passage_hit@5"),
    ("answer@5, within the book", "answer@5"),
    ("passage hit@5, vectors alone, all books", "hit@5_vector"),
    ("answer@5, vectors alone, all books", "answer@5_vector"),
    ("passage hit@5, hybrid search, all books", "hit@5_hybrid"),
    ("answer@5, hybrid search, all books", "answer@5_hybrid"),
    ("the same, chunks without neighbours: hit@5", "hit@5_hybrid_core"),
    ("the same, chunks without neighbours: answer@5", "answer@5_hybrid_core"),
    *((f"answer rate, {mode}", f"answer_{mode}") for mode in MODES),
    *((f"claims to know, {mode}", f"known_{mode}") for mode in MODES),
    *((f"names of other books, {mode}", f"cross_book_names_{mode}") for mode in MODES),
)
_FOREIGN: tuple[tuple[str, str], ...] = tuple(
    (f"says it does not know, {mode}", f"unknown_{mode}_on_foreign_questions") for mode in MODES
)


def show_report(report: Report) -> None:
    """A column a book and one for the total; hits of all under each share, Wilson's interval beside the total."""
    console = Console()
    built = {book: part for book, part in report["per_book"].items() if part["built"]}
    table = Table(title="Against the gold standard", title_justify="left")
    table.add_column("")
    for book in built:
        table.add_column(book, justify="right")
    table.add_column("total", justify="right")
    table.add_column("95 %", justify="right")
    for title, name in _ROWS:
        shares = [part["scores"][name] for part in built.values()]
        total = report["total"][name]
        table.add_row(title, *(_cell(s) for s in shares), _cell(total), _interval(total))
    for title, name in _FOREIGN:  # of questions that are about no book
        total = report["total"][name]
        table.add_row(title, *("" for _ in built), _cell(total), _interval(total))
    console.print(table)
    for book, part in built.items():
        console.print(f"{book}: {escape(part['title'])}")
    for book, part in report["per_book"].items():
        if not part["built"]:
            console.print(f"{book}: {escape(part['title'])} is not built. {escape(part['reason'])}")
    console.print(_by_kind(report))
    for what, which in report["models"].items():
        console.print(f"{what}: {escape(which)}")
    console.print(f"{escape(report['command'])}, {report['date']}")


def _by_kind(report: Report) -> Table:
    table = Table(title="Answer rate by the kind of question", title_justify="left")
    table.add_column("questions for")
    for mode in MODES:
        table.add_column(mode, justify="right")
    for kind in ("vector", "graph", "hybrid"):
        shares = [report["total"][f"answer_{mode}_on_{kind}_questions"] for mode in MODES]
        table.add_row(kind, *(_cell(s) for s in shares))
    return table


def _cell(value: Share) -> str:
    return "–" if value["value"] is None else f"{value['value']:.2f} ({value['hits']}/{value['of']})"


def _interval(value: Share) -> str:
    interval = value["interval"]
    return "" if interval is None else f"{interval[0]:.2f}–{interval[1]:.2f}"
