"""Shortcuts for the words and gaps of nearly every line give what the long way gives, on any text."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from gutengraph_assets.extraction import scan
from gutengraph_core import names

ANY = st.text(max_size=30)
ODD = st.text(alphabet="aAzZßſıİǅ'’_-. \n\t\x1c\xa0éÉ½²ﬀ’", max_size=30)


def long_fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.translate(names._QUOTES))
    return names.squeeze("".join(c for c in decomposed if not unicodedata.combining(c))).casefold()


def long_shape(word: str) -> str:
    letters = [c for c in word if c.isalpha()]
    if not letters:
        return "lower"
    if not letters[0].isupper():
        return "capital" if scan._ELIDED.match(word) else "lower"
    if len(letters) == 1:
        return "letter"
    return "capitals" if all(c.isupper() for c in letters) else "capital"


@given(ANY | ODD | st.text(alphabet=st.characters(max_codepoint=127), max_size=30))
@example("_Pequod_  sails")
def test_folding_is_the_same_for_plain_and_for_other_letters(text: str) -> None:
    assert names.fold(text) == long_fold(text)


@given(ANY | ODD)
@example("d'Artagnan")
@example("l'estrange")
def test_how_a_word_is_written_is_the_same(text: str) -> None:
    for word in scan._WORD.findall(text):
        assert scan._shape(word) == long_shape(word), word


@given(ODD)
def test_behind_one_space_nothing_opens(text: str) -> None:
    """What `scan` leaves out where only a space lies between two words."""
    assert not scan._PARAGRAPH.search(" ")
    for last in scan.scan(text):
        assert not scan._opens(" ", last)
    assert not scan._breaks_early(text, " ", 0, 0, 70)
