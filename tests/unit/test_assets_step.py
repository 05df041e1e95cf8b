"""The frame of a step: retries, failures, blocked checks, and what each makes of a book's status.

The book is French, so that no language model is asked; the embedder is a stand-in.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import numpy as np
import pyarrow as pa
import pytest
from fakes import FakeLLM
from small_mirror import put, put_french, put_story, rdf_of, text_of
from small_models import Hashes, Words, made

from gutengraph_assets import extraction
from gutengraph_assets.assets import library as library_assets
from gutengraph_assets.assets.extraction import CODE, filtered_entities, window_names
from gutengraph_assets.assets.graph import enriched_graph
from gutengraph_assets.assets.step import BookStep
from gutengraph_assets.assets.vectors import embeddings_table, ivf_pq_index
from gutengraph_assets.code_version import code_version
from gutengraph_assets.extraction.ledger import Entry, Ledger
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_assets.instance import open_instance
from gutengraph_assets.resources import GutenGraph, Models, models_kept_open
from gutengraph_assets.runs import Run, run_job
from gutengraph_assets.text.chunking import Chunk, chunk_table
from gutengraph_core.embedding import EmbeddingIdentity
from gutengraph_core.errors import SourceUnreachable
from gutengraph_core.library import BookRecord, Library, StepRecord
from gutengraph_core.settings import Settings, load_settings
from gutengraph_core.vectors import ChunkTable

BOOK = 8


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Models]:
    put_french(tmp_path / "mirror", BOOK)
    monkeypatch.setenv("GUTENGRAPH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("GUTENGRAPH_STEP_RETRY_DELAY_S", "0.01")
    monkeypatch.setenv("DAGSTER_HOME", "")
    with models_kept_open(load_settings()) as opened:
        opened.__dict__ |= {"embedder": Hashes(), "tokenizer": Words()}
        yield opened


@pytest.fixture
def instance(models: Models, library: Library) -> Iterator[dg.DagsterInstance]:
    with open_instance(library) as opened:
        yield opened


def build(instance: dg.DagsterInstance) -> Run:
    return run_job(instance, "build_book", book=BOOK)


def failing(times: int, error: Exception) -> tuple[Callable[[int, Settings], BookRecord], list[int]]:
    """`acquire`, but for the first `times` calls; and the list of its calls."""
    calls: list[int] = []

    def flaky(book: int, settings: Settings) -> BookRecord:
        calls.append(book)
        if len(calls) <= times:
            raise error
        return acquire(book, settings)

    return flaky, calls


UNREACHABLE = SourceUnreachable("The mirror is asleep.", remedy="Wake it.", book=BOOK)


def test_what_may_pass_is_tried_again(
    instance: dg.DagsterInstance, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaky, calls = failing(2, UNREACHABLE)
    monkeypatch.setattr(library_assets, "acquire", flaky)
    run = build(instance)
    assert run.success, run.error
    assert len(calls) == 3
    assert library.record(BOOK).status == "parked"


def test_and_not_for_ever(
    instance: dg.DagsterInstance, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaky, calls = failing(99, UNREACHABLE)
    monkeypatch.setattr(library_assets, "acquire", flaky)
    run = build(instance)
    assert (run.success, len(calls)) == (False, 3)
    assert run.error == f"Book {BOOK}: The mirror is asleep. Wake it."
    record = library.record(BOOK)
    assert (record.status, record.reason, record.pid) == ("failed", run.error, None)
    assert made(instance, run) == []


def test_what_cannot_pass_is_not_tried_again(
    instance: dg.DagsterInstance, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "mirror", BOOK, b"\0" * 5000)
    flaky, calls = failing(0, UNREACHABLE)
    monkeypatch.setattr(library_assets, "acquire", flaky)
    run = build(instance)
    assert (run.success, len(calls)) == (False, 1)
    assert "not a text" in library.record(BOOK).reason


def test_a_bug_fails_the_book_at_once_and_other_branches_do_not_hide_it(
    instance: dg.DagsterInstance, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("an overlap of nothing")

    monkeypatch.setattr(library_assets, "chunk_body", broken)
    run = build(instance)
    assert not run.success
    assert made(instance, run) == ["filtered_entities", "raw_text", "window_names"]
    record = library.record(BOOK)
    assert record.status == "failed"
    assert record.reason == "chunks broke: ZeroDivisionError: an overlap of nothing"


def test_a_blocking_check_stops_what_is_made_from_the_asset(
    instance: dg.DagsterInstance, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overlong(record: BookRecord, body: str, found: list[Chunk]) -> pa.Table:
        return chunk_table(record, body, [replace(chunk, token_count=81) for chunk in found])

    monkeypatch.setattr(library_assets, "chunk_table", overlong)
    run = build(instance)
    assert not run.success
    assert "embeddings_table" not in made(instance, run)
    assert "chunks/chunk_limit: " in run.error
    record = library.record(BOOK)
    assert record.status == "failed"
    assert record.reason.startswith("chunk_limit: ")
    assert "the longest of 81 tokens" in record.reason


def test_a_failed_book_is_built_by_the_next_run(
    instance: dg.DagsterInstance, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.update(BOOK, status="failed", reason="No network.", run="an earlier one")
    assert build(instance).success
    assert (library.record(BOOK).status, library.record(BOOK).run) == (
        "parked",
        instance.get_runs()[0].run_id,
    )


def test_warnings_of_a_run(instance: dg.DagsterInstance) -> None:
    (warning,) = build(instance).warnings
    assert warning.startswith("window_names/language: Its language is 'fr'")


def test_a_changed_source_makes_its_book_again(
    instance: dg.DagsterInstance, library: Library, tmp_path: Path
) -> None:
    assert build(instance).success
    first = library.record(BOOK)
    body = (
        "Un tout autre texte, sur un tout autre port, que personne ne connaissait encore dans ce pays. " * 9
    )
    text = text_of(BOOK, "Le port", body, language="French")
    put(tmp_path / "mirror", BOOK, text, rdf=rdf_of(BOOK, "Le port", language="fr"))
    assert build(instance).success
    second = library.record(BOOK)
    changed = [name for name in first.steps if first.steps[name].version != second.steps[name].version]
    assert changed == ["raw_text", "chunks", "embeddings_table", "story_arcs"]
    assert "tout autre port" in library.body(BOOK)


def test_only_passages_that_are_new_are_embedded(
    instance: dg.DagsterInstance, library: Library, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    embed = models.embedder.embed_documents
    monkeypatch.setattr(
        models.embedder, "embed_documents", lambda texts: (asked.extend(texts), embed(texts))[1]
    )
    assert build(instance).success
    texts = ChunkTable.open(library, None).rows(BOOK)[0]["text"].to_pylist()
    assert set(texts) <= set(asked)
    before = ChunkTable.open(library, None).rows(BOOK)

    asked.clear()
    assert run_job(instance, "build_book", book=BOOK, force=True).success
    assert not set(texts) & set(asked)  # the arcs' own sentences are another matter
    rows, vectors = ChunkTable.open(library, None).rows(BOOK)
    assert rows.equals(before[0])
    assert np.array_equal(vectors, before[1])

    # By other code, or by none that is known, the vectors may have been others.
    record = library.record(BOOK)
    older = record.steps["embeddings_table"].model_copy(update={"code": "0" * 64, "fingerprint": ""})
    library.update(BOOK, steps={"embeddings_table": older})
    assert build(instance).success
    assert set(texts) <= set(asked)


def test_vectors_of_other_code_do_not_survive_its_death_behind_the_commit(
    instance: dg.DagsterInstance, library: Library, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build(instance).success
    right = ChunkTable.open(library, None).rows(BOOK)[1]
    embed, replace_book = models.embedder.embed_documents, ChunkTable.replace_book

    def dies(table: ChunkTable, *given: object) -> None:
        replace_book(table, *given)  # type: ignore[arg-type]
        raise RuntimeError("killed")

    with monkeypatch.context() as other:
        other.setattr(models.embedder, "embed_documents", lambda texts: -embed(texts))
        other.setattr(BookStep, "same_code", False)
        other.setattr(ChunkTable, "replace_book", dies)
        assert not run_job(instance, "build_book", book=BOOK, force=True).success
    assert np.array_equal(ChunkTable.open(library, None).rows(BOOK)[1], -right)

    assert build(instance).success
    assert np.allclose(ChunkTable.open(library, None).rows(BOOK)[1], right, atol=1e-6)


def test_an_asset_alone_says_what_it_lacks(models: Models, library: Library) -> None:
    with open_instance(library) as instance:
        instance.add_dynamic_partitions("books", [str(BOOK)])
        result = dg.materialize(
            [library_assets.chunks],
            instance=instance,
            partition_key=str(BOOK),
            resources={"gutengraph": GutenGraph()},
            raise_on_error=False,
        )
        assert not result.success
        record = library.record(BOOK)
    assert record.status == "failed"
    assert "chunks needs raw_text, which was never made" in record.reason
    assert f"gutengraph build {BOOK}" in record.reason


def test_one_step_alone_leaves_the_book_registered(models: Models, library: Library) -> None:
    with open_instance(library) as instance:
        instance.add_dynamic_partitions("books", [str(BOOK)])
        result = dg.materialize(
            [library_assets.raw_text],
            instance=instance,
            partition_key=str(BOOK),
            resources={"gutengraph": GutenGraph()},
        )
    assert result.success
    record = library.record(BOOK)
    assert (record.status, record.pid) == ("registered", None)
    assert record.reason.startswith("Not finished: chunks, ")


def test_the_library_without_any_book(instance: dg.DagsterInstance) -> None:
    run = run_job(instance, "finish_library")
    assert run.success, run.error
    event = instance.get_latest_materialization_event(ivf_pq_index.key)
    assert event is not None


def test_another_embedders_table_is_refused_before_anything_is_embedded(
    instance: dg.DagsterInstance, library: Library, models: Models
) -> None:
    assert build(instance).success
    other = Hashes()
    other.identity = EmbeddingIdentity("others", "1" * 12, 8, "none")
    models.__dict__["embedder"] = other
    run = build(instance)
    assert not run.success
    assert "others@" in run.error
    assert "hashes@" in run.error
    assert library.record(BOOK).status == "failed"


def test_what_an_earlier_model_failed_at_makes_no_graph_again(
    models: Models, library: Library, tmp_path: Path
) -> None:
    """The instruct model that failed is gone: nobody will ask again, so nothing is to be retried for ever."""
    put_story(tmp_path / "mirror", 7)
    models.__dict__["llm"] = FakeLLM(logprobs={" x": -1.0})
    library.update(7, forced=True)  # the gate is not the subject
    steps = [library_assets.raw_text, library_assets.chunks, embeddings_table]
    steps += [window_names, filtered_entities, enriched_graph]

    def make(*assets: dg.AssetsDefinition) -> StepRecord:
        result = dg.materialize(
            assets, instance=instance, partition_key="7", resources={"gutengraph": GutenGraph()}
        )
        assert result.success
        return library.record(7).steps["enriched_graph"]

    with open_instance(library) as instance:
        instance.add_dynamic_partitions("books", ["7"])
        before = make(*steps)
        ledger = Ledger(library.path(7, "ledger.jsonl"), book=7)
        with ledger.run("enrichment", basis="of another model") as run:
            run.record(Entry(step="enrichment", item="7:heron", outcome="no_json", raw="?"))
        assert make(enriched_graph).at == before.at


def test_an_english_book_needs_its_model(
    instance: dg.DagsterInstance, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Materialised from the UI, without the command line's look ahead: the dead server stops the step unwritten."""
    put_story(tmp_path / "mirror", 7)
    monkeypatch.setenv("GUTENGRAPH_LLM", "ollama:gemma4")
    monkeypatch.setenv("GUTENGRAPH_OLLAMA_HOST", "http://127.0.0.1:9")
    monkeypatch.setenv("GUTENGRAPH_MODEL_RETRIES", "0")
    with models_kept_open(load_settings()) as opened:
        opened.__dict__ |= {"embedder": Hashes(), "tokenizer": Words()}
        run = run_job(instance, "build_book", book=7)
    assert not run.success
    assert "127.0.0.1:9" in run.error
    assert not library.path(7, "windows.parquet").exists()
    assert not library.path(7, "ledger.jsonl").exists()
    assert library.record(7).status == "failed"


def test_the_code_of_the_names_is_all_that_their_package_reads_text_and_replies_with() -> None:
    package = Path(extraction.__file__).parent
    imported = {
        node.module or ""
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    outside = {
        name
        for name in imported
        if name.startswith(("gutengraph_assets.", "gutengraph_core.llm.", "gutengraph_core.names"))
        and not name.startswith(extraction.__name__)
    }
    # What a model is comes by its identity, not by the code.
    assert outside - {"gutengraph_core.llm.protocol", "gutengraph_core.llm.profile"} <= set(CODE)


def test_the_code_version_changes_with_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "somepackage"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("A = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = code_version("somepackage")
    assert code_version("somepackage") == before
    (package / "part.py").write_text("A = 2\n")
    assert code_version("somepackage") != before
    assert code_version("somepackage.part") != code_version("somepackage")
    with pytest.raises(ModuleNotFoundError, match="nosuchpackage"):
        code_version("nosuchpackage")
