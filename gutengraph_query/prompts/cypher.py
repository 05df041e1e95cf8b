"""The prompt with which an instruct model asks the graph: a ready query where one fits, else Cypher of its own.

Everything about the schema is made from `graph.schema`. The critical rule stands first and is said once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gutengraph_core.graph.schema import DIRECTED, NODE_TABLES, REL_TABLES, SYMMETRIC, VECTOR, arrows
from gutengraph_core.llm.compiled import Demo
from gutengraph_query.retrieval.templates import TEMPLATES

MAX_TOKENS = 400
"""The longest useful statement seen has 900 characters; the rest of the reply is a name or two."""

_CRITICAL = "Follow the arrows exactly as they point in SCHEMA. A wrong direction finds nothing."
_RULES = (
    "Only read: MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, RETURN, ORDER BY, LIMIT. One statement, no ';'.",
    "Find titles and names by CONTAINS, never by '=': WHERE lower(b.title) CONTAINS 'moor'.",
    "The kind of a relation is a property: r.type = 'parent_of'. It is not a relationship name.",
    "Return names, not nodes, and end with LIMIT 20.",
)

_PAIRS: tuple[tuple[str, str], ...] = (
    ("MATCH (b:Book)-[:APPEARS_IN]->(c:Character)", "MATCH (c:Character)-[:APPEARS_IN]->(b:Book)"),
    ("WHERE b.title = 'The Lamp'", "WHERE lower(b.title) CONTAINS 'lamp'"),
    (
        "MATCH (a)-[:PARENT_OF]->(b)",
        "MATCH (a:Character)-[r:RELATED_TO]->(b:Character) WHERE r.type = 'parent_of'",
    ),
    ("MATCH (a:Character|Location)", "MATCH (a:Character:Location)"),
    (
        "MATCH (a:Character:Location) WHERE a.name IN ['Day', 'Pell']",
        "MATCH (a:Character) WHERE a.name IN ['Day', 'Pell']",
    ),
    ("MATCH (a)-[:RELATED_TO*1..2]-(b)", "MATCH (a)-[:RELATED_TO* TRAIL 1..2]-(b)"),
    ("shortestPath((a)-[*]-(b))", "(a)-[:RELATED_TO* SHORTEST 1..4]-(b)"),
    ("[x IN a.aliases WHERE x = 'Day']", "list_contains(a.aliases, 'Day')"),
    ("type(r), labels(a)", "r.type, label(a)"),
    ("'it''s'", "'it\\'s'"),
    ("RETURN count(*) AS order", "RETURN count(*) AS n"),
)


class CypherReply(BaseModel):
    """What the model replies: a template with its arguments, or a statement."""

    model_config = ConfigDict(extra="forbid")

    template: Literal["none", *TEMPLATES] = "none"  # type: ignore[valid-type]
    arguments: list[str] = Field(default_factory=list, max_length=2)
    cypher: str = ""


def cypher_schema() -> dict[str, Any]:
    from gutengraph_core.llm.structured import reply_schema

    return reply_schema(CypherReply)


@dataclass(frozen=True)
class PromptForm:
    """How the system prompt is laid out. `critical`: where the rule of the arrows stands; `schema`: how the
    relationships are told; `pairs`: wrong and right ways of the dialect; `ready`: the ready queries may be chosen."""

    critical: Literal["first", "middle", "last"] = "first"
    schema: Literal["arrows", "prose"] = "arrows"
    pairs: bool = True
    ready: bool = True


PIPELINE = PromptForm()
"""What the graph agent uses. `make lab STUDY=cypher` compares all forms on an instruct model; not run with a real instruct model
yet, so this is what is advised and not what was measured."""


def cypher_task(form: PromptForm = PIPELINE) -> str:
    """What is to be done and its rules: the part that an optimiser may write anew."""
    first = form.critical == "first"
    rules = [_CRITICAL, *_RULES] if first else list(_RULES)
    head = "RULES, most important first" if first else "RULES"
    told = "\n".join([head, *_numbered(rules)])
    return f"You turn a question about novels into one query of a Kuzu graph.\n\n{told}"


def cypher_system(form: PromptForm = PIPELINE, *, task: str | None = None) -> str:
    """The system prompt: the task with its rules (`task` in their place), schema, dialect, ready queries."""
    above = f"ABOVE ALL: {_CRITICAL}"
    told = arrows() if form.schema == "arrows" else _prose()
    both = [
        f"Directed types, read 'a is TYPE b': {', '.join(sorted(DIRECTED))}",
        f"Types that hold both ways (match them without an arrowhead): {', '.join(sorted(SYMMETRIC))}",
    ]
    parts = [
        task or cypher_task(form),
        "\n".join(["SCHEMA", *told, _properties(), *both]),
    ]
    if form.critical == "middle":
        parts.append(above)
    if form.pairs:
        parts.append("\n".join(["DIALECT", *(f"WRONG {wrong}\nRIGHT {right}" for wrong, right in _PAIRS)]))
    if form.ready:
        ready = [f"{t.name}({', '.join(t.slots)}): {t.says}" for t in TEMPLATES.values()]
        parts.append("\n".join(["READY QUERIES, to be preferred where one fits", *ready]))
    if form.critical == "last":
        parts.append(above)
    return "\n\n".join(parts)


def _numbered(rules: Sequence[str]) -> list[str]:
    return [f"{n}. {rule}" for n, rule in enumerate(rules, start=1)]


def _prose() -> list[str]:
    """The relationships in sentences, one a pair."""
    lines = []
    for table in REL_TABLES:
        has = f", and has the properties {', '.join(table.properties)}" if table.properties else ""
        lines += [f"{table.name} leads from {a} to {b}{has}." for a, b in table.pairs]
    return lines


def _properties() -> str:
    return "\n".join(
        f"{t.name}({', '.join(p for p, kind in t.properties.items() if kind != VECTOR)})" for t in NODE_TABLES
    )


def told_question(question: str, title: str) -> str:
    """The question with its book. `title`: '' for all."""
    return f"{question} It is about the book '{title}'." if title else question


def cypher_prompt(question: str, *, title: str, demos: Sequence[Demo] = ()) -> str:
    """`title`: of the book that is asked about, '' for all; `demos`: worked examples that an optimiser chose."""
    examples = "".join(
        f"Question: {demo.given}\n{json.dumps(demo.reply, ensure_ascii=False)}\n\n" for demo in demos
    )
    return (
        f"{examples}Question: {told_question(question, title)}\n"
        'Reply with JSON: {"template": name or "none", "arguments": [...], "cypher": "MATCH …" if "none"}'
    )


def repair_prompt(
    question: str, *, title: str, tried: Sequence[tuple[str, str]], demos: Sequence[Demo] = ()
) -> str:
    """`tried`: (statement, what came of it)."""
    told = "\n".join(f"You wrote: {statement}\nWhat came of it: {reason}" for statement, reason in tried)
    return f"{cypher_prompt(question, title=title, demos=demos)}\n{told}\nReply again, corrected:"
