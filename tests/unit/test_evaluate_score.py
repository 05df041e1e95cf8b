"""The gold standard's scoring rules, case by case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gutengraph_core.errors import SettingsError
from gutengraph_query.evaluate.foreign import FOREIGN
from gutengraph_query.evaluate.gold import GoldBook, GoldQuestion, load_gold
from gutengraph_query.evaluate.passages import SEARCHES
from gutengraph_query.evaluate.report import _ROWS
from gutengraph_query.evaluate.run import cross_book, foreign_scores, question_scores
from gutengraph_query.evaluate.score import (
    Entry,
    FoundRelation,
    added,
    alias_scores,
    answer_is_right,
    character_scores,
    holds_quote,
    relation_scores,
    share,
)

GOLD = GoldBook.model_validate(
    {
        "gutenberg_id": 7,
        "characters": [
            {"name": "Agnes Pell", "aliases": ["Agnes", "Mrs. Pell"], "importance": "major"},
            {"name": "Tobias Wren", "aliases": ["Wren"], "also_accept": ["Toby Wren"], "importance": "intermediate"},
            {"name": "Mr. Day", "aliases": [], "importance": "minor"},
            {"name": "Mrs. Day", "aliases": [], "importance": "minor"},
            {"name": "Silas", "aliases": ["Crane"], "importance": "minor"},
        ],
        "places": [{"name": "Harrow Quay", "also_accept": ["the Quay"]}],
        "relations": [
            {"a": "Agnes Pell", "type": "sibling_of", "b": "Tobias Wren"},
            {"a": "Mr. Day", "type": "employer_of", "b": "Silas"},
            {"a": "Silas", "type": "lives_in", "b": "Harrow Quay"},
        ],
    }
)  # fmt: skip


def cast(number: int, *names: str, standing: bool = True) -> Entry:
    return Entry(str(number), names, standing)


def test_character_recall_by_importance_and_precision() -> None:
    entries = [cast(1, "Mrs. Pell"), cast(2, "Captain Wren"), cast(3, "Day"), cast(4, "The parrot")]
    scores = character_scores(GOLD, [*entries, cast(5, "Silas", standing=False)])
    assert scores["recall_major"]["hits"] == 1
    assert scores["recall_intermediate"]["hits"] == 1  # 'Captain Wren' is Wren but for the title
    assert scores["recall_main"]["of"] == 2
    assert scores["recall_minor"] == share(0, 3)  # 'Day' fits two; Silas is only mentioned
    assert scores["recall_all"] == share(2, 5)
    assert scores["precision_in_gold"] == share(2, 4)


def test_names_that_do_not_occur_in_the_text_are_accepted() -> None:
    assert character_scores(GOLD, [cast(1, "Toby Wren")])["recall_intermediate"]["hits"] == 1


def test_alias_pairs() -> None:
    entries = [
        cast(
            1, "Agnes Pell", "Agnes", "AGNES", "Mr. Day"
        ),  # one right pair, two wrong; a spelling counts once
        cast(2, "Mrs. Pell"),  # missed with both of Agnes's
        cast(3, "Silas", "Crane", "The parrot"),  # right; the parrot is nobody of the gold
    ]
    scores = alias_scores(GOLD, entries)
    assert scores["alias_precision"] == share(2, 4)
    assert scores["alias_recall"] == share(2, 4)


def test_relations_pair_in_either_order_typed_in_its_direction() -> None:
    entries = [cast(1, "Agnes"), cast(2, "Wren"), cast(3, "Mr. Day"), cast(4, "Silas"), cast(5, "the Quay")]
    relations = [
        FoundRelation("2", "sibling_of", "1"),  # symmetric: right either way
        FoundRelation("4", "employer_of", "3"),  # the wrong way round: the pair only
        FoundRelation("4", "born_in", "5"),  # another type: the pair only
    ]
    scores = relation_scores(GOLD, entries, relations)
    assert scores["relation_recall_pair"] == share(3, 3)
    assert scores["relation_recall_typed"] == share(1, 3)
    assert relation_scores(GOLD, entries, [])["relation_recall_pair"] == share(0, 3)


def question(**fields: object) -> GoldQuestion:
    given = {"id": "1", "mode": "graph", "question": "Who is the brother of Agnes?", "accept_any": ["Wren"]}
    return GoldQuestion.model_validate({**given, **fields})


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("It is Captain Wren’s ship [1].", True),
        ("Wrens are birds.", False),
        ("x " * 59 + "Wren", True),
        ("x " * 60 + "Wren", False),
        ("[1] " * 60 + "Wren", True),
        ("The books here do not say.", False),
    ],
)
def test_answers(answer: str, right: bool) -> None:
    assert answer_is_right(answer, question()) is right


def test_words_of_the_question_are_no_answer() -> None:
    both = question(accept_any=["Agnes", "Wren", "Lucy"], min_match=2)
    assert not answer_is_right("Agnes and Wren", both)
    assert answer_is_right("Lucy and Wren", both)


def test_quotes_whole_or_half() -> None:
    asked = question(quote="nailed a silver spoon to the mast for whoever")
    assert holds_quote("He _nailed_ a silver\nspoon to the mast for whoever first", asked)
    assert holds_quote("nailed a silver spoon", asked)
    assert holds_quote("the mast for whoever", asked)
    assert not holds_quote("a silver spoon to the mast", asked)


def test_wilson_interval() -> None:
    # 8 of 10: Wilson's 95 % interval as given by Agresti and Coull, The American Statistician 52 (1998): .49 to .94
    found = share(8, 10)
    assert found["interval"] == pytest.approx((0.49, 0.943), abs=0.001)
    assert share(0, 0) == {"value": None, "hits": 0, "of": 0, "interval": None}
    assert added([share(1, 2), share(0, 0), share(2, 2)])["value"] == 0.75


def test_a_gold_without_questions_has_every_row_of_the_report() -> None:
    """One that a review by hand makes has none; it may stand beside one that has."""
    scores = question_scores([])
    for _, name in _ROWS:
        if name.endswith(("@5", *SEARCHES, "_core")) or name.startswith(("answer_", "known_", "cross_book_")):
            assert scores[name]["value"] is None


def test_question_scores_by_mode_and_kind() -> None:
    def answer(kind: str, hit: bool | None, right: bool) -> dict[str, object]:
        modes = dict.fromkeys(("vector", "graph", "hybrid", "auto"), right)
        return {
            "kind": kind,
            "hit@5": hit,
            "answer@5": True,
            "all_books": {"hit@5_vector": hit, "answer@5_vector": right},
            "right": {**modes, "graph": not right},
            "known": modes,
            "cross_book": dict.fromkeys(modes, ["Ahab"] if hit else []),
        }

    scores = question_scores([answer("vector", True, True), answer("graph", None, False)])
    assert scores["passage_hit@5"] == share(1, 1)
    assert scores["answer@5"] == share(2, 2)
    assert scores["hit@5_vector"] == share(1, 1)
    assert scores["answer@5_vector"] == share(1, 2)
    assert scores["answer_vector"] == share(1, 2)
    assert scores["answer_graph_on_graph_questions"] == share(1, 1)
    assert scores["answer_auto_on_hybrid_questions"]["value"] is None
    assert scores["known_vector"] == share(1, 2)
    assert scores["cross_book_names_hybrid"] == share(1, 2)


def test_what_is_known_of_foreign_questions() -> None:
    modes = dict.fromkeys(("vector", "graph", "hybrid", "auto"), False)
    scores = foreign_scores([{"known": modes}, {"known": {**modes, "vector": True}}])
    assert scores["unknown_vector_on_foreign_questions"] == share(1, 2)
    assert scores["unknown_hybrid_on_foreign_questions"] == share(2, 2)
    assert len(FOREIGN) == len(set(FOREIGN)) == 10


def test_names_of_other_books_are_found_in_an_answer() -> None:
    others = frozenset({"captain ahab", "ahab"})
    assert cross_book("Perhaps Ahab [1] or Lucy.", others) == ["Ahab"]
    assert cross_book("Perhaps Captain Ahab’s ship.", others) == ["Captain Ahab"]
    assert cross_book("Perhaps Lucy [1].", others) == []


def test_gold_is_read_with_its_questions(tmp_path: Path) -> None:
    for folder in ("novels", "questions"):
        (tmp_path / folder).mkdir()
    for number in (10, 9):
        (tmp_path / "novels" / f"{number}.json").write_text(json.dumps({"gutenberg_id": number}))
    asked = {"id": "9-01", "mode": "graph", "question": "Who?", "accept_any": ["X"], "min_match": 1}
    (tmp_path / "questions" / "9.json").write_text(json.dumps({"questions": [asked]}))
    nine, ten = load_gold(tmp_path)
    assert (nine.gutenberg_id, ten.gutenberg_id) == (9, 10)
    assert [q.id for q in nine.questions] == ["9-01"]
    assert ten.questions == ()


def test_bad_gold_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds no gold standard"):
        load_gold(tmp_path)
    (tmp_path / "novels").mkdir()
    (tmp_path / "novels" / "9.json").write_text('{"characters": []}')
    with pytest.raises(SettingsError, match=r"of 9 cannot be read.*Correct .*9\.json"):
        load_gold(tmp_path)


def test_the_developers_gold_can_be_read(gold: Path) -> None:
    for book in load_gold(gold):
        assert book.characters
        assert book.relations
        assert book.questions
