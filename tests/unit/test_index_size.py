"""The sizing rule of the index, from a table that hardly needs one to all of Project Gutenberg."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gutengraph_core.index_size import index_size, partitions_for, probes_for, sub_vectors_for

ALL = 91_000_000


@pytest.mark.parametrize(
    ("rows", "partitions"), [(1, 1), (100_000, 24), (1_000_000, 244), (16_777_216, 4096), (ALL, 9539)]
)
def test_partitions(rows: int, partitions: int) -> None:
    assert partitions_for(rows) == partitions


@given(rows=st.integers(1, ALL), dimension=st.integers(1, 2048))
def test_what_holds_at_any_size(rows: int, dimension: int) -> None:
    size = index_size(rows, dimension)
    assert dimension % size.sub_vectors == 0
    assert 1 <= size.probes <= size.partitions
    assert size.rows_read <= rows
    assert size.index_bytes == pytest.approx(rows * size.bytes_per_vector)
    assert size.training_bytes <= 4 * dimension * rows


@given(rows=st.integers(1, ALL // 2))
def test_a_larger_library_needs_no_less_and_reads_a_smaller_share(rows: int) -> None:
    small, large = index_size(rows, 256), index_size(2 * rows, 256)
    assert large.partitions >= small.partitions
    assert large.index_bytes > small.index_bytes
    assert large.build_operations > small.build_operations
    assert large.rows_read / (2 * rows) <= small.rows_read / rows + 1 / small.partitions


def test_all_of_gutenberg_fits_a_large_machine() -> None:
    size = index_size(ALL, 256)
    assert (size.sub_vectors, size.probes) == (64, 488)
    assert size.index_bytes / 1e9 == pytest.approx(6.56, abs=0.01)
    assert size.vector_bytes / 1e9 == pytest.approx(93.2, abs=0.1)
    assert size.training_bytes / 1e9 == pytest.approx(2.5, abs=0.01)
    assert probes_for(1) == sub_vectors_for(1) == 1
