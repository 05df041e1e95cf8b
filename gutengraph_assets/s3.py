"""Bring a bucket up to date with the library: what changed goes, the manifest last."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from gutengraph_assets.snapshot import Entry, Snapshot, taken
from gutengraph_core.errors import MissingExtra, S3Error, SettingsError
from gutengraph_core.library import Library, now

MANIFEST = "manifest.json"
FORMAT = 1

MOST_DELETED = 0.2
"""A sync that would remove more than this share of the copy is refused without `prune`: it is likelier that
the data folder is the wrong one than that a fifth of a library was thrown away."""

_OURS = ("books/", "lancedb/", "graph/")
_URI = re.compile(r"s3://([^/]+)(?:/(.*?))?/?")
_AT_ONCE = 1_000  # objects that one delete request may name
_MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Remote:
    """What a bucket holds under the prefix: the manifest's word, and the objects' real sizes."""

    files: dict[str, Entry]
    sizes: dict[str, int]
    books: tuple[int, ...] = ()
    table_rows: int = 0
    graph_version: int = 0


@dataclass(frozen=True)
class SyncPlan:
    """Keys in the order in which they go; `kept` belong to books that are being built just now."""

    uploads: tuple[str, ...]
    deletes: tuple[str, ...]
    unchanged: int
    kept: dict[str, Entry]
    upload_bytes: int
    lost: tuple[str, ...]
    """What the copy would lose, in words, if it is more than MOST_DELETED of it."""
    manifest_changes: bool

    @property
    def changes(self) -> bool:
        return bool(self.uploads or self.deletes or self.manifest_changes)


@dataclass(frozen=True)
class SyncReport:
    """What a sync did, or would do if `dry_run`."""

    uploaded: int
    uploaded_bytes: int
    deleted: int
    unchanged: int
    books: int
    waiting: tuple[int, ...]
    table_version: int
    table_rows: int
    graph_version: int
    dry_run: bool
    plan: SyncPlan


@dataclass(frozen=True)
class VerifyReport:
    """How a bucket differs from its manifest."""

    checked: int
    missing: tuple[str, ...] = field(default=())
    damaged: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        return not self.missing and not self.damaged


def parse_uri(uri: str | None) -> tuple[str, str]:
    """`s3://bucket/prefix` -> ('bucket', 'prefix'). Raises SettingsError."""
    found = _URI.fullmatch(uri or "")
    if found is None:
        raise SettingsError(
            f"GUTENGRAPH_S3_URI={uri or ''} names no bucket.", remedy="Set it to s3://<bucket>/<prefix>."
        )
    return found[1], found[2] or ""


def make_client(endpoint: str | None = None) -> Any:
    """A boto3 client with the credentials of the environment. Raises MissingExtra."""
    try:
        import boto3
    except ImportError:
        raise MissingExtra("S3 needs boto3.", remedy="Run `pip install 'gutengraph[s3]'`.") from None
    try:
        with s3_errors(endpoint or "S3"):
            return boto3.client("s3", endpoint_url=endpoint)
    except ValueError as error:
        raise SettingsError(
            f"GUTENGRAPH_S3_ENDPOINT={endpoint} is no address ({error}).",
            remedy="Set it to http(s)://host:port, or unset it for Amazon's own.",
        ) from error


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
    never led to what is not there. `progress` gets objects done and in all. Raises S3Error if the bucket
    cannot be used, if more than MOST_DELETED of the copy would go without `prune`, or if what arrived is not
    what was sent.
    """
    where = f"s3://{bucket}/{prefix}"
    with taken(library) as snapshot, s3_errors(where):
        remote = read_remote(client, bucket, prefix)
        plan = plan_sync(snapshot, remote)
        if plan.lost and not prune and not dry_run:
            raise S3Error(
                f"Syncing to {where} would remove {' and '.join(plan.lost)} from the copy.",
                remedy="Check GUTENGRAPH_HOME; if it is meant, run `gutengraph s3 sync --prune`.",
            )
        if not dry_run and plan.changes:
            _carry_out(snapshot, plan, client, bucket, prefix, progress)
    return SyncReport(
        uploaded=len(plan.uploads),
        uploaded_bytes=plan.upload_bytes,
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


def plan_sync(local: Snapshot, remote: Remote) -> SyncPlan:
    """What must go up and what must go, from what is here and what is there."""
    waiting = tuple(f"books/{book}/" for book in local.waiting)
    kept = {key: entry for key, entry in remote.files.items() if waiting and key.startswith(waiting)}
    uploads = [
        key
        for key, entry in local.files.items()
        if remote.files.get(key) != entry or remote.sizes.get(key) != entry.size
    ]
    # What a sync that died left behind goes too; what is not ours under the prefix stays.
    deletes = [
        key
        for key in remote.sizes
        if key.startswith(_OURS) and key not in local.files and not (waiting and key.startswith(waiting))
    ]
    return SyncPlan(
        uploads=tuple(sorted(uploads, key=_turn)),
        deletes=tuple(sorted(deletes, key=_turn, reverse=True)),
        unchanged=len(local.files) - len(uploads),
        kept=kept,
        upload_bytes=sum(local.files[key].size for key in uploads),
        lost=tuple(_losses(local, remote)),
        manifest_changes=MANIFEST not in remote.sizes or remote.files != {**local.files, **kept},
    )


def read_remote(client: Any, bucket: str, prefix: str) -> Remote:
    """The manifest and the listing of a bucket. Raises S3Error if the manifest cannot be understood."""
    sizes: dict[str, int] = {}
    root = _key(prefix, "")
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=root):
        for item in page.get("Contents", ()):
            sizes[item["Key"].removeprefix(root)] = int(item["Size"])
    if MANIFEST not in sizes:
        return Remote({}, sizes)
    raw = client.get_object(Bucket=bucket, Key=_key(prefix, MANIFEST))["Body"].read()
    try:
        document = json.loads(raw)
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']}, not {FORMAT}")
        return Remote(
            files={key: Entry(**entry) for key, entry in document["files"].items()},
            sizes=sizes,
            books=tuple(document["books"]),
            table_rows=document["table"]["rows"],
            graph_version=document["graph"]["version"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise S3Error(
            f"s3://{bucket}/{_key(prefix, MANIFEST)} is no manifest of GutenGraph's ({error}).",
            remedy="Choose another prefix in GUTENGRAPH_S3_URI, or remove that object.",
        ) from error


def verify(client: Any, bucket: str, prefix: str, *, deep: bool = False) -> VerifyReport:
    """Compare a bucket with its manifest: presence and sizes; with `deep`, every byte against its sha256.

    Raises S3Error if there is no manifest or the bucket cannot be read.
    """
    where = f"s3://{bucket}/{prefix}"
    with s3_errors(where):
        remote = read_remote(client, bucket, prefix)
        if MANIFEST not in remote.sizes:
            raise S3Error(f"{where} holds no manifest.", remedy="Run `gutengraph s3 sync` first.")
        missing = [key for key in remote.files if key not in remote.sizes]
        damaged = [
            key
            for key, entry in remote.files.items()
            if key not in missing
            and (
                remote.sizes[key] != entry.size
                or (deep and _remote_sha256(client, bucket, _key(prefix, key)) != entry.sha256)
            )
        ]
    return VerifyReport(len(remote.files), tuple(missing), tuple(damaged))


def _carry_out(
    snapshot: Snapshot,
    plan: SyncPlan,
    client: Any,
    bucket: str,
    prefix: str,
    progress: Callable[[int, int], None] | None,
) -> None:
    total = len(plan.uploads) + len(plan.deletes)
    for done, key in enumerate(plan.uploads, start=1):
        entry = snapshot.files[key]
        client.upload_file(
            str(snapshot.path(key)),
            bucket,
            _key(prefix, key),
            ExtraArgs={"Metadata": {"sha256": entry.sha256}},
        )
        if progress is not None:
            progress(done, total)
    _check_arrived(snapshot, plan, client, bucket, prefix)
    client.put_object(
        Bucket=bucket,
        Key=_key(prefix, MANIFEST),
        Body=manifest_of(snapshot, plan.kept),
        ContentType="application/json",
    )
    for start in range(0, len(plan.deletes), _AT_ONCE):
        names = [{"Key": _key(prefix, key)} for key in plan.deletes[start : start + _AT_ONCE]]
        answer = client.delete_objects(Bucket=bucket, Delete={"Objects": names, "Quiet": True})
        if answer.get("Errors"):
            first = answer["Errors"][0]
            raise S3Error(
                f"s3://{bucket}/{first['Key']} could not be removed ({first.get('Message', first['Code'])}).",
                remedy="The new state is complete; run the sync again to tidy up.",
            )
        if progress is not None:
            progress(len(plan.uploads) + start + len(names), total)


def manifest_of(snapshot: Snapshot, kept: Mapping[str, Entry]) -> bytes:
    """The manifest as JSON: every object with size and sha256, and what the copy is of."""
    files = {**snapshot.files, **kept}
    held = {int(key.split("/")[1]) for key in files if key.startswith("books/")}
    document = {
        "format": FORMAT,
        "written_at": now(),
        "books": sorted(held),
        "table": {"version": snapshot.table_version, "rows": snapshot.table_rows},
        "graph": {"version": snapshot.graph_version},
        "files": {key: asdict(files[key]) for key in sorted(files)},
    }
    return json.dumps(document, indent=1).encode()


def _check_arrived(snapshot: Snapshot, plan: SyncPlan, client: Any, bucket: str, prefix: str) -> None:
    """Before the manifest vouches for them: everything is there, in its size."""
    if not plan.uploads:
        return
    sizes = read_remote(client, bucket, prefix).sizes
    for key, entry in snapshot.files.items():
        if sizes.get(key) != entry.size:
            raise S3Error(
                f"s3://{bucket}/{_key(prefix, key)} should have {entry.size} bytes and has {sizes.get(key)}.",
                remedy="Run the sync again; the copy's manifest was not touched.",
            )


def _losses(local: Snapshot, remote: Remote) -> Iterator[str]:
    """What is meant to grow and would shrink by more than MOST_DELETED.

    Files of the table and the graph are replaced by others when these are tidied or rebuilt: there the rows
    and the version count, and not the names.
    """
    here = {*local.books, *local.waiting}
    gone = [book for book in remote.books if book not in here]
    if len(gone) > MOST_DELETED * len(remote.books):
        yield f"{len(gone)} of {len(remote.books)} books"
    files = [key for key in remote.files if key.startswith("books/")]
    going = [key for key in files if key not in local.files and int(key.split("/")[1]) not in local.waiting]
    if not gone and len(going) > MOST_DELETED * len(files):
        yield f"{len(going)} of {len(files)} files of books"
    lost_rows = remote.table_rows - local.table_rows
    if lost_rows > MOST_DELETED * remote.table_rows:
        yield f"{lost_rows:,} of {remote.table_rows:,} passages"
    if remote.graph_version and not local.graph_version:
        yield "the graph"


def _turn(key: str) -> tuple[int, str]:
    """When an object goes up: what points to others after them. Deletions go the other way round."""
    if key == "graph/CURRENT":
        return 3, key
    return (2 if "/_versions/" in key else 1), key


def _key(prefix: str, key: str) -> str:
    trimmed = prefix.strip("/")
    return f"{trimmed}/{key}" if trimmed else key


def _remote_sha256(client: Any, bucket: str, key: str) -> str:
    digest = hashlib.sha256()
    for block in client.get_object(Bucket=bucket, Key=key)["Body"].iter_chunks(_MEGABYTE):
        digest.update(block)
    return digest.hexdigest()


_REMEDIES = {
    "NoSuchBucket": "Create the bucket, or correct GUTENGRAPH_S3_URI.",
    "AccessDenied": "Use credentials that may read, write, list and delete there.",
    "403": "Use credentials that may read, write, list and delete there.",
    "InvalidAccessKeyId": "Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    "SignatureDoesNotMatch": "Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
}


@contextmanager
def s3_errors(where: str) -> Iterator[None]:
    """Turn boto3's failures at `where` into S3Error with a remedy."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    again = (
        "Check the network and GUTENGRAPH_S3_ENDPOINT, then run the sync again: it goes on where it stopped."
    )
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        raise S3Error(f"{where} refused ({error}).", remedy=_REMEDIES.get(code, again)) from error
    except NoCredentialsError as error:
        raise S3Error(
            f"There are no credentials for {where}.",
            remedy="Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile.",
        ) from error
    except (BotoCoreError, Boto3Error) as error:
        raise S3Error(f"{where} cannot be used ({error}).", remedy=again) from error
