"""One sync at a time writes to a copy, whatever machine it runs on: a lock object, taken by a conditional write."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

import psutil

from gutengraph_core.errors import S3Error
from gutengraph_core.library import now
from gutengraph_core.s3.client import code_of, object_key

LOCK = "sync.lock"

LEASE_S = 120.0
"""A lock that has not been renewed for so long belongs to a sync that died."""

BEAT_S = 20.0
"""It is renewed this often: several times a lease, so that one lost request does not lose it."""

_OURS: set[str] = set()
"""Locks that this process holds now, by their owner: one of its own that is not among them was left behind."""

_TAKEN = ("PreconditionFailed", "412", "ConditionalRequestConflict", "409")


@dataclass
class Held:
    """A lock that is ours, and renews itself."""

    client: Any
    bucket: str
    key: str
    etag: str
    document: dict[str, Any]
    renewed: float = field(default_factory=time.monotonic)
    lost: bool = False

    def check(self) -> None:
        """Raises S3Error if somebody else may hold it by now."""
        if self.lost or time.monotonic() - self.renewed > LEASE_S:
            raise S3Error(
                f"The lock s3://{self.bucket}/{self.key} was lost to another sync.",
                remedy="Let that one end, then run the sync again; the copy's manifest was not touched.",
            )

    def renew(self) -> None:
        """Say that we are alive."""
        from botocore.exceptions import BotoCoreError, ClientError

        self.document["beat"] += 1
        asked = time.monotonic()
        try:
            self.etag = _put(self.client, self.bucket, self.key, self.document, IfMatch=self.etag)
            self.renewed = asked
        except ClientError as error:
            self.lost = code_of(error) in _TAKEN or self.lost
        except BotoCoreError:
            # The network's fault may pass; if it does not, the lease runs out and `check` says so.
            return


@contextmanager
def locked(client: Any, bucket: str, prefix: str, *, beat_s: float = BEAT_S) -> Iterator[Held]:
    """Hold the copy's lock. Raises S3Error, naming who has it, if another sync is at work; and what boto3 raises.

    The lock of a sync that died is taken over: at once if it ran on this machine, else when its lease is over.
    """
    held = _acquire(client, bucket, object_key(prefix, LOCK))
    _OURS.add(held.document["owner"])
    stop = threading.Event()
    beat = threading.Thread(target=_keep, args=(held, stop, beat_s), daemon=True, name="s3-lock")
    beat.start()
    try:
        yield held
    finally:
        stop.set()
        beat.join()
        _OURS.discard(held.document["owner"])
        _release(held)


def _keep(held: Held, stop: threading.Event, beat_s: float) -> None:
    while not stop.wait(beat_s):
        held.renew()


def _acquire(client: Any, bucket: str, key: str) -> Held:
    from botocore.exceptions import ClientError

    process = psutil.Process()
    document = {
        "owner": uuid.uuid4().hex,
        "host": socket.gethostname(),
        "pid": process.pid,
        "started": process.create_time(),
        "since": now(),
        "beat": 0,
    }
    condition: dict[str, str] = {"IfNoneMatch": "*"}
    for _ in range(3):
        try:
            return Held(client, bucket, key, _put(client, bucket, key, document, **condition), document)
        except ClientError as error:
            if code_of(error) not in _TAKEN:
                raise
        try:
            answer = client.get_object(Bucket=bucket, Key=key)
        except ClientError as error:
            if code_of(error) not in ("NoSuchKey", "404"):
                raise
            condition = {"IfNoneMatch": "*"}  # released between the two requests
            continue
        other = _read(answer["Body"].read())
        if not _died(other, _age(answer)):
            raise _busy(bucket, key, other)
        condition = {"IfMatch": answer["ETag"]}
    raise _busy(bucket, key, {})


def _put(client: Any, bucket: str, key: str, document: dict[str, Any], **condition: str) -> str:
    answer = client.put_object(Bucket=bucket, Key=key, Body=json.dumps(document).encode(), **condition)
    return str(answer["ETag"])


def _release(held: Held) -> None:
    from botocore.exceptions import BotoCoreError, ClientError

    # If it is not ours any more it must stay; if the store does not answer, the lease ends it.
    with suppress(ClientError, BotoCoreError):
        held.client.delete_object(Bucket=held.bucket, Key=held.key, IfMatch=held.etag)


def _read(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _age(answer: dict[str, Any]) -> float:
    """Seconds since the lock was renewed, by the store's own clock."""
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    asked = parsedate_to_datetime(date).timestamp() if date else time.time()
    return float(asked - answer["LastModified"].timestamp())


def _died(other: dict[str, Any], age: float) -> bool:
    if age > LEASE_S:
        return True
    if other.get("host") != socket.gethostname():
        return False
    if other.get("pid") == os.getpid():
        return other.get("owner") not in _OURS
    try:
        return bool(abs(psutil.Process(int(other["pid"])).create_time() - float(other["started"])) > 1)
    except (psutil.NoSuchProcess, KeyError, TypeError, ValueError):
        return True
    except psutil.AccessDenied:
        return False


def _busy(bucket: str, key: str, other: dict[str, Any]) -> S3Error:
    who = f"process {other.get('pid', '?')} on {other.get('host', 'another machine')}"
    return S3Error(
        f"Another sync holds s3://{bucket}/{key}: {who}, since {other.get('since', 'just now')}.",
        remedy=f"Wait for it to end. A lock that is not renewed for {LEASE_S:.0f} s is taken over.",
    )
