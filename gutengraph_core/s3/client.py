"""The bucket that the settings name, a client for it, and its failures turned into ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gutengraph_core.errors import MissingExtra, S3Error, SettingsError

_URI = re.compile(r"s3://([^/]+)(?:/(.*?))?/?")

CONNECT_S, READ_S = 10, 60
"""Longest wait for a connection, and for the next bytes: a store that is slower is as good as lost."""

TRIES = 4
"""Of one request: a passing fault is not worth a failed run."""

AGAIN = "Check the network and GUTENGRAPH_S3_ENDPOINT, then try again: it goes on where it stopped."


def parse_uri(uri: str | None) -> tuple[str, str]:
    """`s3://bucket/prefix` -> ('bucket', 'prefix'). Raises SettingsError."""
    how = "Set it to s3://<bucket>/<prefix>, for example `export GUTENGRAPH_S3_URI=s3://my-books/library`"
    if not uri:
        raise SettingsError(
            "GUTENGRAPH_S3_URI is not set.",
            remedy=f"{how}; for another server than Amazon's set GUTENGRAPH_S3_ENDPOINT too.",
        )
    found = _URI.fullmatch(uri)
    if found is None:
        raise SettingsError(f"GUTENGRAPH_S3_URI={uri} names no bucket.", remedy=f"{how}.")
    return found[1], found[2] or ""


def make_client(endpoint: str | None = None, *, read_s: float = READ_S, tries: int = TRIES) -> Any:
    """A boto3 client with the credentials of AWS's usual chain. Raises MissingExtra, SettingsError."""
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise MissingExtra("S3 needs boto3.", remedy="Run `pip install 'gutengraph[s3]'`.") from None
    config = Config(
        connect_timeout=min(CONNECT_S, read_s),
        read_timeout=read_s,
        retries={"mode": "standard", "total_max_attempts": tries},
    )
    try:
        with s3_errors(endpoint or "S3"):
            return boto3.session.Session().client("s3", endpoint_url=endpoint, config=config)
    except ValueError as error:
        raise SettingsError(
            f"GUTENGRAPH_S3_ENDPOINT={endpoint} is no address ({error}).",
            remedy="Set it to http(s)://host:port, or unset it for Amazon's own.",
        ) from error


def object_key(prefix: str, key: str) -> str:
    """Where `key` of the copy lies in its bucket."""
    trimmed = prefix.strip("/")
    return f"{trimmed}/{key}" if trimmed else key


def code_of(error: Any) -> str:
    """The code of a botocore ClientError."""
    return str(error.response.get("Error", {}).get("Code", ""))


_RIGHTS = "Use credentials that may read, write, list and delete there."
_KEYS = "Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
_REMEDIES = {
    "NoSuchBucket": "Create the bucket, or correct GUTENGRAPH_S3_URI.",
    "AccessDenied": _RIGHTS,
    "403": _RIGHTS,
    "InvalidAccessKeyId": _KEYS,
    "SignatureDoesNotMatch": _KEYS,
    "NotImplemented": "Use a store that knows conditional writes (If-Match), as Amazon's and SeaweedFS do.",
}


@contextmanager
def s3_errors(where: str) -> Iterator[None]:
    """Turn boto3's failures at `where` into S3Error with a remedy."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield
    except ClientError as error:
        raise S3Error(f"{where} refused ({error}).", remedy=_REMEDIES.get(code_of(error), AGAIN)) from error
    except NoCredentialsError as error:
        raise S3Error(
            f"There are no credentials for {where}.",
            remedy="Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile.",
        ) from error
    except (BotoCoreError, Boto3Error) as error:
        raise S3Error(f"{where} cannot be used ({error}).", remedy=AGAIN) from error
