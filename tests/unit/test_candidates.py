"""What code proposes as names, and what it knows to be none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gutengraph_assets.extraction.candidates import find_candidates, survey
from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_core import names
from tests.naming_texts import FILLER, windows_of, wrapped


def found(*paragraphs: str) -> dict[str, int]:
    """Candidate -> how often, in a body of these paragraphs and common words."""
    body = wrapped(FILLER, *paragraphs)
    return {c.name: len(c.occurrences) for c in find_candidates(body, windows_of(body))}


def test_sentence_start_is_no_evidence_for_a_name() -> None:
    got = found("Waiting was hard. Poor Esther had waited long, and Esther wept. Presently the rain stopped.")
    assert got == {"Esther": 2}


def test_a_name_that_only_opens_sentences_is_kept() -> None:
    assert found("Ephraim rose. Ephraim went out.") == {"Ephraim": 2}


def test_a_word_that_only_ever_opens_sentences_and_does_so_often_is_no_name() -> None:
    text = "“Zounds!” he said. " * 5
    assert found(text) == {}


def test_participles_that_open_sentences_are_no_names() -> None:
    assert found("Trembling, she put down the cup. Astonished, he took it.") == {}


def test_names_across_line_wraps_and_in_italics() -> None:
    body = (
        FILLER
        + "\n\nAt the gate stood Susan\nMarlow, whom they called _Sukey_, beside the _Sea\nUnicorn_ inn.\n"
    )
    got = {c.name for c in find_candidates(body, windows_of(body))}
    assert got == {"Susan Marlow", "Sukey", "Sea Unicorn"}


def test_a_name_never_crosses_a_paragraph() -> None:
    body = (
        FILLER + "\n\nThey all looked at Susan\n\nMarlow was not there, and Marlow was missed; poor Susan.\n"
    )
    assert {c.name for c in find_candidates(body, windows_of(body))} == {"Susan", "Marlow"}


@pytest.mark.parametrize("mark", ["'", "’"])
def test_possessives_contractions_and_quotes(mark: str) -> None:
    got = found(
        f"It was Esther{mark}s cup, and the Hodges{mark} dog broke it. They said that he{mark}ll pay. "
        f"{mark}Tis done. Don{mark}t cry, Esther. I{mark}m sure that O{mark}Malley saw it."
    )
    assert got == {"Esther": 2, "Hodges": 1, f"O{mark}Malley": 1}


def test_offsets_point_at_the_name_in_the_body() -> None:
    body = wrapped(FILLER, "They found Mrs. Amelia Croft at Thornbury, and Croft’s sister too.")
    for candidate in find_candidates(body, windows_of(body)):
        for o in candidate.occurrences:
            assert names.key(body[o.start : o.end]) == candidate.key
            assert not body[o.start : o.end].endswith("’s")


def test_titles_belong_to_names_and_begin_new_ones() -> None:
    got = found(
        "They told Esther Mr. Croft was out with Captain Sir John Hale and Mrs Clay. Sir, said she, the Captain is in."
    )
    assert got == {"Esther": 1, "Mr. Croft": 1, "Captain Sir John Hale": 1, "Mrs Clay": 1}


def test_a_title_may_be_a_surname() -> None:
    assert found("They spoke of Miss King and of Mr. Bishop.") == {"Miss King": 1, "Mr. Bishop": 1}


def test_particles_bind_and_persons_of_do_not() -> None:
    got = found(
        "The Duke of Albany met Madame de la Tour, the Isle of Mull in sight, with old van der Berg and Piet van der Berg. "
        "They spoke to Esther of Croft, and it grieved Croft and Esther."
    )
    assert set(got) == {
        "Duke of Albany",
        "Madame de la Tour",
        "Isle of Mull",
        "van der Berg",
        "Piet van der Berg",
        "Esther",
        "Croft",
    }


def test_capitals_for_emphasis_are_undone() -> None:
    got = found(
        "THEY WENT to sea in the HESPERUS, and the HESPERUS sank. She loved Esther. It was ESTHER who wept."
    )
    assert got == {"Hesperus": 2, "Esther": 2}


def test_roman_numerals_months_nationalities_and_god_are_no_names() -> None:
    got = found(
        "In chapter XIV the Frenchman came on a Monday in April with two Germans. Thank God, said the English doctor. "
        "King Louis XIV was dead. At Christmas they sang."
    )
    assert got == {"King Louis XIV": 1}


def test_a_month_may_be_a_first_name() -> None:
    got = found("He loved May Dunn. They went in May Dunn’s boat, and then May laughed at him and May slept.")
    assert got == {"May Dunn": 2, "May": 2}


def test_families_in_the_plural_are_not_persons() -> None:
    got = found(
        "The Crofts came, and the two Miss Hales. They liked the Crofts. Then Croft spoke to Miss Hale and Miss Hale."
    )
    assert got == {"Croft": 1, "Miss Hale": 2}


def test_a_surname_that_is_a_common_word() -> None:
    got = found(
        "They put out their hands. Then they saw Israel Hands, and Mr. Hands, and old Hands spoke, and they shook hands with Israel."
    )
    assert got["Israel Hands"] == 1
    assert got["Hands"] == 1


def test_headings_alone_make_no_names() -> None:
    body = "CHAPTER I. THE LANTERN\n\n" + FILLER + "\n\nChapter Two. The Gilder\n\n" + FILLER + "\n"
    assert find_candidates(body, windows_of(body)) == []


def test_a_verse_line_opens_like_a_sentence() -> None:
    verse = "\n" + "Rain on the wide river\n" * 6 + "Dog at the fire\n"
    body = wrapped(*[FILLER] * 4) + verse
    assert find_candidates(body, windows_of(body)) == []


def test_stutters_and_forms_of_address() -> None:
    assert found("“W-what is it, your Majesty?” they said to his Grace, poor G-grace.") == {}


def test_spellings_of_one_name_are_one_candidate_shown_as_most_often_written() -> None:
    body = wrapped(FILLER, "They saw Dr. Hale and Dr Hale and Dr. Hale.")
    (candidate,) = find_candidates(body, windows_of(body))
    assert (candidate.name, len(candidate.occurrences)) == ("Dr. Hale", 3)


def test_windows_are_counted() -> None:
    body = wrapped(*[f"{FILLER} They saw Esther."] * 6)
    (candidate,) = find_candidates(body, windows_of(body, words=80))
    assert candidate.windows == 6


def test_the_account_names_reasons() -> None:
    body = wrapped(
        FILLER, "They spoke of the French and of Monday, and I knew Esther. Oh! The Crofts of Croft."
    )
    dropped = survey(body, windows_of(body)).dropped
    assert dropped["nationality or creed"] == 1
    assert dropped["calendar or deity"] == 1
    assert dropped["plural of a name"] == 1
    assert "opens a sentence" in dropped or "function word" in dropped


def test_a_text_without_words_has_no_names() -> None:
    assert find_candidates("", windows_of(" \n")) == []


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="Ab cMr.’'“”-—\n_IVÉ(,:", max_size=200) | st.text(max_size=100))
@example("Half a yard, ½ and ²Ⅻ, he said.")
def test_any_text_gives_spans_that_stand_in_it(text: str) -> None:
    body = text + " x\n"
    for candidate in find_candidates(body, windows_of(body)):
        assert candidate.occurrences
        for o in candidate.occurrences:
            assert 0 <= o.start < o.end <= len(body)
            assert names.key(body[o.start : o.end]) == candidate.key == names.key(candidate.name)


@pytest.mark.mirror
def test_real_novel_has_its_cast_among_the_candidates(mirror: Path) -> None:
    data = (mirror / "cache/epub/120/pg120.txt").read_bytes()
    body = read_book(data, book=120).body
    got = {c.name for c in find_candidates(body, windows_of(body))}
    assert {
        "Long John Silver",
        "Ben Gunn",
        "Dr. Livesey",
        "Israel Hands",
        "Black Dog",
        "Hispaniola",
        "Pew",
    } <= got
    assert not got & {
        "Captain",
        "Doctor",
        "Sir",
        "Oh",
        "English",
        "Spaniards",
        "Monday",
        "II",
        "I'll",
        "Presently",
    }


def test_nationalities_that_are_first_names() -> None:
    got = found(
        "They saw Norman Hale and Norman Hale’s dog, and then Norman slept. The English saw English Hale and English Hale."
    )
    assert got["Norman"] == 1
    assert "English" not in got


def test_letters_are_addressed_in_headings() -> None:
    body = f"_To Mrs. Dunn, London._\n\n{FILLER}\n\n_To Mrs. Dunn, London._\n\n{FILLER}\n"
    assert {c.name for c in find_candidates(body, windows_of(body))} == {"Mrs. Dunn"}


def test_a_saints_name_runs_on_over_a_line_that_ends_early() -> None:
    body = (
        FILLER
        + "\n\nThey asked for a word with Mr. Neville St.\nClair and were shown up to him at once by the boy.\n"
    )
    assert {c.name for c in find_candidates(body, windows_of(body))} == {"Mr. Neville St. Clair"}


def test_somebodys_court_is_a_place_and_not_somebody() -> None:
    got = found(
        "The office is in Pope's Court, and the bells of St. Paul's Church. Mary's brother was with Pope's Mary."
    )
    assert "Pope's Court" in got
    assert "St. Paul's Church" in got
    assert "Mary" in got


def test_cries_and_what_is_taught_are_no_part_of_names() -> None:
    got = found(
        "“Yo-ho-ho!” he sang, and Yo-ho-ho it was, and tra-la-la. They taught Lucy Italian. Lucy wept. Poor Lucy."
    )
    assert got == {"Lucy": 3}


def test_a_participle_before_a_name_is_none_of_it() -> None:
    assert found("Overhearing Starbuck, he wept. He saw Starbuck.") == {"Starbuck": 2}
