"""The data folder: where each file lies, and what is known of each book (`book.json`)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import psutil
from filelock import FileLock
from pydantic import BaseModel, ConfigDict

from gutengraph_core.errors import DataFolderError, NotBuilt, UnknownBook
from gutengraph_core.files import disk_errors, read_text, write_json
from gutengraph_core.kinds import Kind as Kind
from gutengraph_core.processes import is_alive

Status = Literal["registered", "building", "built", "parked", "failed"]


class Chapter(BaseModel):
    """One chapter of a body: `start` is its heading's first character, `end` one past its last."""

    model_config = ConfigDict(extra="forbid")

    index: int
    """0 is what stands before the first heading, if anything does; headings count from 1."""
    title: str
    part: str = ""
    """The part, book, volume or act that it belongs to."""
    start: int
    end: int


class SourceRecord(BaseModel):
    """Where a book's text came from."""

    model_config = ConfigDict(extra="forbid")

    url: str
    sha256: str
    encoding: str
    bytes: int
    fetched_at: str
    etag: str = ""
    last_modified: str = ""


class StepRecord(BaseModel):
    """One asset of one book: enough to know whether it has to be made again."""

    model_config = ConfigDict(extra="forbid")

    fingerprint: str
    """sha256 over everything that the result depends on: code version, inputs, settings, model identities."""
    version: str
    """sha256 over what was made; the asset's data version in Dagster."""
    upstream: dict[str, str] = {}
    """Asset -> its `version` that went in."""
    files: dict[str, str] = {}
    """File under the book's folder -> sha256."""
    code: str = ""
    """Version of the code that made it; '' in records that are older than this field."""
    at: str = ""
    seconds: float = 0.0


class BookRecord(BaseModel):
    """`books/<id>/book.json`."""

    model_config = ConfigDict(extra="forbid")

    id: int
    title: str = ""
    authors: list[str] = []
    subjects: list[str] = []
    bookshelves: list[str] = []
    locc: list[str] = []
    language: str = ""
    kind: Kind = "other"
    rights: str = ""
    downloads: int | None = None
    source: SourceRecord | None = None
    body_sha256: str = ""
    chapters: list[Chapter] = []
    status: Status = "registered"
    reason: str = ""
    pid: int | None = None
    """The process that is building it, while `status` is `building`."""
    owner: str = ""
    """The same process as `host:pid:start`."""
    gate: str = ""
    """Why its pilot parked it."""
    forced: bool = False
    """It was parked, and is to be extracted all the same (`gutengraph build --force`)."""
    last_good: dict[str, float] = {}
    """names, relations, untyped share, …: of its last run without drift."""
    run: str = ""
    """The run that worked on it last: a failure in one step is not forgotten in the next of the same run."""
    built_at: str = ""
    llm: str = ""
    embedder: str = ""
    steps: dict[str, StepRecord] = {}
    """Asset -> what its last successful materialisation was made from and what it wrote."""
    counts: dict[str, int] = {}
    """chunks, windows, words, cast, mentioned, relations, …: as the steps reported them."""
    graph_sha256: dict[str, str] = {}
    """File name under `graph/` -> sha256, set when all four are complete."""


class Library:
    """The files under `GUTENGRAPH_HOME`. Cheap to construct; touches the disk only when asked."""

    def __init__(self, home: Path) -> None:
        self.home = home

    # --- paths ---
    @property
    def books_dir(self) -> Path:
        return self.home / "books"

    @property
    def lancedb_dir(self) -> Path:
        return self.home / "lancedb"

    @property
    def graph_dir(self) -> Path:
        return self.home / "graph"

    @property
    def cache_dir(self) -> Path:
        return self.home / "cache"

    @property
    def dagster_dir(self) -> Path:
        return self.home / "dagster"

    @property
    def locks_dir(self) -> Path:
        return self.home / "locks"

    def book_dir(self, book: int) -> Path:
        return self.books_dir / str(book)

    def path(self, book: int, name: str) -> Path:
        """`raw.txt`, `body.txt`, `chunks.parquet`, `graph/nodes.parquet`, … of a book."""
        return self.book_dir(book) / name

    def lock(self, name: str, *, timeout: float = -1) -> FileLock:
        """A file lock for what one process at a time may do: `model`, `lancedb`, `graph`, `book-84`."""
        with disk_errors(self.locks_dir):
            self.locks_dir.mkdir(parents=True, exist_ok=True)
        return FileLock(self.locks_dir / f"{name}.lock", timeout=timeout)

    def check_writable(self) -> None:
        """Raises DataFolderError if nothing can be written here."""
        with disk_errors(self.home):
            self.home.mkdir(parents=True, exist_ok=True)
            if not os.access(self.home, os.W_OK | os.X_OK):
                raise DataFolderError(
                    f"{self.home} cannot be written (Permission denied).",
                    remedy="Set GUTENGRAPH_HOME to a folder that you may write.",
                )
            probe = self.home / f".probe-{os.getpid()}"
            probe.write_bytes(b"")
            probe.unlink()

    def check_folder(self) -> None:
        """Raises DataFolderError if something that is no folder stands here. A folder yet to be made is no error."""
        if self.home.exists() and not self.home.is_dir():
            raise DataFolderError(f"{self.home} is no folder.", remedy="Set GUTENGRAPH_HOME to a folder.")

    # --- records ---
    def ids(self) -> list[int]:
        """All books that have a record, by number. Raises DataFolderError if there can be none."""
        self.check_folder()
        if not self.books_dir.is_dir():
            return []
        return sorted(
            int(p.name) for p in self.books_dir.iterdir() if p.name.isdigit() and (p / "book.json").exists()
        )

    def records(self) -> Iterator[BookRecord]:
        """The record of every book, by number; one that cannot be read is failed, with the remedy."""
        for book in self.ids():
            try:
                yield self.record(book)
            except NotBuilt as error:
                yield BookRecord(id=book, status="failed", reason=f"{error.what} {error.remedy}")

    def has(self, book: int) -> bool:
        self.check_folder()
        return self.path(book, "book.json").exists()

    def record(self, book: int) -> BookRecord:
        """Raises UnknownBook if the library has no such book, NotBuilt if its record cannot be read.

        A book left `building` by a process that no longer runs is reported as failed.
        """
        record = self._read(book)
        if record.status == "building" and _abandoned(record):
            record.status = "failed"
            record.reason = (
                f"Its build was killed. Run `gutengraph build {book}`: it carries on where it stopped."
            )
        return record

    def written_status(self, book: int) -> Status:
        """The status as it stands in the record, whether or not its builder lives. Raises as `record` does."""
        return self._read(book).status

    def _read(self, book: int) -> BookRecord:
        try:
            return BookRecord.model_validate_json(self.path(book, "book.json").read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            self.check_folder()
            raise UnknownBook(
                "It is not in the library.", remedy=f"Run `gutengraph add {book}`.", book=book
            ) from None
        except ValueError as error:
            raise NotBuilt(
                f"book.json cannot be read ({str(error).splitlines()[0]}).",
                remedy=f"Run `gutengraph remove {book}`, then add and build it again.",
                book=book,
            ) from None

    def update(self, book: int, **fields: Any) -> BookRecord:
        """Change fields of a record (created if new), under a lock: steps of one book may run side by side.

        `counts` and `steps` are merged into those that stand; everything else, `last_good` too, is replaced.
        """
        with self.lock(f"book-{book}"):
            path = self.path(book, "book.json")
            fresh = BookRecord(id=book).model_dump()
            document = json.loads(read_text(path)) if path.exists() else fresh
            for merged in ("counts", "steps"):
                if merged in fields:
                    fields[merged] = {**document.get(merged, {}), **fields[merged]}
            document.update(fields)
            record = BookRecord.model_validate(document)
            write_json(path, record.model_dump(mode="json"), book=book)
            return record

    def body(self, book: int) -> str:
        """The body that all offsets count in. Raises NotBuilt."""
        try:
            return read_text(self.path(book, "body.txt"))
        except FileNotFoundError:
            raise NotBuilt(
                "Its text has not been read yet.", remedy=f"Run `gutengraph build {book}`.", book=book
            ) from None


def _abandoned(record: BookRecord) -> bool:
    if record.owner:
        return not is_alive(record.owner)
    return record.pid is not None and not psutil.pid_exists(record.pid)


def now() -> str:
    """The time in ISO 8601, UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
