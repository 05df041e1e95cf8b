"""What Dagster is told: the lineage, its checks, and that Dagster's own tools accept it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from places import ROOT

from gutengraph_assets.automation import BOOK_ASSETS, LIBRARY_ASSETS
from gutengraph_assets.definitions import defs
from gutengraph_assets.pools import POOLS
from gutengraph_assets.status import UPSTREAM
from gutengraph_core.tables import CHUNKS, EDGES, ENTITIES, MENTIONS

PER_BOOK = set(UPSTREAM)
OF_THE_LIBRARY = {"ivf_pq_index", "merged_graph", "s3_sync"}
GRAPH = defs.resolve_asset_graph()


def names(keys: object) -> set[str]:
    return {key.path[-1] for key in keys}  # type: ignore[attr-defined]


def test_the_assets_are_those_of_the_contract() -> None:
    assert names(GRAPH.get_all_asset_keys()) == PER_BOOK | OF_THE_LIBRARY
    assert set(BOOK_ASSETS) == PER_BOOK
    assert set(LIBRARY_ASSETS) == OF_THE_LIBRARY - {"s3_sync"}


@pytest.mark.parametrize("name", sorted(PER_BOOK))
def test_a_book_is_a_partition(name: str) -> None:
    node = GRAPH.get(dg.AssetKey(name))
    assert node.partitions_def == dg.DynamicPartitionsDefinition(name="books")
    # What the record knows of the inputs is what the lineage shows.
    assert names(node.parent_keys) == set(UPSTREAM[name])


def test_the_library_depends_on_every_book() -> None:
    for name, above in {"ivf_pq_index": "embeddings_table", "merged_graph": "enriched_graph"}.items():
        node = GRAPH.get(dg.AssetKey(name))
        assert node.partitions_def is None
        mapping = node.partition_mappings[dg.AssetKey(above)]
        assert isinstance(mapping, dg.AllPartitionMapping)
    assert names(GRAPH.get(dg.AssetKey("s3_sync")).parent_keys) >= {"merged_graph", "ivf_pq_index"}


@pytest.mark.parametrize("name", sorted(PER_BOOK | OF_THE_LIBRARY))
def test_every_asset_says_what_it_is(name: str) -> None:
    node = GRAPH.get(dg.AssetKey(name))
    assert node.description
    assert len(node.description) > 80
    assert node.group_name in {"library", "vectors", "extraction", "graph", "arcs", "delivery"}
    assert node.kinds
    assert node.owners == ["team:gutengraph"]
    assert node.code_version


def columns_of(name: str) -> dict[str, str | None]:
    schema = GRAPH.get(dg.AssetKey(name)).metadata["dagster/column_schema"]
    return {column.name: column.description for column in schema.columns}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("chunks", set(CHUNKS.names)),
        ("embeddings_table", {*CHUNKS.names, "embedding"}),
        ("window_names", set(MENTIONS.names)),
        ("filtered_entities", set(ENTITIES.names)),
        ("enriched_graph", set(EDGES.names)),
    ],
)
def test_a_table_says_what_its_columns_hold(name: str, columns: set[str]) -> None:
    shown = columns_of(name)
    assert set(shown) == columns
    assert all(shown.values()), shown


@pytest.mark.parametrize("name", sorted(PER_BOOK | OF_THE_LIBRARY))
def test_an_asset_leads_to_its_source(name: str) -> None:
    references = GRAPH.get(dg.AssetKey(name)).metadata["dagster/code_references"]
    (first, *_) = references.code_references  # type: ignore[attr-defined]
    lines = Path(first.file_path).read_text().splitlines()
    assert any(f"def {name}(" in line for line in lines)


def test_the_merged_graph_shows_its_schema() -> None:
    schema = GRAPH.get(dg.AssetKey("merged_graph")).metadata["schema"].value
    assert "Character" in schema
    assert "Character to Character" in schema


def test_checks_block_where_later_work_would_be_wrong() -> None:
    blocking = {
        (key.asset_key.path[-1], key.name)
        for key in GRAPH.asset_check_keys
        if GRAPH.get_check_spec(key).blocking
    }
    assert blocking == {
        ("chunks", "chunk_limit"),
        ("embeddings_table", "embedder_identity"),
        ("embeddings_table", "vectors"),
        ("window_names", "llm_identity"),
        ("enriched_graph", "grounding"),
    }


def test_every_pool_is_declared() -> None:
    assert {pool for key in GRAPH.get_all_asset_keys() for pool in GRAPH.get(key).pools} <= set(POOLS)


@pytest.mark.parametrize("name", sorted(OF_THE_LIBRARY))
def test_what_has_no_partition_has_a_freshness_policy(name: str) -> None:
    policy = GRAPH.get(dg.AssetKey(name)).freshness_policy
    assert policy is not None
    assert policy.warn_window < policy.fail_window


def test_the_merged_graph_is_no_part_of_a_books_job() -> None:
    job = defs.resolve_job_def("build_book")
    assert names(job.asset_layer.executable_asset_keys) == PER_BOOK
    assert job.executor_def.name == "in_process"


@pytest.mark.parametrize("one_gpu", ["false", "true"])
def test_models_that_share_a_card_take_turns(one_gpu: str) -> None:
    code = (
        "from gutengraph_assets.definitions import defs\n"
        "for node in defs.resolve_asset_graph().asset_nodes:\n"
        "    print(node.key.path[-1], node.assets_def.op.pool)"
    )
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GUTENGRAPH_", "DAGSTER_"))}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=env | {"GUTENGRAPH_ONE_GPU": one_gpu},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    pools = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
    pools = {name: pool for name, pool in pools.items() if pool != "None"}
    library = {"ivf_pq_index": "lancedb", "merged_graph": "kuzu"}
    if one_gpu == "true":
        using = ("window_names", "embeddings_table", "enriched_graph", "story_arcs")
        assert pools == library | dict.fromkeys(using, "gpu")
    else:
        assert pools == library | {"window_names": "llm", "embeddings_table": "lancedb"}


def test_the_hourly_sync_ships_stopped() -> None:
    schedule = defs.resolve_schedule_def("hourly_sync")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("dagster", "definitions", "validate"), "All code locations passed validation"),
        (("dg", "check", "defs"), "All definitions loaded successfully"),
    ],
    ids=["dagster", "dg"],
)
def test_dagsters_own_tools_accept_it(tmp_path: Path, command: tuple[str, ...], says: str) -> None:
    for name in ("pyproject.toml", "workspace.yaml", "dagster.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "gutengraph_assets").symlink_to(ROOT / "gutengraph_assets")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GUTENGRAPH_", "DAGSTER_"))}
    done = subprocess.run(
        [Path(sys.executable).parent / command[0], *command[1:]],
        cwd=tmp_path,
        env=env | {"VIRTUAL_ENV": str(Path(sys.executable).parent.parent)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert says in done.stdout + done.stderr
