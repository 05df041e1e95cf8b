"""`dagster dev` as a user starts it, in a folder of its own, asked over GraphQL as its UI asks."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import psutil
from places import ROOT

from gutengraph_assets.automation import BOOK_ASSETS
from gutengraph_core.library import Library

BIN = Path(sys.executable).parent
PROGRAM = "from gutengraph_core.cli import main; main()"
SELECTOR = {"repositoryLocationName": "gutengraph", "repositoryName": "__repository__"}
IMPATIENT = str(Path(__file__).parent / "impatient")
"""On PYTHONPATH it makes Dagster's daemon look every second."""
ENDED = ("SUCCESS", "FAILURE", "CANCELED")

LAUNCH = """mutation($p: ExecutionParams!) { launchRun(executionParams: $p) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  ... on RunConfigValidationInvalid { errors { message } } } }"""
BACKFILL = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
BACKFILL_STATUS = "query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"
LOCATION = """{ workspaceLocationEntryOrError(name: "gutengraph") { ... on WorkspaceLocationEntry {
  locationOrLoadError { __typename } } } }"""
RELOAD = """mutation { reloadRepositoryLocation(repositoryLocationName: "gutengraph") { __typename } }"""
RUNS = """{ runsOrError { ... on Runs { results { runId jobName status tags { key value } } } } }"""
PARTITIONS = """query($keys: [AssetKeyInput!]) { assetNodes(assetKeys: $keys) { assetKey { path }
  assetPartitionStatuses { ... on DefaultPartitionStatuses {
    materializedPartitions failedPartitions materializingPartitions unmaterializedPartitions } } } }"""


class Dev:
    """A clone's two files in `folder`, a mirror beside them, and `dagster dev` over both."""

    def __init__(self, folder: Path, *, patient: bool = False, **settings: object) -> None:
        """`patient`: its daemon looks as seldom as it does for a user."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("dagster.yaml", "workspace.yaml"):
            shutil.copy(ROOT / name, folder / name)
        self.mirror = folder / "mirror"
        self.mirror.mkdir(exist_ok=True)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("GUTENGRAPH_", "DAGSTER_"))}
        self.env = clean | {
            "GUTENGRAPH_MIRROR": str(self.mirror),
            "GUTENGRAPH_NAMING_MAX_CALLS": "30",
            **{f"GUTENGRAPH_{name.upper()}": str(value) for name, value in settings.items()},
        }
        if not patient:
            self.env["PYTHONPATH"] = IMPATIENT
        self.process: subprocess.Popen[bytes] | None = None
        self.orphans: list[psutil.Process] = []
        """Runs whose code server was killed: no longer below `dagster dev`."""
        self.log = folder / "dev.log"

    @property
    def home(self) -> Path:
        return self.folder / "data"

    @property
    def library(self) -> Library:
        return Library(self.home)

    # --- the processes ---
    def start(self, *command: str) -> None:
        """Start it and wait until it answers."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*(command or (str(BIN / "dagster"), "dev")), "-h", "127.0.0.1", "-p", str(self.port)],
                cwd=self.folder,
                env=self.env,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # From a background job SIGINT would be inherited as ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        self.until(self._answers, 180, "dagster dev did not start")

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.tail()
        try:
            return bool(self.ask("{ version }").get("version"))
        except httpx.TransportError:
            return False

    def stop(self) -> int:
        """As Ctrl-C does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=90)

    def children(self, *words: str) -> list[psutil.Process]:
        """Processes below `dagster dev` whose command line has all `words`."""
        if self.process is None or self.process.poll() is not None:
            return []
        found = []
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                line = " ".join(child.cmdline())
            except psutil.Error:
                continue
            if all(word in line for word in words):
                found.append(child)
        return found

    def kill_everything(self) -> None:
        """What a power cut does: `dagster dev` and all that it started, at once."""
        if self.process is None:
            return
        running = self.process.poll() is None
        for process in [
            *([psutil.Process(self.process.pid), *self.children()] if running else []),
            *self.orphans,
        ]:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.orphans.clear()
        self.process.wait(timeout=30)

    def close(self) -> None:
        """Whatever state it is in, nothing of it runs afterwards."""
        self.kill_everything()

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]

    # --- asking ---
    def ask(self, query: str, **variables: object) -> dict[str, Any]:
        reply = httpx.post(
            f"http://127.0.0.1:{self.port}/graphql",
            json={"query": query, "variables": variables},
            timeout=60,
        )
        document = reply.json()
        assert "errors" not in document, document["errors"]
        data: dict[str, Any] = document["data"]
        return data

    def launch(self, job: str, config: dict[str, Any] | None = None, *, book: int | None = None) -> str:
        """Launch a job as the launchpad does; the run's id."""
        tags = [] if book is None else [{"key": "dagster/partition", "value": str(book)}]
        launched = self.ask(
            LAUNCH,
            p={
                "selector": SELECTOR | {"jobName": job},
                "executionMetadata": {"tags": tags},
                "runConfigData": config or {},
            },
        )["launchRun"]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        run_id: str = launched["run"]["runId"]
        return run_id

    def reload(self) -> bool:
        """Load the definitions anew, as the UI's button does; whether they are there."""
        found = self.ask(RELOAD)["reloadRepositoryLocation"]["__typename"]
        entry = self.ask(LOCATION)["workspaceLocationEntryOrError"]["locationOrLoadError"]
        return found == "WorkspaceLocationEntry" and entry["__typename"] == "RepositoryLocation"

    def backfill(self, books: Sequence[int], assets: Sequence[str] = BOOK_ASSETS) -> str:
        """Backfill `books` as the UI's 'Materialize' of a selection of partitions does; the backfill's id."""
        found = self.ask(
            BACKFILL,
            p={
                "assetSelection": [{"path": [name]} for name in assets],
                "partitionNames": [str(book) for book in books],
            },
        )["launchPartitionBackfill"]
        assert found["__typename"] == "LaunchBackfillSuccess", found
        backfill_id: str = found["backfillId"]
        return backfill_id

    def backfill_status(self, backfill_id: str) -> str:
        status: str = self.ask(BACKFILL_STATUS, id=backfill_id)["partitionBackfillOrError"]["status"]
        return status

    def runs(self, job: str | None = None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask(RUNS)["runsOrError"]["results"]
        return [run for run in found if job is None or run["jobName"] == job]

    def ended(self, run_id: str) -> str:
        """The run's status once it has ended; '' before."""
        status = next(run["status"] for run in self.runs() if run["runId"] == run_id)
        return status if status in ENDED else ""

    def partitions(self, asset: str, kind: str) -> set[int]:
        """Partitions that the UI shows as `materialized`, `failed`, `materializing` or `unmaterialized`."""
        (node,) = self.ask(PARTITIONS, keys=[{"path": [asset]}])["assetNodes"]
        return {int(key) for key in node["assetPartitionStatuses"][f"{kind}Partitions"]}

    def until(self, done: Callable[[], Any], seconds: float, what: str) -> Any:
        """Wait until `done` gives something true, and give it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := done():
                return found
            time.sleep(0.2)
        raise AssertionError(f"{what} within {seconds:.0f} s:\n{self.tail()}")

    def gutengraph(self, *arguments: object, code: int = 0) -> str:
        """A command of the command line over the same data; its stdout."""
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, arguments)],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout
