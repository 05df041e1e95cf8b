"""Dagster's storage under the data folder: the same for the command line and for `dagster dev`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import psutil
import pytest
import yaml
from dagster._core.instance.ref import InstanceRef
from places import ROOT

from gutengraph_assets.instance import (
    INSTANCE_YAML,
    PROCESS_TAG,
    open_instance,
    process_tag,
)
from gutengraph_assets.recover import recover
from gutengraph_core.errors import DataFolderError, StoreError
from gutengraph_core.library import Library


@pytest.fixture(autouse=True)
def _own_dagster_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")  # restored after the test, whatever the code sets it to


def test_the_folder_is_made_and_kept(library: Library) -> None:
    with open_instance(library) as instance:
        instance.add_dynamic_partitions("books", ["84"])
        assert os.environ["DAGSTER_HOME"] == str(library.dagster_dir)
    config = library.dagster_dir / "dagster.yaml"
    config.write_text(config.read_text() + "# mine\n")
    with open_instance(library) as instance:
        assert instance.get_dynamic_partitions("books") == ["84"]
        assert not instance.telemetry_enabled
        assert instance.event_log_storage.supports_global_concurrency_limits
    assert config.read_text().endswith("# mine\n")


def test_the_root_file_and_the_command_line_use_one_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `dagster dev` reads it: the root's dagster.yaml, DAGSTER_HOME unset, a temporary folder as base."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dagster.yaml").write_bytes((ROOT / "dagster.yaml").read_bytes())
    with open_instance(Library(tmp_path / "data")) as instance:
        instance.add_dynamic_partitions("books", ["2701"])
        ours = instance.root_directory, instance.compute_log_manager._base_dir  # type: ignore[attr-defined]
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    ref = InstanceRef.from_dir(str(elsewhere), config_dir=str(tmp_path))
    with dg.DagsterInstance.from_ref(ref) as instance:
        assert instance.get_dynamic_partitions("books") == ["2701"]
        theirs = instance.root_directory, instance.compute_log_manager._base_dir  # type: ignore[attr-defined]
    assert [os.path.abspath(path) for path in theirs] == [os.path.abspath(path) for path in ours]


def test_the_two_files_agree_in_all_but_the_storage() -> None:
    root = yaml.safe_load((ROOT / "dagster.yaml").read_text())
    for name in ("storage", "local_artifact_storage", "compute_logs"):
        root.pop(name)
    assert root == yaml.safe_load(INSTANCE_YAML)


def test_events_are_not_synced_to_the_disk_one_by_one(library: Library) -> None:
    with open_instance(library) as instance, instance.run_storage.connect() as connection:  # type: ignore[attr-defined]
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1  # NORMAL


def test_a_run_whose_process_was_killed_is_buried_and_gives_its_slot_back(library: Library) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    dead_tag = process_tag()[PROCESS_TAG].rsplit(":", 2)[0] + f":{gone.pid}:12345"

    @dg.op
    def nothing() -> None: ...

    @dg.job
    def a_job() -> None:
        nothing()

    with open_instance(library) as instance:
        runs = {
            name: instance.create_run_for_job(a_job, status=dg.DagsterRunStatus.STARTED, tags=tags)
            for name, tags in {
                "dead": {PROCESS_TAG: dead_tag},
                "alive": process_tag(),
                "other": {},
                "elsewhere": {PROCESS_TAG: "some-other-machine:1:1"},
            }.items()
        }
        storage = instance.event_log_storage
        storage.initialize_concurrency_limit_to_default("llm")
        claim = storage.claim_concurrency_slot("llm", runs["dead"].run_id, "window_names")
        assert claim.is_claimed
        (found,) = recover(instance, library)
        assert (found.what, found.name) == ("failed", runs["dead"].run_id)
        assert f"process {gone.pid} is gone" in found.text
        assert recover(instance, library) == []
        status = {name: instance.get_run_by_id(run.run_id).status for name, run in runs.items()}
        assert storage.claim_concurrency_slot("llm", runs["alive"].run_id, "window_names").is_claimed
    assert status.pop("dead") == dg.DagsterRunStatus.FAILURE
    assert set(status.values()) == {dg.DagsterRunStatus.STARTED}
    assert psutil.pid_exists(os.getpid())


def test_a_broken_configuration_names_the_file(library: Library) -> None:
    library.dagster_dir.mkdir(parents=True)
    (library.dagster_dir / "dagster.yaml").write_text("storage: {nonsense: 1}\n")
    with pytest.raises(StoreError, match=r"dagster\.yaml"), open_instance(library):
        pass


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a folder")
    with pytest.raises(DataFolderError, match="GUTENGRAPH_HOME"), open_instance(Library(tmp_path / "home")):
        pass
    assert (tmp_path / "home").read_text() == "not a folder"
