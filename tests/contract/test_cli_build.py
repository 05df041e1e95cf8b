"""`gutengraph build` with the real models and stores: one story, one French book, one that is rubbish."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
from command_line import Seen, gutengraph
from places import ROOT, SAMPLE_ID
from small_mirror import put, put_french, rdf_of

from gutengraph_assets.instance import PROCESS_TAG
from gutengraph_assets.status import UPSTREAM
from gutengraph_core.files import read_table, sha256
from gutengraph_core.graph import versions
from gutengraph_core.library import Library
from gutengraph_core.vectors import ChunkTable

PROGRAM = "from gutengraph_core.cli import main; main()"
FRENCH, RUBBISH = 8, 9
GRAPH_FILES = ("nodes", "edges", "evidence", "merges")


@dataclass(frozen=True)
class Built:
    """A library in which three books were built by one command."""

    home: Path
    mirror: Path
    seen: Seen

    @property
    def library(self) -> Library:
        return Library(self.home)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("build")
    home, mirror = folder / "home", folder / "mirror"
    shutil.copytree(ROOT / "data" / "sample" / "cache", mirror / "cache")
    put_french(mirror, FRENCH)
    put(mirror, RUBBISH, bytes(range(256)) * 50, rdf=rdf_of(RUBBISH, "The Poisoned Book"))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GUTENGRAPH_", "DAGSTER_"))}
    env |= {"GUTENGRAPH_HOME": str(home), "GUTENGRAPH_MIRROR": str(mirror)}

    def run(*arguments: object) -> Seen:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, arguments)],
            env=env,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        return Seen(done.returncode, done.stdout, done.stderr)

    assert run("add", SAMPLE_ID, FRENCH, RUBBISH).code == 0
    return Built(home, mirror, run("build", RUBBISH, FRENCH, SAMPLE_ID))


@pytest.fixture
def here(built: Built, monkeypatch: pytest.MonkeyPatch) -> Built:
    """The built library as the settings of this process."""
    monkeypatch.setenv("GUTENGRAPH_HOME", str(built.home))
    monkeypatch.setenv("GUTENGRAPH_MIRROR", str(built.mirror))
    monkeypatch.setenv("DAGSTER_HOME", "")
    return built


@pytest.fixture
def instance(here: Built) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(here.library.dagster_dir)) as instance:
        yield instance


def hashes(library: Library, book: int) -> dict[str, str]:
    folder = library.book_dir(book)
    return {
        str(path.relative_to(folder)): sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("book.json", "ledger.jsonl")
    }


def test_one_bad_book_does_not_sink_the_others(built: Built) -> None:
    seen = built.seen
    assert seen.code == 1
    assert seen.out == ""
    summary = [line for line in seen.err.splitlines() if line.startswith(("Failed", "Parked"))]
    assert len(summary) == 2
    assert summary[0].startswith(f"Failed: book {RUBBISH} The Poisoned Book. What was fetched is binary")
    assert "'fr'" in summary[1]
    assert seen.err.splitlines()[-1] == "1 built, 1 parked, 1 failed."
    assert {r.id: r.status for r in built.library.records()} == {
        SAMPLE_ID: "built",
        FRENCH: "parked",
        RUBBISH: "failed",
    }


def test_stderr_is_for_people(built: Built) -> None:
    assert "[1/3]" in built.seen.err
    assert "[3/3] Book 0: The Drowned Men" in built.seen.err
    for noise in ("DEBUG", "STEP_", "dagster", "Warning: ", "Traceback", "WARN"):
        lines = [line for line in built.seen.err.splitlines() if noise in line]
        # A failed check is worth a warning: a book in another language.
        assert all("language" in line for line in lines), lines


def test_the_book_has_all_its_files(built: Built) -> None:
    library = built.library
    record = library.record(SAMPLE_ID)
    assert set(hashes(library, SAMPLE_ID)) == {
        "raw.txt",
        "body.txt",
        "chunks.parquet",
        "windows.parquet",
        "mentions.parquet",
        "entities.parquet",
        "merges.parquet",
        "arcs.png",
        "arcs.json",
        "network.png",
        "appearances.png",
        *(f"graph/{name}.parquet" for name in GRAPH_FILES),
    }
    assert record.graph_sha256 == {
        f"{name}.parquet": sha256(library.path(SAMPLE_ID, f"graph/{name}.parquet")) for name in GRAPH_FILES
    }
    assert set(record.steps) == set(UPSTREAM)
    table = ChunkTable.open(library, None)
    assert table.books() == {
        SAMPLE_ID: record.counts["chunks"],
        FRENCH: library.record(FRENCH).counts["chunks"],
    }
    assert library.path(SAMPLE_ID, "arcs.png").read_bytes().startswith(b"\x89PNG")


def test_the_merged_graph_holds_what_the_books_hold(built: Built) -> None:
    manifest = versions.require(built.library).manifest()
    assert manifest.version == 1  # once at the end, not once a book
    assert set(manifest.books) == {SAMPLE_ID, FRENCH}
    nodes = read_table(built.library.path(SAMPLE_ID, "graph/nodes.parquet"))
    labels = ("Character", "Location", "Object", "Event", "Theme", "Atmosphere")
    assert sum(manifest.counts[label] for label in labels) == nodes.num_rows > 20


def test_a_parked_book_has_text_and_vectors_and_an_empty_graph(built: Built) -> None:
    library = built.library
    for name in ("windows", "mentions", "entities", "graph/nodes", "graph/edges"):
        assert read_table(library.path(FRENCH, f"{name}.parquet")).num_rows == 0
    assert read_table(library.path(FRENCH, "chunks.parquet")).num_rows > 0


def test_a_failed_book_leaves_nothing_but_its_record(built: Built) -> None:
    assert [p.name for p in built.library.book_dir(RUBBISH).iterdir()] == ["book.json"]


def test_books_json(here: Built, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(gutengraph(monkeypatch, capfd, "books", "--json").out)
    assert [row["id"] for row in rows] == [SAMPLE_ID, FRENCH, RUBBISH]
    sample, french, rubbish = rows
    assert list(sample) == (
        "id title authors kind language status reason chunks cast relations built_at llm embedder".split()
    )
    assert (sample["status"], sample["reason"], sample["kind"]) == ("built", "", "fiction")
    assert sample["cast"] > 5
    assert sample["relations"] > 0
    assert sample["llm"].startswith("embedded:gemma")
    assert sample["embedder"].startswith("all-MiniLM-L6-v2@")
    assert (french["status"], french["cast"], french["llm"]) == ("parked", 0, "")
    assert rubbish["status"] == "failed"
    text = gutengraph(monkeypatch, capfd, "books").out
    assert "The Drowned Men" in text
    assert rubbish["reason"] in text


def test_runs_events_and_checks_are_in_dagsters_storage(instance: dg.DagsterInstance) -> None:
    runs = instance.get_runs()
    assert sorted((run.job_name, run.status.value) for run in runs) == [
        ("build_book", "FAILURE"),
        ("build_book", "SUCCESS"),
        ("build_book", "SUCCESS"),
        ("finish_library", "SUCCESS"),
    ]
    assert all(PROCESS_TAG in run.tags for run in runs)
    for name in UPSTREAM:
        assert instance.get_materialized_partitions(dg.AssetKey(name)) == {str(SAMPLE_ID), str(FRENCH)}
    event = instance.get_latest_materialization_event(dg.AssetKey("window_names"))
    assert event is not None
    assert event.asset_materialization is not None
    metadata = event.asset_materialization.metadata
    assert "| asked of the model |" in str(metadata["ledger"].value)


def checks_of(instance: dg.DagsterInstance, book: int | None) -> dict[str, bool]:
    """Check -> whether it passed, as the latest run of a book (or of the library) evaluated it."""
    job = "finish_library" if book is None else "build_book"
    runs = instance.get_runs(filters=dg.RunsFilter(job_name=job))
    run = next(r for r in runs if book is None or r.tags.get("dagster/partition") == str(book))
    events = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    found = [entry.get_dagster_event().asset_check_evaluation_data for entry in events]
    return {evaluation.check_name: evaluation.passed for evaluation in found}


def test_checks_were_evaluated(instance: dg.DagsterInstance) -> None:
    sample = checks_of(instance, SAMPLE_ID)
    assert {
        "chunk_limit",
        "embedder_identity",
        "vectors",
        "language",
        "llm_identity",
        "parse_fail_rate",
        "truncation_rate",
        "name_grounding",
        "filter_yield",
        "yield_gate",
        "grounding",
        "orphans",
        "drift",
        "reading_parse_fail_rate",
        "reading_truncation_rate",
        "reading_grounding",
    } == set(sample)
    assert [name for name, passed in sample.items() if not passed] == []
    assert checks_of(instance, FRENCH)["language"] is False
    assert checks_of(instance, None) == {
        "index_coverage": True,
        "merged_counts": True,
        "up_to_date": True,
        "file_system": True,
    }


def test_a_rerun_makes_nothing_again(
    here: Built, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before, record = hashes(here.library, SAMPLE_ID), here.library.record(SAMPLE_ID)
    times = {path: path.stat().st_mtime_ns for path in here.library.book_dir(SAMPLE_ID).rglob("*.parquet")}

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a model was asked")

    monkeypatch.setattr("gutengraph_core.llm.llamacpp.EmbeddedLLM._call", never)
    monkeypatch.setattr(
        "gutengraph_core.embedding.sentence_transformers.LocalEmbedder.embed_documents", never
    )
    seen = gutengraph(monkeypatch, capfd, "build", SAMPLE_ID)
    assert seen.code == 0, seen.err
    assert seen.err.count("unchanged") == len(UPSTREAM) + 1  # the merged graph too
    assert hashes(here.library, SAMPLE_ID) == before
    assert {path: path.stat().st_mtime_ns for path in times} == times
    after = here.library.record(SAMPLE_ID)
    assert (after.status, after.built_at, after.steps) == ("built", record.built_at, record.steps)
    assert versions.require(here.library).number == 1


def test_force_makes_the_same_bytes_again(
    here: Built, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before = hashes(here.library, SAMPLE_ID)
    seen = gutengraph(monkeypatch, capfd, "build", SAMPLE_ID, "--force")
    assert seen.code == 0, seen.err
    assert "unchanged" not in seen.err
    assert hashes(here.library, SAMPLE_ID) == before
    assert versions.require(here.library).number == 2


def test_a_damaged_file_is_made_again(
    here: Built, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before = hashes(here.library, SAMPLE_ID)
    here.library.path(SAMPLE_ID, "entities.parquet").write_bytes(b"rubbish")
    here.library.path(SAMPLE_ID, "arcs.png").unlink()
    seen = gutengraph(monkeypatch, capfd, "build", SAMPLE_ID)
    assert seen.code == 0, seen.err
    assert hashes(here.library, SAMPLE_ID) == before
    made = [line for line in seen.err.splitlines() if line.startswith("       0") and "unchanged" not in line]
    assert [line.split()[1] for line in made] == ["filtered_entities", "story_arcs"]


def test_all_and_verbose(
    here: Built, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(here.library.book_dir(RUBBISH))
    seen = gutengraph(monkeypatch, capfd, "build", "--all", "--verbose")
    assert seen.code == 0, seen.err
    assert "STEP_SUCCESS" in seen.err
    assert seen.err.splitlines()[-1] == "1 built, 1 parked."


def test_remove_cleans_both_stores(
    here: Built, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    seen = gutengraph(monkeypatch, capfd, "remove", FRENCH)
    assert seen.code == 0, seen.err
    assert here.library.ids() == [SAMPLE_ID]
    assert not here.library.book_dir(FRENCH).exists()
    assert set(ChunkTable.open(here.library, None).books()) == {SAMPLE_ID}
    assert set(versions.require(here.library).manifest().books) == {SAMPLE_ID}
    with dg.DagsterInstance.from_config(str(here.library.dagster_dir)) as instance:
        assert str(FRENCH) not in instance.get_dynamic_partitions("books")
    again = gutengraph(monkeypatch, capfd, "remove", FRENCH)
    assert again.code == 1
    assert f"Book {FRENCH}" in again.err
