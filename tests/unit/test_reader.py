"""The reader: from bytes to the body, on small texts that hold each quirk of Gutenberg's files."""

from __future__ import annotations

import contextlib
import random
import time
import unicodedata

import pytest
from gutenberg_texts import END, LAST, MORE, PROSE, START, TALK, TITLE_PAGE, book, chapter, gutenberg

from gutengraph_assets.gutenberg.reader import ReadBook, read_book
from gutengraph_core.errors import BadText, TruncatedDownload

TWO = ("CHAPTER I", "CHAPTER II")
FIRST_LINE = PROSE.splitlines()[0]
LAST_LINE = LAST.splitlines()[-1]


def read(text: str, **options: object) -> ReadBook:
    return read_book(text.encode("utf-8"), book=7, **options)  # type: ignore[arg-type]


def lines(got: ReadBook) -> list[str]:
    return [line for line in got.body.split("\n") if line.strip()]


def assert_whole(got: ReadBook) -> None:
    """Chapters are contiguous and cover the body."""
    assert got.chapters[0].start == 0
    assert got.chapters[-1].end == len(got.body)
    for one, other in zip(got.chapters, got.chapters[1:], strict=False):
        assert one.end == other.start
        assert one.index + 1 == other.index


# --- bytes ---


@pytest.mark.parametrize(
    ("encoded", "encoding"),
    [
        (lambda t: b"\xef\xbb\xbf" + t.encode("utf-8").replace(b"\n", b"\r\n"), "utf-8"),
        (lambda t: t.encode("utf-8"), "utf-8"),
        (lambda t: t.encode("utf-8").replace(b"\n", b"\r\r\n"), "utf-8"),
        (lambda t: t.encode("utf-8").replace(b"\n", b"\r"), "utf-8"),
        (lambda t: t.encode("utf-16"), "utf-16"),
        (lambda t: t.replace("“", '"').replace("”", '"').encode("latin-1"), "latin-1"),
        (lambda t: t.encode("cp1252"), "cp1252"),
        (lambda t: unicodedata.normalize("NFD", t).encode("utf-8"), "utf-8"),
    ],
    ids=["bom-crlf", "lf", "cr-cr-lf", "cr", "utf-16", "latin-1", "cp1252", "decomposed"],
)
def test_every_encoding_and_line_end_gives_the_same_body(encoded, encoding) -> None:
    text = gutenberg(book(*TWO).replace("Pettigrew", "Pettigré"))
    got = read_book(encoded(text), book=7)
    assert got.encoding == encoding
    assert got.body.replace('"', "“").count("Pettigré") == 3 + 3
    assert lines(got)[1] == FIRST_LINE
    assert "\r" not in got.body
    assert unicodedata.is_normalized("NFC", got.body)
    assert not any(line != line.rstrip() for line in got.body.split("\n"))


def test_a_plain_ascii_text_says_so() -> None:
    assert read(gutenberg(book(*TWO).replace("“", '"').replace("”", '"'))).encoding == "ascii"


def test_a_declaration_that_lies_is_noted_and_not_believed() -> None:
    text = gutenberg(book(*TWO).replace("Pettigrew", "Pettigré"), charset="ASCII")
    got = read_book(text.replace("“", '"').replace("”", '"').encode("latin-1"), book=7)
    assert "Pettigré" in got.body
    assert any("declared as ascii" in note for note in got.notes)


def test_a_declared_foreign_codec_is_used() -> None:
    text = gutenberg(book(*TWO).replace("Pettigrew", "Петтигрю"), charset="KOI8-R")
    got = read_book(text.replace("“", '"').replace("”", '"').encode("koi8-r"), book=7)
    assert "Петтигрю" in got.body
    assert got.encoding == "koi8-r"


def test_a_foreign_script_without_a_declaration_is_guessed() -> None:
    russian = "Старый смотритель зажёг фонарь на молу и никому об этом не сказал. " * 40
    got = read_book((russian + "\n\n").encode("cp1251"), book=7)
    assert got.body.startswith("Старый смотритель")


def test_broken_utf8_is_marked_and_counted() -> None:
    data = gutenberg(book(*TWO)).encode("utf-8").replace(b"Pettigrew", b"Petti\xffgrew", 1)
    got = read_book(b"\xef\xbb\xbf" + data, book=7)
    assert "Petti\ufffdgrew" in got.body
    assert any("1 characters could not be read" in note for note in got.notes)


def test_soft_hyphens_and_zero_width_spaces_do_not_split_names() -> None:
    got = read(gutenberg(book(*TWO).replace("Pettigrew", "Petti\u00adg\u200brew")))
    assert got.body.count("Pettigrew") == 6


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b"\r\n  \r\n\xef\xbb\xbf", "empty"),
        (b"PK\x03\x04" + bytes(500), "zip"),
        (b"%PDF-1.4 nonsense", "PDF"),
        (b"\x1f\x8b\x08" + bytes(100), "gzip"),
        (random.Random(3).randbytes(5_000), "binary"),
        (b"<!DOCTYPE html><html><head><title>Are you a robot?</title></head></html>", "HTML"),
        (b"<?xml version='1.0'?>\n<html><body>moved</body></html>", "HTML"),
        (b"Just a line about a book that has moved.", "words are left"),
        (gutenberg("THE LAMP ON THE MOLE\n").encode(), "words are left"),
    ],
)
def test_what_is_no_text_is_refused_with_the_book_and_a_remedy(data: bytes, what: str) -> None:
    with pytest.raises(BadText, match=what) as caught:
        read_book(data, book=7)
    assert caught.value.book == 7
    assert str(caught.value).startswith("Book 7:")
    assert caught.value.remedy


# --- markers ---


@pytest.mark.parametrize(
    "start",
    [
        START,
        "*** START OF THE PROJECT GUTENBERG EBOOK {upper} ***\n",
        "***START OF THE PROJECT GUTENBERG EBOOK {upper}***\n",
        "*** START OF THIS PROJECT GUTENBERG EBOOK\n{upper} ***\n",
        "*** START OF THE PROJECT GUTENBERG EBOOK, {upper} ***\n",
    ],
    ids=["this", "the", "no-spaces", "two-lines", "comma"],
)
@pytest.mark.parametrize(
    "end",
    [
        END,
        "*** END OF THE PROJECT GUTENBERG EBOOK {upper} ***\n",
        "***END OF THE PROJECT GUTENBERG EBOOK {upper}***\n\n*** START: FULL LICENSE ***\n\nlicence\n",
        "End of Project Gutenberg’s {title}, by\n{author}\n\n*** END OF THIS PROJECT GUTENBERG EBOOK\n{upper} ***\n",
        "*** END OF THE PROJECT GUTENBERG EBOOK {upper} ***\n\n**The Legal Small Print**\n\n*END THE SMALL PRINT!*\n",
    ],
    ids=["end-line-and-mark", "mark", "licence", "two-lines", "small-print-behind"],
)
def test_every_generation_of_marks(start: str, end: str) -> None:
    got = read(gutenberg(book(*TWO), start=start, end=end))
    assert lines(got)[0] == "CHAPTER I"
    assert lines(got)[-1] == LAST_LINE
    assert len(got.chapters) == 2
    assert got.title == "The Lamp on the Mole"
    assert_whole(got)


SMALL_PRINT = """**The Project Gutenberg Etext of The Lamp on the Mole, by Ada Fenwick**

Copyright laws are changing all over the world, be sure to check
the laws for your country before redistributing these files!!!

**The Legal Small Print**

***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***
Why is this "Small Print!" statement here?  You know: lawyers.
They tell us you might sue us if there is something wrong.

*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*
"""


@pytest.mark.parametrize(
    ("tail", "claim"),
    [
        ("\n\n\n\nEnd of The Project Gutenberg Etext of The Lamp on the Mole\n", ""),
        (
            "\n\n\n\nEnd of The Project Gutenberg Etext of The Lamp on the Mole\n",
            "[Portions of this header are\ncopyright.]\n",
        ),
        ("\n", ""),
    ],
    ids=["end-line", "claim-in-the-header", "no-footer-but-a-full-stop"],
)
def test_the_small_print_of_the_nineties(tail: str, claim: str) -> None:
    got = read(SMALL_PRINT + claim + "\n\n\n" + book(*TWO) + tail)
    assert lines(got)[0] == "CHAPTER I"
    assert lines(got)[-1] == LAST_LINE
    assert (got.title, got.author) == ("The Lamp on the Mole", "Ada Fenwick")
    assert got.language == "en"


def test_a_file_without_any_marks_is_read_as_it_is() -> None:
    got = read(book(*TWO))
    assert lines(got)[0] == "CHAPTER I"
    assert any("no Gutenberg header" in note for note in got.notes)


@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_a_text_that_breaks_off_is_a_truncated_download(keep: float) -> None:
    whole = gutenberg(book("CHAPTER I", "CHAPTER II", "CHAPTER III"))
    cut = whole[: int(len(whole[: whole.index("End of the Project")]) * keep)]
    with pytest.raises(TruncatedDownload, match="breaks off") as caught:
        read(cut)
    assert caught.value.book == 7
    assert caught.value.retry


def test_an_old_text_that_stops_in_a_sentence_is_truncated() -> None:
    with pytest.raises(TruncatedDownload):
        read(SMALL_PRINT + book(*TWO).rstrip()[:-20])


def test_a_missing_footer_is_no_loss_after_the_end() -> None:
    got = read(gutenberg(book(*TWO, back="\n\nTHE END\n"), end=""))
    assert lines(got)[-1] == "THE END"
    assert any("no Gutenberg footer" in note for note in got.notes)


def test_a_licence_that_breaks_off_does_not_matter() -> None:
    whole = gutenberg(book(*TWO))
    assert lines(read(whole[: whole.index("Updated editions")]))[-1] == LAST_LINE


@pytest.mark.parametrize(
    ("header", "title"),
    [
        ("Title: The Lamp\n       a Tale of the Coast\n", "The Lamp a Tale of the Coast"),
        ("Title: The Lamp\n       A Tale of the Coast\n", "The Lamp: A Tale of the Coast"),
        ("Title: The Lamp\n\nTranslator: Nobody\n", "The Lamp"),
        ("Author: Ada Fenwick\n", "The Lantern"),
    ],
    ids=["goes-on", "subtitle", "one-line", "missing"],
)
def test_the_title_of_the_header(header: str, title: str) -> None:
    first = "The Project Gutenberg EBook of The Lantern, by Ada Fenwick\n\n"
    text = first + header + "\n" + START.format(upper="THE LAMP") + book(*TWO) + "\n\n" + END
    assert read(text).title == title


# --- front ---


def test_credits_title_page_and_publisher_go() -> None:
    got = read(gutenberg(book(*TWO, front=TITLE_PAGE)))
    assert lines(got)[0] == "CHAPTER I"
    assert {piece.what for piece in got.front} == {"credits", "title page"}


@pytest.mark.parametrize(
    ("front", "first"),
    [
        ("TO\n\nMY BROTHER\n\nWHO LIT IT\n", "TO"),
        ("To the keepers of all lamps,\nwith respect.\n", "To the keepers of all lamps,"),
        ("   ‘Who lights a lamp and leaves it,\n    Leaves a question, and a light.’\n    —_Old rhyme_,\n    from the north.\n", "   ‘Who lights a lamp and leaves it,"),
        (f"PREFACE\n\n{MORE}\nADA FENWICK.\n", "PREFACE"),
        (f"THE PUBLISHER TO THE READER.\n\n\n{MORE}", "THE PUBLISHER TO THE READER."),
        (f"A WORD ABOUT LAMPS\n\n{MORE}", "A WORD ABOUT LAMPS"),
        (" Dramatis Personæ\n\nPETTIGREW, a keeper of tides. A harbour-master.\n", " Dramatis Personæ"),
        ("Scene: a harbour.  Time: forty years ago.\n", "Scene: a harbour.  Time: forty years ago."),
    ],
    ids=["dedication", "dedication-in-prose", "motto", "preface", "to-the-reader", "own-heading", "persons", "scene"],
)  # fmt: skip
def test_what_the_author_put_in_front_stays(front: str, first: str) -> None:
    got = read(gutenberg(book(*TWO, front=TITLE_PAGE + "\n\n\n\n" + front)))
    assert lines(got)[0] == first
    assert got.chapters[0].index == 0
    assert [c.title for c in got.chapters[1:]] == list(TWO)
    assert_whole(got)


def test_prefaces_give_chapter_nought_its_title() -> None:
    front = f"PREFACE\n\n{MORE}\n\n\n\nA WORD ABOUT LAMPS\n\n{MORE}"
    assert read(gutenberg(book(*TWO, front=front))).chapters[0].title == "PREFACE; A WORD ABOUT LAMPS"


@pytest.mark.parametrize(
    "front",
    [
        f"TRANSLATOR’S PREFACE\n\n{MORE}\n{MORE}",
        f"Original Transcriber's Notes:\n\n\n\n\n{MORE}",
        f"EDITOR'S NOTE\n\n\n{MORE}",
        "[Transcriber's note: the lamp was spelled lampe,\nand is now spelled lamp.]\n",
        "[Project Gutenberg Editor's Note: There is another version of\nthis work, scanned from another edition]\n",
        "GLOSSARY OF HARBOUR WORDS\n\nMOLE.--A wall in the sea.\n\nTIDE-BOOK.--A book of tides.\n",
        "JTABLE 6 18 1\n\nJTABLE 6 16 19\n",
        "CONTENTS\n\n CHAPTER I. The Lamp . . . . . 1\n CHAPTER II. The Tide . . . . 20\n",
        "   I. The Lamp\n  II. The Tide\n III. The Mole\n",
        "List of Illustrations\n\nThe lamp at night   3\n\nThe steps at noon   17\n",
        "[Illustration: colophon]\n",
    ],
    ids=[
        "translator", "transcriber", "editor", "bracketed", "gutenberg's-editor", "glossary", "residue",
        "contents", "contents-without-a-head", "illustrations", "picture",
    ],
)  # fmt: skip
def test_what_others_put_in_front_goes(front: str) -> None:
    got = read(gutenberg(book(*TWO, front=TITLE_PAGE + "\n\n\n\n" + front)))
    assert lines(got)[0] == "CHAPTER I"
    assert len(got.chapters) == 2
    assert sum(piece.chars for piece in got.front) > len(front) // 2


def test_a_dedication_before_the_contents_and_the_text_after_them_are_both_kept() -> None:
    front = "TO\n\nMY BROTHER\n\n\n\n\nCONTENTS\n\n CHAPTER I. . . . 1\n CHAPTER II. . . 9\n\n\n\n\nTHE LAMP ON THE MOLE\n"
    got = read(gutenberg(book(*TWO, front=front)))
    assert lines(got)[:4] == ["TO", "MY BROTHER", "CHAPTER I", FIRST_LINE]


def test_a_text_without_headings_begins_with_its_first_sentence() -> None:
    short = "The lamp was burning again.\n\n“Again?” said Pettigrew.\n\n"
    got = read(gutenberg(TITLE_PAGE + "\n\n\n" + short + PROSE + "\n" + LAST))
    assert lines(got)[0] == "The lamp was burning again."
    assert [c.index for c in got.chapters] == [0]
    assert got.chapters[0].title == ""
    assert_whole(got)


def test_a_title_over_several_lines_is_no_beginning() -> None:
    title = "A Modest Account of the Lamp upon the Mole, and of those who were\naccused of lighting it, set down for the use of the curious.\n\nby Ada Fenwick. 1887\n\n\n\n"
    assert lines(read(gutenberg(title + PROSE + "\n" + LAST)))[0] == FIRST_LINE


def test_a_dialogue_without_a_full_paragraph_is_kept_whole() -> None:
    talk = "".join(f"“Was it you the {n}th time?”\n\n“It was not I, said the other.”\n\n" for n in range(12))
    got = read(gutenberg("THE LAMP ON THE MOLE\n\nby Ada Fenwick\n\n\n\n" + talk))
    assert lines(got)[0] == "“Was it you the 0th time?”"
    assert len(lines(got)) == 24


# --- back ---


ADVERTS = """       *       *       *       *       *

_There's More to Follow!_

Ask for Harbour & Co.'s list of popular fiction, wherever books are sold.

THE SECRET OF THE TIDE-BOOK

THE WOLVES OF THE MOLE
"""
PRICE_LIST = """Ada Fenwick's Writings


THE HARBOUR SERIES.

The Mole at Night. Illustrated. 16mo. $1.50.

The Tide-Book. Cloth, gilt, in box, $12.00.
"""


@pytest.mark.parametrize(
    ("back", "last"),
    [
        ("\n\nTHE END\n", "THE END"),
        ("\n\n\n\nFINIS\n", "FINIS"),
        ("\n\nTHE END. YOURS TRULY, _ADA_.\n", "THE END. YOURS TRULY, _ADA_."),
        ("\n\n" + 3 * (PROSE + "\n") + LAST + "\nTHE END\n\n" + ADVERTS, "THE END"),
        ("\n\n\n\n\n" + PRICE_LIST, LAST_LINE),
        ("\n\n\n\nTRANSCRIBER’S NOTE:\n\n—Obvious errors were corrected.\n", LAST_LINE),
        ("\n\n       *       *       *\n\nTypographical errors corrected by the etext transcriber:\n\nlampe=> lamp {pg 3}\n", LAST_LINE),
        (f"\n\n\n\nA Note on the Text\n\n{MORE}", LAST_LINE),
        ("\n\n\n\nINDEX\n\nLamp, 1, 3, 5\n\nMole, 2\n", LAST_LINE),
        ("\n\n\n\nFOOTNOTES:\n\n[1] A kind of lamp.\n\n[2] A kind of mole.\n", LAST_LINE),
        ("\n\n\n*Vide a letter from Mr. Pettigrew, No. 97.\n", LAST_LINE),
        ("\n\n  The Mole, 1886-1887.\n", "  The Mole, 1886-1887."),
        ("\n\n[109]\n", LAST_LINE),
        ("\n\nTHE END\n\n\n\nAPPENDIX\n\nThe lamp is still there.\n", "The lamp is still there."),
    ],
    ids=[
        "the-end", "finis", "signed-end", "adverts-after-the-end", "price-list", "transcriber", "corrections",
        "note-on-the-text", "index", "footnotes", "starred-note", "dateline", "page-mark", "appendix",
    ],
)  # fmt: skip
def test_the_body_ends_where_a_person_would_end_it(back: str, last: str) -> None:
    got = read(gutenberg(book(*TWO, back=back)))
    assert lines(got)[-1] == last
    assert_whole(got)


def test_collected_notes_stay_where_they_are_asked_for() -> None:
    back = "\n\n\n\nFOOTNOTES:\n\n[1] A kind of lamp.\n\n[2] A kind of mole.\n\n\n\n\nTRANSCRIBER'S NOTE\n\nNothing.\n"
    text = gutenberg(book(*TWO, back=back))
    assert lines(read(text, keep_notes=True))[-1] == "[2] A kind of mole."
    assert lines(read(text))[-1] == LAST_LINE
    assert {piece.what for piece in read(text).back} == {"notes", "editorial sections"}


def test_an_end_within_the_book_ends_nothing() -> None:
    inner = chapter("CHAPTER I").rstrip() + "\n\nTHE END\n\n" + (MORE + "\n") * 8
    got = read(gutenberg(inner + chapter("CHAPTER II", last=True)))
    assert lines(got)[-1] == LAST_LINE
    assert got.body.count(MORE.split("\n")[0]) == 9


# --- within the text ---


def test_pictures_go_with_captions_over_lines_and_paragraphs() -> None:
    pictures = (
        '[Illustration: "They all looked up at the lamp, Pettigrew in\nfront, with [a] parrot"\n\n'
        "                      (See page 9)]\n\n"
        "[Illustration]\n\n"
        "{The steps at noon: p435.jpg}\n\n"
    )
    got = read(gutenberg(book(*TWO).replace(TALK, pictures + TALK)))
    assert "Illustration" not in got.body
    assert "parrot" not in got.body
    assert "jpg" not in got.body
    assert got.body.count("I never touched it") == 2


def test_an_opening_bracket_that_never_closes_swallows_nothing() -> None:
    text = book(*TWO).replace(TALK, "[Illustration: unclosed\n\n" + (MORE + "\n") * 15 + TALK)
    assert read(gutenberg(text)).body.count(MORE.split("\n")[0]) == 15 * 2 + 1


def test_a_heading_that_stands_in_a_picture_is_kept() -> None:
    text = (
        "[Illustration:\n\n·THE LAMP ON THE MOLE·\n\n\n\n\nChapter I.]\n\n"
        + PROSE
        + chapter("CHAPTER II.", last=True)
    )
    got = read(gutenberg(text))
    assert [c.title for c in got.chapters] == ["Chapter I.", "CHAPTER II."]


def test_page_numbers_and_drop_caps_go_and_italics_stay() -> None:
    text = book(*TWO).replace("Old Pettigrew", "Old [Pg 12] _Pettigrew_").replace("The lamp", "|THE lamp")
    got = read(gutenberg(text))
    assert "[Pg" not in got.body
    assert "Old _Pettigrew_" in got.body
    assert lines(got)[1].startswith("THE lamp")


def test_blank_lines_are_one_between_paragraphs_and_two_where_there_were_more() -> None:
    got = read(gutenberg(book(*TWO)))
    assert "\n\n\n\n" not in got.body
    assert f"{MORE}\n\nCHAPTER II\n\nThe lamp" in got.body
    assert got.body.endswith(LAST_LINE + "\n")


def test_what_was_stripped_and_what_was_kept_add_up() -> None:
    text = gutenberg(book(*TWO, front=TITLE_PAGE, back="\n\n\n\nINDEX\n\nLamp, 1\n"))
    got = read(text)
    assert {piece.what for piece in got.back} == {"apparatus"}
    assert len(got.body) + sum(p.chars for p in (*got.front, *got.back)) < len(text)


def test_reading_twice_gives_the_same() -> None:
    text = gutenberg(book(*TWO, front=TITLE_PAGE))
    assert read(text) == read(text)


# --- language ---


@pytest.mark.parametrize(
    ("declared", "header", "language"),
    [
        ("fr", "English", "fr"),
        (None, "English", "en"),
        (None, "German, Latin", "de"),
        (None, "Klingon", "en"),
    ],
)
def test_the_language_is_declared_else_in_the_header_else_voted(
    declared: str | None, header: str, language: str
) -> None:
    got = read(gutenberg(book(*TWO), language=header), declared_language=declared)
    assert got.language == language
    assert any("by its words" in note for note in got.notes) == (header == "Klingon")


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("Der alte Mann ging mit der Lampe zu dem Hafen, und er sagte, dass es nicht die seine war.", "de"),
        ("Le vieux gardien de la lampe ne disait pas que ce n'était pas lui qui l'avait allumée.", "fr"),
        ("El viejo guardián no dijo que la lámpara era suya, y se fue con ella a la torre del puerto.", "es"),
        ("Il vecchio custode di quella torre non era un uomo che si perde, e il faro gli era caro.", "it"),
        ("De oude man ging met de lamp naar de haven en hij zei dat het niet van hem was.", "nl"),
        ("Blorp zinkle frood wimmet garn tosk blen uvvar quist.", ""),
    ],
)
def test_the_vote_of_stop_words(sentence: str, language: str) -> None:
    assert read((sentence + "\n") * 12 + "\n").language == language


# --- speed ---


@pytest.mark.parametrize(
    "unit",
    [
        "a", "word ", ". ", "*", " ", "[", "[\n", "[Illustration: \n\n", "CHAPTER I\n\n", "I\n\n",
        "PART I\n\n\n\nBOOK I\n\n\n\n", "CONTENTS\n\n", "I. Something   12\n\n", "EPILOGUE\n\nI\n\nII\n\n",
        "THE LOT\n\n\n\n", "[1] see there\n\n", "THE END\n\n", "End of Project Gutenberg X\n\n", "\u00a0", "a.",
    ],
)  # fmt: skip
def test_the_reader_is_linear_in_hostile_texts(unit: str) -> None:
    """Four times the text takes about four times as long. A quadratic rule would take sixteen times."""

    def seconds(size: int) -> float:
        return _seconds(gutenberg(unit * (size // len(unit)) + "@"))

    # As small as can be timed: what is slow by the character (a heading a line) shows its square all the sooner.
    size = 10_000
    while size < 40_000 and seconds(size) < 0.05:
        size *= 2
    small = min(seconds(size) for _ in range(3))
    # Once is enough: a pause of the garbage collector, or of the machine, is nobody's square.
    assert any(seconds(4 * size) < 9 * small + 0.1 for _ in range(3))


def test_a_line_of_five_megabytes_takes_ten_times_as_long_as_a_tenth_of_it() -> None:
    line = "CHAPTER I\n\n" + "the lamp and the mole " * 250_000
    assert len(read(gutenberg(line)).body) > 5_000_000
    tenth = min(_seconds(gutenberg(line[: len(line) // 10])) for _ in range(3))
    assert any(_seconds(gutenberg(line)) < 25 * tenth + 0.1 for _ in range(3))


def _seconds(text: str) -> float:
    """Processor time of reading it, or of finding that it cannot be read."""
    data = text.encode()
    began = time.process_time()
    with contextlib.suppress(BadText):
        read_book(data, book=7)
    return time.process_time() - began
