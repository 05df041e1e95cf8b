"""Syncing under faults on a real S3 server: killed outright, two at once, a server that is slow, silent or gone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from s3_library import BOOKS, between
from seaweed import KEY, SECRET, Seaweed, running_seaweed
from waiting import until, within

from gutengraph_assets.s3 import lock
from gutengraph_assets.s3.bucket import verify
from gutengraph_assets.s3.lock import LOCK, locked
from gutengraph_assets.s3.sync import sync
from gutengraph_core.errors import S3Error
from gutengraph_core.files import write_text
from gutengraph_core.library import Library

TESTS = Path(__file__).resolve().parent.parent


def through(endpoint: str, *, read_timeout: float = 20, attempts: int = 1) -> Any:
    """A client that gives up soon."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
        config=Config(connect_timeout=2, read_timeout=read_timeout, retries={"total_max_attempts": attempts}),
    )


def keys(s3: Any, bucket: str) -> set[str]:
    return {item["Key"] for item in s3.list_objects_v2(Bucket=bucket).get("Contents", ())}


def syncing(seaweed: Seaweed, home: Path, bucket: str, *, stop_at: int) -> subprocess.Popen[str]:
    """A process that syncs, and stands still, saying so, after `stop_at` objects."""
    code = f"""
        import sys, time
        from pathlib import Path
        from seaweed import Seaweed
        from gutengraph_assets.s3.sync import sync
        from gutengraph_core.library import Library
        def progress(done, total):
            if done == {stop_at}:
                print("there", flush=True)
                time.sleep(300)
        s3 = Seaweed({seaweed.endpoint!r}, None).client()
        sync(Library(Path({str(home)!r})), s3, {bucket!r}, "p", progress=progress)
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"},
    )


def test_killed_outright_and_resumed(
    seaweed: Seaweed, filled: Library, s3: Any, bucket: str, tmp_path: Path
) -> None:
    process = syncing(seaweed, filled.home, bucket, stop_at=20)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        # Meanwhile somebody else, with a data folder of his own, is told who is at work.
        other = Library(tmp_path / "other")
        shutil.copytree(filled.home, other.home, ignore=shutil.ignore_patterns("locks", ".snapshot"))
        with pytest.raises(
            S3Error, match=rf"Another sync holds .*process {process.pid} on .*Wait for it"
        ) as caught:
            sync(other, s3, bucket, "p")
        assert caught.value.retry
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert "p/manifest.json" not in keys(s3, bucket)
    assert f"p/{LOCK}" in keys(s3, bucket)
    # Its lock is a dead process's: it is taken over at once, and what had arrived is not sent again.
    report = sync(filled, s3, bucket, "p")
    assert report.already_there >= 20
    assert report.uploaded + report.already_there == len(report.plan.uploads)
    assert verify(s3, bucket, "p", deep=True).ok
    assert f"p/{LOCK}" not in keys(s3, bucket)
    assert not (filled.home / ".snapshot").exists()


def test_of_two_syncs_of_one_folder_the_second_waits(
    seaweed: Seaweed, filled: Library, s3: Any, bucket: str
) -> None:
    code = f"""
        from pathlib import Path
        from seaweed import Seaweed
        from gutengraph_assets.s3.sync import sync
        from gutengraph_core.library import Library
        report = sync(Library(Path({str(filled.home)!r})), Seaweed({seaweed.endpoint!r}, None).client(), {bucket!r}, "p")
        print(report.uploaded, report.deleted)
    """
    both = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"},
        )
        for _ in range(2)
    ]
    counts = sorted(tuple(map(int, process.communicate(timeout=120)[0].split())) for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert counts[0] == (0, 0)
    assert counts[1][0] > 30
    assert verify(s3, bucket, "p", deep=True).ok


def test_a_lock_whose_lease_is_over_is_taken_over(
    filled: Library, s3: Any, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = {"host": "another-machine", "pid": 1, "started": 0.0, "since": "noon"}
    s3.put_object(Bucket=bucket, Key=f"p/{LOCK}", Body=json.dumps(elsewhere).encode())
    with pytest.raises(S3Error, match="process 1 on another-machine, since noon"):
        sync(filled, s3, bucket, "p")
    time.sleep(2.1)  # the store counts whole seconds
    with ExitStack() as stack:
        with monkeypatch.context() as patch:
            patch.setattr(lock, "LEASE_S", 1.0)
            held = stack.enter_context(locked(s3, bucket, "p", beat_s=0.2))
        # The lease is the usual one again: however slow the machine is, it has not run out.
        first = held.etag
        until(lambda: held.etag != first, "it renews itself")
        held.check()
    assert keys(s3, bucket) == set()


def test_who_lost_the_lock_writes_no_manifest(filled: Library, s3: Any, bucket: str) -> None:
    honest = lock._put
    tried = 0

    def renewing(*args: Any, **condition: str) -> str:
        nonlocal tried
        try:
            return honest(*args, **condition)
        finally:
            tried += 1

    def steal(done: int, total: int) -> None:
        if done == 5:
            s3.put_object(Bucket=bucket, Key=f"p/{LOCK}", Body=b'{"host": "thief"}')
            before = tried
            # One that was under way may still have been before the theft.
            until(lambda: tried > before + 1, "it tries to renew its lock")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lock, "_put", renewing)
        patch.setattr("gutengraph_assets.s3.sync.locked", lambda *args: locked(*args, beat_s=0.01))
        with pytest.raises(S3Error, match="was lost to another sync"):
            sync(filled, s3, bucket, "p", progress=steal)
    assert "p/manifest.json" not in keys(s3, bucket)
    # The other's lock is not removed.
    assert s3.get_object(Bucket=bucket, Key=f"p/{LOCK}")["Body"].read() == b'{"host": "thief"}'


def test_a_manifest_that_another_sync_wrote_is_not_overwritten(filled: Library, s3: Any, bucket: str) -> None:
    sync(filled, s3, bucket, "p")
    before = s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read()
    write_text(filled.path(7, "ledger.jsonl"), "changed\n")

    def meddle(done: int, total: int) -> None:
        s3.put_object(Bucket=bucket, Key="p/manifest.json", Body=before + b"\n")

    with pytest.raises(S3Error, match=r"manifest.json was written by another sync meanwhile"):
        sync(filled, s3, bucket, "p", progress=meddle)
    assert s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read() == before + b"\n"
    assert sync(filled, s3, bucket, "p").plan.manifest_changes


def test_a_store_without_conditional_writes_is_refused(filled: Library, s3: Any, bucket: str) -> None:
    answer = {"Error": {"Code": "NotImplemented", "Message": "A header you provided is not implemented"}}

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise ClientError(answer, "PutObject")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3, "put_object", refuse)
        with pytest.raises(S3Error, match="conditional writes"):
            sync(filled, s3, bucket, "p")
    assert keys(s3, bucket) == set()


def test_a_slow_server_is_waited_for(seaweed: Seaweed, filled: Library, s3: Any, bucket: str) -> None:
    with between(seaweed.endpoint, delay_s=0.03) as address:
        report = sync(filled, through(address), bucket, "p")
    assert report.uploaded > 30
    assert verify(s3, bucket, "p", deep=True).ok


def test_a_server_that_falls_silent_is_given_up(
    seaweed: Seaweed, filled: Library, s3: Any, bucket: str
) -> None:
    sync(filled, s3, bucket, "p")
    before = s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read()
    for book in BOOKS:
        write_text(filled.path(book, "ledger.jsonl"), f"new {book}\n")
    with (
        between(seaweed.endpoint, silent_after=2) as address,
        pytest.raises(S3Error, match=r"cannot be used.*it goes on where it stopped"),
    ):
        within(lambda: sync(filled, through(address, read_timeout=1), bucket, "p"), "giving up")
    assert s3.get_object(Bucket=bucket, Key="p/manifest.json")["Body"].read() == before
    assert sync(filled, s3, bucket, "p").table_rows == 18
    assert verify(s3, bucket, "p", deep=True).ok


def test_a_server_that_is_lost_half_way(filled: Library, tmp_path: Path) -> None:
    folder = tmp_path / "weed"
    folder.mkdir()
    with running_seaweed(folder) as doomed:
        doomed.client().create_bucket(Bucket="books")

        def kill(done: int, total: int) -> None:
            if done == 10:
                doomed.process.kill()

        with pytest.raises(S3Error, match="Check the network"):
            sync(filled, through(doomed.endpoint, read_timeout=2), "books", "p", progress=kill)
    assert not (filled.home / ".snapshot").exists()


def test_a_refusal_in_the_middle(filled: Library, s3: Any, bucket: str) -> None:
    honest = s3.upload_file

    def refusing(path: str, bucket: str, key: str, **kwargs: Any) -> None:
        if key.endswith("books/9/body.txt"):
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutObject")
        honest(path, bucket, key, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3, "upload_file", refusing)
        with pytest.raises(S3Error, match=r"AccessDenied.*Use credentials that may"):
            sync(filled, s3, bucket, "p")
    assert not {"p/manifest.json", f"p/{LOCK}"} & keys(s3, bucket)
    sync(filled, s3, bucket, "p")
    assert verify(s3, bucket, "p", deep=True).ok
