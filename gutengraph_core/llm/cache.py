"""Replies kept on disk under what was served, so that a rerun costs nothing and a killed run resumes."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock

from gutengraph_core.errors import DataFolderError
from gutengraph_core.files import disk_errors
from gutengraph_core.llm.protocol import LLM, ModelIdentity, Reply

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

FORMAT = 1
"""Part of every key: raise it when the meaning of what is stored changes."""
_BUSY_S = 30.0
"""How long a writer waits for another process's write, which takes well under a millisecond."""


class ReplyCache:
    """Text by key in one SQLite file, shared by threads and processes.

    Write-ahead logging without a sync per write: a power cut may lose the last replies, never damage the
    file. A damaged file is thrown away with one warning: all it holds can be computed again. Methods raise
    DataFolderError if the folder cannot be written or the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0

    def get(self, key: str) -> str | None:
        """What was stored under `key`, or None."""

        def look(connection: sqlite3.Connection) -> str | None:
            row = connection.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
            return None if row is None else zlib.decompress(row[0]).decode()

        return self._do(look)

    def put(self, key: str, value: str) -> None:
        """Store `value`, in place of what stood there."""
        packed = zlib.compress(value.encode(), level=1)
        self._do(lambda c: c.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, packed)))

    def __len__(self) -> int:
        return int(self._do(lambda c: c.execute("SELECT count(*) FROM replies").fetchone())[0])

    def close(self) -> None:
        """Close the file. The next use opens it again."""
        with self._guard:
            self._close()

    def _close(self) -> None:
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
        self._connection = None

    def _do(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._guard:
            try:
                return work(self._open())
            except sqlite3.OperationalError as error:
                raise self._refused(error) from error
            except (sqlite3.DatabaseError, zlib.error) as error:
                self._replace(error)
                return work(self._open())

    def _open(self) -> sqlite3.Connection:
        # A connection must not be used across a fork.
        if self._connection is None or self._pid != os.getpid():
            with disk_errors(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID"
                )
            except sqlite3.Error:
                connection.close()
                raise
            self._connection, self._pid = connection, os.getpid()
        return self._connection

    def _replace(self, error: Exception) -> None:
        self._close()
        with FileLock(f"{self.path}.lock"):
            if _readable(self.path):
                return  # another process was faster
            _log.warning("The reply cache %s is damaged (%s); starting an empty one.", self.path, error)
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def _refused(self, error: sqlite3.OperationalError) -> DataFolderError:
        return DataFolderError(
            f"The reply cache {self.path} cannot be used ({error}).",
            remedy="Check the disk's free space and the rights, or set GUTENGRAPH_HOME to another folder.",
        )


def _readable(path: Path) -> bool:
    """Whether every row can be read and unpacked."""
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            for (packed,) in connection.execute("SELECT value FROM replies"):
                zlib.decompress(packed)
        finally:
            connection.close()
    except (sqlite3.Error, zlib.error):
        return False
    return True


def accept(llm: LLM, reply: Reply) -> None:
    """Keep a reply of `llm.complete` that the caller found good, if `llm` has a cache."""
    if isinstance(llm, CachedLLM):
        llm.accept(reply)


class CachedLLM:
    """A language model that answers from the cache what it has answered before. Itself an `LLM`.

    A reply of `complete` is kept only once the caller has found it good and says so: `accept(reply)`. What
    failed validation is asked again. Log-probabilities need no judging and are kept at once.
    """

    def __init__(self, llm: LLM, cache: ReplyCache) -> None:
        self.llm = llm
        self.cache = cache

    @property
    def identity(self) -> ModelIdentity:
        return self.llm.identity

    @property
    def gives_logprobs(self) -> bool:
        return self.llm.gives_logprobs

    @property
    def context_tokens(self) -> int:
        return self.llm.context_tokens

    def complete(
        self,
        prompt: str,
        *,
        max_tokens: int,
        system: str | None = None,
        schema: dict[str, Any] | None = None,
        stop: tuple[str, ...] = (),
        raw: bool = False,
    ) -> Reply:
        """See the protocol. A reply from the cache has `cached` set and tells the seconds of the look-up."""
        options = {"max_tokens": max_tokens, "system": system, "schema": schema, "stop": stop, "raw": raw}
        key = self._key("complete", prompt, options)
        start = time.monotonic()
        stored = self.cache.get(key)
        if stored is not None:
            reply = Reply(**json.loads(stored))
            return replace(reply, cached=True, seconds=time.monotonic() - start, key=key)
        reply = self.llm.complete(
            prompt, max_tokens=max_tokens, system=system, schema=schema, stop=stop, raw=raw
        )
        return replace(reply, key=key)

    def accept(self, reply: Reply) -> None:
        """Keep a reply that this object gave and that the caller found good."""
        if not reply.key:
            raise ValueError("this reply did not come from a CachedLLM")
        if not reply.cached:
            fields = asdict(reply)
            del fields["key"], fields["cached"]
            self.cache.put(reply.key, json.dumps(fields, ensure_ascii=False))

    def next_token_logprobs(self, prompt: str, *, top: int) -> dict[str, float]:
        """See the protocol."""
        key = self._key("logprobs", prompt, {"top": top})
        stored = self.cache.get(key)
        if stored is not None:
            return {token: float(value) for token, value in json.loads(stored).items()}
        found = self.llm.next_token_logprobs(prompt, top=top)
        self.cache.put(key, json.dumps(found, ensure_ascii=False))
        return found

    def close(self) -> None:
        self.llm.close()
        self.cache.close()

    def _key(self, kind: str, prompt: str, options: dict[str, Any]) -> str:
        served = asdict(self.identity)
        # The order of a schema's keys is the order in which the model writes them: it is part of the key.
        document = json.dumps([FORMAT, served, kind, prompt, options], ensure_ascii=False)
        return hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()
