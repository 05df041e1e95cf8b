"""How often a name stands in a text, by the gold's rules."""

from __future__ import annotations

from gutengraph_query.review.gold import BookWords


def test_a_name_twice_in_a_row_counts_twice_and_a_part_of_a_word_never() -> None:
    words = BookWords("“Wren, Wren!” cried Captain Wren.\nWrens flew.")
    assert words.count("Wren") == 3
    assert words.count("Captain Wren") == 1  # and 'Wren' in it counts too: overlapping ones count twice
    assert words.count("Wren Wren") == 1
    assert words.count("…") == 0
