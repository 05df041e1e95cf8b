"""Answers and lists for people to read, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from gutengraph_core.graph.schema import STATED
from gutengraph_query.ask import Answer, Comparison
from gutengraph_query.brains import Brains
from gutengraph_query.listing import CharacterRow, RelationRow
from gutengraph_query.merging.spans import quoted, shortened
from gutengraph_query.state import Citation

_QUOTED = 40
_ALIASES = 4


def show_answer(here: Brains, answer: Answer) -> None:
    """The answer, then what each of its numbers points to, then how it came about."""
    console = Console()
    if answer["notice"]:
        console.print(f"[yellow]{escape(answer['notice'])}[/yellow]\n")
    console.print(escape(answer["answer"]))
    cited = [c for c in answer["citations"] if f"[{c['n']}]" in answer["answer"]]
    if cited:
        console.print()
        for citation in cited:
            console.print(_citation(here, citation), soft_wrap=False)
    console.print()
    console.print(f"[dim]{escape(_summary(answer))}[/dim]")


def show_comparison(here: Brains, comparison: Comparison) -> None:
    """The three answers under one another: side by side they would be too narrow to read."""
    console = Console()
    console.print(f"[bold]{escape(comparison['question'])}[/bold]")
    for mode, answer in comparison["answers"].items():
        noticed = [f"[yellow]{escape(answer['notice'])}[/yellow]", ""] if answer["notice"] else []
        lines = [*noticed, escape(answer["answer"]), ""]
        cited = [c for c in answer["citations"] if f"[{c['n']}]" in answer["answer"]]
        lines += [_citation(here, citation) for citation in cited]
        lines += [f"[dim]{escape(path)}[/dim]" for path in answer["paths"]]
        lines.append(f"[dim]{escape(_summary(answer))}[/dim]")
        console.print(Panel("\n".join(lines), title=mode, title_align="left"))


def show_characters(
    here: Brains, book: int, rows: Sequence[CharacterRow], *, limit: int | None = None
) -> None:
    """A table of the cast, and of who is only mentioned; with `limit`, of the first so many of the cast."""
    console = Console()
    cast = [row for row in rows if row["standing"] == "cast"]
    table = Table(title=f"{here.title(book)}: cast of {len(cast)}", title_justify="left")
    for column in ("name", "also called", "gender", "role"):
        table.add_column(column)
    for column in ("mentions", "windows"):
        table.add_column(column, justify="right")
    for row in cast[:limit]:
        others = [alias for alias in row["aliases"] if alias != row["name"]]
        more = f" +{len(others) - _ALIASES} more" if len(others) > _ALIASES else ""
        table.add_row(
            escape(row["name"]),
            escape(", ".join(others[:_ALIASES]) + more),
            row["gender"] or "",
            row["role"] or "",
            str(row["mentions"]),
            str(row["windows"]),
        )
    console.print(table)
    if limit is not None and len(cast) > limit:
        console.print(f"… and {len(cast) - limit} more: gutengraph characters {book}")
    mentioned = [row["name"] for row in rows if row["standing"] != "cast"]
    if mentioned and limit is None:
        console.print(f"Only mentioned: {escape(', '.join(mentioned))}")


def show_relations(here: Brains, book: int, rows: Sequence[RelationRow], *, limit: int | None = None) -> None:
    """Each relation with its quote, what the text states before what is likely; with `limit`, the surest."""
    console = Console(highlight=False)
    console.print(f"{escape(here.title(book))}: {len(rows)} relations.")
    surest = sorted(rows, key=lambda row: (-row["confidence"], row["start"]))
    for row in surest[:limit]:
        certainty = "stated" if row["confidence"] >= STATED else "likely"
        console.print(
            f"\n[bold]{escape(row['a'])}[/bold] {row['type']} [bold]{escape(row['b'])}[/bold]"
            f"  [dim]{certainty} ({row['confidence']:.2f}), chapter {row['chapter']}[/dim]"
        )
        console.print(f"    {escape(quoted(shortened(row['quote'])))}")
    if limit is not None and len(rows) > limit:
        console.print(f"\n… and {len(rows) - limit} more: gutengraph relations {book}")


def _citation(here: Brains, citation: Citation) -> str:
    place = f"{here.title(citation['book'])}, {chapter_name(here, citation['book'], citation['chapter'])}"
    quote = shortened(citation["text"], longest=_QUOTED)
    return f"[bold]\\[{citation['n']}][/bold] {escape(place)}: [italic]{escape(quoted(quote))}[/italic]"


def chapter_name(here: Brains, book: int, chapter: int) -> str:
    """A chapter's own heading, on one line."""
    titles = {c.index: c.title for c in here.library.record(book).chapters}
    return " ".join(titles.get(chapter, "").split()) or f"chapter {chapter}"


def _summary(answer: Answer) -> str:
    asked = answer["mode"] if answer["mode"] != "auto" else f"auto, routed to {answer['routed_to']}"
    entry = answer["entry"]
    parts = [asked, f"{answer['timings']['total']:.1f} s"]
    if entry is not None:
        parts.append(f"entered by {entry['node']} ({entry['score']:.2f})")
    if answer["model"]:
        tokens = answer["tokens"]
        about = "about " if tokens["estimated"] else ""
        parts.append(f"{answer['model']}, {about}{tokens['prompt']} + {tokens['completion']} tokens")
    return " · ".join(parts)
