"""A larger library out of a built one: its books' graphs again and again under other ids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gutengraph_core.files import read_table, sha256, write_table
from gutengraph_core.graph.stage import FILES, is_complete
from gutengraph_core.library import Library

FIRST_ID = 900_000
"""Beyond Project Gutenberg's own numbers."""
_IDS = ("id", "source", "target", "entity", "chunk_id")
"""Columns that hold '<gutenberg_id>:…'."""


def copy_library(sources: Sequence[Library], target: Path, *, books: int) -> Library:
    """A library of `books` books in `target`: the complete ones of `sources` in turn, each under an id of its own.

    Only what the merged graph reads is copied: the record, the four graph files and the passages.
    """
    made = Library(target)
    found = {r.id: (s, r) for s in sources for r in s.records() if is_complete(r)}
    for number, (source, record) in enumerate(islice(cycle(found.values()), books)):
        book = FIRST_ID + number
        for name in ("chunks.parquet", *(f"graph/{file}" for file in FILES)):
            path = made.path(book, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_table(path, renumbered(read_table(source.path(record.id, name)), record.id, book))
        made.update(
            book,
            title=f"{record.title} (copy {number})",
            embedder=record.embedder,
            graph_sha256={file: sha256(made.path(book, f"graph/{file}")) for file in FILES},
            counts=record.counts,
            status=record.status,
            built_at=record.built_at,
            **fields_of(record),
        )
    return made


def fields_of(record: Any) -> dict[str, Any]:
    """What the graph's Book node shows."""
    return record.model_dump(include={"authors", "subjects", "language", "kind"})


def renumbered(table: pa.Table, old: int, new: int) -> pa.Table:
    """The table of book `old` as if it were of book `new`."""
    for position, name in enumerate(table.column_names):
        column = table.column(name)
        if name in _IDS:
            column = pc.replace_substring_regex(column, pattern=f"^{old}:", replacement=f"{new}:")
        elif name == "gutenberg_id":
            column = pa.chunked_array([pa.array([new] * table.num_rows, type=column.type)])
        else:
            continue
        table = table.set_column(position, table.schema.field(name), column)
    return table
