"""A library that lies in a bucket, asked from here: passages from the table there, the graph by manifest."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gutengraph_core.chunk_store import TABLE, checked_identity, store_failures
from gutengraph_core.errors import NotBuilt
from gutengraph_core.files import write_text
from gutengraph_core.library import Library
from gutengraph_core.s3.client import make_client, object_key, parse_uri, s3_errors
from gutengraph_core.s3.fetch import fetch
from gutengraph_core.s3.manifest import Manifest, require_manifest
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable

if TYPE_CHECKING:
    from lancedb.table import LanceTable

    from gutengraph_core.embedding.protocol import EmbeddingIdentity

REFRESH_S = 60.0
"""The manifest is looked at again after this: a sync is seen a minute later, and a question costs no request."""

INDEX_SHARE = 0.9
"""Of the cache for a table that is read in the bucket: the rest is for what is known of its files."""

LEAST_FILES = 64 << 20
"""Bytes of books' files (texts, ledgers, arcs) that are kept here however small the cache is: what one page of
several books shows."""

_CURRENT = "graph/CURRENT"
_RECORD = "book.json"


class BucketLibrary(Library):
    """The cache as a library: a book's file is fetched when its path is asked for."""

    def __init__(self, home: Path, bring: Callable[[str], None]) -> None:
        super().__init__(home)
        self._bring = bring

    def path(self, book: int, name: str) -> Path:
        """As everywhere; what the copy has is there when this returns. Raises S3Error, DataFolderError."""
        if name != _RECORD:  # the records of all books came with the manifest
            self._bring(f"books/{book}/{name}")
        return super().path(book, name)


class RemoteLibrary:
    """The copy of GUTENGRAPH_S3_URI. Cheap to construct; asks the bucket when it is first used.

    A local cache under the data folder holds the books' records and the published graph, the other files of books
    that were asked for, and the table if it is no larger than `s3_cache_mb`. A larger table is read in the bucket itself by LanceDB, whose cache for indices
    in memory is then bounded by the same number.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises SettingsError without a bucket."""
        self._bucket, self._prefix = parse_uri(settings.s3_uri)
        self._endpoint = settings.s3_endpoint
        self._limit = settings.s3_cache_mb << 20
        name = hashlib.sha256(f"{self._endpoint}\n{settings.s3_uri}".encode()).hexdigest()[:16]
        self._library = BucketLibrary(settings.home / "cache" / "s3" / name, self._bring)
        self._lock = threading.RLock()
        self._client: Any = None
        self._manifest: Manifest | None = None
        self._looked = 0.0
        self._session: Any = None
        self._table: tuple[str, ChunkTable] | None = None
        """The table, and the etag of the manifest it was opened by."""

    @property
    def library(self) -> Library:
        """Records and graph as the newest manifest has them. Raises S3Error, MissingExtra, DataFolderError."""
        self._refresh()
        return self._library

    def table(self, identity: EmbeddingIdentity) -> ChunkTable:
        """The passages; raises as `ChunkTable.open` does, and S3Error."""
        with self._lock:
            manifest = self._refresh()
            if not manifest.table_version:
                raise NotBuilt(
                    "No book has been embedded yet.", remedy="Build and sync one where the library is."
                )
            if self._table is None or self._table[0] != manifest.etag or self._table[1].identity != identity:
                fits = self._fits(manifest)
                opened = ChunkTable.open(self._library, identity) if fits else self._in_bucket(identity)
                self._table = (manifest.etag, opened)
            return self._table[1]

    def _refresh(self) -> Manifest:
        with self._lock:
            if self._manifest is not None and time.monotonic() - self._looked < REFRESH_S:
                return self._manifest
            if self._client is None:
                self._client = make_client(self._endpoint)
            with s3_errors(f"s3://{self._bucket}/{self._prefix}"):
                manifest = require_manifest(self._client, self._bucket, self._prefix)
                if self._manifest is None or manifest.etag != self._manifest.etag:
                    with self._library.lock("fetch"):
                        self._take(manifest)
            self._manifest = manifest
            self._looked = time.monotonic()
            return manifest

    def _take(self, manifest: Manifest) -> None:
        """Bring the cache to the manifest's state: what is referred to before what refers to it, then the rest
        goes.
        """
        kept = {key for key in manifest.files if key.startswith("graph/") or key.endswith(f"/{_RECORD}")}
        if self._fits(manifest):
            kept |= {key for key in manifest.files if key.startswith("lancedb/")}
        kept.discard(_CURRENT)
        last = {key for key in kept if "/_versions/" in key}
        for part in (kept - last, last):
            files = {key: manifest.files[key] for key in sorted(part)}
            # The table's data and index files are never written twice under a name.
            lance = {k: e for k, e in files.items() if k.startswith("lancedb/") and k not in last}
            rest = {key: entry for key, entry in files.items() if key not in lance}
            fetch(self._client, self._bucket, self._prefix, lance, self._library.home, trust_size=True)
            fetch(self._client, self._bucket, self._prefix, rest, self._library.home)
        if manifest.graph_version:
            write_text(self._library.home / _CURRENT, f"v{manifest.graph_version}\n")
            kept.add(_CURRENT)
        # Other files of books that are here already may stay: each is compared when it is asked for.
        _tidy(self._library.home, kept | {key for key in manifest.files if key.startswith("books/")})

    def _bring(self, key: str) -> None:
        """One file of a book into the cache, if the copy has it."""
        manifest = self._refresh()
        entry = manifest.files.get(key)
        if entry is None:
            return
        with self._lock, s3_errors(f"s3://{self._bucket}/{self._prefix}"):
            home = self._library.home
            fetched = fetch(self._client, self._bucket, self._prefix, {key: entry}, home)
            os.utime(home / key)
            if fetched:
                _trim(home / "books", max(self._limit, LEAST_FILES), spared=home / key)

    def _fits(self, manifest: Manifest) -> bool:
        size = sum(entry.size for key, entry in manifest.files.items() if key.startswith("lancedb/"))
        return size <= self._limit

    def _in_bucket(self, identity: EmbeddingIdentity) -> ChunkTable:
        import lancedb

        if self._session is None:
            self._session = lancedb.Session(
                index_cache_size_bytes=int(self._limit * INDEX_SHARE),
                metadata_cache_size_bytes=int(self._limit * (1 - INDEX_SHARE)),
            )
        with store_failures("opened"):
            table: LanceTable = lancedb.connect(
                f"s3://{self._bucket}/{object_key(self._prefix, 'lancedb')}",
                storage_options=storage_options(self._endpoint, self._client.meta.region_name),
                session=self._session,
                read_consistency_interval=timedelta(seconds=REFRESH_S),
            ).open_table(TABLE)  # type: ignore[assignment]  # of a bucket it is this class
        return ChunkTable(table, self._library, checked_identity(table.schema, identity))


def storage_options(endpoint: str | None, region: str | None) -> dict[str, str]:
    """What LanceDB must be told of the bucket; credentials it finds by AWS's usual chain itself."""
    options = {"aws_region": region or "us-east-1"}
    if endpoint:
        options |= {"aws_endpoint": endpoint, "allow_http": str(endpoint.startswith("http://")).lower()}
    return options


def _trim(folder: Path, limit: int, *, spared: Path) -> None:
    """Remove the files that were asked for longest ago until those left have `limit` bytes at most."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != _RECORD and path != spared]
    held = {path: path.stat() for path in files}
    size = spared.stat().st_size + sum(stat.st_size for stat in held.values())
    for path in sorted(held, key=lambda path: held[path].st_mtime_ns):
        if size <= limit:
            return
        path.unlink(missing_ok=True)
        size -= held[path].st_size


def _tidy(home: Path, kept: set[str]) -> None:
    """Remove what the manifest no longer names. A reader that has it open keeps it until it closes it."""
    for path in home.rglob("*"):
        key = path.relative_to(home).as_posix()
        if path.is_file() and key not in kept and not key.startswith("locks/"):
            path.unlink(missing_ok=True)
    for folder in (home / "graph", home / "books"):
        for child in folder.iterdir() if folder.is_dir() else ():
            if child.is_dir() and not any(path.is_file() for path in child.rglob("*")):
                shutil.rmtree(child)
