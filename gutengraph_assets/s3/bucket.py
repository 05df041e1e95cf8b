"""What a bucket holds: the manifest's word, the listing, and whether the two agree."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from gutengraph_core.s3.client import object_key, s3_errors
from gutengraph_core.s3.manifest import Entry, Manifest, read_manifest, require_manifest

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Remote:
    """What a bucket holds under the prefix: the manifest's word, and the objects' real sizes."""

    files: dict[str, Entry]
    sizes: dict[str, int]
    books: tuple[int, ...] = ()
    table_rows: int = 0
    graph_version: int = 0
    etag: str = ""
    """The manifest's; '' if there is none."""


@dataclass(frozen=True)
class VerifyReport:
    """How a bucket differs from its manifest."""

    checked: int
    missing: tuple[str, ...] = field(default=())
    damaged: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        return not self.missing and not self.damaged


def read_remote(client: Any, bucket: str, prefix: str) -> Remote:
    """The manifest and the listing of a bucket. Raises S3Error if the manifest cannot be understood, and what
    boto3 raises.
    """
    manifest = read_manifest(client, bucket, prefix) or Manifest({})
    return Remote(
        files=manifest.files,
        sizes=list_sizes(client, bucket, prefix),
        books=manifest.books,
        table_rows=manifest.table_rows,
        graph_version=manifest.graph_version,
        etag=manifest.etag,
    )


def list_sizes(client: Any, bucket: str, prefix: str) -> dict[str, int]:
    """Bytes of each object under the prefix."""
    sizes: dict[str, int] = {}
    root = object_key(prefix, "")
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=root):
        for item in page.get("Contents", ()):
            sizes[item["Key"].removeprefix(root)] = int(item["Size"])
    return sizes


def verify(client: Any, bucket: str, prefix: str, *, deep: bool = False) -> VerifyReport:
    """Compare a bucket with its manifest: presence and sizes; with `deep`, every byte against its sha256.

    Raises S3Error if there is no manifest or the bucket cannot be read.
    """
    with s3_errors(f"s3://{bucket}/{prefix}"):
        files = require_manifest(client, bucket, prefix).files
        sizes = list_sizes(client, bucket, prefix)
        missing = [key for key in files if key not in sizes]
        damaged = [
            key
            for key, entry in files.items()
            if key in sizes
            and (
                sizes[key] != entry.size
                or (deep and _sha256(client, bucket, object_key(prefix, key)) != entry.sha256)
            )
        ]
    return VerifyReport(len(files), tuple(missing), tuple(damaged))


def _sha256(client: Any, bucket: str, key: str) -> str:
    digest = hashlib.sha256()
    for block in client.get_object(Bucket=bucket, Key=key)["Body"].iter_chunks(_BLOCK):
        digest.update(block)
    return digest.hexdigest()
