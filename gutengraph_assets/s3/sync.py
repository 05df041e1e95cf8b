"""Bring a bucket up to date with the library: what changed goes, the manifest last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gutengraph_assets.s3.bucket import Remote, list_sizes, read_remote
from gutengraph_assets.s3.lock import Held, locked
from gutengraph_assets.s3.plan import SyncPlan, manifest_of, plan_sync, turn
from gutengraph_assets.snapshot import Snapshot, taken
from gutengraph_core.errors import S3Error
from gutengraph_core.library import Library
from gutengraph_core.s3.client import code_of, object_key, s3_errors
from gutengraph_core.s3.manifest import MANIFEST

PART = 16 << 20
"""Larger files go in parts of this many bytes; 10,000 parts, S3's most, are then 160 GB."""

UPLOADS_AT_ONCE = 4
"""Most files are small: their wait is longer than their bytes."""

_SHA256 = "sha256"
_DELETES_AT_ONCE = 1_000  # objects that one delete request may name


@dataclass(frozen=True)
class SyncReport:
    """What a sync did, or would do if `dry_run`."""

    uploaded: int
    uploaded_bytes: int
    already_there: int
    """Of the planned uploads, those that a sync which died had brought there."""
    deleted: int
    unchanged: int
    books: int
    waiting: tuple[int, ...]
    table_version: int
    table_rows: int
    graph_version: int
    dry_run: bool
    plan: SyncPlan


def sync(
    library: Library,
    client: Any,
    bucket: str,
    prefix: str,
    *,
    prune: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SyncReport:
    """Make `bucket` under `prefix` hold the library's newest state, moving only what changed.

    Order: new objects, the table's version and the graph's pointer after what they refer to, the manifest,
    then the deletions; killed anywhere, the next sync completes it, and a reader who goes by the manifest is
    never led to what is not there. One sync at a time: in this data folder the second waits, elsewhere it is
    refused. `progress` gets objects done and in all. Raises S3Error if the bucket cannot be used or is being
    synced, if more than MOST_DELETED of the copy would go without `prune`, or if what arrived is not what was
    sent.
    """
    where = f"s3://{bucket}/{prefix}"
    there: frozenset[str] = frozenset()
    with taken(library) as snapshot, s3_errors(where):
        plan = _planned(snapshot, read_remote(client, bucket, prefix), where, allowed=prune or dry_run)
        if not dry_run and plan.changes:
            with locked(client, bucket, prefix) as lock:
                # Again: somebody may have synced between the look and the lock.
                remote = read_remote(client, bucket, prefix)
                plan = _planned(snapshot, remote, where, allowed=prune)
                carrier = _Carrier(snapshot, client, bucket, prefix, lock, progress)
                there = carrier.carry_out(plan, remote)
    return SyncReport(
        uploaded=len(plan.uploads) - len(there),
        uploaded_bytes=plan.upload_bytes - sum(snapshot.files[key].size for key in there),
        already_there=len(there),
        deleted=len(plan.deletes),
        unchanged=plan.unchanged,
        books=len(snapshot.books),
        waiting=snapshot.waiting,
        table_version=snapshot.table_version,
        table_rows=snapshot.table_rows,
        graph_version=snapshot.graph_version,
        dry_run=dry_run,
        plan=plan,
    )


def _planned(snapshot: Snapshot, remote: Remote, where: str, *, allowed: bool) -> SyncPlan:
    plan = plan_sync(snapshot, remote)
    if plan.lost and not allowed:
        raise S3Error(
            f"Syncing to {where} would remove {' and '.join(plan.lost)} from the copy.",
            remedy="Check GUTENGRAPH_HOME; if it is meant, run `gutengraph s3 sync --prune`.",
        )
    return plan


@dataclass
class _Carrier:
    """Carries out a plan while the lock is held."""

    snapshot: Snapshot
    client: Any
    bucket: str
    prefix: str
    lock: Held
    progress: Callable[[int, int], None] | None

    def carry_out(self, plan: SyncPlan, remote: Remote) -> frozenset[str]:
        """Returns the keys that need not have been sent."""
        self._abort_unfinished()
        there = self._already_there(plan, remote)
        total = len(plan.uploads) - len(there) + len(plan.deletes)
        done = self._upload([key for key in plan.uploads if key not in there], total)
        if plan.uploads:
            self._check_arrived()
        self._write_manifest(plan, remote.etag)
        self._delete(plan.deletes, done, total)
        return there

    def _abort_unfinished(self) -> None:
        """Parts of files that a killed sync left: nobody sees them, but they are paid for."""
        root = object_key(self.prefix, "")
        answer = self.client.list_multipart_uploads(Bucket=self.bucket, Prefix=root)
        for left in answer.get("Uploads", ()):
            self.client.abort_multipart_upload(Bucket=self.bucket, Key=left["Key"], UploadId=left["UploadId"])

    def _already_there(self, plan: SyncPlan, remote: Remote) -> frozenset[str]:
        """What a sync that died before its manifest had sent: objects carry the sha256 they were sent with."""
        alike = [key for key in plan.uploads if remote.sizes.get(key) == self.snapshot.files[key].size]
        with ThreadPoolExecutor(UPLOADS_AT_ONCE) as pool:
            sums = list(pool.map(self._sent_sha256, alike))
        return frozenset(
            key for key, sha256 in zip(alike, sums, strict=True) if sha256 == self.snapshot.files[key].sha256
        )

    def _sent_sha256(self, key: str) -> str:
        head = self.client.head_object(Bucket=self.bucket, Key=object_key(self.prefix, key))
        return str(head["Metadata"].get(_SHA256, ""))

    def _upload(self, keys: Sequence[str], total: int) -> int:
        done = 0
        for _, group in groupby(keys, key=lambda key: turn(key)[0]):
            with self._pool() as pool:
                jobs = [pool.submit(self._send, key) for key in group]
                for job in as_completed(jobs):
                    job.result()
                    done += 1
                    if self.progress is not None:
                        self.progress(done, total)
        return done

    @contextmanager
    def _pool(self) -> Iterator[ThreadPoolExecutor]:
        pool = ThreadPoolExecutor(UPLOADS_AT_ONCE)
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _send(self, key: str) -> None:
        from boto3.s3.transfer import TransferConfig

        self.lock.check()
        self.client.upload_file(
            str(self.snapshot.path(key)),
            self.bucket,
            object_key(self.prefix, key),
            ExtraArgs={"Metadata": {_SHA256: self.snapshot.files[key].sha256}},
            Config=TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, max_concurrency=2),
        )

    def _check_arrived(self) -> None:
        """Before the manifest vouches for them: everything is there, in its size."""
        sizes = list_sizes(self.client, self.bucket, self.prefix)
        for key, entry in self.snapshot.files.items():
            if sizes.get(key) != entry.size:
                name = object_key(self.prefix, key)
                raise S3Error(
                    f"s3://{self.bucket}/{name} should have {entry.size} bytes and has {sizes.get(key)}.",
                    remedy="Run the sync again; the copy's manifest was not touched.",
                )

    def _write_manifest(self, plan: SyncPlan, etag: str) -> None:
        from botocore.exceptions import ClientError

        self.lock.check()
        try:
            self.client.put_object(
                Bucket=self.bucket,
                Key=object_key(self.prefix, MANIFEST),
                Body=manifest_of(self.snapshot, plan.kept),
                ContentType="application/json",
                # The lock's own net: a sync that was taken for dead cannot undo another's work.
                **({"IfMatch": etag} if etag else {"IfNoneMatch": "*"}),
            )
        except ClientError as error:
            if code_of(error) not in ("PreconditionFailed", "412"):
                raise
            raise S3Error(
                f"s3://{self.bucket}/{object_key(self.prefix, MANIFEST)} was written by another sync meanwhile.",
                remedy="Run the sync again.",
            ) from error

    def _delete(self, keys: Sequence[str], done: int, total: int) -> None:
        for start in range(0, len(keys), _DELETES_AT_ONCE):
            self.lock.check()
            names = [{"Key": object_key(self.prefix, key)} for key in keys[start : start + _DELETES_AT_ONCE]]
            answer = self.client.delete_objects(Bucket=self.bucket, Delete={"Objects": names, "Quiet": True})
            if answer.get("Errors"):
                first = answer["Errors"][0]
                raise S3Error(
                    f"s3://{self.bucket}/{first['Key']} could not be removed "
                    f"({first.get('Message', first['Code'])}).",
                    remedy="The new state is complete; run the sync again to tidy up.",
                )
            if self.progress is not None:
                self.progress(done + start + len(names), total)
