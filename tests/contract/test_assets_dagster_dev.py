"""A plain `dagster dev` from a folder with the root's two files: lineage, a run, and the command line's runs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import ROOT, SAMPLE_ID

from gutengraph_assets.status import UPSTREAM
from gutengraph_core.library import Library

BIN = Path(sys.executable).parent
SELECTOR = {"repositoryLocationName": "gutengraph", "repositoryName": "__repository__"}

LINEAGE = """{ assetNodes {
  assetKey { path } groupName description kinds
  dependencyKeys { path }
  assetChecksOrError { ... on AssetChecks { checks { name blocking } } }
  partitionKeysByDimension { partitionKeys }
} }"""
LAUNCH = """mutation($p: ExecutionParams!) { launchRun(executionParams: $p) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  ... on RunConfigValidationInvalid { errors { message } } } }"""
STATUS = """query($id: ID!) { runOrError(runId: $id) { ... on Run { status
  assetMaterializations { assetKey { path } partition metadataEntries { label
    ... on TextMetadataEntry { text } ... on MarkdownMetadataEntry { mdStr } } } } } }"""
RUNS = "{ runsOrError { ... on Runs { results { runId jobName status tags { key value } } } } }"


class Dev:
    """`dagster dev` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("dagster.yaml", "workspace.yaml"):
            shutil.copy(ROOT / name, folder / name)
        shutil.copytree(ROOT / "data" / "sample" / "cache", folder / "mirror" / "cache")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("GUTENGRAPH_", "DAGSTER_"))}
        self.env = clean | {
            "GUTENGRAPH_MIRROR": str(folder / "mirror"),
            "GUTENGRAPH_NAMING_MAX_CALLS": "30",
        }
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None
        self.log = folder / "dev.log"

    def start(self) -> None:
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [BIN / "dagster", "dev", "-h", "127.0.0.1", "-p", str(self.port)],
                cwd=self.folder,
                env=self.env,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # From a background job SIGINT would be inherited as ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.ask("{ version }").get("version"):
                    return
            except httpx.TransportError:
                time.sleep(0.3)
        raise AssertionError(f"dagster dev did not start:\n{self.log.read_text()[-3000:]}")

    def ask(self, query: str, **variables: object) -> dict[str, Any]:
        reply = httpx.post(
            f"http://127.0.0.1:{self.port}/graphql",
            json={"query": query, "variables": variables},
            timeout=30,
        )
        document = reply.json()
        assert "errors" not in document, document["errors"]
        data: dict[str, Any] = document["data"]
        return data

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)

    def gutengraph(self, *arguments: object) -> str:
        done = subprocess.run(
            [sys.executable, "-c", "from gutengraph_core.cli import main; main()", *map(str, arguments)],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    dev = Dev(tmp_path_factory.mktemp("dev"))
    dev.gutengraph("add", SAMPLE_ID)
    dev.start()
    try:
        yield dev
    finally:
        if dev.process is not None and dev.process.poll() is None:
            dev.stop()


def test_the_lineage_is_shown_with_checks_and_the_added_book(dev: Dev) -> None:
    nodes = {node["assetKey"]["path"][-1]: node for node in dev.ask(LINEAGE)["assetNodes"]}
    assert set(nodes) == {*UPSTREAM, "ivf_pq_index", "merged_graph", "s3_sync"}
    for name, above in UPSTREAM.items():
        assert {key["path"][-1] for key in nodes[name]["dependencyKeys"]} == set(above)
        # Added by the command line before the UI was started: one storage.
        assert nodes[name]["partitionKeysByDimension"] == [{"partitionKeys": [str(SAMPLE_ID)]}]
    checks = {
        check["name"]: check["blocking"]
        for node in nodes.values()
        for check in node["assetChecksOrError"].get("checks", [])
    }
    assert checks["chunk_limit"] is True
    assert checks["llm_identity"] is True
    assert checks["parse_fail_rate"] is False


def test_a_partition_materialised_from_the_ui_succeeds(dev: Dev) -> None:
    launched = dev.ask(
        LAUNCH,
        p={
            "selector": SELECTOR | {"jobName": "build_book"},
            "executionMetadata": {"tags": [{"key": "dagster/partition", "value": str(SAMPLE_ID)}]},
            "runConfigData": "{}",
        },
    )["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run_id = launched["run"]["runId"]
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        run = dev.ask(STATUS, id=run_id)["runOrError"]
        if run["status"] in ("SUCCESS", "FAILURE", "CANCELED"):
            break
        time.sleep(1)
    assert run["status"] == "SUCCESS", dev.log.read_text()[-3000:]
    made = {m["assetKey"]["path"][-1]: m for m in run["assetMaterializations"]}
    assert set(made) == set(UPSTREAM)
    assert {m["partition"] for m in made.values()} == {str(SAMPLE_ID)}
    assert "arcs" in {entry["label"] for entry in made["story_arcs"]["metadataEntries"]}
    shown = {entry["label"]: entry for entry in made["enriched_graph"]["metadataEntries"]}
    # In this order, so that a person reads first how it went, and may stop there.
    assert list(shown)[:4] == ["status", "in_short", "verdict", "book"]
    assert shown["verdict"]["text"] == "Went well."
    assert "| cast |" in shown["book"]["mdStr"]
    for picture in ("network", "appearances"):
        assert shown[picture]["mdStr"].startswith(f"![{picture}](data:image/png;base64,")
    assert {"cast", "relations"} <= set(shown)
    ledger = {e["label"]: e for e in made["window_names"]["metadataEntries"]}["ledger"]["mdStr"]
    assert "| asked of the model |" in ledger
    assert "% of asked |" in ledger
    record = Library(dev.folder / "data").record(SAMPLE_ID)
    assert record.status == "built"
    rows = json.loads(dev.gutengraph("books", "--json"))
    assert rows[0]["status"] == "built"


def test_a_person_sees_how_it_went_and_who_stands_by_whom(dev: Dev) -> None:
    """In the page itself, in a headless Chromium: the verdict, the table beside it, the picture behind a click."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(f"http://127.0.0.1:{dev.port}/assets/enriched_graph?view=partitions&partition={SAMPLE_ID}")
        page.get_by_text("Went well.").wait_for()
        assert page.get_by_role("cell", name="passages", exact=True).is_visible()
        page.locator("tr", has_text="network").get_by_text("[Show Markdown]").click()
        picture = page.get_by_role("img", name="network")
        picture.wait_for()
        assert picture.evaluate("image => image.naturalWidth") > 600
        browser.close()


def test_a_run_of_the_command_line_is_in_the_ui(dev: Dev) -> None:
    dev.gutengraph("build", SAMPLE_ID)
    runs = dev.ask(RUNS)["runsOrError"]["results"]
    by_hand = [r for r in runs if {"key": "gutengraph/by", "value": "command line"} in r["tags"]]
    assert {r["jobName"]: r["status"] for r in by_hand} == {
        "build_book": "SUCCESS",
        "finish_library": "SUCCESS",
    }


def test_it_stops_when_told(dev: Dev) -> None:
    assert dev.stop() == 0
    assert not list(dev.folder.glob(".tmp_dagster_home_*"))
    assert sorted(p.name for p in (dev.folder / "data" / "dagster").iterdir()) == [
        "dagster.yaml",
        "history",
        "schedules",
        "storage",
    ]
