"""`manifest.json` of a copy: every object with its size and sha256, and what the copy is of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gutengraph_core.errors import S3Error
from gutengraph_core.library import now
from gutengraph_core.s3.client import code_of, object_key

MANIFEST = "manifest.json"
FORMAT = 1

OURS = ("books/", "lancedb/", "graph/", "overrides/")
"""What a copy holds; whatever else lies under the prefix is somebody else's."""


@dataclass(frozen=True)
class Entry:
    """One file: bytes and hex sha256."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a copy consists of; keys are paths under the data folder: `books/84/chunks.parquet`."""

    files: dict[str, Entry]
    books: tuple[int, ...] = ()
    table_version: int = 0  # 0: there is no table
    table_rows: int = 0
    graph_version: int = 0  # 0: nothing is published
    etag: str = ""
    """The object's own; '' if there is none yet."""

    @property
    def bytes(self) -> int:
        return sum(entry.size for entry in self.files.values())


def read_manifest(client: Any, bucket: str, prefix: str) -> Manifest | None:
    """The copy's manifest; None if there is none. Raises S3Error if it cannot be understood, and what boto3
    raises.
    """
    from botocore.exceptions import ClientError

    try:
        answer = client.get_object(Bucket=bucket, Key=object_key(prefix, MANIFEST))
    except ClientError as error:
        if code_of(error) in ("NoSuchKey", "404"):
            return None
        raise
    raw = answer["Body"].read()
    try:
        document = json.loads(raw)
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']}, not {FORMAT}")
        files = {str(key): Entry(**entry) for key, entry in document["files"].items()}
        for key in files:
            _check_key(key)
        return Manifest(
            files=files,
            books=tuple(int(book) for book in document["books"]),
            table_version=int(document["table"]["version"]),
            table_rows=int(document["table"]["rows"]),
            graph_version=int(document["graph"]["version"]),
            etag=str(answer["ETag"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise S3Error(
            f"s3://{bucket}/{object_key(prefix, MANIFEST)} is no manifest of GutenGraph's ({error}).",
            remedy="Choose another prefix in GUTENGRAPH_S3_URI, or remove that object.",
        ) from error


def require_manifest(client: Any, bucket: str, prefix: str) -> Manifest:
    """`read_manifest`, or S3Error with what to do."""
    manifest = read_manifest(client, bucket, prefix)
    if manifest is None:
        raise S3Error(
            f"s3://{bucket}/{prefix} holds no manifest, hence no copy of a library.",
            remedy="Run `gutengraph s3 sync` where the library is, or correct GUTENGRAPH_S3_URI.",
        )
    return manifest


def _check_key(key: str) -> None:
    """A manifest comes from outside: no key of it may lead out of the data folder."""
    if not key.startswith(OURS) or any(part in ("", ".", "..") for part in key.split("/")):
        raise ValueError(f"the key {key!r}")


def manifest_bytes(
    files: Mapping[str, Entry], *, table_version: int, table_rows: int, graph_version: int
) -> bytes:
    """The manifest as JSON."""
    held = {int(key.split("/")[1]) for key in files if key.startswith("books/")}
    document = {
        "format": FORMAT,
        "written_at": now(),
        "books": sorted(held),
        "table": {"version": table_version, "rows": table_rows},
        "graph": {"version": graph_version},
        "files": {key: asdict(files[key]) for key in sorted(files)},
    }
    return json.dumps(document, indent=1).encode()
