"""What a question asks for is read from its words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gutengraph_core import names
from gutengraph_query.understanding.question import Name, Question, Relation, names_apart, read_question

KNOWN = {
    tuple(names.words(name))
    for name in (
        "Ann Day", "Mr. Day", "Day", "Captain Roe", "Roe", "Petrel", "Hands", "Mary", "Sir John", "John", "the stranger",
    )
}  # fmt: skip


def read(text: str) -> Question:
    def is_name(words: Sequence[str]) -> bool:
        return tuple(words) in KNOWN

    return read_question(text, is_name)


def shown(relation: Relation) -> str:
    anchor = relation.anchor
    inner = shown(anchor) if isinstance(anchor, Relation) else anchor.text
    return f"{relation.word}({inner})"


@pytest.mark.parametrize(
    ("question", "relations"),
    [
        ("Who is the sister of Mr. Day?", ["sister(Mr Day)"]),
        ("Who is Mr. Day's sister?", ["sister(Mr Day)"]),
        ("Who was the old captain of the Petrel?", ["captain(Petrel)"]),
        ("Who is the second mate of the Petrel?", ["second mate(Petrel)"]),
        ("Whose cook was Mary?", ["cook(Mary)"]),
        ("Whose niece Mary ran away?", ["niece(Mary)"]),
        ("Which ship does Captain Roe command?", ["ship(Captain Roe)", "command(Captain Roe)"]),
        ("Whom did Ann Day marry?", ["marry(Ann Day)"]),
        ("Who marries Ann Day?", ["marries(Ann Day)"]),
        ("Who is the father of Mr. Day's wife?", ["father(wife(Mr Day))"]),
        ("Who was the father of Mr. Day's wife, Mary?", ["father(Mary)"]),
        ("Who is the sister of the captain of the Petrel?", ["sister(captain(Petrel))"]),
        ("Who is the cook of the ship that Captain Roe commands?", ["cook(commands(Captain Roe))"]),
        ("Who is the sister of the captain who killed Mary?", ["sister(killed(Mary))"]),
        ("Who is the aunt of Mr. Day and patroness of Mary?", ["aunt(Mr Day)", "patroness(Mary)"]),
        ("Where was the second mate of the Petrel born?", ["born(second mate(Petrel))"]),
        ("How many daughters has Mr. Day?", ["daughters(Mr Day)"]),
        ("Who pretended to be John?", ["pretended(John)"]),
        ("Who was the beggar John in reality?", ["reality(John)"]),
        ("Which harpooneer belonged to the boat of Roe?", ["harpooneer(Roe)"]),
        ("Who is Captain Roe?", []),
        ("What did Mary eat?", []),
        ("Who is aunt Mary?", []),
        ("Who is the sister of nobody we know?", []),
    ],
)
def test_relations(question: str, relations: list[str]) -> None:
    assert [shown(relation) for relation in read(question).relations] == relations


@pytest.mark.parametrize(
    ("question", "ends"),
    [
        ("Who is the father of Mary?", {("parent_of", "source")}),
        ("Who is the daughter of Mary?", {("parent_of", "target")}),
        ("Whose daughter is Mary?", {("parent_of", "source")}),
        ("Who killed Mary?", {("kills", "source")}),
        ("Whom did Mary kill?", {("kills", "target")}),
        ("Who was killed by Mary?", {("kills", "target")}),
        ("Which clerk of Mr. Day was ill?", {("works_for", "source"), ("employer_of", "target")}),
    ],
)
def test_which_end_is_asked_for(question: str, ends: set[tuple[str, str]]) -> None:
    (relation,) = read(question).relations
    assert set(relation.asked.ends) == ends


def test_gender_comes_from_the_word() -> None:
    assert read("Who is the sister of Mary?").relations[0].asked.gender == "F"
    assert read("Who is the uncle of Mary?").relations[0].asked.gender == "M"


def test_names_need_a_capital_and_the_longest_wins() -> None:
    assert [n.text for n in read("Did Ann Day wash her hands?").names] == ["Ann Day"]
    assert [n.text for n in read("What did Hands steal?").names] == ["Hands"]
    assert [n.text for n in read("What does the stranger want?").names] == ["the stranger"]


def test_a_title_in_a_name_is_no_relation_word() -> None:
    question = read("Who is the sister of Captain Roe?")
    assert [shown(relation) for relation in question.relations] == ["sister(Captain Roe)"]
    assert question.names == (Name("Captain Roe", 5, 6, False),)


def test_unknown_names_are_told() -> None:
    assert read("Did Mary ever meet Peter Pan in London?").unknown == ("Peter Pan", "London")
    assert read("Who is Mr. Day?").unknown == ()


@pytest.mark.parametrize(
    ("question", "between", "describes", "lists"),
    [
        ("How is Mary related to Ann Day?", True, False, ""),
        ("What is the connection between Mary and John?", True, False, ""),
        ("Who is the old Mr. Day?", False, True, ""),
        ("Who is Mary talking to?", False, False, ""),
        ("Who are the main characters?", False, False, "Character"),
        ("List all places.", False, False, "Location"),
        ("How many characters are there?", False, False, "Character"),
        ("Do the characters like fish?", False, False, ""),
    ],
)
def test_other_shapes(question: str, between: bool, describes: bool, lists: str) -> None:
    found = read(question)
    assert (found.between, found.describes, found.lists) == (between, describes, lists)


def test_counting() -> None:
    assert read("How many sisters has Mary?").counts
    assert not read("How did Mary's sisters come?").counts


@pytest.mark.parametrize(
    ("question", "rest", "named"),
    [
        ("Who is the cook of the Kittiwake?", "Who is the cook of the", "Kittiwake"),
        ("What did Mr. Day's aunt give to Ann Roe?", "What did aunt give to", "Mr Day Ann Roe"),
        ("Ahab?", "Ahab", ""),
        ("who is ahab", "who is ahab", ""),
        ("", "", ""),
    ],
)
def test_names_apart_from_the_other_words(question: str, rest: str, named: str) -> None:
    assert names_apart(question) == (rest, named)
