"""A plain `dagster dev` from a folder with the root's two files: lineage, a run, and the command line's runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster_dev import BIN, Dev
from places import ROOT, SAMPLE_ID

from gutengraph_assets.status import UPSTREAM

DEV = str(ROOT / "scripts" / "dev.py")
LINEAGE = """{ assetNodes {
  assetKey { path } groupName description kinds
  dependencyKeys { path }
  assetChecksOrError { ... on AssetChecks { checks { name blocking } } }
  partitionKeysByDimension { partitionKeys }
} }"""
STATUS = """query($id: ID!) { runOrError(runId: $id) { ... on Run { status
  assetMaterializations { assetKey { path } partition metadataEntries { label
    ... on TextMetadataEntry { text } ... on MarkdownMetadataEntry { mdStr } } } } } }"""


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    dev = Dev(tmp_path_factory.mktemp("dev"), patient=True)
    shutil.copytree(ROOT / "data" / "sample" / "cache", dev.mirror / "cache")
    dev.gutengraph("add", SAMPLE_ID)
    dev.start()
    try:
        yield dev
    finally:
        dev.close()


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
    run_id = dev.launch("build_book", book=SAMPLE_ID)
    dev.until(lambda: dev.ended(run_id), 400, "the run did not end")
    run = dev.ask(STATUS, id=run_id)["runOrError"]
    assert run["status"] == "SUCCESS", dev.tail()
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
    record = dev.library.record(SAMPLE_ID)
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
        page.get_by_role("cell", name="passages", exact=True).wait_for()  # tables are drawn a moment later
        page.locator("tr", has_text="network").get_by_text("[Show Markdown]").click()
        picture = page.get_by_role("img", name="network")
        picture.wait_for()
        assert picture.evaluate("image => image.naturalWidth") > 600
        browser.close()


def test_a_run_of_the_command_line_is_in_the_ui(dev: Dev) -> None:
    dev.gutengraph("build", SAMPLE_ID)
    by_hand = [r for r in dev.runs() if {"key": "gutengraph/by", "value": "command line"} in r["tags"]]
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


def test_dg_dev_and_another_home(tmp_path: Path) -> None:
    """`dg dev` from a clone, and `make dev` with a GUTENGRAPH_HOME of one's own."""
    for name in ("pyproject.toml", "workspace.yaml", "dagster.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "gutengraph_assets").symlink_to(ROOT / "gutengraph_assets")
    dg_dev = Dev(tmp_path)
    dg_dev.env["VIRTUAL_ENV"] = str(BIN.parent)
    try:
        dg_dev.start(str(BIN / "dg"), "dev")
        assert len(dg_dev.ask(LINEAGE)["assetNodes"]) == len(UPSTREAM) + 3
    finally:
        dg_dev.close()
    home = tmp_path / "elsewhere"
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "import runpy, sys; print(runpy.run_path(sys.argv[1])['dagster_home']())",
            DEV,
        ],
        env=dg_dev.env | {"GUTENGRAPH_HOME": str(home)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"{home / 'dagster'}\n"
    assert (home / "dagster/dagster.yaml").exists()
