"""The benchmarks' own arithmetic: what they print must follow from what they measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.backfill import mirror_books, page
from benchmarks.capacity import BEGIN, END, PAGE, book_seconds, hours, tables
from benchmarks.library_copy import renumbered
from benchmarks.run_queue import covered
from gutengraph_core.tables import EVIDENCE

POINTS: dict[str, Any] = {
    "cores": 2,
    "memory_gb": 24,
    "date": "2026-11-30",
    "names_s_per_1000_words": 0.3,
    "words_a_book": 100_000,
    "vectors_s_per_passage": 0.04,
    "passages_a_book": 700,
    "others_s_a_book": 2.0,
    "commit_s_a_book": 1.0,
    "merge_s_a_book": 0.1,
} | {f"{what}_mb_a_book": 1.0 for what in ("files", "vectors", "graph", "replies", "events")}


def test_hours_follow_from_the_points() -> None:
    assert book_seconds(POINTS) == pytest.approx(30 + 28 + 2)
    assert hours(POINTS, 1000, 1) == pytest.approx(1000 * 60.1 / 3600)
    assert hours(POINTS, 1000, 10) == pytest.approx(1000 * 6.1 / 3600)
    # From sixty workers on all wait for the one commit; more of them gain nothing.
    assert hours(POINTS, 1000, 60) == hours(POINTS, 1000, 6000) == pytest.approx(1000 * 1.1 / 3600)


def test_the_table_names_every_size() -> None:
    shown = tables(POINTS)
    for size in ("100 books", "1,000 books", "10,000 books", "75,000 books"):
        assert f"| {size} |" in shown
    assert "**60 workers**" in shown


def test_the_page_has_room_for_the_tables() -> None:
    text = PAGE.read_text()
    assert text.index(BEGIN) < text.index("75,000 books") < text.index(END)


def test_a_copied_book_is_its_own() -> None:
    row = {"entity": "84:victor", "surface": "84:no id", "chunk_id": "84:000001", "start": 84}
    copied = renumbered(pa.Table.from_pylist([row], schema=EVIDENCE), 84, 900_001)
    assert copied.schema == EVIDENCE
    (found,) = copied.to_pylist()
    assert (found["entity"], found["chunk_id"]) == ("900001:victor", "900001:000001")
    assert (found["surface"], found["start"]) == ("84:no id", 84)


def test_the_shortest_book_comes_first(tmp_path: Path) -> None:
    for book, length in ((84, 30), (7, 10), (11, 20)):
        folder = tmp_path / "cache" / "epub" / str(book)
        folder.mkdir(parents=True)
        (folder / f"pg{book}.txt").write_text("x" * length)
        (folder / f"pg{book}.rdf").write_text("")
    assert mirror_books(tmp_path) == [7, 11, 84]


def test_what_was_not_reached_is_said() -> None:
    book = {
        "book": 7,
        "title": "A Tale",
        "status": "failed",
        "reason": "The mirror is asleep.",
        "warnings": [],
        "wall_s": 10.0,
        "cpu_s": 9.0,
        "load": 1.0,
        "peak_bytes": 2**30,
        "steps_s": {"window_names": 5.0, "chunks": 4.0},
        "counts": {"words": 1000, "chunks": 3, "cast": 2, "relations": 1},
    }
    figures = {
        "cores": 2,
        "memory_gb": 24,
        "date": "2026-11-30",
        "mirror": 3,
        "books": [book],
        "wall_s": 10.0,
        "inside_s": 9.0,
        "overhead": 0.1,
        "overhead_quiet": 0.1,
        "peak_bytes": 2**30,
    }
    shown = page(figures)
    assert "**1 of the mirror's 3 books.** Not reached, of the longest: 2." in shown
    assert "1 failed" in shown
    assert "- 7: The mirror is asleep." in shown
    assert "**overhead\n  10.0%**" in shown


def test_steps_at_once_are_counted_once() -> None:
    assert covered([(0, 4), (1, 2), (3, 6), (8, 9)]) == 7
    assert covered([]) == 0
