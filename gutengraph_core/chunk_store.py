"""The table of chunks on disk: opened or created, with the identity of its embedder; LanceDB's failures as ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gutengraph_core.chunk_rows import IDENTITY, table_schema
from gutengraph_core.embedding.protocol import EmbeddingIdentity
from gutengraph_core.errors import DataFolderError, EmbedderMismatch, StoreError
from gutengraph_core.library import Library
from gutengraph_core.table_queries import VECTOR

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from lancedb.table import LanceTable

TABLE = "chunks"
TEXT_INDEX = "text_idx"


def table_folder(library: Library) -> Path:
    """Where the table's files lie."""
    return library.lancedb_dir / f"{TABLE}.lance"


def open_table(library: Library) -> LanceTable | None:
    """The table, if there is one. Raises StoreError if it cannot be opened."""
    # A table exists once its first version does; a build killed before that left only folders.
    if not any((table_folder(library) / "_versions").glob("*.manifest")):
        return None
    with store_failures("opened"):
        table: LanceTable = _connect(library).open_table(TABLE)
        return table


def _connect(library: Library) -> Any:
    import lancedb

    return lancedb.connect(library.lancedb_dir, read_consistency_interval=timedelta(0))


def create_table(library: Library, identity: EmbeddingIdentity) -> LanceTable:
    """An empty table for vectors of `identity`, with its full-text index."""
    table: LanceTable = _connect(library).create_table(TABLE, schema=table_schema(identity), mode="overwrite")
    index_text(table)
    return table


def index_text(table: LanceTable) -> None:
    """From the first row on, words can be searched: what is not indexed yet is scanned."""
    from lancedb.index import FTS

    table.create_index("text", config=FTS(stem=True, remove_stop_words=True), name=TEXT_INDEX, replace=True)


def checked_identity(schema: pa.Schema, used: EmbeddingIdentity | None) -> EmbeddingIdentity:
    """Who embedded a table, by its metadata; `used` None: no vectors will be compared.

    Raises EmbedderMismatch if that is not `used`, or if the table does not say; both identities are named.
    Raises StoreError if the vectors have another dimension than the table says.
    """
    raw = (schema.metadata or {}).get(IDENTITY)
    in_use = f"{used} is in use" if used is not None else "no embedding model was asked for"
    try:
        built_by = EmbeddingIdentity(**json.loads(raw or b""))
    except (ValueError, TypeError) as error:
        raise EmbedderMismatch(
            f"The table of passages does not say which model embedded it (unknown model), but {in_use}.",
            remedy="Move the folder lancedb/ away and build the books again.",
        ) from error
    if used is not None and used != built_by:
        raise EmbedderMismatch(
            f"The passages were embedded by {built_by}, but {used} is in use.",
            remedy="Set GUTENGRAPH_EMBEDDING back, or build every book again in another GUTENGRAPH_HOME.",
        )
    held = schema.field(VECTOR).type.list_size if VECTOR in schema.names else 0
    if held != built_by.dimension:
        raise StoreError(
            f"The table of passages says {built_by}, but its vectors have {held} dimensions.",
            remedy="Move the folder lancedb/ away and build the books again.",
        )
    return built_by


@contextmanager
def store_failures(what: str, *, book: int | None = None) -> Iterator[None]:
    """Turn LanceDB's failures, which are plain OSError, RuntimeError and ValueError, into ours."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        text = str(error).strip() or type(error).__name__
        if "No space left" in text or "os error 28" in text:
            raise DataFolderError(
                "The disk is full while writing passages.",
                remedy="Free some space and run again; the table is as it was.",
                book=book,
            ) from error
        raise StoreError(
            f"The table of passages cannot be {what} ({text.splitlines()[0][:300]}).",
            remedy="If it stays so, move the folder lancedb/ away and build the books again.",
            book=book,
        ) from error
