"""Bringing a library back from a real S3 server, and what stands in the way."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import gutengraph
from s3_library import BOOKS
from seaweed import KEY, SECRET, Seaweed

from gutengraph_assets.s3.restore import STAGING, restore
from gutengraph_assets.s3.sync import PART, sync
from gutengraph_assets.snapshot import taken
from gutengraph_core.errors import DataFolderError, S3Error
from gutengraph_core.library import Library
from gutengraph_core.s3.manifest import read_manifest


@pytest.fixture
def bucket(s3: Any, bucket: str, filled: Library) -> str:
    """A bucket with a copy of the library."""
    sync(filled, s3, bucket, "p")
    return bucket


def contents(home: Path) -> dict[str, bytes]:
    """Every file of a library's stores."""
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and path.relative_to(home).parts[0] in ("books", "graph", "lancedb", "overrides")
    }


def test_what_is_restored_is_the_source_byte_for_byte(
    filled: Library, s3: Any, bucket: str, tmp_path: Path
) -> None:
    there = Library(tmp_path / "there")
    steps: list[tuple[int, int]] = []
    report = restore(there, s3, bucket, "p", progress=lambda done, of: steps.append((done, of)))
    assert (report.books, report.table_rows, report.graph_version) == (BOOKS, 18, 1)
    assert report.fetched == report.files == steps[-1][0]
    with taken(filled) as snapshot:
        assert contents(there.home) == contents(snapshot.folder)
    assert {"overrides/8.toml", "books/7/raw.txt", "books/7/ledger.jsonl"} <= contents(there.home).keys()
    # And it is the same library: nothing would have to be sent.
    assert not sync(there, s3, bucket, "p", dry_run=True).plan.changes
    assert not (there.home / STAGING).exists()


def test_a_large_file_travels_in_parts(filled: Library, s3: Any, bucket: str, tmp_path: Path) -> None:
    data = os.urandom(PART + 1_000_000)
    filled.path(7, "arcs.png").write_bytes(data)
    sync(filled, s3, bucket, "p")
    # The etag of an object that came in two parts says so.
    assert s3.head_object(Bucket=bucket, Key="p/books/7/arcs.png")["ETag"].endswith('-2"')
    there = Library(tmp_path / "there")
    restore(there, s3, bucket, "p")
    assert there.path(7, "arcs.png").read_bytes() == data


def test_parts_that_a_killed_sync_left_are_thrown_away(filled: Library, s3: Any, bucket: str) -> None:
    left = s3.create_multipart_upload(Bucket=bucket, Key="p/books/7/arcs.png")
    s3.upload_part(
        Bucket=bucket,
        Key="p/books/7/arcs.png",
        UploadId=left["UploadId"],
        PartNumber=1,
        Body=b"x" * (5 << 20),
    )
    other = s3.create_multipart_upload(Bucket=bucket, Key="somebody/elses")
    filled.path(7, "ledger.jsonl").write_text("changed\n")
    sync(filled, s3, bucket, "p")
    uploads = s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
    assert [upload["UploadId"] for upload in uploads] == [other["UploadId"]]


def test_only_into_an_empty_folder(filled: Library, s3: Any, bucket: str, tmp_path: Path) -> None:
    before = contents(filled.home)
    with pytest.raises(DataFolderError, match=r"is not empty \(it holds books.*an empty folder"):
        restore(filled, s3, bucket, "p")
    assert contents(filled.home) == before
    holiday = tmp_path / "pictures"
    holiday.mkdir()
    (holiday / "sea.jpg").write_bytes(b"sea")
    with pytest.raises(DataFolderError, match="it holds sea"):
        restore(Library(holiday), s3, bucket, "p")


def test_what_a_look_at_nothing_left_behind_is_no_library(s3: Any, bucket: str, tmp_path: Path) -> None:
    there = Library(tmp_path / "there")
    (there.lancedb_dir / "chunks.lance" / "_versions").mkdir(parents=True)
    there.dagster_dir.mkdir()
    (there.dagster_dir / "runs.db").write_bytes(b"history")
    assert restore(there, s3, bucket, "p").fetched > 30
    assert (there.dagster_dir / "runs.db").read_bytes() == b"history"
    assert not sync(there, s3, bucket, "p", dry_run=True).plan.changes


def test_a_dry_run_writes_nothing(s3: Any, bucket: str, tmp_path: Path) -> None:
    there = Library(tmp_path / "there")
    report = restore(there, s3, bucket, "p", dry_run=True)
    assert (report.dry_run, report.fetched) == (True, 0)
    assert report.files > 30
    assert not there.home.exists()


def test_killed_half_way_the_next_restore_goes_on(
    filled: Library, s3: Any, bucket: str, tmp_path: Path
) -> None:
    there = Library(tmp_path / "there")

    class Cut(Exception):
        pass

    def cut(done: int, total: int) -> None:
        if done == 10:
            raise Cut

    with pytest.raises(Cut):
        restore(there, s3, bucket, "p", progress=cut)
    assert contents(there.home) == {}  # nothing is in place before everything is there
    # What a kill in the middle of a file leaves, and one between the last moves.
    (there.home / STAGING / "books").mkdir(exist_ok=True)
    (there.home / STAGING / "books" / ".body.txt.xyz").write_bytes(b"half")
    (there.home / STAGING / "books").rename(there.home / "books")
    report = restore(there, s3, bucket, "p")
    assert report.fetched <= report.files - 10
    with taken(filled) as snapshot:
        assert contents(there.home) == contents(snapshot.folder)


@pytest.mark.parametrize("how", ["missing", "changed", "cut"])
def test_a_damaged_copy_is_never_put_in_place(s3: Any, bucket: str, tmp_path: Path, how: str) -> None:
    key = "p/books/9/body.txt"
    body = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    if how == "missing":
        s3.delete_object(Bucket=bucket, Key=key)
    else:
        s3.put_object(Bucket=bucket, Key=key, Body=body[::-1] if how == "changed" else body[:-1])
    there = Library(tmp_path / "there")
    words = "body.txt is missing" if how == "missing" else "is not what its manifest says"
    with pytest.raises(S3Error, match=f"{words}.*gutengraph s3 sync"):
        restore(there, s3, bucket, "p")
    assert contents(there.home) == {}


@pytest.mark.parametrize(
    "key", ["../evil", "/etc/passwd", "books/../../evil", "cache/x", "books//x", "books/./x"]
)
def test_a_manifest_cannot_lead_out_of_the_folder(s3: Any, bucket: str, tmp_path: Path, key: str) -> None:
    manifest = json.loads(s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read())
    manifest["files"][key] = {"size": 4, "sha256": "0" * 64}
    s3.put_object(Bucket=bucket, Key="p/manifest.json", Body=json.dumps(manifest).encode())
    with pytest.raises(S3Error, match="no manifest of GutenGraph's"):
        restore(Library(tmp_path / "there"), s3, bucket, "p")
    with pytest.raises(S3Error, match="no manifest of GutenGraph's"):
        read_manifest(s3, bucket, "p")


def test_too_small_a_disk(s3: Any, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Library(tmp_path / "there")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))  # type: ignore[attr-defined]
    with pytest.raises(DataFolderError, match=r"needs \d+ MB, and only 0 MB are free"):
        restore(there, s3, bucket, "p")
    assert contents(there.home) == {}


def test_no_copy_there(s3: Any, bucket: str, tmp_path: Path) -> None:
    with pytest.raises(S3Error, match="no copy of a library"):
        restore(Library(tmp_path / "there"), s3, bucket, "elsewhere")


def test_the_commands(
    seaweed: Seaweed,
    s3: Any,
    bucket: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    import dagster as dg

    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "GUTENGRAPH_S3_URI": f"s3://{bucket}/p",
        "GUTENGRAPH_S3_ENDPOINT": seaweed.endpoint,
        "GUTENGRAPH_HOME": str(tmp_path / "there"),
        "DAGSTER_HOME": "",
    }.items():
        monkeypatch.setenv(name, value)
    verified = gutengraph(monkeypatch, capfd, "s3", "verify", "--deep", "--json")
    assert (verified.code, json.loads(verified.out)["ok"]) == (0, True)
    planned = gutengraph(monkeypatch, capfd, "s3", "restore", "--dry-run")
    assert "To fetch" in planned.err
    assert not (tmp_path / "there").exists()
    done = gutengraph(monkeypatch, capfd, "s3", "restore")
    assert done.code == 0, done.err
    assert "Restored" in done.err
    assert "6 books, 18 passages, graph version 1" in done.err
    # Dagster knows the books again.
    there = Library(tmp_path / "there")
    with dg.DagsterInstance.from_config(str(there.dagster_dir)) as instance:
        assert set(instance.get_dynamic_partitions("books")) == set(map(str, BOOKS))
    again = gutengraph(monkeypatch, capfd, "s3", "restore")
    assert again.code == 1
    assert "is not empty" in again.err
    s3.delete_object(Bucket=bucket, Key="p/books/7/book.json")
    damaged = gutengraph(monkeypatch, capfd, "s3", "verify")
    assert damaged.code == 1
    assert damaged.out == "missing  books/7/book.json\n"
    assert "gutengraph s3 sync" in damaged.err
