"""Rows of the table of chunks: the schema, a book's rows with their vectors, and whether two are the same."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from gutengraph_core.embedding.protocol import EmbeddingIdentity, Matrix
from gutengraph_core.table_queries import VECTOR

if TYPE_CHECKING:
    import pyarrow as pa

IDENTITY = b"gutengraph.embedding"
"""Under this the schema's metadata says which embedder made the vectors."""


def table_schema(identity: EmbeddingIdentity) -> pa.Schema:
    """`tables.CHUNKS`, the vector, and the embedder's identity as metadata."""
    import pyarrow as pa

    from gutengraph_core.tables import CHUNKS

    vector = pa.field(VECTOR, pa.list_(pa.float32(), identity.dimension))
    return CHUNKS.append(vector).with_metadata({IDENTITY: json.dumps(asdict(identity)).encode()})


def with_vectors(book: int, rows: pa.Table, vectors: Matrix, *, dimension: int) -> pa.Table:
    """A book's rows (of `tables.CHUNKS`) in reading order, each with its unit vector [dimension].

    Raises ValueError if they are another book's, or if shape or length of the vectors are not so.
    """
    import pyarrow as pa

    from gutengraph_core.tables import CHUNKS

    if vectors.shape != (rows.num_rows, dimension):
        raise ValueError(f"vectors of shape {vectors.shape} for {rows.num_rows} rows of {dimension}")
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise ValueError("a vector is not of unit length")
    plain = rows.cast(CHUNKS)
    if set(plain["gutenberg_id"].to_pylist()) - {book}:
        raise ValueError(f"rows of another book than {book}")
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    column = pa.FixedSizeListArray.from_arrays(flat, dimension)
    return plain.append_column(VECTOR, column).sort_by("chunk_index")


def vectors_of(table: pa.Table) -> Matrix:
    """float32 [rows, dimension]."""
    column = table[VECTOR].combine_chunks()
    flat: Matrix = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(table.num_rows, column.type.list_size)


def same_rows(old: pa.Table, new: pa.Table) -> bool:
    """Whether a book's rows are already there; batches round vectors differently in the seventh digit."""
    if old.num_rows != new.num_rows:
        return False
    names = [name for name in new.column_names if name != VECTOR]
    if not old.select(names).equals(new.select(names).cast(old.select(names).schema)):
        return False
    return bool(np.allclose(vectors_of(old), vectors_of(new), atol=1e-5))
