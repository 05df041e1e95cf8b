"""`gutengraph s3 sync` through Dagster, on a real S3 server."""

from __future__ import annotations

import dagster as dg
import pytest
from command_line import gutengraph
from seaweed import KEY, SECRET, Seaweed

from gutengraph_core.files import write_text
from gutengraph_core.library import Library


@pytest.fixture
def bucket(seaweed: Seaweed, bucket: str, library: Library, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket that the settings name, and a library with one book."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("GUTENGRAPH_S3_URI", f"s3://{bucket}/copy")
    monkeypatch.setenv("GUTENGRAPH_S3_ENDPOINT", seaweed.endpoint)
    monkeypatch.setenv("GUTENGRAPH_STEP_RETRIES", "0")
    monkeypatch.setenv("DAGSTER_HOME", "")
    library.update(7, title="The Heron", status="registered")
    write_text(library.path(7, "body.txt"), "Captain Rook walked down to the harbour.")
    return bucket


def stored(seaweed: Seaweed, bucket: str) -> list[str]:
    answer = seaweed.client().list_objects_v2(Bucket=bucket)
    return sorted(item["Key"] for item in answer.get("Contents", ()))


def test_sync(
    seaweed: Seaweed,
    bucket: str,
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    planned = gutengraph(monkeypatch, capfd, "s3", "sync", "--dry-run")
    assert planned.code == 0, planned.err
    assert planned.out.splitlines() == ["send    books/7/body.txt", "send    books/7/book.json"]
    assert stored(seaweed, bucket) == []

    sent = gutengraph(monkeypatch, capfd, "s3", "sync")
    assert sent.code == 0, sent.err
    assert "2 objects" in sent.err
    assert sent.out == ""
    assert stored(seaweed, bucket) == [
        "copy/books/7/body.txt",
        "copy/books/7/book.json",
        "copy/manifest.json",
    ]
    again = gutengraph(monkeypatch, capfd, "s3", "sync")
    assert "unchanged" in again.err

    with dg.DagsterInstance.from_config(str(library.dagster_dir)) as instance:
        newest = instance.get_runs()[0]
        assert (newest.job_name, newest.status) == ("sync_to_s3", dg.DagsterRunStatus.SUCCESS)
        (check,) = instance.all_logs(newest.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
        evaluation = check.get_dagster_event().asset_check_evaluation_data
        assert (evaluation.check_name, evaluation.passed) == ("sync_verified", True)

    # The wrong data folder: everything would go.
    monkeypatch.setenv("GUTENGRAPH_HOME", str(library.home / "another"))
    refused = gutengraph(monkeypatch, capfd, "s3", "sync")
    assert refused.code == 1
    assert "--prune" in refused.err
    assert len(stored(seaweed, bucket)) == 3
    planned = gutengraph(monkeypatch, capfd, "s3", "sync", "--dry-run")
    assert "remove  books/7/body.txt" in planned.out
    assert "--prune allows it" in planned.err
    pruned = gutengraph(monkeypatch, capfd, "s3", "sync", "--prune")
    assert pruned.code == 0, pruned.err
    assert stored(seaweed, bucket) == ["copy/manifest.json"]


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("GUTENGRAPH_S3_URI", "", "s3://<bucket>"),
        ("GUTENGRAPH_S3_URI", "s3://nosuchbucket/x", "nosuchbucket"),
        ("GUTENGRAPH_S3_ENDPOINT", "no address", "GUTENGRAPH_S3_ENDPOINT"),
    ],
)
def test_one_clear_error(
    bucket: str,
    variable: str,
    value: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(variable, value)
    seen = gutengraph(monkeypatch, capfd, "s3", "sync")
    assert seen.code == 1
    lines = [line for line in seen.err.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1, seen.err
    assert says in lines[0]
    assert "Traceback" not in seen.err
