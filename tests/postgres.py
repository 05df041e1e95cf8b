"""A real PostgreSQL server of a test's own: a fresh cluster in a temporary folder, on a free loopback port."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

INSTALL = "no PostgreSQL to test with: apt-get install postgresql"
USER = DATABASE = "dagster"


@dataclass(frozen=True)
class Postgres:
    host: str
    port: int
    password: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which `deploy/compose/dagster.yaml` finds its database."""
        return {
            "DAGSTER_POSTGRES_HOST": self.host,
            "DAGSTER_POSTGRES_DB": DATABASE,
            "DAGSTER_POSTGRES_USER": USER,
            "DAGSTER_POSTGRES_PASSWORD": self.password,
        }

    def query(self, statement: str, *, database: str = DATABASE) -> list[tuple[Any, ...]]:
        """Rows of a statement; none for one that returns nothing."""
        import psycopg2

        connection = psycopg2.connect(
            host=self.host, port=self.port, dbname=database, user=USER, password=self.password
        )
        try:
            connection.autocommit = True  # CREATE DATABASE stands in no transaction
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall()) if cursor.description else []
        finally:
            connection.close()


def _program(name: str) -> str | None:
    """Debian keeps the server's programs out of the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name) or next((str(f / name) for f in folders if (f / name).exists()), None)


def _somebody_else() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: whom to run it as then, as arguments of Popen."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            who = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Start a server; stop it, and nothing else, at the end. Skips where PostgreSQL is not installed."""
    initdb, server = _program("initdb"), _program("postgres")
    if initdb is None or server is None:
        pytest.skip(INSTALL)
    who = _somebody_else()
    # Not under pytest's own folder, which nobody but its owner may enter.
    with tempfile.TemporaryDirectory(prefix="gutengraph-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        password = secrets.token_urlsafe(24)
        (folder / "password").write_text(password)
        if who:
            for path in (folder, folder / "password"):
                os.chown(path, who["user"], who["group"])
        data = folder / "data"
        made = subprocess.run(
            [initdb, "-D", data, "-U", USER, "--pwfile", folder / "password", "-A", "scram-sha-256", "-N"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=folder,
            **who,
        )
        assert made.returncode == 0, made.stderr
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen(
                # Its socket lies in its folder; a database of minutes need not survive a power cut.
                [server, "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", folder, "-F"],
                stdout=log,
                stderr=log,
                cwd=folder,
                **who,
            )
        try:
            yield _ready(process, Postgres("127.0.0.1", port, password), folder / "log")
        finally:
            process.send_signal(signal.SIGINT)  # 'fast': whoever is connected is cut off
            process.wait(timeout=30)


def _ready(process: subprocess.Popen[bytes], postgres: Postgres, log: Path) -> Postgres:
    import psycopg2

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            postgres.query(f"CREATE DATABASE {DATABASE}", database="postgres")
        except psycopg2.OperationalError:
            time.sleep(0.1)
        else:
            return postgres
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text(errors='replace')[-2000:]}")
