"""What `gutengraph recover` takes for dead, and what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.storage.tags import GRPC_INFO_TAG

from gutengraph_assets import recover as module
from gutengraph_assets.instance import open_instance
from gutengraph_assets.recover import recover
from gutengraph_core.errors import StoreError
from gutengraph_core.library import Library
from gutengraph_core.processes import this_process

STARTED, STARTING = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING


@dg.op
def nothing() -> None: ...


@dg.job
def a_job() -> None:
    nothing()


@pytest.fixture
def instance(library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    monkeypatch.setenv("DAGSTER_HOME", "")
    with open_instance(library) as opened:
        yield opened


@pytest.fixture
def dead() -> int:
    """The number of a process that is no more."""
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    return gone.pid


def run_of(
    instance: dg.DagsterInstance, pid: int | None, status: dg.DagsterRunStatus = STARTED, **tags: str
) -> dg.DagsterRun:
    """A run as the UI's launcher leaves it: its worker's number stands in its own log."""
    run = instance.create_run_for_job(a_job, status=status, tags=tags)
    if pid is not None:
        instance.report_engine_event("Started process for run", run, EngineEventData.in_process(pid))
    return run


def status_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status.value


def test_a_run_of_the_ui_whose_worker_is_gone(
    instance: dg.DagsterInstance, library: Library, dead: int
) -> None:
    run = run_of(instance, dead, **{"dagster/partition": "84"})
    (found,) = recover(instance, library)
    assert found.what == "failed"
    assert "of book 84" in str(found)
    assert f"process {dead} is gone" in str(found)
    assert status_of(instance, run) == "FAILURE"
    assert recover(instance, library) == []


def test_a_living_worker_is_left_alone(instance: dg.DagsterInstance, library: Library) -> None:
    run = run_of(instance, os.getpid())
    assert recover(instance, library) == []
    assert status_of(instance, run) == "STARTED"


def test_a_number_given_to_a_later_process(
    instance: dg.DagsterInstance, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(instance, os.getpid())
    # As if this process had begun after the worker reported for work.
    monkeypatch.setattr(module, "runs_since", lambda pid, seen_at: seen_at > 4e9)
    (found,) = recover(instance, library)
    assert found.name == run.run_id


def test_one_that_was_being_cancelled_is_cancelled(
    instance: dg.DagsterInstance, library: Library, dead: int
) -> None:
    run = run_of(instance, dead, dg.DagsterRunStatus.CANCELING)
    (found,) = recover(instance, library)
    assert found.what == "canceled"
    assert status_of(instance, run) == "CANCELED"


def test_one_that_no_process_took_up(
    instance: dg.DagsterInstance, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = json.dumps({"socket": str(tmp_path / "no-such-socket"), "host": "localhost"})
    orphan = run_of(instance, None, STARTING, **{GRPC_INFO_TAG: gone})
    fresh = run_of(instance, None, STARTING)
    (found,) = recover(instance, library)
    assert found.name == orphan.run_id
    assert "code server" in str(found)
    assert recover(instance, library) == []  # the other may still be taken up
    monkeypatch.setattr(module, "LONGEST_START_S", 0.0)
    (late,) = recover(instance, library)
    assert late.name == fresh.run_id


def test_a_slot_that_its_ended_run_still_holds(instance: dg.DagsterInstance, library: Library) -> None:
    run = run_of(instance, None, dg.DagsterRunStatus.FAILURE)
    storage = instance.event_log_storage
    storage.initialize_concurrency_limit_to_default("llm")
    assert storage.claim_concurrency_slot("llm", run.run_id, "window_names").is_claimed
    (found,) = recover(instance, library)
    assert found.what == "freed"
    assert storage.get_concurrency_info("llm").claimed_slots == []


def test_a_book_whose_builder_is_gone_says_so(
    instance: dg.DagsterInstance, library: Library, dead: int
) -> None:
    host = this_process().rsplit(":", 2)[0]
    library.update(7, status="building", pid=dead, owner=f"{host}:{dead}:1")
    library.update(8, status="building", pid=os.getpid(), owner=this_process())
    library.update(9)
    library.path(9, "book.json").write_text("{")  # a damaged record is somebody else's affair
    (found,) = recover(instance, library)
    assert (found.what, found.name) == ("book", "7")
    assert library.written_status(7) == "failed"
    assert library.record(8).status == "building"


def test_a_run_that_is_named(instance: dg.DagsterInstance, library: Library) -> None:
    run = run_of(instance, os.getpid())
    (found,) = recover(instance, library, runs=[run.run_id])
    assert "It was named" in str(found)
    with pytest.raises(StoreError, match="no run that is under way"):
        recover(instance, library, runs=[run.run_id])
