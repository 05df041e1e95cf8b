"""Names, words and excerpts of a text."""

from __future__ import annotations

import pytest

from gutengraph_query.merging.spans import capitalised, content_words, excerpts, holds, quoted, shortened


def test_capitalised_names_without_sentence_openers() -> None:
    text = "Then Mrs. Pell met _Captain_\nWren. He saw Agnes’s lamp. But Harrow Quay slept; and the Duke of York too."
    assert capitalised(text) == ("Mrs. Pell", "Captain Wren", "Agnes", "Harrow Quay", "Duke of York")


def test_openers_and_bare_titles_are_no_names() -> None:
    assert capitalised("However, she left. Chapter I. Captain! The end. Perhaps.") == ()


def test_content_words() -> None:
    assert content_words("He fed it on the dried apricots, and on Sundays.") == (
        "fed",
        "dried",
        "apricots",
        "Sundays",
    )


def test_excerpts_are_verbatim_short_and_keep_headings_apart() -> None:
    text = (
        "II. The Crossing\n\nSilas had a parrot, which spoke only Danish, and he fed it on dried apricots every "
        "single day of the week, from Monday on, because Dr. Marlow had told him so. It was\ngreen."
    )
    pieces = excerpts(text, longest=12)
    assert pieces[0] == "Silas had a parrot, which spoke only Danish,"
    assert all(len(piece.split()) <= 12 for piece in pieces)
    flat = " ".join(text.split())
    assert all(piece in flat for piece in pieces)
    assert any("Dr. Marlow had told him so." in piece for piece in pieces)
    assert "It was green." in pieces


def test_a_clause_that_never_ends_is_cut() -> None:
    assert [len(p.split()) for p in excerpts("word " * 50)] == [20, 20, 10]


def test_holds_whole_words() -> None:
    assert holds("the Kittiwake’s mast", "kittiwake")
    assert not holds("the Kittiwakes", "kittiwake")


def test_shortened() -> None:
    assert shortened("a b c", longest=2) == "a b …"
    assert shortened("a b", longest=2) == "a b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("He fed it on apricots.", "“He fed it on apricots.”"),
        ("“It is late.”", "“It is late.”"),
        ("“It is late, and the", "“It is late, and the”"),  # an excerpt ends where it is long enough
        ("sails at six.”", "“sails at six.”"),
        ("“It is late,” said Rook, “and she sails.”", "“‘It is late,’ said Rook, ‘and she sails.’”"),
        ("“You know her,” she said.", "“‘You know her,’ she said.”"),
        ('"It is late."', "“It is late.”"),
        ('"You know her," she said.', "“'You know her,' she said.”"),
    ],
)
def test_what_is_quoted_already_is_not_quoted_twice(text: str, shown: str) -> None:
    assert quoted(text) == shown
