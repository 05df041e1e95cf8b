"""Building books from the command line: what is looked at first, one run a book, one for the library, the
summary."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from gutengraph_assets.disk import check_disk
from gutengraph_assets.instance import open_instance
from gutengraph_assets.progress import Console, listening, span
from gutengraph_assets.recover import recover
from gutengraph_assets.resources import Models, models_kept_open
from gutengraph_assets.runs import run_job
from gutengraph_assets.status import parked_reason
from gutengraph_core.errors import NotBuilt, S3Error
from gutengraph_core.filesystem import check_data_folder
from gutengraph_core.library import BookRecord
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable

if TYPE_CHECKING:
    import dagster as dg


PARKING = ("window_names/language:", "window_names/yield_gate:")
"""Checks that warn of what parks a book."""


@dataclass
class Outcome:
    """What became of a build."""

    records: list[BookRecord] = field(default_factory=list)
    warnings: dict[int, list[str]] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    """Why a book's run failed."""
    library_error: str = ""
    """Why the index or the merged graph could not be made; '' if they were."""

    @property
    def success(self) -> bool:
        return not self.library_error and all(
            record.status in ("built", "parked") and record.id not in self.errors for record in self.records
        )


def preflight(books: Sequence[int], settings: Settings, models: Models, *, force: bool = False) -> None:
    """Refuse what cannot go well before anything is written.

    Raises DataFolderError for a folder that cannot hold the stores or a disk without room for them,
    ModelUnreachable or WrongModel for a model that is not the configured one, EmbedderMismatch for a table of
    another embedder.
    """
    library = settings.library
    check_data_folder(library.home)
    check_disk(books, library, dimension=models.embedder.identity.dimension, force=force)
    with suppress(NotBuilt):  # no table yet: the first book makes it
        ChunkTable.open(library, models.embedder.identity)
    if force or not all(parked_reason(library.record(book)) for book in books):
        models.llm.identity  # noqa: B018 - asking is the point: it raises


def build_books(books: Sequence[int], settings: Settings, *, force: bool, verbose: bool) -> Outcome:
    """Build `books` one after the other, then what is made once. Progress goes to stderr.

    Raises as `preflight` does; the failure of a book is in the outcome.
    """
    # LanceDB's native part warns on stderr about what is no fault, a table that is not there yet.
    os.environ.setdefault("LANCEDB_LOG", "error")
    console = Console(_own_stderr())
    with models_kept_open(settings) as models:
        preflight(books, settings, models, force=force)
        with open_instance(settings.library) as instance, listening(console):
            for found in recover(instance, settings.library):
                console.line(f"Recovered: {found}")
            outcome = _build(books, settings, instance, console, force=force, verbose=verbose)
    _summary(outcome, console)
    return outcome


def _build(
    books: Sequence[int],
    settings: Settings,
    instance: dg.DagsterInstance,
    console: Console,
    *,
    force: bool,
    verbose: bool,
) -> Outcome:
    outcome = Outcome()
    began = time.monotonic()
    for number, book in enumerate(books, start=1):
        left = ""
        if number > 1:
            pace = (time.monotonic() - began) / (number - 1)
            left = f", about {span(pace * (len(books) - number + 1))} left"
        title = settings.library.record(book).title
        console.line(f"[{number}/{len(books)}] Book {book}{': ' + title if title else ''}{left}")
        run = run_job(instance, "build_book", book=book, force=force, verbose=verbose)
        record = settings.library.record(book)
        if not run.success:
            outcome.errors[book] = run.error
            if record.run == run.run_id and record.status != "failed":
                # The run broke outside of a step (an interrupted process, Dagster itself).
                record = settings.library.update(book, status="failed", reason=run.error, pid=None)
        outcome.records.append(record)
        outcome.warnings[book] = run.warnings
    if len(outcome.errors) == len(outcome.records):
        return outcome
    console.line("Library")
    run = run_job(instance, "finish_library", force=force, verbose=verbose)
    outcome.library_error = run.error
    outcome.warnings[-1] = run.warnings
    return outcome


def sync_library(settings: Settings, *, prune: bool, verbose: bool) -> None:
    """Send what has changed to S3, through Dagster. Progress goes to stderr. Raises S3Error,
    DataFolderError."""
    ops = {"s3_sync": {"config": {"prune": prune}}}
    with open_instance(settings.library) as instance, listening(Console(_own_stderr())):
        run = run_job(instance, "sync_to_s3", verbose=verbose, ops=ops)
    if not run.success:
        raise S3Error(run.error)


def _summary(outcome: Outcome, console: Console) -> None:
    for record in outcome.records:
        if record.id in outcome.errors:
            reason = (record.reason if record.status == "failed" else outcome.errors[record.id]).removeprefix(
                f"Book {record.id}: "
            )
            console.line(f"Failed: book {record.id} {record.title}".rstrip() + f". {reason}")
        elif record.status == "parked":
            console.line(f"Parked: book {record.id} {record.title}. {record.reason}")
        for warning in outcome.warnings.get(record.id, []):
            if record.status == "parked" and warning.startswith(PARKING):
                continue  # said already
            console.line(f"Warning: book {record.id}, {warning}")
    for warning in outcome.warnings.get(-1, []):
        console.line(f"Warning: {warning}")
    if outcome.library_error:
        console.line(f"Failed: the library. {outcome.library_error}")
    ended = ["failed" if record.id in outcome.errors else record.status for record in outcome.records]
    counted = {status: ended.count(status) for status in ("built", "parked", "failed", "registered")}
    console.line(", ".join(f"{number} {status}" for status, number in counted.items() if number) + ".")


def _own_stderr() -> TextIO:
    """A copy of the real stderr: Dagster redirects the one of the process into its log while a step runs."""
    try:
        return os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", buffering=1)
    except (OSError, ValueError):  # replaced by something without a descriptor, as tests do
        return sys.stderr
