"""Chapters: every manner of heading, found once, with the division that holds it."""

from __future__ import annotations

import pytest
from gutenberg_texts import LAST, MORE, PROSE, TALK, chapter, gutenberg

from gutengraph_assets.gutenberg.headings import mark
from gutengraph_assets.gutenberg.numerals import LAST as LAST_NUMBER
from gutengraph_assets.gutenberg.numerals import number
from gutengraph_assets.gutenberg.paragraphs import Para
from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_core.library import Chapter

TEXT = f"{PROSE}\n{TALK}\n{MORE}"


def chapters(text: str, *, title: str = "The Lamp on the Mole") -> list[Chapter]:
    got = read_book(gutenberg(text + f"\n\n{LAST}", title=title).encode(), book=7)
    for c in got.chapters:
        assert 0 <= c.start < c.end <= len(got.body)
    return got.chapters


def titles(text: str) -> list[str]:
    return [c.title for c in chapters(text) if c.index]


def under(*headings: str) -> str:
    return "".join(chapter(heading) for heading in headings)


# --- one series ---


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        (["CHAPTER I", "CHAPTER II", "CHAPTER III"], None),
        (["Chapter 1", "Chapter 2", "Chapter 3"], None),
        (["CHAPTER ONE", "CHAPTER TWO", "CHAPTER TWENTY-ONE"], None),
        (["CHAPTER 1. The Lamp.", "CHAPTER 2. The Tide.", "CHAPTER 3. Night, and the Mole."], None),
        (["Chapter I: The Lamp", "Chapter II: The Tide"], None),
        (["CHAPTER I.--THE LAMP", "CHAPTER II.--THE TIDE"], None),
        (["CHAPTER THE FIRST", "CHAPTER THE SECOND", "CHAPTER THE LAST"], None),
        (["STAVE I:  THE LAMP", "STAVE II:  THE TIDE"], ["STAVE I: THE LAMP", "STAVE II: THE TIDE"]),
        (["1", "2", "3"], None),
        (["I.", "II.", "III."], None),
        ([" I", " II", " III"], ["I", "II", "III"]),
        (["[ 1 ]", "[ 2 ]", "[ 3 ]"], None),
        (["— I —", "— II —"], None),
        (["ONE", "TWO", "THREE"], None),
        (["I. The Lamp", "II. The Tide", "III. The Mole at Night"], None),
        (["Letter 1", "Letter 2", "Chapter 1", "Chapter 2"], None),
        (["Chapitre I", "Chapitre II"], None),
        (["Erstes Kapitel", "Zweites Kapitel"], None),
        (["Book I", "Book II"], None),
        (["THE LAMP", "THE TIDE", "NIGHT ON THE MOLE"], None),
        (["_Chapter 1_", "_Chapter 2_"], ["Chapter 1", "Chapter 2"]),
    ],
)  # fmt: skip
def test_every_manner_of_heading(headings: list[str], expected: list[str] | None) -> None:
    assert titles(under(*headings)) == (expected or headings)


@pytest.mark.parametrize(
    ("below", "title"),
    [
        ("THE LAMP ON THE STEPS", "CHAPTER II. THE LAMP ON THE STEPS"),
        ("The Lamp on the Steps", "CHAPTER II. The Lamp on the Steps"),
        ("“Lamps and Steps”", "CHAPTER II. “Lamps and Steps”"),
        ("PETTIGREW'S DIARY--_continued_.", "CHAPTER II. PETTIGREW'S DIARY--continued."),
        ("_Letter from Pettigrew to the harbour-master._", "CHAPTER II. Letter from Pettigrew to the harbour-master."),
        ("THE LAMP IS LIT--THE TOWN WAKES--PETTIGREW IS\nQUESTIONED AND SAYS NOTHING", "CHAPTER II. THE LAMP IS LIT--THE TOWN WAKES--PETTIGREW IS QUESTIONED AND SAYS NOTHING"),
        ("“LAMP!”", "CHAPTER II"),
        ("Nobody answered him.", "CHAPTER II"),
        ("“MY DEAR MR FENWICK:--", "CHAPTER II"),
        ("(_Kept in shorthand._)", "CHAPTER II"),
    ],
)  # fmt: skip
def test_a_title_below_the_number_and_what_is_none(below: str, title: str) -> None:
    assert titles(chapter("CHAPTER I") + f"\n\n\n\nCHAPTER II\n\n{below}\n\n{TEXT}")[1] == title


def test_a_title_that_tells_the_chapter_over_four_lines() -> None:
    told = (
        "CHAPTER II: Pettigrew, the Harbour-Master, Three Cousins, and the\n"
        "Reverend Mr. Gale Walk Out upon the Mole to See the Lamp, and the\n"
        "Tide Comes In."
    )
    got = titles(chapter("CHAPTER I: The Lamp") + chapter(told) + chapter("CHAPTER III: The Tide"))
    assert got[1] == told.replace("\n", " ")
    assert len(got) == 3


def test_a_heading_with_its_text_on_the_next_line() -> None:
    assert titles(f"\n\n\nCHAPTER I\n{PROSE}\n{MORE}\n\n\n\nCHAPTER II\n{PROSE}") == [
        "CHAPTER I",
        "CHAPTER II",
    ]


def test_a_chapter_begins_with_its_heading_and_ends_before_the_next() -> None:
    got = read_book(gutenberg(under("CHAPTER I", "CHAPTER II") + LAST).encode(), book=7)
    first, second = got.chapters
    assert got.body[first.start :].startswith("CHAPTER I\n")
    assert got.body[second.start :].startswith("CHAPTER II\n")
    assert got.body[first.start : first.end].endswith("glad.\n\n\n")


# --- what is no heading ---


def test_sentences_that_begin_like_headings_are_none() -> None:
    sentences = "Part I took in it was small.\n\nChapter two was found, and she read its first line.\n\nI.\n\nBook I of the tide-books was lost that year.\n\n1801.--I have just returned.\n\n"
    text = under("CHAPTER I", "CHAPTER II").replace(TALK, TALK + "\n" + sentences)
    assert titles(text) == ["CHAPTER I", "CHAPTER II"]


def test_sections_within_a_named_chapter_are_none() -> None:
    inner = f"\n\nI.\n\n{PROSE}\n\nII.\n\n{MORE}\n\nIII.\n\n{PROSE}\n"
    text = chapter("ADVENTURE I. THE LAMP") + inner + chapter("ADVENTURE II. THE TIDE")
    assert titles(text) == ["ADVENTURE I. THE LAMP", "ADVENTURE II. THE TIDE"]


def test_a_letter_within_a_chapter_is_none() -> None:
    text = (
        chapter("Chapter 1")
        + f"\n\n\nLetter 1\n\n{PROSE}\n\n\nLetter 2\n\n{MORE}"
        + under("Chapter 2", "Chapter 3")
    )
    assert titles(text) == ["Chapter 1", "Chapter 2", "Chapter 3"]


def test_numbers_that_do_not_count_upwards_are_none() -> None:
    assert titles(TEXT + f"\n\n\n7\n\n{PROSE}\n\n\n1887\n\n{MORE}\n\n\n3\n\n{PROSE}") == []


def test_a_cry_in_capitals_makes_no_chapter() -> None:
    assert titles(TEXT + f"\n\nFIRE ON THE MOLE!\n\n{MORE}\n\nTHE LAMP!\n\n{PROSE}") == []


# --- the manner changes ---


def test_a_series_goes_on_where_the_manner_changes() -> None:
    headings = [
        "ADVENTURE I. THE LAMP",
        "ADVENTURE II. THE TIDE",
        "III. THE ADVENTURE OF THE MOLE",
        "IV. THE ADVENTURE OF THE STEPS",
    ]
    assert titles(under(*headings)) == headings


def test_a_misprinted_number_is_a_heading_still() -> None:
    headings = ["I.", "II.", "III.", "VI.", "V.", "VI."]
    assert titles(under(*headings)) == headings


@pytest.mark.parametrize("special", ["EPILOGUE", "Epilogue", "CONCLUSION", "THE EPILOGUE.", "APPENDIX"])
def test_unnumbered_last_chapters(special: str) -> None:
    assert titles(under("CHAPTER I", "CHAPTER II", special))[-1] == special


def test_an_epilogue_with_parts_of_its_own() -> None:
    text = under("CHAPTER I", "CHAPTER II") + f"\n\n\n\nEPILOGUE\n\nI\n\n{PROSE}\n\n\n\nII\n\n{MORE}"
    got = chapters(text)
    assert [(c.title, c.part) for c in got[2:]] == [("I", "EPILOGUE"), ("II", "EPILOGUE")]


def test_a_chapter_called_the_epilogue_is_one_chapter() -> None:
    text = under("I.", "II.") + f"\n\n\n\nIII.\n\nTHE EPILOGUE.\n\n{PROSE}"
    assert titles(text) == ["I.", "II.", "III. THE EPILOGUE."]


# --- divisions ---


@pytest.mark.parametrize(
    ("parts", "headings", "expected"),
    [
        (["PART I", "PART II"], ["CHAPTER I", "CHAPTER II"], ["PART I", "PART II"]),
        (["VOLUME I", "VOLUME II"], ["CHAPTER I", "CHAPTER II"], ["VOLUME I", "VOLUME II"]),
        (["Book the First--The Lamp", "Book the Second--the Tide"], ["I. Night", "II. Day"], ["Book the First--The Lamp", "Book the Second--the Tide"]),
        (["BOOK ONE\n\nTHE COMING OF THE LAMP", "BOOK TWO\n\nTHE GOING OF THE TIDE"], ["I.", "II."], ["BOOK ONE. THE COMING OF THE LAMP", "BOOK TWO. THE GOING OF THE TIDE"]),
        (["PART ONE\nThe Lamp", "PART TWO\nThe Tide"], ["Chapter 1", "Chapter 2"], ["PART ONE. The Lamp", "PART TWO. The Tide"]),
        (["Livre premier--Un phare", "Livre deuxième--La marée"], ["Chapitre I", "Chapitre II"], ["Livre premier--Un phare", "Livre deuxième--La marée"]),
        (["ACT I", "ACT II"], ["SCENE I. A harbour.", "SCENE II. A mole."], ["ACT I", "ACT II"]),
        (["The First Part", "The Second Part"], ["I.", "II."], ["The First Part", "The Second Part"]),
    ],
)  # fmt: skip
def test_numbering_that_starts_anew_with_each_division(
    parts: list[str], headings: list[str], expected: list[str]
) -> None:
    text = "".join(f"\n\n\n\n{part}\n\n\n" + under(*headings).lstrip("\n") for part in parts)
    got = chapters(text)
    if (
        expected is None
    ):  # what counts on through the divisions cannot start anew: the forms' own test is below
        return
    assert [c.title for c in got] == headings * 2
    assert [c.part for c in got] == [expected[0]] * 2 + [expected[1]] * 2
    assert got[2].index == 3


def test_numbers_that_count_on_through_coarser_ones() -> None:
    text = "\n\n\n\n— I —\n\n\n" + under("[ 1 ]", "[ 2 ]") + "\n\n\n\n— II —\n\n\n" + under("[ 3 ]", "[ 4 ]")
    got = chapters(text)
    assert [(c.title, c.part) for c in got] == [
        ("[ 1 ]", "— I —"), ("[ 2 ]", "— I —"), ("[ 3 ]", "— II —"), ("[ 4 ]", "— II —"),
    ]  # fmt: skip


def test_a_division_within_a_division() -> None:
    text = (
        "\n\n\n\nVOLUME I\n\n\n\nBOOK I\n\n" + under("CHAPTER I") + "\n\n\n\nBOOK II\n\n" + under("CHAPTER I")
        + "\n\n\n\nVOLUME II\n\n\n\nBOOK I\n\n" + under("CHAPTER I")
    )  # fmt: skip
    assert [c.part for c in chapters(text)] == ["VOLUME I, BOOK I", "VOLUME I, BOOK II", "VOLUME II, BOOK I"]


def test_a_division_that_comes_late() -> None:
    text = under("CHAPTER ONE", "CHAPTER TWO") + "\n\n\n\nTHE MOLE PART 2\n\n\n" + under("CHAPTER THREE")
    got = chapters(text)
    assert [c.part for c in got] == ["", "", "THE MOLE PART 2"]


def test_a_division_with_a_text_of_its_own_is_a_chapter() -> None:
    text = under("CHAPTER I") + f"\n\n\n\nPART TWO\n\n{PROSE}\n{MORE}" + under("CHAPTER II")
    got = chapters(text)
    assert [c.title for c in got] == ["CHAPTER I", "PART TWO", "CHAPTER II"]
    assert got[2].part == "PART TWO"


def test_a_chapter_starts_with_the_heading_of_its_division() -> None:
    text = under("CHAPTER I") + "\n\n\n\nPART II\n\n\n" + under("CHAPTER II").lstrip("\n")
    got = read_book(gutenberg(text).encode(), book=7)
    assert got.body[got.chapters[1].start :].startswith("PART II\n\n\nCHAPTER II")


def test_stories_that_count_anew_are_told_apart_by_their_titles() -> None:
    def story(title: str) -> str:
        return f"\n\n\n\n{title}\n\n\n" + under("I", "II").lstrip("\n")

    got = chapters(story("THE LAMP AND THE CAT") + story("THE TIDE AND THE DOG"))
    assert [(c.part, c.title) for c in got] == [
        ("THE LAMP AND THE CAT", "I"), ("THE LAMP AND THE CAT", "II"),
        ("THE TIDE AND THE DOG", "I"), ("THE TIDE AND THE DOG", "II"),
    ]  # fmt: skip


def test_in_a_treatise_long_introductions_are_chapters() -> None:
    long = (PROSE + "\n") * 200
    text = f"\n\n\n\nINTRODUCTION\n\n\n{long}\n\n\n\nOLD LAMPS\n\n\n{PROSE}" + under(
        "CHAPTER I", "CHAPTER II"
    )
    assert titles(text) == ["INTRODUCTION", "OLD LAMPS", "CHAPTER I", "CHAPTER II"]


# --- contents lists ---


ENTRIES = ["CHAPTER I. The Lamp", "CHAPTER II. The Tide", "CHAPTER III. The Mole", "CHAPTER IV. The Steps"]


@pytest.mark.parametrize(
    "contents",
    [
        "CONTENTS\n\n" + "\n\n".join(ENTRIES),
        "CONTENTS\n\n" + "\n".join(ENTRIES),
        "Table of Contents\n\n\n" + "\n\n".join(f"{e} . . . . . {n}" for n, e in enumerate(ENTRIES, 3)),
        "TABLE DES MATIÈRES\n\n" + "\n\n".join(ENTRIES),
        "\n\n".join(ENTRIES),
        "CONTENTS.\n\n" + "\n\n".join(f"{e}--Pettigrew is seen--The Town\nwonders--A Cat" for e in ENTRIES),
        "CONTENTS\n\n" + "\n\n".join(f"{e.split('. ')[0]}\n\n{e.split('. ')[1]}     {n}" for n, e in enumerate(ENTRIES)),
    ],
    ids=["paragraphs", "lines", "pages", "french", "without-a-head", "summaries", "two-lines-an-entry"],
)  # fmt: skip
def test_what_a_contents_list_repeats_is_found_once(contents: str) -> None:
    got = read_book(
        gutenberg("THE LAMP\n\n\n\n\n" + contents + "\n\n\n\n" + under(*ENTRIES)).encode(), book=7
    )
    assert [c.title for c in got.chapters] == ENTRIES
    assert got.body.startswith("CHAPTER I. The Lamp\n\nThe lamp at the end")
    assert "contents" in {piece.what for piece in got.front}


def test_a_contents_list_that_runs_into_the_text() -> None:
    """No wide gap anywhere: the first entry's return ends the list."""
    narrow = under(*ENTRIES).replace("\n\n\n\n\n", "\n\n").replace("\n\n\n\n", "\n\n")
    assert titles("CONTENTS\n\n" + "\n\n".join(ENTRIES) + narrow) == ENTRIES


def test_a_contents_list_at_the_end_is_no_chapter() -> None:
    text = under(*ENTRIES).replace(MORE, (MORE + "\n") * 20)
    got = read_book(gutenberg(text + "\n\n\n\nTABLE\n\n" + "\n\n".join(ENTRIES)).encode(), book=7)
    assert [c.title for c in got.chapters] == ENTRIES
    assert got.body.rstrip().endswith("glad.")


def test_titles_that_only_the_contents_list_announces() -> None:
    names = ["The Lamp and the Cat", "A Tide for the Dog", "Who Lit It?"]
    contents = "CONTENTS\n\n" + "\n".join(f"  {name}     {n}" for n, name in enumerate(names, 1))
    text = contents + "".join(f"\n\n\n{name}\n\n{TEXT}" for name in names)
    assert titles(text) == names


def test_short_chapters_in_a_row_are_no_contents_list() -> None:
    """Without a return of the same headings elsewhere it is no list, however little stands between them."""
    short = "".join(f"\n\n\n\nCHAPTER {n}\n\n“Again,” said Pettigrew.\n" for n in range(1, 7))
    assert len(titles(short + chapter("CHAPTER 7") + chapter("CHAPTER 8"))) == 8


# --- numbers and lines ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", (12, "arabic")), ("XIV", (14, "roman")), ("XXXX", (40, "roman")), ("iv", (4, "roman")),
        ("XCIX", (99, "roman")), ("TWENTY-ONE", (21, "word")), ("twenty first", (21, "word")),
        ("The Twelfth", (12, "word")), ("ninetieth", (90, "word")), ("premier", (1, "word")),
        ("deuxième", (2, "word")), ("Zweites", (2, "word")), ("tercera", (3, "word")),
        ("the last", (LAST_NUMBER, "word")), ("", None), ("lamp", None), ("IVX", None), ("1887", None),
    ],
)  # fmt: skip
def test_numbers_as_headings_write_them(text: str, expected: tuple[int, str] | None) -> None:
    assert number(text) == expected


@pytest.mark.parametrize(
    "line",
    ["Chapter mix", "Part of it was gone", "I was there", "A. PLATO.", "CHAPTER I . . . . . . 12",
     "Letter boxes are red", "VII", "x" * 500],
)  # fmt: skip
def test_lines_that_are_no_marks(line: str) -> None:
    found = mark(0, Para([line], 4))
    assert found is None or (line == "VII" and found.value == 7)
