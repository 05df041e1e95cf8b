"""What the guard lets through, and what it refuses: without a database."""

from __future__ import annotations

import pytest
from cypher_attacks import ATTACKS, WRONG_IN_SILENCE

from gutengraph_core.errors import CypherRefused
from gutengraph_core.graph.guard import MAX_BYTES, MAX_DEPTH, MAX_ROWS, guard

READ = "MATCH (a:Character) RETURN a.name"


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (a:Character)-[r:RELATED_TO {type: 'captain_of'}]->(b) WHERE a.name CONTAINS 'Wren' RETURN b.name",
        "MATCH (a:Character)-[:RELATED_TO* TRAIL 1..2]-(b:Character) RETURN DISTINCT b.name",
        "MATCH (a:Character)-[:RELATED_TO*1..2]->(b:Character) RETURN b.name ORDER BY b.mentions DESC",
        "MATCH (a:Character)-[r:RELATED_TO* SHORTEST 1..3]-(b:Character) RETURN length(r)",
        "MATCH (a:Character) WHERE COUNT { MATCH (a)-[:RELATED_TO]->() } > 5 RETURN a.name",
        "MATCH (a) WHERE EXISTS { MATCH (a)-[:RELATED_TO]->(b) WHERE b.gender = 'F' } RETURN a.name",
        "OPTIONAL MATCH (a:Character) RETURN a.name, CASE WHEN a.mentions > 9 THEN 'often' ELSE 'seldom' END AS how",
        "UNWIND ['a', 'b'] AS x RETURN x",
        "MATCH (a:Character) WITH a, count(*) AS n WHERE n > 1 RETURN a.name, n",
        "MATCH (a:Character:Location) WHERE a.name =~ '(?i).*wren.*' RETURN a.name, label(a), a.aliases[1:2]",
        "MATCH (a) WHERE a.name IN ['CREATE', \"it's; DROP\"] AND NOT a.kind = 'x' RETURN a.`end`, a.to, a.from",
        "match (a) return a.name order by a.name skip 2",
        "CALL show_tables() RETURN *",
        "CALL table_info('Character') RETURN name",
    ],
)
def test_reading_passes_and_is_limited(statement: str) -> None:
    assert guard(statement) == f"{statement} LIMIT {MAX_ROWS}"


@pytest.mark.parametrize(("name", "statement"), sorted(ATTACKS.items()))
def test_attacks_are_refused(name: str, statement: str) -> None:
    with pytest.raises(CypherRefused, match="refused"):
        guard(statement)


@pytest.mark.parametrize(("statement", "instead"), WRONG_IN_SILENCE)
def test_what_kuzu_answers_wrongly_is_refused_with_what_to_write(statement: str, instead: str) -> None:
    with pytest.raises(CypherRefused) as refusal:
        guard(statement)
    assert instead in str(refusal.value)


@pytest.mark.parametrize(
    "expression",
    [
        "nodes(NULL)",
        "rels(a)",
        "list_sum([1])",
        "lower(x -> x)",
        "label({x: 1})",
        "label(NULL)",
        "coalesce(NULL, 1)",
    ],
)
def test_what_ends_kuzus_process_is_refused(expression: str) -> None:
    with pytest.raises(CypherRefused):
        guard(f"MATCH (a:Character) RETURN {expression}")


def test_a_label_is_asked_of_what_was_matched() -> None:
    guard("MATCH (a)-[r]->(b) WHERE a.role IS NOT NULL AND b.kind IS NULL RETURN label(a), label(r)")
    with pytest.raises(CypherRefused, match="no node"):
        guard("MATCH (a) WITH {x: 1} AS b RETURN label(b)")


def test_the_limit_is_lowered_and_never_raised() -> None:
    assert guard(f"{READ} LIMIT 5") == f"{READ} LIMIT 5"
    assert guard(f"{READ} LIMIT 5000") == f"{READ} LIMIT {MAX_ROWS}"
    assert guard(f"{READ} LIMIT 9", limit=3) == f"{READ} LIMIT 3"
    both = guard(f"{READ} LIMIT 99999 UNION ALL {READ}")
    assert both == f"{READ} LIMIT {MAX_ROWS} UNION ALL {READ} LIMIT {MAX_ROWS}"
    with pytest.raises(CypherRefused, match="LIMIT is no plain number"):
        guard(f"{READ} LIMIT 1+100000")
    # a LIMIT inside is none of the answer's
    assert guard("MATCH (a) WITH a LIMIT 9999 RETURN a.name").endswith(f"RETURN a.name LIMIT {MAX_ROWS}")


def test_a_comment_hides_nothing_and_swallows_nothing() -> None:
    assert guard(f"{READ} // LIMIT 3") == f"{READ} LIMIT {MAX_ROWS}"
    assert guard("/* COPY */ MATCH (a) /* ; */ RETURN a.name").count("LIMIT") == 1
    with pytest.raises(CypherRefused, match="comment has no end"):
        guard(f"{READ} /* ")
    with pytest.raises(CypherRefused, match="has a ';'"):
        guard(f"{READ} //\n; RETURN 1")


def test_size_and_depth_are_bounded() -> None:
    long = "MATCH (a) WHERE a.name = '" + "x" * MAX_BYTES + "' RETURN a.name"
    with pytest.raises(CypherRefused, match=str(MAX_BYTES)):
        guard(long)
    guard("RETURN " + "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH)
    with pytest.raises(CypherRefused, match="nested"):
        guard("RETURN " + "(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1))
    with pytest.raises(CypherRefused, match="nested"):
        guard("RETURN " + "CASE WHEN true THEN " * 51 + "1" + " ELSE 0 END" * 51)


@pytest.mark.parametrize(
    "length", ["*", "*1..", "*1..5", "*..99", "*7", "* TRAIL 1..30", "*1..$n", "* TRAIL"]
)
def test_variable_lengths_are_bounded(length: str) -> None:
    with pytest.raises(CypherRefused, match="variable length"):
        guard(f"MATCH (a)-[r:RELATED_TO{length}]->(b) RETURN b.name", parameters=["n"])


def test_only_bound_parameters_pass() -> None:
    statement = "MATCH (a) WHERE a.name = $name RETURN a.name"
    assert guard(statement, parameters=["name"]).startswith(statement)
    with pytest.raises(CypherRefused, match=r"nothing is bound to \$name"):
        guard(statement)
