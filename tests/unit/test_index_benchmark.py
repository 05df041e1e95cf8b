"""The arithmetic of the index benchmark: how its vectors are made, and what it says of sizes not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.index import draw, extrapolated, multiplied, nearest_distances, table_of
from gutengraph_core.index_size import index_size


def units(n: int, d: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    raw = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    unit: np.ndarray[Any, np.dtype[np.float32]] = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    return unit


def test_the_way_to_the_nearest_other() -> None:
    vectors = units(2_100, 8, 1)
    found = nearest_distances(vectors)
    for i in (0, 1_999, 2_000, 2_099):
        others = np.delete(vectors, i, axis=0)
        assert found[i] == pytest.approx(np.linalg.norm(others - vectors[i], axis=1).min(), abs=1e-3)


def test_real_vectors_first_then_with_noise_of_that_length() -> None:
    real = units(50, 64, 2)
    made = multiplied(real, 5_000)
    np.testing.assert_allclose(made[:50], real, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    # A right angle away on average, then brought back to unit length.
    cosines = np.array([made[i::50][1:] @ real[i] for i in range(50)]).mean(axis=1)
    np.testing.assert_allclose(cosines, 1 / np.sqrt(1 + nearest_distances(real) ** 2), atol=0.03)
    np.testing.assert_array_equal(made, multiplied(real, 5_000))


def point(rows: int, query_ms: float) -> dict[str, Any]:
    size = index_size(rows, 256)
    return {
        "rows": rows, "partitions": size.partitions, "sub_vectors": size.sub_vectors, "probes": size.probes,
        "recall_at_10": 0.97, "query_ms": {"median": query_ms, "p95": 2 * query_ms},
        "flat_ms": {"median": 40.0, "p95": 50.0}, "book_ms": {"median": 3.0, "p95": 4.0},
        "index_bytes_per_vector": 69.0, "formula_bytes_per_vector": 75.0, "build_s": 100.0,
        "build_cpu_s": size.build_operations / 4e9, "build_gflop": size.build_operations / 1e9,
        "peak_mb": 1000, "cores": 2, "load": 1.0, "date": "2026-11-30",
    }  # fmt: skip


def test_what_is_said_of_all_of_gutenberg(tmp_path: Path) -> None:
    points = [point(100_000, 4.0), point(1_000_000, 9.0)]
    end = extrapolated(points)
    size = index_size(91_000_000, 256)
    assert end["build_cpu_h"] == pytest.approx(size.build_operations / 4e9 / 3600, rel=1e-6)
    small, large = (index_size(p["rows"], 256).rows_read for p in points)
    assert end["query_ms"] == pytest.approx(9.0 + 5.0 * (size.rows_read - large) / (large - small))
    document = {"dimension": 256, "real_vectors": 50, "queries": 75, "points": points}
    text = table_of(document)
    assert "| 1,000,000 | 244 | 78 | 64 | 0.970 | 9.0 (18.0) |" in text
    assert "*91,000,000*" in text
    level = {**document, "points": [point(100_000, 4.0), point(1_000_000, 4.0)]}
    assert "| 64 | – | ? |" in table_of(level)  # nothing is made up where nothing grew
    draw(level, tmp_path / "level.png")
    draw(document, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
