"""The 41 real books of the mirror and their second versions: each was read by eye once, and stays as it was.

The table is written by `tests/data/reader/make_mirror_books.py`; the counts below are known of the printed books
and do not come from it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from data.reader.make_mirror_books import TABLE, number, row, texts

ROWS: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))

CHAPTERS = {
    11: 12,  # Alice
    35: 17,  # sixteen chapters and the epilogue
    36: 27,  # 17 and 10, in two books
    43: 10,
    45: 38,
    46: 5,  # staves
    74: 36,  # 35 and the conclusion
    76: 43,
    84: 28,  # four letters and 24 chapters
    98: 45,  # 6, 24 and 15, in three books
    105: 24,
    120: 34,  # in six parts
    121: 31,
    141: 48,
    158: 55,  # 18, 18 and 19, in three volumes
    161: 50,
    174: 20,
    219: 3,
    345: 27,
    514: 47,
    541: 34,  # in two books
    768: 34,
    829: 39,  # 8, 8, 11 and 12, in four parts
    1080: 0,  # a pamphlet
    1260: 38,
    1342: 61,
    1400: 59,
    1524: 20,  # scenes, in five acts
    1661: 12,  # adventures
    1727: 24,  # books
    2554: 41,  # 39 in six parts, and two of the epilogue
    2641: 20,  # in two parts
    2701: 136,  # 135 and the epilogue
    2891: 44,
    4300: 18,  # in three parts
    16328: 43,  # fits
    17489: 70,  # 14, 13, 9, 3, 13, 2, 11 and 5, in eight books
    22367: 3,
    37106: 47,  # in two parts
    51635: 8,  # address, note, three introductions, a section's head, two chapters
    51636: 3,
}
PARTS = {36: 2, 98: 3, 120: 6, 158: 3, 541: 2, 829: 4, 1524: 5, 2554: 7, 2641: 2, 4300: 3, 17489: 8}


def test_the_table_holds_every_text_of_the_mirror(mirror: Path) -> None:
    judged = {entry["path"] for entry in ROWS}
    assert [t for t in texts(mirror) if number(Path(t)) in CHAPTERS and t not in judged] == []
    assert {number(Path(path)) for path in judged} == set(CHAPTERS)
    assert len(CHAPTERS) == 41


@pytest.mark.parametrize("entry", ROWS, ids=[entry["path"] for entry in ROWS])
def test_a_real_book(mirror: Path, entry: dict[str, Any]) -> None:
    if not (mirror / entry["path"]).exists():
        pytest.skip(f"this mirror lacks {entry['path']}")
    source = (mirror / entry["path"]).read_bytes()
    assert hashlib.sha256(source).hexdigest() == entry["source_sha256"], "another text than was judged"
    got = row(mirror, entry["path"])
    assert got == entry
    book = number(Path(entry["path"]))
    assert got["chapters"] == CHAPTERS[book]
    if book in PARTS:
        assert got["parts"] == PARTS[book]
    assert "Gutenberg" not in got["first"] + got["last"]
