"""Arrows against the schema, exact titles, the prompt that is made from it, and which questions have a ready query."""

from __future__ import annotations

import pytest

from gutengraph_core.errors import CypherRefused
from gutengraph_core.graph.guard import guard
from gutengraph_core.graph.schema import REL_TABLES, arrows
from gutengraph_query.prompts.cypher import CypherReply, cypher_prompt, cypher_schema, cypher_system
from gutengraph_query.retrieval.arrows import check_arrows
from gutengraph_query.retrieval.cypher import cleaned
from gutengraph_query.retrieval.one_label import check_labels
from gutengraph_query.retrieval.templates import TEMPLATES, by_shape
from gutengraph_query.understanding.question import read_question


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (c:Character)-[:APPEARS_IN]->(b:Book) RETURN c.name",
        "MATCH (b:Book)<-[:APPEARS_IN]-(c:Character) RETURN c.name",
        "MATCH (c:Character)-[:APPEARS_IN]-(b:Book) RETURN c.name",
        "MATCH (a:Character)-[r:RELATED_TO|INTERACTS_WITH]->(x) WHERE r.type = 'loves' RETURN x.name",
        "MATCH (a:Character)-[:RELATED_TO* TRAIL 1..2]-(b:Character) RETURN b.name",
        "MATCH (b:Book)-[:HAS_THEME]->(t:Theme)<-[:HAS_THEME]-(d:Book) RETURN d.title AS title",
        "MATCH (a:Character)-[:INTERACTS_WITH {type: 'lives_in'}]->(l:Location)<-[:SET_IN]-(b) RETURN b.title",
        "MATCH (b:Book) WHERE lower(b.title) CONTAINS 'lamp' RETURN {title: b.title}",
        "MATCH (b:Character) WITH count(b) AS n MATCH (c:Character)-[:APPEARS_IN]->(b) RETURN b.title, n",
    ],
)
def test_what_the_schema_has_passes(statement: str) -> None:
    check_arrows(statement)


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        ("MATCH (b:Book)-[:APPEARS_IN]->(c:Character) RETURN c.name", "(Character)-[:APPEARS_IN]->(Book)"),
        ("MATCH (c:Character)<-[:APPEARS_IN]-(b:Book) RETURN c.name", "(Character)-[:APPEARS_IN]->(Book)"),
        ("MATCH (b:Book) MATCH (b)-[:APPEARS_IN]->(c) RETURN c.name", "(Character)-[:APPEARS_IN]->(Book)"),
        ("MATCH (t:Theme)-[:HAS_THEME]->(b) RETURN b.title", "(Book)-[:HAS_THEME]->(Theme)"),
        (
            "MATCH (b:Book) WITH b AS d MATCH (d)-[:APPEARS_IN]->(c) RETURN c.name",
            "(Character)-[:APPEARS_IN]->(Book)",
        ),
        ("MATCH (l:Location)-->(c:Character) RETURN c.name", "INTERACTS_WITH"),
        ("MATCH (a:Character)-[:PARENT_OF]->(b) RETURN b.name", "RELATED_TO.type"),
        ("MATCH (a:Person) RETURN a.name", "The labels are Book, Character"),
        ("MATCH (c:Character) WHERE EXISTS { MATCH (c)-[:HAS_THEME]->(t) } RETURN c.name", "HAS_THEME"),
        ("MATCH (b:Book) WHERE b.title = 'Emma' RETURN b.id", "CONTAINS"),
        ("MATCH (b:Book) WHERE 'Emma' = b.title RETURN b.id", "CONTAINS"),
        ("MATCH (b:Book) WHERE b.title IN ['Emma'] RETURN b.id", "CONTAINS"),
        ("MATCH (b:Book {title: 'Emma'}) RETURN b.id", "CONTAINS"),
        ("MATCH (b:Book) WHERE b.`title` = 'Emma' RETURN b.id", "CONTAINS"),
    ],
)
def test_what_would_find_nothing_is_refused_with_what_was_meant(statement: str, meant: str) -> None:
    with pytest.raises(CypherRefused) as refusal:
        check_arrows(statement)
    assert meant in str(refusal.value)


@pytest.mark.parametrize("table", REL_TABLES, ids=lambda table: table.name)
def test_every_arrow_of_the_schema_passes_and_its_reverse_does_not(table: object) -> None:
    for source, target in table.pairs:  # type: ignore[attr-defined]
        check_arrows(f"MATCH (a:{source})-[:{table.name}]->(b:{target}) RETURN a.id")  # type: ignore[attr-defined]
        if (target, source) not in table.pairs:  # type: ignore[attr-defined]
            with pytest.raises(CypherRefused, match="wrong way"):
                check_arrows(f"MATCH (a:{target})-[:{table.name}]->(b:{source}) RETURN a.id")  # type: ignore[attr-defined]


def test_the_prompt_is_made_from_the_schema_critical_rules_first() -> None:
    prompt = cypher_system()
    for arrow in arrows():
        assert arrow in prompt
    assert (
        prompt.index("RULES")
        < prompt.index("SCHEMA")
        < prompt.index("DIALECT")
        < prompt.index("READY QUERIES")
    )
    assert prompt.index("1. Follow the arrows") < prompt.index("5. Return names")
    assert "embedding" not in prompt
    for template in TEMPLATES.values():
        assert f"{template.name}(" in prompt


def test_what_the_prompt_shows_as_right_passes_the_guard_and_wrong_does_not() -> None:
    lines = cypher_system().splitlines()
    right = [line.removeprefix("RIGHT ") for line in lines if line.startswith("RIGHT MATCH")]
    wrong = [line.removeprefix("WRONG ") for line in lines if line.startswith("WRONG MATCH")]
    assert len(right) > 2
    for statement in right:
        check_arrows(guard(f"{statement} RETURN 1"))
        check_labels(statement)
    refused = 0
    for statement in wrong:
        try:
            check_arrows(guard(f"{statement} RETURN 1"))
            check_labels(statement)
        except CypherRefused:
            refused += 1
    assert refused == len(wrong) - 1  # `(a:Character|Location)` is refused by Kuzu's own parser


def test_the_reply_is_a_template_or_a_statement() -> None:
    names = cypher_schema()["properties"]["template"]["enum"]
    assert names == ["none", *TEMPLATES]
    assert CypherReply.model_validate_json('{"template": "who_is_in", "arguments": ["x"]}').cypher == ""
    assert "'The Moor'" in cypher_prompt("Who?", title="The Moor")


@pytest.mark.parametrize(
    ("reply", "statement"),
    [
        ("MATCH (a) RETURN a.name;", "MATCH (a) RETURN a.name"),
        ("```cypher\nMATCH (a) RETURN a.name\n```", "MATCH (a) RETURN a.name"),
        ("```\nMATCH (a) RETURN a.name;\n```", "MATCH (a) RETURN a.name"),
        ("RETURN 1; RETURN 2;", "RETURN 1; RETURN 2"),
    ],
)
def test_a_fence_and_one_last_semicolon_are_taken_off(reply: str, statement: str) -> None:
    assert cleaned(reply) == statement


NAMES = {("ann", "roe"), ("mr", "day"), ("kittiwake",), ("the", "kittiwake")}


@pytest.mark.parametrize(
    ("question", "template", "arguments"),
    [
        ("What are the themes of The Moor?", "themes_of", ("The Moor",)),
        ("Which themes does it have?", "themes_of", ("The Moor",)),
        ("What is the mood of the novel?", "atmosphere_of", ("The Moor",)),
        ("Where is the story set?", "where_set", ("The Moor",)),
        ("Where does the book take place?", "where_set", ("The Moor",)),
        ("Who is related to Ann Roe?", "related_to", ("Ann Roe",)),
        ("Which characters do Ann Roe and Mr. Day both know?", "shared_acquaintances", ("Ann Roe", "Mr Day")),
        ("In which book does Ann Roe appear?", "books_with", ("Ann Roe",)),
        ("Who is on the Kittiwake?", "who_is_at", ("Kittiwake",)),
        ("Where is Ann Roe?", "where_is", ("Ann Roe",)),
    ],
)
def test_common_questions_have_a_ready_query(
    question: str, template: str, arguments: tuple[str, ...]
) -> None:
    read = read_question(question, lambda words: tuple(words) in NAMES)
    call = by_shape(read, title="The Moor")
    assert call is not None
    assert call.template.name == template
    assert [a.removeprefix("the ") for a in call.arguments] == list(arguments)


@pytest.mark.parametrize(
    "question", ["Why did Ann Roe weep?", "What is in the box?", "Where is the box?", "Who?"]
)
def test_other_questions_have_none(question: str) -> None:
    read = read_question(question, lambda words: tuple(words) in NAMES)
    assert by_shape(read, title="The Moor") is None


def test_a_title_is_needed_where_the_query_asks_for_one() -> None:
    read = read_question("What are the themes?", lambda words: False)
    assert by_shape(read, title="") is None
