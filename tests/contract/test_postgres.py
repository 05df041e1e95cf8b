"""Dagster's storage in a real PostgreSQL, as `deploy/compose/dagster.yaml` says it: many processes, one instance.

The books are French and small, so that no language model is asked.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import httpx
import pytest
import yaml
from dagster_dev import IMPATIENT
from places import ROOT
from postgres import Postgres, running_postgres
from small_mirror import put_french

from gutengraph_assets.instance import INSTANCE_YAML, open_instance
from gutengraph_assets.pools import POOLS
from gutengraph_core.graph import versions
from gutengraph_core.library import Library
from gutengraph_core.vectors import ChunkTable

BOOKS = (8, 9)
GUTENGRAPH = [sys.executable, "-c", "from gutengraph_core.cli import main; main()"]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    pytest.importorskip(
        "dagster_postgres", reason="dagster-postgres is missing: pip install -e '.[postgres]'"
    )
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def shared(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose Dagster keeps its storage in the database, and a mirror of two books."""
    home = tmp_path_factory.mktemp("shared")
    instance = yaml.safe_load(INSTANCE_YAML)
    instance["storage"] = yaml.safe_load((ROOT / "deploy/compose/dagster.yaml").read_text())["storage"]
    instance["storage"]["postgres"]["postgres_db"]["port"] = postgres.port
    (home / "dagster").mkdir()
    (home / "dagster" / "dagster.yaml").write_text(yaml.safe_dump(instance))
    for book in BOOKS:
        put_french(home / "mirror", book, title=f"Le port {book}")
    return home


@pytest.fixture
def env(postgres: Postgres, shared: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("DAGSTER_HOME", "")  # restored after the test, whatever the code sets it to
    for name, value in postgres.environment.items():
        monkeypatch.setenv(name, value)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GUTENGRAPH_", "DAGSTER_HOME"))}
    return clean | {"GUTENGRAPH_HOME": str(shared), "GUTENGRAPH_MIRROR": str(shared / "mirror")}


def test_two_who_come_first_at_once_find_the_pools(env: dict[str, str], shared: Path) -> None:
    """Dagster itself declares a pool at its first use, where the second of two runs then fails."""
    declare = [sys.executable, "-m", "gutengraph_assets.declare_pools"]
    both = [subprocess.Popen(declare, env=env, cwd=ROOT, stderr=subprocess.PIPE) for _ in BOOKS]
    assert [process.wait(timeout=120) for process in both] == [0, 0], [p.communicate()[1] for p in both]
    with open_instance(Library(shared)) as instance:
        storage = instance.event_log_storage
        assert {p.name: p.limit for p in storage.get_pool_limits()} == dict.fromkeys(POOLS, 1)
        storage.set_concurrency_slots("llm", 4)
    with open_instance(Library(shared)) as instance:  # what somebody has set stays
        assert {p.name: p.limit for p in instance.event_log_storage.get_pool_limits()}["llm"] == 4
        instance.event_log_storage.set_concurrency_slots("llm", 1)


def test_two_who_build_at_once_come_to_one_library(
    env: dict[str, str], shared: Path, postgres: Postgres
) -> None:
    done = subprocess.run(
        [*GUTENGRAPH, "add", *map(str, BOOKS)],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    both = [
        subprocess.Popen([*GUTENGRAPH, "build", str(book)], env=env, stderr=subprocess.PIPE, text=True)
        for book in BOOKS
    ]
    said = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], "\n".join(said)
    library = Library(shared)
    # One writer at a time, by file locks: neither has lost the other's rows, and the last to merge has both.
    table = ChunkTable.open(library, None)
    assert sorted(table.books()) == list(BOOKS)
    for book in BOOKS:
        assert table.count(book) == library.record(book).counts["chunks"] > 0
        assert library.record(book).status == "parked"
    assert set(versions.require(library).manifest().books) == set(BOOKS)
    # And all of it was told to the database: no SQLite file anywhere.
    runs = dict(
        postgres.query("select pipeline_name, count(*) from runs where status = 'SUCCESS' group by 1")
    )
    assert runs == {"build_book": 2, "finish_library": 2}
    assert not list(shared.rglob("*.db"))
    with open_instance(library) as instance:
        assert instance.get_dynamic_partitions("books") == [str(book) for book in BOOKS]
        latest = instance.get_latest_materialization_event(dg.AssetKey("enriched_graph"))
        assert latest is not None


def test_a_pool_holds_across_instances(env: dict[str, str], shared: Path) -> None:
    with open_instance(Library(shared)) as one:
        ref = one.get_ref()
        with dg.DagsterInstance.from_ref(ref) as other:
            a, b = one.event_log_storage, other.event_log_storage
            assert a.claim_concurrency_slot("llm", "run-a", "window_names").is_claimed
            assert not b.claim_concurrency_slot("llm", "run-b", "window_names").is_claimed
            a.free_concurrency_slots_for_run("run-a")
            assert b.claim_concurrency_slot("llm", "run-b", "window_names").is_claimed
            b.free_concurrency_slots_for_run("run-b")


LAUNCH = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
BACKFILL = """query($id: String!) { partitionBackfillOrError(backfillId: $id) {
  ... on PartitionBackfill { status error { message } } } }"""
ENDED = {"COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED", "COMPLETED"}


def test_a_backfill_from_the_page(env: dict[str, str], shared: Path, postgres: Postgres) -> None:
    """Webserver, daemon, code server and a process a run, all on the one database."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(shared / "dev.log", "wb") as log:
        dev = subprocess.Popen(
            [
                BIN / "dagster",
                "dev",
                "-h",
                "127.0.0.1",
                "-p",
                str(port),
                "-m",
                "gutengraph_assets.definitions",
            ],
            env=env | {"DAGSTER_HOME": str(shared / "dagster"), "PYTHONPATH": IMPATIENT},
            cwd=shared,
            stdout=log,
            stderr=log,
            start_new_session=True,
            # From a background job SIGINT would be inherited as ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    try:
        _wait(lambda: _ask(port, "{ version }"), 120, shared / "dev.log", errors=(httpx.TransportError,))
        launched = _ask(
            port,
            LAUNCH,
            p={
                "assetSelection": [{"path": [name]} for name in ("raw_text", "chunks", "embeddings_table")],
                "partitionNames": [str(book) for book in BOOKS],
            },
        )["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        backfill = launched["backfillId"]

        def status() -> str | None:
            found = _ask(port, BACKFILL, id=backfill)["partitionBackfillOrError"]["status"]
            return found if found in ENDED else None

        assert _wait(status, 300, shared / "dev.log") == "COMPLETED_SUCCESS"
    finally:
        dev.send_signal(signal.SIGINT)
        dev.wait(timeout=60)
    rows = postgres.query(
        "select status, count(*) from runs where run_body like '%" + backfill + "%' group by 1"
    )
    assert rows == [("SUCCESS", 2)]
    assert json.loads(_run(env, "books", "--json"))[0]["status"] == "parked"


def _ask(port: int, query: str, **variables: object) -> Any:
    reply = httpx.post(
        f"http://127.0.0.1:{port}/graphql", json={"query": query, "variables": variables}, timeout=30
    ).json()
    assert "errors" not in reply, reply["errors"]
    return reply["data"]


def _wait(look: Any, seconds: float, log: Path, *, errors: tuple[type[Exception], ...] = ()) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if found := look():
                return found
        except errors:
            pass
        time.sleep(0.2)
    raise AssertionError(f"it took too long:\n{log.read_text(errors='replace')[-3000:]}")


def _run(env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [*GUTENGRAPH, *arguments], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
