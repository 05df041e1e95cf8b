"""Questions asked of a library that lies in a bucket: the same answers as of the one it is a copy of."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import harbour_story as story
import pytest
from fakes import FakeLLM
from seaweed import KEY, SECRET, Seaweed

from gutengraph_assets.s3.sync import sync
from gutengraph_core.errors import EmbedderMismatch, NotBuilt, S3Error, SettingsError, UnknownBook
from gutengraph_core.library import Library
from gutengraph_core.s3 import remote
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.ask import Answer, ask
from gutengraph_query.brains import Brains
from gutengraph_query.listing import characters, relations

NAMES = {" Silas": -1.0, " Agnes": -2.0, " apricots": -0.5, " x": -9.0}
QUESTIONS = [
    "What did the parrot speak?",
    "Who is the captain of the Kittiwake?",
    "Is there any moon rocket?",
]
BIG, NONE = 64, 0
"""Megabytes of cache: the table is copied here, or read where it lies."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    story.build_library(Library(folder), 7, 8)
    return folder


@pytest.fixture
def source(template: Path, tmp_path: Path) -> Library:
    shutil.copytree(template, tmp_path / "source")
    return Library(tmp_path / "source")


@pytest.fixture
def bucket(s3: Any, bucket: str, source: Library, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket with a copy, and credentials where AWS's usual chain finds them."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    sync(source, s3, bucket, "my/copy")
    return bucket


def brains(settings: Settings, embedder: Any = None) -> Brains:
    return Brains(settings, embedder=embedder or story.ToyEmbedder(), llm=FakeLLM(logprobs=NAMES))


def far(home: Path, seaweed: Seaweed, bucket: str, **given: Any) -> Brains:
    """Somebody who has nothing but the bucket's name."""
    defaults = {"store": "s3", "s3_uri": f"s3://{bucket}/my/copy", "s3_endpoint": seaweed.endpoint}
    thresholds = {"path_threshold": 0.2, "passage_threshold": 0.2}
    return brains(Settings(home=home, **{**defaults, **thresholds, **given}))


def near(source: Library) -> Brains:
    return brains(Settings(home=source.home, path_threshold=0.2, passage_threshold=0.2))


def untimed(answer: Answer) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "timings"}


@pytest.mark.parametrize("cache_mb", [BIG, NONE], ids=["cached", "read in the bucket"])
def test_the_answers_are_those_of_the_local_library(
    seaweed: Seaweed, source: Library, bucket: str, tmp_path: Path, cache_mb: int
) -> None:
    there, here = far(tmp_path / "empty", seaweed, bucket, s3_cache_mb=cache_mb), near(source)
    for question in QUESTIONS:
        for mode in ("vector", "graph", "hybrid", "auto"):
            for book in (None, 7):
                theirs = ask(there, question, mode=mode, book=book)  # type: ignore[arg-type]
                ours = ask(here, question, mode=mode, book=book)  # type: ignore[arg-type]
                assert untimed(theirs) == untimed(ours)
    assert any(ask(there, question, mode="hybrid")["citations"] for question in QUESTIONS)
    assert characters(there, 7) == characters(here, 7)
    assert relations(there, 7) == relations(here, 7)
    tables = list((tmp_path / "empty").rglob("*.lance"))
    assert bool(tables) == (cache_mb == BIG)
    with pytest.raises(UnknownBook):
        ask(there, QUESTIONS[0], book=99)


@pytest.mark.parametrize("cache_mb", [BIG, NONE], ids=["cached", "read in the bucket"])
def test_a_later_sync_is_seen(
    seaweed: Seaweed,
    source: Library,
    bucket: str,
    tmp_path: Path,
    cache_mb: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = far(tmp_path / "empty", seaweed, bucket, s3_cache_mb=cache_mb)
    assert there.table.books() == near(source).table.books()
    versions = {there.published().version}
    ChunkTable.open(source, None).delete_book(8)
    from gutengraph_core.graph.build import build_merged

    shutil.rmtree(source.book_dir(8))
    build_merged(source)
    sync(source, seaweed.client(), bucket, "my/copy", prune=True)
    monkeypatch.setattr(remote, "REFRESH_S", 0.0)
    if cache_mb == NONE:
        # Read in the bucket, a handle looks for a newer version once a minute; a newer manifest opens it anew.
        assert there.library.ids() == [7]
    assert list(there.table.books()) == [7]
    assert there.library.ids() == [7]
    assert there.published().version not in versions
    # The cache holds what the manifest names and no more.
    graphs = [path.name for path in (there.library.home / "graph").iterdir() if path.is_dir()]
    assert len(graphs) == 1
    manifests = list(there.library.home.rglob("_versions/*.manifest"))
    assert len(manifests) == (1 if cache_mb == BIG else 0)


def test_a_book_s_other_files_come_when_they_are_asked_for(
    seaweed: Seaweed, source: Library, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = far(tmp_path / "empty", seaweed, bucket).library
    cache = there.home / "books"
    assert {path.name for path in cache.rglob("*") if path.is_file()} == {"book.json"}
    assert there.body(7) == source.body(7)
    nodes = there.path(7, "graph/nodes.parquet").read_bytes()
    assert nodes == source.path(7, "graph/nodes.parquet").read_bytes()
    assert not there.path(7, "no-such-file").exists()
    # The cache is bounded: what was asked for longest ago goes.
    monkeypatch.setattr(remote, "LEAST_FILES", len(nodes) + 10)
    small = far(tmp_path / "empty", seaweed, bucket, s3_cache_mb=NONE).library
    assert small.path(8, "graph/nodes.parquet").exists()
    assert {
        p.relative_to(cache).as_posix() for p in cache.rglob("*") if p.is_file() and p.name != "book.json"
    } == {"8/graph/nodes.parquet"}


def test_the_second_process_fetches_nothing_again(
    seaweed: Seaweed, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far(tmp_path / "empty", seaweed, bucket).table.count()
    fetched: list[int] = []
    honest = remote.fetch
    monkeypatch.setattr(remote, "fetch", lambda *a, **k: fetched.append(honest(*a, **k)))
    assert far(tmp_path / "empty", seaweed, bucket).table.count() == 2 * len(story.chunk_rows(7))
    assert sum(fetched) == 0
    assert fetched


def test_credentials_of_a_profile(
    seaweed: Seaweed, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    (tmp_path / "credentials").write_text(
        f"[books]\naws_access_key_id={KEY}\naws_secret_access_key={SECRET}\n"
    )
    (tmp_path / "config").write_text("[profile books]\nregion=us-east-1\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "books")
    there = far(tmp_path / "empty", seaweed, bucket, s3_cache_mb=NONE)
    assert there.table.count() == 2 * len(story.chunk_rows(7))
    assert there.library.ids() == [7, 8]


def test_what_cannot_be_asked(seaweed: Seaweed, bucket: str, tmp_path: Path) -> None:
    home = tmp_path / "empty"
    with pytest.raises(SettingsError, match="GUTENGRAPH_S3_URI is not set"):
        ask(far(home, seaweed, bucket, s3_uri=None), QUESTIONS[0])
    with pytest.raises(S3Error, match="no copy of a library"):
        ask(far(home, seaweed, bucket, s3_uri=f"s3://{bucket}/elsewhere"), QUESTIONS[0])
    with pytest.raises(S3Error, match="Create the bucket"):
        ask(far(home, seaweed, bucket, s3_uri="s3://no-such-bucket/x"), QUESTIONS[0])
    for cache_mb in (BIG, NONE):
        settings = far(home, seaweed, bucket, s3_cache_mb=cache_mb).settings
        other = story.ToyEmbedder()
        other.identity = type(other.identity)("another", "r9", other.identity.dimension, "none")
        with pytest.raises(EmbedderMismatch, match=r"embedded by .*, but another@r9"):
            _ = brains(settings, other).table


def test_doctor_asks_the_copy(seaweed: Seaweed, bucket: str, tmp_path: Path) -> None:
    from gutengraph_core.doctor import _bucket

    (seen,) = _bucket(far(tmp_path / "empty", seaweed, bucket).settings)
    assert seen.status == "ok"
    assert f"2 books, {2 * len(story.chunk_rows(7))} passages, graph version 1" in seen.found
    (none,) = _bucket(far(tmp_path / "empty", seaweed, bucket, s3_uri=f"s3://{bucket}/bare").settings)
    assert (none.status, "gutengraph s3 sync" in none.remedy) == ("problem", True)


def test_a_copy_without_a_table(seaweed: Seaweed, bucket: str, tmp_path: Path) -> None:
    empty = Library(tmp_path / "nothing")
    empty.home.mkdir()
    sync(empty, seaweed.client(), bucket, "bare")
    there = far(tmp_path / "empty", seaweed, bucket, s3_uri=f"s3://{bucket}/bare")
    with pytest.raises(NotBuilt, match="No book has been embedded yet"):
        _ = there.table


def test_a_copy_that_is_damaged_says_so(seaweed: Seaweed, bucket: str, tmp_path: Path) -> None:
    s3 = seaweed.client()
    for item in s3.list_objects_v2(Bucket=bucket, Prefix="my/copy/lancedb/").get("Contents", ()):
        if "/data/" in item["Key"]:
            s3.put_object(Bucket=bucket, Key=item["Key"], Body=os.urandom(item["Size"]))
    with pytest.raises(S3Error, match="is not what its manifest says"):
        ask(far(tmp_path / "empty", seaweed, bucket), QUESTIONS[0], mode="vector")
