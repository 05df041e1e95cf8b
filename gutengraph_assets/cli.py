"""The build side's commands. Nothing heavier than click is imported until a command runs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from gutengraph_assets.s3.cli import s3

if TYPE_CHECKING:
    from gutengraph_core.library import BookRecord

__all__ = ["add", "books", "build", "remove", "s3"]

ids_argument = click.argument("ids", nargs=-1, type=click.IntRange(min=0), metavar="ID...")
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Show Dagster's own log too.")


@click.command()
@ids_argument
def add(ids: tuple[int, ...]) -> None:
    """Register books by their Gutenberg ids.

    The source is asked for each book's catalogue entry: an unknown id or a copyrighted book is refused here.
    If the source cannot be reached the books are registered all the same, and the build will say more.
    """
    from gutengraph_assets.instance import open_instance
    from gutengraph_assets.registry import add_partitions, register
    from gutengraph_core.settings import load_settings

    if not ids:
        raise click.UsageError("Name at least one Gutenberg id, for instance 2701.")
    settings = load_settings()
    added, refused = register(list(dict.fromkeys(ids)), settings)
    if added:
        with open_instance(settings.library) as instance:
            add_partitions([book.record.id for book in added], instance)
    for book in added:
        name = f"{book.record.title or 'title unknown'}" + (
            f", by {', '.join(book.record.authors)}" if book.record.authors else ""
        )
        click.echo(f"{book.record.id:>6}  {name}" + ("" if book.new else "  (already there)"), err=True)
        if book.warning:
            click.echo(f"        {book.warning}", err=True)
    for error in refused:
        click.echo(f"Error: {error}", err=True)
    if refused:
        sys.exit(1)


@click.command()
@ids_argument
@verbose_option
def remove(ids: tuple[int, ...], verbose: bool) -> None:
    """Take books out: their files, their passages, their partition, and their part of the merged graph."""
    from gutengraph_assets.instance import open_instance
    from gutengraph_assets.progress import Console, listening
    from gutengraph_assets.registry import unregister
    from gutengraph_assets.runs import run_job
    from gutengraph_core.errors import StoreError
    from gutengraph_core.graph import versions
    from gutengraph_core.settings import load_settings

    if not ids:
        raise click.UsageError("Name at least one Gutenberg id.")
    settings = load_settings()
    with open_instance(settings.library) as instance:
        for book in dict.fromkeys(ids):
            unregister(book, settings, instance)
            click.echo(f"{book:>6}  removed", err=True)
        if versions.all_versions(settings.library):
            with listening(Console()):
                run = run_job(instance, "finish_library", verbose=verbose)
            if not run.success:
                raise StoreError(
                    f"The books are gone, but the merged graph still holds them: {run.error}",
                    remedy="Run `gutengraph build` for any other book to merge again.",
                )


@click.command()
@ids_argument
@click.option(
    "--force",
    is_flag=True,
    help="Make everything again, even where nothing has changed. Replies and vectors of the same model for the same text are kept.",
)
@click.option("--all", "every", is_flag=True, help="All books of the library.")
@verbose_option
def build(ids: tuple[int, ...], force: bool, every: bool, verbose: bool) -> None:
    """Build books through Dagster, then the merged graph once. No daemon is needed; the runs are seen in the
    UI.

    What is up to date is not made again, and what was interrupted carries on. A book that fails does not keep
    the others from being built; the exit code is then 1.
    """
    from gutengraph_assets.building import build_books
    from gutengraph_core.errors import UnknownBook
    from gutengraph_core.settings import load_settings

    settings = load_settings()
    library = settings.library
    if every:
        ids = tuple(library.ids())
    if not ids:
        raise click.UsageError("Name at least one Gutenberg id, or --all.")
    wanted = list(dict.fromkeys(ids))
    for book in wanted:
        if not library.has(book):
            raise UnknownBook(
                "It is not in the library.", remedy=f"Run `gutengraph add {book}` first.", book=book
            )
    outcome = build_books(wanted, settings, force=force, verbose=verbose)
    if not outcome.success:
        sys.exit(1)


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN...")
def recover(runs: tuple[str, ...]) -> None:
    """After a crash: end runs whose process is dead, free their pool slots, say so in their books.

    Dagster cannot tell by itself that the process of a run was killed, and such a run holds its slots for good.
    What is alive is left alone, and a second call finds nothing to do. RUN ids name runs that are to be ended
    whatever is known of them, those of another machine for instance.
    """
    from gutengraph_assets.instance import open_instance
    from gutengraph_assets.recover import recover as put_right
    from gutengraph_core.settings import load_settings

    library = load_settings().library
    with open_instance(library) as instance:
        found = put_right(instance, library, runs=runs)
    for one in found:
        click.echo(str(one))
    if not found:
        click.echo("Nothing to recover.")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def books(as_json: bool) -> None:
    """List the library: what is built, parked or failed, and why."""
    from gutengraph_core.settings import load_settings

    records = list(load_settings().library.records())
    if as_json:
        click.echo(json.dumps([_row(record) for record in records], ensure_ascii=False, indent=1))
        return
    if not records:
        click.echo("No books yet. `gutengraph add 2701` registers one.", err=True)
    for record in records:
        row = _row(record)
        counts = f"{row['chunks']} passages, {row['cast']} cast, {row['relations']} relations"
        click.echo(f"{record.id:>6}  {record.status:<10}  {record.title or 'title unknown'}")
        if record.status in ("built", "parked"):
            click.echo(f"        {counts}")
        if record.reason:
            click.echo(f"        {record.reason}")


def _row(record: BookRecord) -> dict[str, object]:
    """A book as `gutengraph books --json` gives it."""
    return {
        "id": record.id,
        "title": record.title,
        "authors": record.authors,
        "kind": record.kind,
        "language": record.language,
        "status": record.status,
        "reason": record.reason,
        "chunks": record.counts.get("chunks", 0),
        "cast": record.counts.get("cast", 0),
        "relations": record.counts.get("relations", 0),
        "built_at": record.built_at,
        "llm": record.llm,
        "embedder": record.embedder,
    }
