"""A build that is killed or interrupted: nothing is lost, and the next one carries on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from kills import BOOK, lay_story
from waiting import until

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP
from gutengraph_core.files import sha256
from gutengraph_core.library import Library

PROGRAM = "from gutengraph_core.cli import main; main()"


class Machine:
    """A data folder, and `gutengraph` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.library = Library(self.home)
        lay_story(folder / "mirror")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("GUTENGRAPH_", "DAGSTER_"))}
        self.env = clean | {
            "GUTENGRAPH_HOME": str(self.home),
            "GUTENGRAPH_MIRROR": str(folder / "mirror"),
            "GUTENGRAPH_NAMING_MAX_CALLS": "30",  # enough to be killed among them
        }

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *map(str, arguments)],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object) -> tuple[int, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        return process.returncode, out + err

    def names_done(self) -> int:
        path = self.library.path(BOOK, "ledger.jsonl")
        return len(Ledger(path).entries(STEP)) if path.exists() else 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    assert machine.run("add", BOOK)[0] == 0
    return machine


def stop_among_the_names(machine: Machine, how: signal.Signals) -> tuple[int, str]:
    """Build, and send `how` once some names are in the ledger."""
    process = machine.start("build", BOOK)
    until(lambda: machine.names_done() >= 5 or process.poll() is not None, "five names")
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    assert 5 <= machine.names_done() < 60
    return process.returncode, out + err


def test_killed_and_carried_on(machine: Machine) -> None:
    code, _ = stop_among_the_names(machine, signal.SIGKILL)
    assert code == -signal.SIGKILL
    library = machine.library
    record = library.record(BOOK)
    assert record.status == "failed"
    assert f"gutengraph build {BOOK}" in record.reason
    assert not library.path(BOOK, "mentions.parquet").exists()
    assert "killed" in machine.run("books")[1]
    before = {e.item for e in Ledger(library.path(BOOK, "ledger.jsonl")).entries(STEP)}
    chunks = sha256(library.path(BOOK, "chunks.parquet"))

    code, said = machine.run("build", BOOK)
    assert code == 0, said
    assert "chunks  unchanged" in said
    assert sha256(library.path(BOOK, "chunks.parquet")) == chunks
    entries = Ledger(library.path(BOOK, "ledger.jsonl")).entries(STEP)
    again = [e.item for e in entries if e.item in before]
    assert len(again) == len(set(again))  # what was asked before the kill was not asked again
    assert library.record(BOOK).status == "built"
    # The killed run is not left 'started' for good, and its pool slots are free.
    with dg.DagsterInstance.from_config(str(library.dagster_dir)) as instance:
        assert {run.status for run in instance.get_runs()} == {
            dg.DagsterRunStatus.SUCCESS,
            dg.DagsterRunStatus.FAILURE,
        }
        pools = instance.event_log_storage.get_concurrency_keys()
        assert pools
        assert all(
            instance.event_log_storage.get_concurrency_info(pool).claimed_slots == [] for pool in pools
        )


def test_interrupted_says_so(machine: Machine) -> None:
    code, said = stop_among_the_names(machine, signal.SIGINT)
    assert code == 130
    assert "Traceback" not in said
    assert "Stopped." in said
    record = machine.library.record(BOOK)
    assert record.status in ("registered", "failed")
    assert f"gutengraph build {BOOK}" in record.reason
    with dg.DagsterInstance.from_config(str(machine.library.dagster_dir)) as instance:
        unfinished = [run for run in instance.get_runs() if not run.is_finished]
        assert unfinished == []
