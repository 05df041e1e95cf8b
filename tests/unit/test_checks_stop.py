"""Every blocking check, failed in a run of the book: what would be made from the asset is not made, the book says
why, and the next run makes the asset again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import numpy as np
import pytest
from fakes import FakeLLM
from small_mirror import put_french, put_story
from small_models import Hashes, Words, made

from gutengraph_assets import checks, library_checks
from gutengraph_assets.assets import delivery, vectors
from gutengraph_assets.assets import extraction as extraction_assets
from gutengraph_assets.assets import graph as graph_assets
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP
from gutengraph_assets.instance import open_instance
from gutengraph_assets.ownership import BookLock
from gutengraph_assets.resources import Models, models_kept_open
from gutengraph_assets.runs import Run, run_job
from gutengraph_assets.s3.bucket import VerifyReport
from gutengraph_core.errors import ModelUnreachable, WrongModel
from gutengraph_core.files import read_table
from gutengraph_core.graph import versions
from gutengraph_core.library import Library
from gutengraph_core.llm.protocol import ModelIdentity
from gutengraph_core.settings import load_settings
from gutengraph_core.vectors import ChunkTable

BOOK = 7
PERSON = {" man": -0.1, " woman": -0.5, " place": -9.0, " thing": -9.0}


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Models]:
    put_story(tmp_path / "mirror", BOOK)
    put_french(tmp_path / "mirror", 8)
    monkeypatch.setenv("GUTENGRAPH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("GUTENGRAPH_STEP_RETRY_DELAY_S", "0.01")
    monkeypatch.setenv("DAGSTER_HOME", "")
    with models_kept_open(load_settings()) as opened:
        opened.__dict__ |= {"embedder": Hashes(), "tokenizer": Words(), "llm": FakeLLM(logprobs=PERSON)}
        yield opened


@pytest.fixture
def instance(models: Models, library: Library) -> Iterator[dg.DagsterInstance]:
    with open_instance(library) as opened:
        yield opened


def build(instance: dg.DagsterInstance, book: int = BOOK, **options: bool) -> Run:
    return run_job(instance, "build_book", book=book, **options)


Break = Callable[[pytest.MonkeyPatch, Models, Library], None]


def another_model_while_naming(monkeypatch: pytest.MonkeyPatch, models: Models, library: Library) -> None:
    def named(*arguments: Any, **options: Any) -> Any:
        table = name_book(*arguments, **options)
        models.llm.identity = ModelIdentity("embedded", "swapped", "f" * 16, base_url="", instruct=False)  # type: ignore[misc]
        return table

    name_book = extraction_assets.name_book
    monkeypatch.setattr(extraction_assets, "name_book", named)
    # The step notes whom it asked, and then the server is asked again by the check.
    monkeypatch.setattr(
        extraction_assets, "_report_names", lambda step, ledger: step.fields.update(llm="the first model")
    )


def another_body_after_the_graph(monkeypatch: pytest.MonkeyPatch, models: Models, library: Library) -> None:
    def written(*arguments: Any) -> None:
        write(*arguments)
        body = library.path(BOOK, "body.txt")
        body.write_text(body.read_text()[::-1])

    write = graph_assets.write_book_graph
    monkeypatch.setattr(graph_assets, "write_book_graph", written)


def vectors_not_of_length_one(monkeypatch: pytest.MonkeyPatch, models: Models, library: Library) -> None:
    embed = vectors.embed_passages
    monkeypatch.setattr(vectors, "embed_passages", lambda *a, **o: embed(*a, **o) * np.float32(1.0008))


def a_table_of_another_embedder(monkeypatch: pytest.MonkeyPatch, models: Models, library: Library) -> None:
    other = SimpleNamespace(identity="others@222/8/none")
    monkeypatch.setattr(checks, "ChunkTable", SimpleNamespace(open=lambda library, identity: other))


@pytest.mark.parametrize(
    ("check", "asset", "below", "break_it"),
    [
        ("embedder_identity", "embeddings_table", {"story_arcs"}, a_table_of_another_embedder),
        ("vectors", "embeddings_table", {"story_arcs"}, vectors_not_of_length_one),
        ("llm_identity", "window_names", {"filtered_entities", "enriched_graph"}, another_model_while_naming),
        ("grounding", "enriched_graph", set(), another_body_after_the_graph),
    ],
)
def test_a_blocking_check_stops_what_it_should(
    instance: dg.DagsterInstance,
    library: Library,
    models: Models,
    check: str,
    asset: str,
    below: set[str],
    break_it: Break,
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        break_it(patched, models, library)
        run = build(instance)
    assert not run.success
    done = set(made(instance, run))
    assert asset in done
    assert not below & done
    record = library.record(BOOK)
    assert record.status == "failed"
    assert record.reason.startswith(f"{check}: ")
    if check == "grounding":
        run_job(instance, "finish_library")
        assert set(versions.require(library).manifest().books) == set()
    if check == "llm_identity":
        models.__dict__["llm"] = FakeLLM(logprobs=PERSON)
    if check == "vectors":
        # What is in the table is right in number, so that only the failed check says it must be made again.
        assert ChunkTable.open(library, None).count(BOOK) == record.counts["chunks"]
    again = build(instance)
    assert again.success, again.error
    assert library.record(BOOK).status == "built"


# --- what does not block ---


@pytest.mark.parametrize(
    ("changed", "passed"),
    [
        ({}, True),
        ({"indexed_rows": 99_999}, False),
        ({"text_indexed_rows": 5}, False),
        ({"recall_at_10": 0.5}, False),
        ({"kind": "flat", "indexed_rows": 0}, True),
        ({"kind": "flat", "indexed_rows": 7}, False),
    ],
)
def test_index_coverage(models: Models, changed: dict[str, Any], passed: bool) -> None:
    whole = SimpleNamespace(
        kind="ivf_pq",
        rows=100_000,
        indexed_rows=100_000,
        text_indexed_rows=100_000,
        recall_at_10=0.9,
        note="Built.",
    )
    report = SimpleNamespace(**{**vars(whole), **changed})
    result = vectors._coverage(report, load_settings())  # type: ignore[arg-type]
    assert result.passed is passed
    assert {"rows", "indexed_rows", "recall_at_10", "recall_wanted"} <= set(result.metadata)


@pytest.mark.parametrize("bad", ["missing", "damaged", ""])
def test_sync_verified(bad: str) -> None:
    report = VerifyReport(
        checked=5,
        missing=("books/7/body.txt",) if bad == "missing" else (),
        damaged=("books/7/body.txt",) if bad == "damaged" else (),
    )
    result = delivery._verified(report)
    assert result.passed is (not bad)
    assert ("books/7/body.txt" in (result.description or "")) is bool(bad)


def checked(instance: dg.DagsterInstance, run: Run, name: str) -> tuple[bool, str]:
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
        found = entry.get_dagster_event().asset_check_evaluation_data
        if found.check_name == name:
            return found.passed, found.description or ""
    raise AssertionError(f"{name} was not evaluated")


def test_drift_warns_until_it_is_taken(instance: dg.DagsterInstance, library: Library) -> None:
    assert build(instance).success
    now = library.record(BOOK).last_good
    assert now["names"] > 2
    assert checked(instance, build(instance), "drift")[0]
    library.update(BOOK, last_good=now | {"names": now["names"] + 100})
    run = build(instance)
    assert run.success  # worth a look, no reason to stop
    passed, text = checked(instance, run, "drift")
    assert not passed
    assert f"names fell from {now['names'] + 100:g} to {now['names']:g}" in text
    assert not checked(instance, build(instance), "drift")[0]  # it is not forgotten by looking away
    assert checked(instance, build(instance, force=True), "drift")[0]
    assert library.record(BOOK).last_good == now


def test_a_graph_behind_its_books_is_not_up_to_date(instance: dg.DagsterInstance, library: Library) -> None:
    assert build(instance).success
    first = run_job(instance, "finish_library")
    assert checked(instance, first, "up_to_date") == (True, "1 books in it.")
    files = library.record(BOOK).graph_sha256
    library.update(BOOK, graph_sha256=files | {"edges.parquet": "0" * 64})
    from gutengraph_assets.resources import GutenGraph

    resource = GutenGraph()
    resource.setup_for_execution(dg.build_init_resource_context())
    result = library_checks.up_to_date(gutengraph=resource)
    resource.teardown_after_execution(dg.build_init_resource_context())
    assert not result.passed
    assert "built since: 7" in (result.description or "")


# --- the yield gate ---


def test_a_book_without_yield_is_parked_and_can_be_forced(
    instance: dg.DagsterInstance, library: Library, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUTENGRAPH_WINDOW_WORDS", "20")
    monkeypatch.setenv("GUTENGRAPH_PILOT_WINDOWS", "2")
    monkeypatch.setenv("GUTENGRAPH_PILOT_MIN_NAMES", "50")
    with models_kept_open(load_settings()) as opened:
        opened.__dict__ |= {"embedder": Hashes(), "tokenizer": Words(), "llm": FakeLLM(logprobs=PERSON)}
        run = build(instance)
        assert run.success, run.error
        record = library.record(BOOK)
        assert record.status == "parked"
        assert "(50 a window wanted)" in record.reason
        assert f"gutengraph build {BOOK} --force" in record.reason
        assert not checked(instance, run, "yield_gate")[0]
        assert read_table(library.path(BOOK, "mentions.parquet")).num_rows == 0
        asked = len(opened.llm.logprob_calls)  # type: ignore[attr-defined]
        assert build(instance).success  # parked stays parked, and costs nothing
        assert library.record(BOOK).status == "parked"
        assert len(opened.llm.logprob_calls) == asked  # type: ignore[attr-defined]

        assert build(instance, force=True).success
        forced = library.record(BOOK)
        assert (forced.status, forced.reason) == ("built", "")
        assert read_table(library.path(BOOK, "graph/nodes.parquet")).num_rows > 0
        assert build(instance).success  # and an ordinary run keeps it
        assert library.record(BOOK).status == "built"


def test_other_thresholds_give_a_parked_book_another_chance(
    instance: dg.DagsterInstance, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("WINDOW_WORDS", "20"), ("PILOT_WINDOWS", "2"), ("PILOT_MIN_NAMES", "50")):
        monkeypatch.setenv(f"GUTENGRAPH_{name}", value)
    statuses = []
    for least in ("50", "0.5"):
        monkeypatch.setenv("GUTENGRAPH_PILOT_MIN_NAMES", least)
        with models_kept_open(load_settings()) as opened:
            opened.__dict__ |= {"embedder": Hashes(), "tokenizer": Words(), "llm": FakeLLM(logprobs=PERSON)}
            build(instance)
            statuses.append(library.record(BOOK).status)
    assert statuses == ["parked", "built"]


def test_a_book_in_another_language_can_be_forced(instance: dg.DagsterInstance, library: Library) -> None:
    assert build(instance, 8).success
    assert library.record(8).status == "parked"
    run = build(instance, 8, force=True)
    assert run.success, run.error
    record = library.record(8)
    assert record.status == "built"
    passed, text = checked(instance, run, "language")
    assert not passed
    assert "extracted all the same" in text
    assert Ledger(library.path(8, "ledger.jsonl")).entries(STEP)


# --- retries and ownership ---


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (ModelUnreachable("The server is asleep.", remedy="Wake it."), 5),
        (WrongModel("It serves another model.", remedy="Pull the right one."), 1),
    ],
)
def test_a_sleeping_model_is_tried_again_and_a_wrong_one_is_not(
    instance: dg.DagsterInstance,
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    attempts: int,
) -> None:
    calls = []

    def name(*arguments: object, **options: object) -> None:
        calls.append(1)
        raise error

    monkeypatch.setattr(extraction_assets, "name_book", name)
    run = build(instance)
    assert (run.success, len(calls)) == (False, attempts)
    assert str(error) in library.record(BOOK).reason
    assert not library.path(BOOK, "mentions.parquet").exists()


def test_a_book_that_somebody_else_builds_is_left_to_them(
    instance: dg.DagsterInstance, library: Library, models: Models
) -> None:
    library.update(BOOK, status="registered", reason="theirs")
    theirs = BookLock(library, BOOK, run="another-run")
    theirs.take(wait_s=0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GUTENGRAPH_BOOK_WAIT_S", "0")
        run = build(instance)
    assert not run.success
    assert run.error.startswith(f"Book {BOOK}: It is being built by process ")
    assert "run another-run" in run.error
    assert made(instance, run) == []
    record = library.record(BOOK)
    assert (record.status, record.reason) == ("registered", "theirs")
    theirs.release()
    assert build(instance).success


def test_a_step_of_the_library_that_breaks_says_how(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no books to share among")

    assert build(instance).success
    monkeypatch.setattr(graph_assets, "build_merged", broken)
    run = run_job(instance, "finish_library")
    assert not run.success
    assert run.error == "merged_graph broke: ZeroDivisionError: no books to share among"
