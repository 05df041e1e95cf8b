"""Dagster's own storage under the data folder: the runs of the command line are seen in the UI, and the
reverse."""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import ProgrammingError
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_fixed

from gutengraph_assets.pools import declare_pools
from gutengraph_core.errors import StoreError
from gutengraph_core.files import disk_errors, write_text
from gutengraph_core.library import Library
from gutengraph_core.processes import this_process

PROCESS_TAG = "gutengraph/process"
"""On runs of the command line: which process executes them."""

TABLES_TRIES, TABLES_WAIT_S = 5, 0.5
"""For tables that somebody else is making: all of them take about a second."""

INSTANCE_YAML = """\
# Written once by `gutengraph`; yours to edit. The storage is this folder.
concurrency:
  runs:
    max_concurrent_runs: 4
  pools:
    default_limit: 1
    granularity: op
run_monitoring:
  enabled: true
  free_slots_after_run_end_seconds: 30
  max_runtime_seconds: 86400
telemetry:
  enabled: false
nux:
  enabled: false
"""


def relax_sqlite() -> None:
    """Let Dagster's SQLite files be synced to the disk now and then instead of several times at every event.

    A run of one book writes some 240 events. Dagster opens and closes a connection for each, which makes
    SQLite sync at every commit and move its log into the file at every close: 5.3 s a run on a quiet disk.
    With synchronous=NORMAL and one idle connection that keeps the log open: 0.7 s. In the write-ahead mode
    that Dagster uses, NORMAL cannot damage a file; a power cut may lose the last events, which the files on
    disk make up for.
    """
    if not event.contains(Engine, "connect", _relax):
        event.listen(Engine, "connect", _relax)


_kept_open: OrderedDict[str, sqlite3.Connection] = OrderedDict()
_KEPT = 8
"""Files with an idle connection: the three that all runs share, and the latest runs' own."""


def _relax(connection: Any, _record: Any) -> None:
    if not isinstance(connection, sqlite3.Connection):
        return
    connection.execute("PRAGMA synchronous=NORMAL")
    path = connection.execute("PRAGMA database_list").fetchone()[2]
    if not path:
        return
    if path not in _kept_open:
        idle = sqlite3.connect(path, check_same_thread=False)
        idle.execute("PRAGMA schema_version").fetchone()  # the first read is what opens the log
        _kept_open[path] = idle
    _kept_open.move_to_end(path)
    while len(_kept_open) > _KEPT:
        _kept_open.popitem(last=False)[1].close()


def prepare(library: Library) -> tuple[Path, Path]:
    """Make `home/dagster` with its configuration unless it is there; both paths. Raises DataFolderError."""
    library.check_writable()
    config = library.dagster_dir / "dagster.yaml"
    if not config.exists():
        write_text(config, INSTANCE_YAML)
    return library.dagster_dir, config


@contextmanager
def open_instance(library: Library) -> Iterator[dg.DagsterInstance]:
    """The instance under `home/dagster`, made at the first call; DAGSTER_HOME points to it from then on.

    Raises DataFolderError if it cannot be written, StoreError if it cannot be opened.
    """
    folder, config = prepare(library)
    os.environ["DAGSTER_HOME"] = str(folder)
    relax_sqlite()
    try:
        with disk_errors(folder):
            instance = _made(folder)
    except dg.DagsterError as error:
        raise StoreError(
            f"Dagster's storage in {folder} cannot be opened ({error}).",
            remedy=f"Mend {config}, or move {folder} away: the books themselves do not lie there.",
        ) from error
    with instance:
        declare_pools(instance, library)
        yield instance


def _made(folder: Path) -> dg.DagsterInstance:
    """The instance; tried again where another process makes the same tables at this moment: Dagster itself waits for some of
    PostgreSQL's ways of saying so and not for others."""
    again = Retrying(
        retry=retry_if_exception_type(ProgrammingError),
        stop=stop_after_attempt(TABLES_TRIES),
        wait=wait_fixed(TABLES_WAIT_S),
        reraise=True,
    )
    return again(dg.DagsterInstance.from_config, str(folder))


def process_tag() -> dict[str, str]:
    """The tag of a run that this process executes."""
    return {PROCESS_TAG: this_process()}
