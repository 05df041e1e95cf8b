"""The sample book: laid out like a Gutenberg text, and its gold standard true of it."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from gutengraph_assets.gutenberg.catalogue import check_rights, read_rdf
from gutengraph_assets.gutenberg.kinds import classify
from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_core.graph.schema import RELATION_TYPES
from gutengraph_core.names import fold, words
from gutengraph_core.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
EPUB = ROOT / "data" / "sample" / "cache" / "epub" / "0"
GOLD = ROOT / "data" / "sample" / "gold"
RAW = (EPUB / "pg0.txt").read_bytes()
TEXT = RAW.decode("utf-8-sig").replace("\r\n", "\n")
ONE_LINE = re.sub(r"\s+", " ", TEXT)
BODY = TEXT[TEXT.rindex("\nCHAPTER I. ") + 1 : TEXT.index("\n\n\nTHE END\n")]
NOVEL: dict[str, Any] = json.loads((GOLD / "novels" / "0.json").read_text("utf-8"))
QUESTIONS: list[dict[str, Any]] = json.loads((GOLD / "questions" / "0.json").read_text("utf-8"))["questions"]
CHARACTERS: list[dict[str, Any]] = NOVEL["characters"]
HEADINGS = re.findall(r"^CHAPTER [IVX]+\. .+$", BODY, re.MULTILINE)


def plain(text: str) -> str:
    """Folded like `names.fold`, but with its capitals: 'Nat' is a name, 'nat' would be part of nothing."""
    marks = str.maketrans("‘’“”—", "''\"\"-", "_")
    decomposed = unicodedata.normalize("NFKD", text.translate(marks))
    return re.sub(r"\s+", " ", "".join(c for c in decomposed if not unicodedata.combining(c)))


def count(name: str, text: str) -> int:
    """How often a name stands in a `plain` text as whole words."""
    return len(re.findall(rf"(?<!\w){re.escape(plain(name))}(?!\w)", text))


def names(character: dict[str, Any]) -> list[str]:
    return [character["name"], *character["aliases"]]


def windows_with(character: dict[str, Any]) -> tuple[int, int]:
    """In how many of the body's windows of 500 words the character is named, and how many there are."""
    body_words = BODY.split()
    windows = [plain(" ".join(body_words[i : i + 500])) for i in range(0, len(body_words), 500)]
    return sum(any(count(name, window) for name in names(character)) for window in windows), len(windows)


# --- its form ---
def test_bytes_are_those_of_a_gutenberg_text() -> None:
    assert RAW.startswith(b"\xef\xbb\xbf")
    assert RAW.count(b"\xef\xbb\xbf") == 1
    assert RAW.count(b"\n") == RAW.count(b"\r\n") == RAW.count(b"\r") > 500
    assert RAW.endswith(b"\r\n")


def test_git_leaves_the_line_ends_alone() -> None:
    assert "data/sample/**/*.txt -text" in (ROOT / ".gitattributes").read_text("utf-8").splitlines()


def test_lines_are_wrapped_and_quotes_curly() -> None:
    lines = BODY.split("\n")
    assert max(map(len, lines)) <= 70
    assert all(line == line.rstrip() for line in lines)
    assert '"' not in BODY
    assert "'" not in BODY
    assert BODY.count("“") == BODY.count("”") > 50
    assert re.search(r"_[^_]+_", BODY)
    assert BODY.count("_") % 2 == 0


def test_header_markers_and_licence_stand_in_order() -> None:
    landmarks = [
        f"Title: {NOVEL['title']}",
        "Author: The GutenGraph contributors",
        "Release Date: ",
        "Language: English",
        "Character set encoding: UTF-8",
        "*** START OF THE PROJECT GUTENBERG EBOOK THE DROWNED MEN’S DINNER ***",
        "Produced by ",
        "CONTENTS",
        BODY[:200],
        "*** END OF THE PROJECT GUTENBERG EBOOK THE DROWNED MEN’S DINNER ***",
        "This is not a Project Gutenberg eBook",
        "Apache License, Version 2.0",
    ]
    at = 0
    for landmark in landmarks:
        at = TEXT.find(landmark, at)
        assert at >= 0, landmark


def test_contents_list_repeats_every_heading() -> None:
    front = TEXT[TEXT.index("CONTENTS") : TEXT.index(BODY[:200])]
    assert [line.strip() for line in front.splitlines() if line.strip()] == ["CONTENTS", *HEADINGS]


def test_size() -> None:
    assert 4000 <= len(BODY.split()) <= 6000
    assert len(HEADINGS) >= 6
    assert len(CHARACTERS) >= 12
    assert len(NOVEL["places"]) >= 8


def test_some_name_is_broken_across_a_line() -> None:
    broken = [n for c in CHARACTERS for n in names(c) if " " in n and n.replace(" ", "\n") in BODY]
    assert broken


def test_catalogue_record_is_that_of_a_free_english_story(settings: Settings) -> None:
    entry = read_rdf((EPUB / "pg0.rdf").read_bytes(), 0)
    assert entry.title == NOVEL["title"]
    assert entry.authors == ["The GutenGraph contributors"]
    assert entry.language == "en"
    assert "Apache" in entry.rights
    check_rights(entry, settings)
    assert classify(entry.subjects, entry.locc, entry.bookshelves) == NOVEL["genre"]


def test_reader_finds_what_a_person_would() -> None:
    book = read_book(RAW, book=0)
    lines = book.body.split("\n")
    assert (book.title, book.author) == (NOVEL["title"], "The GutenGraph contributors")
    assert [chapter.title for chapter in book.chapters] == HEADINGS
    assert [chapter.index for chapter in book.chapters] == list(range(1, len(HEADINGS) + 1))
    assert lines[0] == HEADINGS[0]
    assert [line for line in lines if line][-2:] == ["goat.", "THE END"]
    assert book.body.split() == [*BODY.split(), "THE", "END"]
    assert [run.what for run in book.front] == ["credits", "title page", "contents"]


# --- its gold standard ---
@pytest.mark.parametrize("character", CHARACTERS, ids=lambda c: c["name"])
def test_character_is_in_the_text_as_often_as_said(character: dict[str, Any]) -> None:
    text = plain(TEXT)
    assert all(count(name, plain(BODY)) for name in names(character))
    assert sum(count(name, text) for name in names(character)) == character["mentions"]
    assert len(set(names(character))) == len(names(character))
    assert not [name for name in character["also_accept"] if count(name, text)]
    assert character["gender"] in {"M", "F", "X", "U"}


@pytest.mark.parametrize("character", CHARACTERS, ids=lambda c: c["name"])
def test_importance_follows_the_windows(character: dict[str, Any]) -> None:
    found, windows = windows_with(character)
    expected = "major" if found > windows / 2 else "intermediate" if found >= 3 else "minor"
    assert character["importance"] == expected, found


def test_no_name_belongs_to_two() -> None:
    everything = [fold(n) for c in CHARACTERS for n in names(c)] + [fold(p["name"]) for p in NOVEL["places"]]
    assert len(everything) == len(set(everything))


def test_places_are_in_the_text() -> None:
    assert not [place["name"] for place in NOVEL["places"] if not count(place["name"], plain(BODY))]
    assert any(place["kind"] == "vessel" for place in NOVEL["places"])


def test_relations_join_known_ends_by_known_types() -> None:
    ends = {c["name"] for c in CHARACTERS} | {p["name"] for p in NOVEL["places"]}
    for relation in NOVEL["relations"]:
        assert {relation["a"], relation["b"]} <= ends
        assert relation["a"] != relation["b"]
        assert relation["type"] in RELATION_TYPES
    triples = [tuple(sorted(r.items())) for r in NOVEL["relations"]]
    assert len(triples) == len(set(triples))


@pytest.mark.parametrize(
    "family",
    [
        {"sibling_of", "parent_of", "spouse_of", "aunt_or_uncle_of", "cousin_of", "engaged_to"},
        {"captain_of", "first_mate_of", "second_mate_of", "boatswain_of"},
        {"serves", "works_for", "employer_of"},
        {"friend_of", "enemy_of"},
    ],
    ids=["kin", "rank", "service", "feeling"],
)
def test_every_family_of_relations_is_there(family: set[str]) -> None:
    assert family <= {relation["type"] for relation in NOVEL["relations"]}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q["id"])
def test_question_can_be_answered_from_its_quote(question: dict[str, Any]) -> None:
    assert question["quote"] in ONE_LINE
    accepted = [f" {' '.join(words(answer))} " for answer in question["accept_any"]]
    in_question = f" {' '.join(words(question['question']))} "
    assert not [answer for answer in accepted if answer in in_question]
    in_quote = f" {' '.join(words(question['quote']))} "
    found = sum(answer in in_quote for answer in accepted)
    assert (found >= question["min_match"]) == question["answer_in_quote"]


def test_questions_of_every_mode() -> None:
    modes = [question["mode"] for question in QUESTIONS]
    assert set(modes) == {"vector", "graph", "hybrid"}
    assert all(modes.count(mode) >= 4 for mode in set(modes))
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS) >= 12
