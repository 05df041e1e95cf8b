"""The asking side's commands. Nothing heavier than click is imported before one of them runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gutengraph_core.kinds import KINDS

if TYPE_CHECKING:
    from gutengraph_core.graph.export import Format
    from gutengraph_query.brains import Brains
    from gutengraph_query.state import Mode

LONGEST_QUESTION = 1_000
"""Characters. The embedded embedder takes 254 tokens, about this many."""

_book = click.option("--book", type=click.IntRange(min=0), metavar="ID", help="Ask about one book only.")
_json = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else.")
_up_to = click.option(
    "--up-to",
    type=click.IntRange(min=0),
    metavar="CHAPTER",
    help="Tell nothing of what comes after this chapter.",
)


def _named(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """An empty name (an unset variable of a shell) must not mean everybody."""
    if value is not None and not value.strip():
        raise click.BadParameter("Name an author, or leave it out.")
    return value


_author = click.option(
    "--author", metavar="NAME", callback=_named, help="Ask about this author's books only."
)
_kind = click.option("--kind", type=click.Choice(KINDS), help="Ask about books of this kind only.")

_limit = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Show the first N only.")


def _brains(*, cache: bool = False) -> Brains:
    from gutengraph_core.settings import load_settings
    from gutengraph_query.brains import Brains

    return Brains(load_settings(), cache=cache)


def _print_json(document: Any) -> None:
    click.echo(json.dumps(document, ensure_ascii=False, indent=1))


def _sentence(words: tuple[str, ...]) -> str:
    # A terminal hands over bytes that are no UTF-8 as lone surrogates, which nothing further on can encode.
    text = " ".join(words).encode("utf-8", "replace").decode().strip()
    if not text:
        raise click.UsageError("Ask something.")
    if len(text) > LONGEST_QUESTION:
        raise click.UsageError(
            f"The question has {len(text):,} characters; {LONGEST_QUESTION:,} is the most. Ask it in fewer words."
        )
    return text


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--mode",
    type=click.Choice(["auto", "vector", "graph", "hybrid", "tools"]),
    default="auto",
    show_default=True,
    help="Which brain is asked; auto decides by the question, tools lets an instruct model decide step by step.",
)
@_book
@_author
@_kind
@_up_to
@_json
def ask(question: tuple[str, ...], mode: Mode, as_json: bool, **within: Any) -> None:
    """Ask a question; the answer comes with the places it rests on."""
    from gutengraph_query.ask import ask as answer
    from gutengraph_query.show import show_answer

    here = _brains()
    found = answer(here, _sentence(question), mode=mode, **within)
    if as_json:
        _print_json(found)
    else:
        show_answer(here, found)


@click.command()
@click.argument("question", nargs=-1, required=True)
@_book
@_author
@_kind
@_up_to
@_json
def compare(question: tuple[str, ...], as_json: bool, **within: Any) -> None:
    """Ask the same question of the passages, of the graph, and of both."""
    from gutengraph_query.ask import compare as answers
    from gutengraph_query.show import show_comparison

    here = _brains()
    found = answers(here, _sentence(question), **within)
    if as_json:
        _print_json(found)
    else:
        show_comparison(here, found)


@click.command()
@click.argument("book", type=click.IntRange(min=0), metavar="ID")
@_limit
@_json
def characters(book: int, limit: int | None, as_json: bool) -> None:
    """The characters of a book, its cast first."""
    from gutengraph_query.listing import characters as listed
    from gutengraph_query.show import show_characters

    here = _brains()
    found = listed(here, book)
    if as_json:
        _print_json(found[:limit])
    else:
        show_characters(here, book, found, limit=limit)


@click.command()
@click.argument("book", type=click.IntRange(min=0), metavar="ID")
@_limit
@_json
def relations(book: int, limit: int | None, as_json: bool) -> None:
    """Who is what to whom in a book, each with the words that say so."""
    from gutengraph_query.listing import relations as listed
    from gutengraph_query.show import show_relations

    here = _brains()
    found = listed(here, book)
    if as_json:
        _print_json(found[:limit])
    else:
        show_relations(here, book, found, limit=limit)


@click.command()
@click.argument("book", type=int, required=False, metavar="[ID]")
@click.option("--all", "every", is_flag=True, help="The whole library's graph.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["graphml", "gexf", "csv", "json"]),
    default="graphml",
    show_default=True,
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; default: <ID>.<format> here.",
)
def export(book: int | None, every: bool, format_: Format, out: Path | None) -> None:
    """Write a book's graph, or the library's, for Gephi, networkx or a spreadsheet. CSV gives two files."""
    from gutengraph_core.graph.export import collect, write_export
    from gutengraph_query.listing import graph_with

    if (book is None) is not every:
        raise click.UsageError("Name a book's id, or --all.")
    here = _brains()
    graph = here.published() if book is None else graph_with(here, book)
    exported = collect(graph, book)
    target = out or Path(f"{'library' if book is None else book}.{format_}")
    for path in write_export(exported, format_, target):
        click.echo(f"{path}: {len(exported.nodes):,} nodes, {len(exported.edges):,} edges", err=True)


@click.command()
@click.argument("gold_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_json
def evaluate(gold_dir: Path, as_json: bool) -> None:
    """Score the library against gold standards: cast, aliases, relations, passages and answers."""
    from gutengraph_query.evaluate.report import show_report
    from gutengraph_query.evaluate.run import evaluate as scored

    here = _brains(cache=True)
    command = f"gutengraph evaluate {gold_dir}"
    report = scored(here, gold_dir, command=command, say=lambda line: click.echo(line, err=True))
    if as_json:
        _print_json(report)
    else:
        show_report(report)
