"""Which statements ask for members of a list among nodes of several labels."""

from __future__ import annotations

import pytest

from gutengraph_core.errors import CypherRefused
from gutengraph_query.retrieval.one_label import check_labels


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (a:Character) WHERE a.name IN ['Day', 'Pell'] RETURN a.name",
        "MATCH (a)-[:RELATED_TO]->(b) WHERE a.name IN ['Day'] RETURN b.name",
        "MATCH (a:Character)-[:RELATED_TO* TRAIL 1..2]-(b) WHERE list_contains(a.aliases, 'Day') RETURN b.name",
        "MATCH (a:Character)-[:INTERACTS_WITH]->(l:Location)<-[:SET_IN]-(b) WHERE l.name IN ['Moor'] RETURN b.title",
        "MATCH (a:Character) MATCH (a)-[:RELATED_TO]-(b) WHERE b.name IN ['Day'] RETURN a.name",
        "MATCH (a:Character) WHERE a.name IN ['Day'] RETURN a.name "
        "UNION MATCH (a:Location) WHERE a.name IN ['Day'] RETURN a.name",
        "MATCH (a:Character) WHERE a.role IN ['minor'] RETURN count(a), lower(a.name)",
        "MATCH (a)-[r]->(b) WHERE a.name CONTAINS 'Day' RETURN b.name",
        "MATCH (a:Character:Location) WHERE a.name = 'Day' OR a.name = 'Pell' RETURN a.name",
        "MATCH (a) RETURN label(a), count(a)",
        "MATCH (a:Character) WHERE a.name IN ['Day'] WITH a AS b MATCH (b)-[r]->(l:Location) RETURN l.name",
        "MATCH (a:Character) WITH DISTINCT a, count(*) AS n MATCH (a)-[r]->(l:Location) WHERE l.name IN ['Moor'] RETURN a.name",
        "MATCH (a:Character) WITH * MATCH (a)-[r]->(l:Location) WHERE l.name STARTS WITH 'M' AND a.name in ['Day'] RETURN a.name",
    ],
)
def test_one_label_a_node_or_no_list_passes(statement: str) -> None:
    check_labels(statement)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("MATCH (a) WHERE a.name IN ['Day'] RETURN a.name", "(a) can be of several labels"),
        ("MATCH (a:Character:Location) WHERE a.name IN ['Day'] RETURN a.name", "(Character or Location)"),
        ("MATCH (a:Character)-[]->(b) WHERE list_contains(b.aliases, 'Day') RETURN b.name", "(b)"),
        ("MATCH (a:Character)-[:INTERACTS_WITH]->() WHERE a.name IN ['Day'] RETURN a.name", "without a name"),
        (
            "MATCH (a)-[:RELATED_TO|INTERACTS_WITH]->(b:Character) WHERE a.name IN ['Day'] RETURN a.name",
            "(a)",
        ),
        ("MATCH (a:Character), (b) WHERE b.name IN ['Day'] RETURN b.name", "(b)"),
        ("MATCH p = (a) WHERE a.name IN ['Day'] RETURN a.name", "(a)"),
        ("MATCH (b:Character), p = (a) WHERE a.name in ['Day'] RETURN a.name", "(a)"),
        ("MATCH (a:Character) OPTIONAL MATCH (b) WHERE b.name IN ['Day'] RETURN b.name", "(b)"),
        # A variable that WITH does not hand on, or that a subquery had, is another node.
        ("MATCH (b:Character) WITH count(*) AS n MATCH (b) WHERE b.name IN ['Day'] RETURN b.name", "(b)"),
        (
            "MATCH (b:Character) WITH b.name AS n MATCH (:Character)-[r]->(b) WHERE b.name IN [n] RETURN n",
            "(b)",
        ),
        (
            "MATCH (b:Character) WITH b.name AS b MATCH (a)-[r]->(:Book) WHERE b IN ['Day'] RETURN a.name",
            "(a)",
        ),
        (
            "MATCH (c:Character) WHERE EXISTS { MATCH (c)-[:RELATED_TO]->(x:Character) } "
            "AND EXISTS { MATCH (c)-[]->(x) WHERE x.name IN ['Day'] } RETURN c.name",
            "(x)",
        ),
        (
            "MATCH (a:Character)-[:APPEARS_IN]-(b) WHERE a.name IN ['Day'] RETURN b.title",
            "(Book or Character)",
        ),
    ],
)
def test_several_labels_beside_a_list_are_refused_with_the_choice(statement: str, said: str) -> None:
    with pytest.raises(CypherRefused) as refusal:
        check_labels(statement)
    assert said in str(refusal.value)
