"""Syncing to a real S3 server: what arrives can be read again, and only what changed travels."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import harbour_story as story
import numpy as np
import pytest
from s3_library import BOOKS, embed
from seaweed import Seaweed

from gutengraph_assets.s3.bucket import verify
from gutengraph_assets.s3.sync import sync
from gutengraph_assets.snapshot import taken
from gutengraph_core.errors import S3Error, StoreError
from gutengraph_core.files import write_text
from gutengraph_core.graph import versions
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.s3.manifest import FORMAT
from gutengraph_core.vectors import ChunkTable


def fetch(s3: Any, bucket: str, prefix: str, home: Path) -> Library:
    """What a reader of the manifest gets."""
    manifest = json.loads(s3.get_object(Bucket=bucket, Key=f"{prefix}/manifest.json")["Body"].read())
    for key in manifest["files"]:
        target = home / key
        target.parent.mkdir(parents=True, exist_ok=True)
        s3.download_file(bucket, f"{prefix}/{key}", str(target))
    return Library(home)


def keys(s3: Any, bucket: str) -> set[str]:
    return {item["Key"] for item in s3.list_objects_v2(Bucket=bucket).get("Contents", ())}


def test_what_arrives_can_be_read_again(filled: Library, s3: Any, bucket: str, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    report = sync(filled, s3, bucket, "my/library", progress=lambda done, of: steps.append((done, of)))
    assert (report.books, report.table_rows, report.graph_version) == (6, 18, 1)
    assert report.uploaded == len(keys(s3, bucket)) - 1
    assert steps[-1] == (report.uploaded, report.uploaded)
    assert verify(s3, bucket, "my/library", deep=True).ok
    copy = fetch(s3, bucket, "my/library", tmp_path / "copy")
    embedder = story.ToyEmbedder()
    here, there = (ChunkTable.open(x, embedder.identity) for x in (filled, copy))
    assert there.books() == here.books()
    question = "Who nailed a spoon to the mast?"
    query = embedder.embed_query(question)
    assert there.hybrid_search(query, question, k=3) == here.hybrid_search(query, question, k=3)
    published = versions.current(copy)
    assert published is not None
    assert published.manifest() == versions.require(filled).manifest()
    assert copy.record(7).status == "built"
    assert copy.path(7, "ledger.jsonl").exists()
    assert copy.path(7, "raw.txt").read_text() == "the source's own bytes"
    # Nothing stays behind at home.
    assert not (filled.home / ".snapshot").exists()


def test_only_what_changed_travels(filled: Library, s3: Any, bucket: str) -> None:
    sync(filled, s3, bucket, "p")
    before = s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read()
    again = sync(filled, s3, bucket, "p")
    assert (again.uploaded, again.deleted) == (0, 0)
    assert s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read() == before
    write_text(filled.path(8, "ledger.jsonl"), '{"step": "names"}\n{"step": "graph"}\n')
    assert sync(filled, s3, bucket, "p").plan.uploads == ("books/8/ledger.jsonl",)
    # A book embedded anew: its rows, and a new version of the table; the rest of the table stays.
    embed(filled, 8, texts=2)
    report = sync(filled, s3, bucket, "p")
    assert all(key.startswith("lancedb/") for key in report.plan.uploads)
    assert any("/_versions/" in key for key in report.plan.deletes)
    assert report.table_rows == 17
    assert report.unchanged > 30
    assert verify(s3, bucket, "p", deep=True).ok


def test_a_dry_run_touches_nothing(filled: Library, s3: Any, bucket: str) -> None:
    report = sync(filled, s3, bucket, "p", dry_run=True)
    assert report.dry_run
    assert report.uploaded > 30
    assert keys(s3, bucket) == set()


def test_a_removed_book_goes_and_more_than_a_fifth_asks_first(
    filled: Library, s3: Any, bucket: str, tmp_path: Path
) -> None:
    sync(filled, s3, bucket, "p")
    for book in (7, 8):
        shutil.rmtree(filled.book_dir(book))
        ChunkTable.open(filled, None).delete_book(book)
    held = keys(s3, bucket)
    with pytest.raises(S3Error, match=r"remove 2 of 6 books and 6 of 18 passages.*--prune"):
        sync(filled, s3, bucket, "p")
    # An empty folder, as when GUTENGRAPH_HOME points elsewhere.
    with pytest.raises(S3Error, match="6 of 6 books and 18 of 18 passages and the graph"):
        sync(Library(tmp_path / "other"), s3, bucket, "p")
    assert sync(filled, s3, bucket, "p", dry_run=True).plan.lost == ("2 of 6 books", "6 of 18 passages")
    assert keys(s3, bucket) == held
    assert sync(filled, s3, bucket, "p", prune=True).deleted > 10
    assert not any(key.startswith(("p/books/7/", "p/books/8/")) for key in keys(s3, bucket))
    assert verify(s3, bucket, "p", deep=True).ok


def test_a_new_graph_replaces_the_old_one(filled: Library, s3: Any, bucket: str) -> None:
    sync(filled, s3, bucket, "p")
    build_merged(filled)
    report = sync(filled, s3, bucket, "p")
    assert report.graph_version == 2
    graph = {key for key in keys(s3, bucket) if key.startswith("p/graph/")}
    assert all(key.startswith("p/graph/v2/") or key == "p/graph/CURRENT" for key in graph)
    assert s3.get_object(Bucket=bucket, Key="p/graph/CURRENT")["Body"].read() == b"v2\n"


def test_a_book_under_construction_is_left_alone(filled: Library, s3: Any, bucket: str) -> None:
    import os

    sync(filled, s3, bucket, "p")
    filled.update(9, status="building", pid=os.getpid())
    filled.path(9, "body.txt").unlink()
    write_text(filled.path(9, "ledger.jsonl"), "half")
    report = sync(filled, s3, bucket, "p")
    assert report.waiting == (9,)
    assert not any("books/9/" in key for key in (*report.plan.uploads, *report.plan.deletes))
    assert verify(s3, bucket, "p", deep=True).ok


def test_killed_half_way_the_next_sync_completes_it(
    filled: Library, s3: Any, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(filled, s3, bucket, "p")
    before = s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read()
    for book in BOOKS:
        write_text(filled.path(book, "ledger.jsonl"), f"new {book}\n")

    class Cut(Exception):
        pass

    def cut(done: int, total: int) -> None:
        if done == 3:
            raise Cut

    with pytest.raises(Cut):
        sync(filled, s3, bucket, "p", progress=cut)
    assert s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read() == before
    assert not (filled.home / ".snapshot").exists()
    report = sync(filled, s3, bucket, "p")
    # What had arrived is not sent twice.
    assert report.already_there >= 3
    assert report.uploaded + report.already_there == len(BOOKS)
    assert verify(s3, bucket, "p", deep=True).ok


def test_damage_in_the_bucket_is_found_and_mended(filled: Library, s3: Any, bucket: str) -> None:
    sync(filled, s3, bucket, "p")
    s3.delete_object(Bucket=bucket, Key="p/books/7/book.json")
    s3.put_object(Bucket=bucket, Key="p/books/8/book.json", Body=b"cut")
    body = s3.get_object(Bucket=bucket, Key="p/books/9/body.txt")["Body"].read()
    s3.put_object(Bucket=bucket, Key="p/books/9/body.txt", Body=body[::-1])
    quick = verify(s3, bucket, "p")
    assert (quick.missing, quick.damaged) == (("books/7/book.json",), ("books/8/book.json",))
    assert not quick.ok
    assert verify(s3, bucket, "p", deep=True).damaged == ("books/8/book.json", "books/9/body.txt")
    assert sync(filled, s3, bucket, "p").plan.uploads == ("books/7/book.json", "books/8/book.json")
    assert verify(s3, bucket, "p").ok


def test_what_does_not_arrive_is_not_vouched_for(
    filled: Library, s3: Any, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = s3.upload_file

    def losing(path: str, bucket: str, key: str, **kwargs: Any) -> None:
        if not key.endswith("books/7/book.json"):
            honest(path, bucket, key, **kwargs)

    monkeypatch.setattr(s3, "upload_file", losing)
    with pytest.raises(S3Error, match=r"books/7/book.json should have \d+ bytes and has None"):
        sync(filled, s3, bucket, "p")
    assert "p/manifest.json" not in keys(s3, bucket)


def test_other_peoples_objects_stay(filled: Library, s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="holiday.jpg", Body=b"sea")
    sync(filled, s3, bucket, "")
    sync(filled, s3, bucket, "")
    assert {"holiday.jpg", "manifest.json", "graph/CURRENT"} <= keys(s3, bucket)
    s3.put_object(Bucket=bucket, Key="q/manifest.json", Body=b'{"name": "a web app"}')
    with pytest.raises(S3Error, match="no manifest of GutenGraph's"):
        sync(filled, s3, bucket, "q")


def test_buckets_that_cannot_be_used(filled: Library, seaweed: Seaweed, s3: Any, bucket: str) -> None:
    import boto3
    from botocore.config import Config

    with pytest.raises(S3Error, match="Create the bucket"):
        sync(filled, s3, "no-such-bucket", "p")
    with pytest.raises(S3Error, match="no manifest"):
        verify(s3, bucket, "p")
    stranger = boto3.client(
        "s3",
        endpoint_url=seaweed.endpoint,
        aws_access_key_id="somebody",
        aws_secret_access_key="else",
        region_name="us-east-1",
    )
    with pytest.raises(S3Error, match=r"AWS_ACCESS_KEY_ID|credentials"):
        sync(filled, stranger, bucket, "p")
    nobody = boto3.client(
        "s3",
        endpoint_url="http://127.0.0.1:9",
        aws_access_key_id="k",
        aws_secret_access_key="s",
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 1}, connect_timeout=2),
    )
    with pytest.raises(S3Error, match="Check the network"):
        sync(filled, nobody, bucket, "p")


def test_an_empty_library_is_a_copy_too(library: Library, s3: Any, bucket: str) -> None:
    library.home.mkdir()
    report = sync(library, s3, bucket, "p")
    assert (report.uploaded, report.table_rows, report.graph_version) == (0, 0, 0)
    assert keys(s3, bucket) == {"p/manifest.json"}


def test_a_snapshot_stands_still_while_the_library_goes_on(filled: Library) -> None:
    with taken(filled) as snapshot:
        embed(filled, 7, texts=1)
        ChunkTable.open(filled, None).build_index(min_rows=1_000)
        write_text(filled.path(7, "ledger.jsonl"), "later\n")
        copy = Library(snapshot.folder)
        rows, vectors = ChunkTable.open(copy, None).rows(7)
        assert rows.num_rows == 3
        assert np.isfinite(vectors).all()
        assert snapshot.path("books/7/ledger.jsonl").read_text() == '{"step": "names"}\n'
    assert ChunkTable.open(filled, None).count(7) == 1


def test_a_snapshot_holds_one_version_and_its_own_files(filled: Library) -> None:
    for texts in (1, 2, 3, 2):
        embed(filled, 7, texts=texts)
    table = filled.lancedb_dir / "chunks.lance"
    with taken(filled) as snapshot:
        held = snapshot.folder / "lancedb" / "chunks.lance"
        assert len(list((held / "_versions").iterdir())) == 1
        assert len(list((held / "data").iterdir())) < len(list((table / "data").iterdir()))
        assert all(entry.sha256 for entry in snapshot.files.values())


def test_files_are_copied_where_they_cannot_be_linked(
    filled: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with taken(filled) as snapshot:
        assert snapshot.table_rows == 18
        assert snapshot.path("graph/CURRENT").read_text() == "v1\n"


def test_a_copy_that_lacks_a_file_is_no_copy(filled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    from gutengraph_assets import snapshot

    monkeypatch.setattr(snapshot, "_belongs", lambda path, manifest: path.parts[0] != "data")
    with pytest.raises(StoreError), taken(filled):
        pass
    assert not (filled.home / ".snapshot").exists()


def test_the_manifest_says_what_it_is_of(filled: Library, s3: Any, bucket: str) -> None:
    sync(filled, s3, bucket, "p")
    manifest = json.loads(s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read())
    assert manifest["format"] == FORMAT
    assert manifest["books"] == list(BOOKS)
    assert manifest["table"]["rows"] == 18
    assert manifest["graph"] == {"version": 1}
    head = s3.head_object(Bucket=bucket, Key="p/books/7/book.json")
    assert head["Metadata"]["sha256"] == manifest["files"]["books/7/book.json"]["sha256"]
