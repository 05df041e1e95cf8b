"""Windows rebuild the body, keep paragraphs whole, and stay near the size asked for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gutengraph_assets.text.windows import make_windows
from gutengraph_core.library import Chapter
from gutengraph_core.tables import WINDOWS


def paragraph(words: int, *, sentence: int = 10) -> str:
    parts = [
        f"{'Sail' if i % sentence == 0 else 'on'}{'.' if i % sentence == sentence - 1 else ''}"
        for i in range(words)
    ]
    return "\n".join(" ".join(parts[i : i + 12]) for i in range(0, words, 12)) + "\n\n"


def chapters_of(parts: list[str]) -> list[Chapter]:
    chapters, place = [], 0
    for index, part in enumerate(parts, start=1):
        chapters.append(Chapter(index=index, title="", start=place, end=place + len(part)))
        place += len(part)
    return chapters


def rebuilt(rows: list[dict[str, object]]) -> str:
    return "".join(str(row["text"]) for row in rows)


def test_whole_paragraphs_shared_out_evenly() -> None:
    body = "".join(paragraph(60) for _ in range(35))
    rows = make_windows(body, [], words=500)
    assert rebuilt(rows) == body
    assert [row["words"] for row in rows] == [540, 540, 540, 480]
    assert all(body[row["start"] :].startswith("Sail") for row in rows)
    assert all(row["text"].endswith("\n\n") for row in rows)


def test_rows_fit_the_schema() -> None:
    import pyarrow as pa

    rows = make_windows(paragraph(700), [], words=100)
    table = pa.Table.from_pylist(rows, schema=WINDOWS)
    assert table.column("window").to_pylist() == list(range(len(rows)))


def test_a_chapter_a_little_over_is_one_window_and_one_far_over_leaves_no_scrap() -> None:
    assert len(make_windows("".join(paragraph(59) for _ in range(10)), [], words=500)) == 1
    two = make_windows("".join(paragraph(62) for _ in range(10)), [], words=500)
    assert [row["words"] for row in two] == [310, 310]


def test_a_paragraph_that_alone_is_too_long_is_cut_at_sentence_ends() -> None:
    body = paragraph(50) + paragraph(1500) + paragraph(50)
    rows = make_windows(body, [], words=500)
    assert rebuilt(rows) == body
    assert len(rows) > 2
    assert all(row["words"] <= 600 for row in rows)
    for row in rows[:-1]:
        assert row["text"].rstrip().endswith(".")
    assert all(row["text"].startswith("Sail") for row in rows)


def test_a_long_paragraph_within_bounds_stays_whole() -> None:
    body = paragraph(200) + paragraph(590) + paragraph(200)
    rows = make_windows(body, [], words=500)
    assert [row["words"] for row in rows] == [200, 590, 200]


def test_the_last_lines_of_a_chapter_are_no_window_of_their_own() -> None:
    """Filling one window after the other would leave four words over."""
    body = "".join(paragraph(n) for n in (250, 245, 480, 590, 4))
    assert [row["words"] for row in make_windows(body, [], words=500)] == [495, 480, 594]
    # Even where that takes a window a little over.
    body = "".join(paragraph(n) for n in (500, 598, 10))
    assert [row["words"] for row in make_windows(body, [], words=500)] == [500, 608]


def test_no_window_crosses_a_chapter_border() -> None:
    parts = [paragraph(300), paragraph(400), paragraph(700)]
    rows = make_windows("".join(parts), chapters_of(parts), words=500)
    assert [row["chapter"] for row in rows][:2] == [1, 2]
    borders = {chapter.start for chapter in chapters_of(parts)}
    assert borders <= {row["start"] for row in rows}


def test_tiny_chapters_share_a_window() -> None:
    parts = ["BOOK ONE\n\n", paragraph(300), *[f"NOTE {i}\n\n" + paragraph(20) for i in range(50)]]
    rows = make_windows("".join(parts), chapters_of(parts), words=500)
    assert rebuilt(rows) == "".join(parts)
    assert rows[0]["chapter"] == 1
    assert rows[0]["words"] == 302
    assert len(rows) < 15


@pytest.mark.parametrize(
    "body",
    ["", "\n\n", "x" * 1_000_000, "word " * 100_000, "ab\n\n\n" * 100_000, "😀" * 9_000],
    ids=["empty", "blank", "one word", "one line", "short paragraphs", "emoji"],
)
def test_hostile_texts(body: str) -> None:
    rows = make_windows(body, [], words=500)
    assert rebuilt(rows) == body
    assert all(row["words"] <= 750 and len(row["text"]) <= 60_000 for row in rows)


def test_a_title_with_a_stop_is_no_sentence_end() -> None:
    body = "He went with Mr. Harrow to see Dr. Voss and J. Penn. " * 60
    for row in make_windows(body, [], words=50):
        assert row["text"].startswith("He went")


def test_no_words_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="0 words"):
        make_windows("text", [], words=0)


@settings(max_examples=200, deadline=None)
@given(
    parts=st.lists(st.text(alphabet='ab .!?\n\n"“A', max_size=300), max_size=6),
    words=st.integers(1, 40),
)
def test_any_text(parts: list[str], words: int) -> None:
    body = "".join(parts)
    rows = make_windows(body, chapters_of(parts), words=words)
    assert rebuilt(rows) == body
    place = 0
    for row in rows:
        assert row["start"] == place < row["end"]
        assert row["words"] == len(row["text"].split())
        place = row["end"]
