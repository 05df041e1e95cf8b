"""Fetching objects of a copy into a folder: only what is not there yet, each checked by its sha256."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from gutengraph_core.errors import S3Error
from gutengraph_core.files import disk_errors, sha256
from gutengraph_core.s3.client import object_key
from gutengraph_core.s3.manifest import Entry

AT_ONCE = 8
"""Objects fetched side by side: most are small, and a request's wait is then longer than its bytes."""

_BLOCK = 1 << 20


def fetch(
    client: Any,
    bucket: str,
    prefix: str,
    files: Mapping[str, Entry],
    folder: Path,
    *,
    trust_size: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Make `folder` hold `files` under their keys; how many objects were fetched.

    A file that is there already is not fetched again: known by its sha256, or with `trust_size` by its size
    (for names that are never given twice). `progress` gets objects done and in all. Raises S3Error for an object
    that is missing or not what the manifest says, DataFolderError, and what boto3 raises; what was fetched by
    then stays.
    """
    wanted = [key for key, entry in files.items() if not _there(folder / key, entry, trust_size)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [pool.submit(_fetch_one, client, bucket, prefix, key, files[key], folder) for key in wanted]
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                job.result()
                if progress is not None:
                    progress(done, len(wanted))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return len(wanted)


def _there(path: Path, entry: Entry, trust_size: bool) -> bool:
    try:
        return path.stat().st_size == entry.size and (trust_size or sha256(path) == entry.sha256)
    except FileNotFoundError:
        return False


def _fetch_one(client: Any, bucket: str, prefix: str, key: str, entry: Entry, folder: Path) -> None:
    from botocore.exceptions import ClientError

    target = folder / key
    name = object_key(prefix, key)
    try:
        body = client.get_object(Bucket=bucket, Key=name)["Body"]
    except ClientError as error:
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") != 404:
            raise
        raise _not_whole(bucket, name, "is missing") from error
    digest = hashlib.sha256()
    with disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                for block in body.iter_chunks(_BLOCK):
                    digest.update(block)
                    file.write(block)
            if digest.hexdigest() != entry.sha256:
                raise _not_whole(bucket, name, "is not what its manifest says")
            os.chmod(temporary, 0o644)
            os.replace(temporary, target)
        finally:
            Path(temporary).unlink(missing_ok=True)


def _not_whole(bucket: str, name: str, what: str) -> S3Error:
    return S3Error(
        f"s3://{bucket}/{name} {what}.",
        remedy="A sync may be under way: try again. If it stays so, run `gutengraph s3 sync` where the library is.",
    )
