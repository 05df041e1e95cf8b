"""How large an index over vectors has to be, up to the whole of Project Gutenberg (75,000 books, about 91 million
rows): partitions, sub-vectors, probes, and what that costs.

`python -m benchmarks.index` measures them at the sizes that it is given; its table is benchmarks/index.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DIMENSIONS_PER_BYTE = 4
"""Of product quantisation: a sub-vector of 4 dimensions becomes one byte, 16 times less than float32. With 8 it
would take half the space and lean harder on comparing candidates in full."""

REFINE_FACTOR = 10
"""Of the candidates that product quantisation gives, ten times k are compared in full: distances between codes
are too coarse to rank by."""

ROWS_PER_PARTITION = 4096
"""Below this the time of a query goes into choosing partitions and not into reading them."""

SAMPLE_PER_CENTROID = 256
"""Rows that each centroid is trained on: LanceDB's own default."""

ITERATIONS = 10
"""Rounds of k-means. LanceDB's default of 50 takes five times as long to train; the recall that counts is measured
after each build, against `min_recall`."""

ROW_ID_BYTES = 8
"""Of a row's id in the index, before compression."""

_CODES = 256
"""Values of one byte of a quantised vector."""


def partitions_for(rows: int) -> int:
    """How many cells the space is cut into: one for 4,096 rows, and no more than the square root of the rows.

    Finding the cells costs one comparison a cell, reading a cell one a row: up to 16.8 million rows the first
    bound holds, beyond them the second, which keeps training (partitions squared) within hours.
    """
    return max(1, round(min(rows / ROWS_PER_PARTITION, math.sqrt(rows))))


def sub_vectors_for(dimension: int) -> int:
    """How many bytes a vector is quantised to: the largest divisor of the dimension up to a quarter of it."""
    most = max(1, dimension // DIMENSIONS_PER_BYTE)
    return next(n for n in range(most, 0, -1) if dimension % n == 0)


def probes_for(partitions: int) -> int:
    """How many cells a query reads: five times the square root of their number, so that the share falls as the
    library grows. On a million rows three times found .94 of the nearest ten in 9 ms, five .96 in 12, eight .98 in
    15, and comparing twice as many candidates in full little more than that.
    """
    return min(partitions, max(1, round(5 * math.sqrt(partitions))))


@dataclass(frozen=True)
class IndexSize:
    """What an index over `rows` vectors takes, by formula. Bytes, and floating-point operations of a build."""

    rows: int
    dimension: int
    partitions: int
    sub_vectors: int
    probes: int
    bytes_per_vector: float
    """Codes, row ids, centroids and code book, shared out; without the vectors themselves."""
    index_bytes: float
    vector_bytes: float
    """Of the vectors, which stay on disk: a query reads `10 k` of them."""
    training_bytes: float
    """Memory while it is trained: the sample, in float32."""
    build_operations: float
    rows_read: float
    """Rows whose codes one query reads."""


def index_size(rows: int, dimension: int) -> IndexSize:
    """The formulas, all from Jégou, Douze and Schmid 2011 (IVF-ADC) with the counts above:

    - index = rows x (sub-vectors + 8) + 4 x dimension x (partitions + 256)
    - training memory = 4 x dimension x 256 x partitions
    - operations = 2 x dimension x (iterations x sample x partitions + rows x partitions + 256 x (iterations x
      65,536 + rows)): k-means over the sample, each row to its cell, the code books, each row to its codes
    """
    partitions, sub_vectors = partitions_for(rows), sub_vectors_for(dimension)
    probes = probes_for(partitions)
    shared = 4.0 * dimension * (partitions + _CODES)
    index_bytes = rows * (sub_vectors + ROW_ID_BYTES) + shared
    sample = min(rows, SAMPLE_PER_CENTROID * partitions)
    coded = min(rows, SAMPLE_PER_CENTROID * _CODES)
    operations = ITERATIONS * sample * partitions + rows * partitions + _CODES * (ITERATIONS * coded + rows)
    return IndexSize(
        rows=rows,
        dimension=dimension,
        partitions=partitions,
        sub_vectors=sub_vectors,
        probes=probes,
        bytes_per_vector=index_bytes / rows,
        index_bytes=index_bytes,
        vector_bytes=4.0 * dimension * rows,
        training_bytes=4.0 * dimension * sample,
        build_operations=2.0 * dimension * operations,
        rows_read=rows * probes / partitions,
    )
