"""What a sync plans: pure arithmetic on what is here and what is there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gutengraph_assets.s3.bucket import Remote
from gutengraph_assets.s3.plan import SyncPlan, manifest_of, plan_sync
from gutengraph_assets.snapshot import Snapshot
from gutengraph_core.errors import MissingExtra, S3Error, SettingsError
from gutengraph_core.s3.client import make_client, parse_uri, s3_errors
from gutengraph_core.s3.manifest import MANIFEST, Entry


def entries(*keys: str, mark: str = "a") -> dict[str, Entry]:
    return {key: Entry(len(key), mark) for key in keys}


def here(
    files: dict[str, Entry], *, rows: int = 100, graph: int = 3, waiting: tuple[int, ...] = ()
) -> Snapshot:
    books = {int(key.split("/")[1]) for key in files if key.startswith("books/")}
    return Snapshot(Path("/nowhere"), files, tuple(sorted(books)), waiting, 9, rows, graph)


def there(
    files: dict[str, Entry], *, rows: int = 100, graph: int = 3, extra: dict[str, int] | None = None
) -> Remote:
    sizes = {key: entry.size for key, entry in files.items()} | {MANIFEST: 1} | (extra or {})
    books = {int(key.split("/")[1]) for key in files if key.startswith("books/")}
    return Remote(files, sizes, tuple(sorted(books)), rows, graph)


LIBRARY = entries(
    *(f"books/{book}/{name}" for book in range(1, 11) for name in ("book.json", "chunks.parquet")),
    "lancedb/chunks.lance/data/x.lance",
    "lancedb/chunks.lance/_versions/9.manifest",
    "graph/v3/graph.kuzu",
    "graph/CURRENT",
)


def without(*prefixes: str) -> dict[str, Entry]:
    return {key: entry for key, entry in LIBRARY.items() if not key.startswith(prefixes)}


def test_everything_goes_to_an_empty_bucket_and_pointers_last() -> None:
    plan = plan_sync(here(LIBRARY), Remote({}, {}))
    assert set(plan.uploads) == set(LIBRARY)
    assert plan.uploads[-2:] == ("lancedb/chunks.lance/_versions/9.manifest", "graph/CURRENT")
    assert plan.upload_bytes == sum(entry.size for entry in LIBRARY.values())
    assert (plan.deletes, plan.lost, plan.unchanged) == ((), (), 0)


def test_nothing_goes_where_nothing_changed() -> None:
    plan = plan_sync(here(LIBRARY), there(LIBRARY))
    assert not plan.changes
    assert plan.unchanged == len(LIBRARY)


def test_only_what_changed_goes() -> None:
    changed = {**LIBRARY, **entries("books/4/chunks.parquet", mark="b")}
    assert plan_sync(here(changed), there(LIBRARY)).uploads == ("books/4/chunks.parquet",)


def test_an_object_that_is_gone_or_cut_goes_again() -> None:
    remote = there(LIBRARY)
    del remote.sizes["books/4/book.json"]
    remote.sizes["books/5/book.json"] -= 1
    assert plan_sync(here(LIBRARY), remote).uploads == ("books/4/book.json", "books/5/book.json")


def test_leftovers_of_ours_go_and_what_is_not_ours_stays() -> None:
    extra = {"books/3/half.parquet": 7, "holiday.jpg": 9, "lancedb/chunks.lance/data/old.lance": 5}
    plan = plan_sync(here(LIBRARY), there(LIBRARY, extra=extra))
    assert set(plan.deletes) == {"books/3/half.parquet", "lancedb/chunks.lance/data/old.lance"}
    assert plan.lost == ()


def test_an_old_version_of_the_table_loses_its_manifest_before_its_data() -> None:
    extra = {"lancedb/chunks.lance/_versions/8.manifest": 5, "lancedb/chunks.lance/data/old.lance": 5}
    plan = plan_sync(here(LIBRARY), there(LIBRARY, extra=extra))
    assert plan.deletes[0] == "lancedb/chunks.lance/_versions/8.manifest"


@pytest.mark.parametrize(
    ("local", "lost"),
    [
        (here(without("books/1/", "books/2/")), ()),
        (here(without("books/1/", "books/2/", "books/3/")), ("3 of 10 books",)),
        (here(LIBRARY, rows=80), ()),
        (here(LIBRARY, rows=79), ("21 of 100 passages",)),
        (here(without("graph/"), graph=0), ("the graph",)),
        (here({}, rows=0, graph=0), ("10 of 10 books", "100 of 100 passages", "the graph")),
        (
            here({k: e for k, e in LIBRARY.items() if not k.endswith("chunks.parquet")}),
            ("10 of 20 files of books",),
        ),
    ],
    ids=["two books", "three books", "a fifth of the rows", "more", "graph", "another folder", "files"],
)
def test_losing_more_than_a_fifth_is_named(local: Snapshot, lost: tuple[str, ...]) -> None:
    assert plan_sync(local, there(LIBRARY)).lost == lost


def test_a_tidied_table_and_a_rebuilt_graph_are_no_loss() -> None:
    tidied = {
        **without("lancedb/", "graph/"),
        **entries("lancedb/chunks.lance/data/y.lance", "graph/v4/graph.kuzu"),
    }
    plan = plan_sync(here(tidied, graph=4), there(LIBRARY))
    assert plan.lost == ()
    assert set(plan.deletes) == {key for key in LIBRARY if key.startswith(("lancedb/", "graph/"))}


def test_a_book_under_construction_is_left_as_the_copy_has_it() -> None:
    local = here(without("books/2/"), waiting=(2,))
    plan = plan_sync(local, there(LIBRARY))
    assert (plan.uploads, plan.deletes, plan.lost, plan.changes) == ((), (), (), False)
    assert set(plan.kept) == {"books/2/book.json", "books/2/chunks.parquet"}
    manifest = json.loads(manifest_of(local, plan.kept))
    assert manifest["books"] == list(range(1, 11))
    assert set(manifest["files"]) == set(LIBRARY)
    assert manifest["table"] == {"version": 9, "rows": 100}


def test_plans_are_values() -> None:
    assert isinstance(plan_sync(here(LIBRARY), there(LIBRARY)), SyncPlan)
    assert plan_sync(here(LIBRARY), there(LIBRARY)) == plan_sync(here(LIBRARY), there(LIBRARY))


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("s3://books", ("books", "")),
        ("s3://books/", ("books", "")),
        ("s3://books/my/library", ("books", "my/library")),
        ("s3://books/my/library/", ("books", "my/library")),
    ],
)
def test_uris(uri: str, parts: tuple[str, str]) -> None:
    assert parse_uri(uri) == parts


@pytest.mark.parametrize("uri", [None, "", "books", "s3://", "https://x/y", "s3:///key"])
def test_what_is_no_uri(uri: str | None) -> None:
    with pytest.raises(SettingsError, match="s3://<bucket>/<prefix>"):
        parse_uri(uri)


def test_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert make_client("http://127.0.0.1:9").meta.endpoint_url == "http://127.0.0.1:9"
    with pytest.raises(SettingsError, match="GUTENGRAPH_S3_ENDPOINT=nowhere is no address"):
        make_client("nowhere")
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(MissingExtra, match=r"gutengraph\[s3\]"):
        make_client()


def test_no_credentials() -> None:
    from botocore.exceptions import NoCredentialsError

    with pytest.raises(S3Error, match="AWS_ACCESS_KEY_ID"), s3_errors("s3://books"):
        raise NoCredentialsError
