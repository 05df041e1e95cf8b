"""Writing files so that one that exists is complete, and describing what went wrong when it cannot be."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gutengraph_core.errors import DataFolderError

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def disk_errors(path: Path, *, book: int | None = None) -> Iterator[None]:
    """Turn the operating system's refusals under `path` into a DataFolderError with a remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataFolderError(
                f"The disk is full while writing {path}.",
                remedy="Free some space and run again; nothing was half-written.",
                book=book,
            ) from error
        if error.errno in (
            errno.EACCES,
            errno.EPERM,
            errno.EROFS,
            errno.ENOTDIR,
            errno.EEXIST,
            errno.ENOENT,
            errno.EISDIR,
        ):
            raise DataFolderError(
                f"{path} cannot be written ({os.strerror(error.errno)}).",
                remedy="Set GUTENGRAPH_HOME to a folder that you may write.",
                book=book,
            ) from error
        raise


def write_atomic(path: Path, write: Callable[[Path], None], *, book: int | None = None) -> None:
    """Call `write` on a temporary path beside `path`, sync it, and move it into place.

    Raises DataFolderError if the disk is full or the folder cannot be written; `path` is then as it was.
    """
    with disk_errors(path, book=book):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            os.chmod(temporary, 0o644)
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes, *, book: int | None = None) -> None:
    """`write_atomic` for bytes."""
    write_atomic(path, lambda p: _dump(p, data), book=book)


def _dump(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def write_text(path: Path, text: str, *, book: int | None = None) -> None:
    """`write_atomic` for text: UTF-8, line ends as given."""
    write_bytes(path, text.encode("utf-8"), book=book)


def read_text(path: Path) -> str:
    """UTF-8, line ends untouched: offsets count these characters."""
    return path.read_bytes().decode("utf-8")


def write_json(path: Path, document: Any, *, book: int | None = None) -> None:
    """`write_atomic` for a JSON document, keys in the order given."""
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1, default=str) + "\n", book=book)


def write_table(path: Path, table: pa.Table, *, book: int | None = None) -> None:
    """`write_atomic` for a Parquet table. The same table gives the same bytes."""
    import pyarrow.parquet as pq

    write_atomic(path, lambda p: pq.write_table(table, p, compression="zstd"), book=book)


def read_table(path: Path) -> pa.Table:
    """A Parquet file as a table."""
    import pyarrow.parquet as pq

    return pq.read_table(path, memory_map=False)


def sha256(path: Path) -> str:
    """Hex digest of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
