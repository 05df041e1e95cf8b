"""After a crash: runs whose process is dead end, their pool slots are free again, their books say what happened.

Dagster's own default launcher cannot ask its workers whether they live, so that after a power cut a run stays
'started' for good and holds its slot against all that come after.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import dagster as dg
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.tags import GRPC_INFO_TAG, PARTITION_NAME_TAG

from gutengraph_assets.instance import PROCESS_TAG
from gutengraph_core.errors import NotBuilt, StoreError
from gutengraph_core.library import Library
from gutengraph_core.processes import is_alive, pid_of, runs_since

_UNFINISHED = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
LONGEST_START_S = 180.0
"""A run that no process has taken up by then never will be: Dagster's own limit for its run monitoring."""


@dataclass(frozen=True)
class Recovered:
    """One thing that was put right."""

    what: str
    """`failed` or `canceled` for a run, `freed` for slots of a run that had ended, `book` for a record."""
    name: str
    """The run's id or the book's number."""
    text: str

    def __str__(self) -> str:
        return self.text


def recover(instance: dg.DagsterInstance, library: Library, *, runs: Collection[str] = ()) -> list[Recovered]:
    """End every run whose process is dead, and free what it held. Returns what was done; a second call: nothing.

    `runs`: ids of runs that are to be ended whatever is known of their process (another machine's, say).
    Raises StoreError for an id that is no unfinished run.
    """
    done = list(_end_runs(instance, set(runs)))
    done += _free_slots(instance)
    done += _tell_books(library)
    return done


def _end_runs(instance: dg.DagsterInstance, named: set[str]) -> Iterator[Recovered]:
    unfinished = {r.run_id: r for r in instance.get_runs(filters=dg.RunsFilter(statuses=_UNFINISHED))}
    for run_id in named - unfinished.keys():
        raise StoreError(
            f"{run_id} is no run that is under way.", remedy="`gutengraph recover` alone finds the dead ones."
        )
    for run in unfinished.values():
        why = "It was named." if run.run_id in named else _death(instance, run)
        if not why:
            continue
        canceling = run.status is dg.DagsterRunStatus.CANCELING
        if canceling:
            instance.report_run_canceled(run, f"{why} Recovered.")
        else:
            instance.report_run_failed(run, f"{why} Build again: it carries on where it stopped.")
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        what = "canceled" if canceling else "failed"
        book = run.tags.get(PARTITION_NAME_TAG)
        of = f" of book {book}" if book is not None else ""
        yield Recovered(what, run.run_id, f"run {run.run_id[:8]} ({run.job_name}{of}): {why} Marked {what}.")


def _death(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """Why a run is known to be dead; '' if it lives, or if nothing here can tell."""
    tag = run.tags.get(PROCESS_TAG)
    if tag is not None:
        return "" if is_alive(tag) else f"Its process {pid_of(tag)} is gone."
    if not isinstance(instance.run_launcher, DefaultRunLauncher):
        return ""  # Docker and Kubernetes are asked by Dagster's own run monitoring
    worker = _worker(instance, run)
    if worker is not None:
        pid, seen_at = worker
        return "" if runs_since(pid, seen_at) else f"Its process {pid} is gone."
    return _never_taken_up(instance, run)


def _worker(instance: dg.DagsterInstance, run: dg.DagsterRun) -> tuple[int, float] | None:
    """Process id of the run's worker and when it reported for work, from the run's own log."""
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        metadata = entry.get_dagster_event().engine_event_data.metadata
        if "pid" in metadata:
            return int(str(metadata["pid"].value)), entry.timestamp
    return None


def _never_taken_up(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """A run was handed to a code server, and no process has reported for it yet."""
    info = json.loads(run.tags.get(GRPC_INFO_TAG, "{}"))
    if info and not _answers(info):
        return "The code server that was to start it is gone."
    record = instance.get_run_record_by_id(run.run_id)
    age = time.time() - record.create_timestamp.timestamp() if record is not None else 0.0
    return f"No process took it up within {age:.0f} s." if age > LONGEST_START_S else ""


def _answers(info: dict[str, object]) -> bool:
    path, port, host = info.get("socket"), info.get("port"), str(info.get("host") or "localhost")
    try:
        if path:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(2)
                probe.connect(str(path))
        else:
            socket.create_connection((host, int(str(port))), timeout=2).close()
    except OSError:
        return False
    return True


def _free_slots(instance: dg.DagsterInstance) -> Iterator[Recovered]:
    """Slots of runs that have ended: a kill between a run's end and its clean-up."""
    storage = instance.event_log_storage
    holders = {
        slot.run_id
        for pool in storage.get_concurrency_keys()
        for slot in storage.get_concurrency_info(pool).claimed_slots
    }
    for run_id in sorted(holders):
        run = instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            storage.free_concurrency_slots_for_run(run_id)
            yield Recovered("freed", run_id, f"run {run_id[:8]} had ended and still held a pool slot: freed.")


def _tell_books(library: Library) -> Iterator[Recovered]:
    """Write down what `Library.record` reports of a book whose builder is gone."""
    for record in library.records():
        try:
            written = library.written_status(record.id)
        except NotBuilt:  # a damaged record: `gutengraph books` says so, and its remedy is to remove it
            continue
        if written == "building" and record.status == "failed":
            library.update(record.id, status="failed", reason=record.reason, pid=None)
            yield Recovered("book", str(record.id), f"book {record.id}: {record.reason}")
