"""The schema is one source: its statements, its arrows and its enum agree."""

from __future__ import annotations

from gutengraph_core.graph import schema


def test_every_label_hangs_on_its_book_by_a_relationship_of_the_schema() -> None:
    for label, (name, from_node) in schema.BOOK_LINKS.items():
        pair = (label, "Book") if from_node else ("Book", label)
        assert pair in schema.rel_table(name).pairs


def test_ends_of_relationships_are_node_tables() -> None:
    names = {table.name for table in schema.NODE_TABLES}
    assert {end for table in schema.REL_TABLES for pair in table.pairs for end in pair} <= names


def test_arrows_show_direction_and_properties() -> None:
    arrows = schema.arrows()
    assert "(Character)-[:APPEARS_IN]->(Book)" in arrows
    assert "(Book)-[:SET_IN]->(Location)" in arrows
    assert (
        "(Character)-[:RELATED_TO {type, quote, start, end, chapter, how, confidence}]->(Character)" in arrows
    )
    assert "(Location)-[:MENTIONED_IN {count}]->(Passage)" in arrows


def test_symmetric_and_directed_types_are_apart() -> None:
    assert not schema.SYMMETRIC & schema.DIRECTED
    assert len(schema.RELATION_TYPES) == 37


def test_vectors_have_the_dimension_that_was_asked_for() -> None:
    statement = schema.node_table("Character").ddl(384)
    assert "`embedding` FLOAT[384]" in statement
    assert schema.VECTOR not in statement
