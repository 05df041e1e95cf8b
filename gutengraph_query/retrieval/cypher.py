"""Cypher that a model writes: guarded, its arrows checked, run in the worker, and given back once to be mended."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gutengraph_core.errors import CypherFailed, CypherRefused, ModelRefused
from gutengraph_core.graph.worker import Rows
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.compiled import CompiledPrompt
from gutengraph_core.llm.protocol import LLM
from gutengraph_query.prompts.cypher import (
    MAX_TOKENS,
    CypherReply,
    cypher_prompt,
    cypher_schema,
    cypher_system,
    repair_prompt,
)
from gutengraph_query.retrieval.arrows import check_arrows
from gutengraph_query.retrieval.one_label import check_labels
from gutengraph_query.retrieval.templates import TEMPLATES, Call

ROUNDS = 2
"""The first try and one repair."""
NO_ROWS = "it returned no rows: match names and titles by CONTAINS, and look at the direction of each arrow"

_FENCE = re.compile(r"^\s*```\w*\s*|\s*```\s*$")


@dataclass
class Written:
    """What the model's query came to: rows of its Cypher, or a template that it chose, or neither."""

    rows: Rows | None = None
    call: Call | None = None
    statements: list[str] = field(default_factory=list)
    """What was run, or refused, in order."""
    notes: list[str] = field(default_factory=list)
    """What came of each try, in words."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


def write_and_run(
    question: str,
    *,
    title: str,
    llm: LLM,
    run: Callable[[str], Rows],
    compiled: CompiledPrompt | None = None,
) -> Written:
    """Let an instruct model query the graph: at most one repair, with Kuzu's own error or 'no rows'.

    `run` guards and runs a statement (`CypherWorker.run`); `compiled` stands in place of the task and brings
    examples. Raises as the model does, except where it refuses; NotBuilt and StoreError as `run` does.
    """
    written = Written()
    tried: list[tuple[str, str]] = []
    system = cypher_system(task=compiled.instructions if compiled else None)
    demos = compiled.demos if compiled else []
    for _ in range(ROUNDS):
        prompt = (
            repair_prompt(question, title=title, tried=tried, demos=demos)
            if tried
            else cypher_prompt(question, title=title, demos=demos)
        )
        try:
            asked = ask(
                llm,
                prompt,
                CypherReply,
                max_tokens=MAX_TOKENS,
                system=system,
                schema=cypher_schema(),
            )
        except ModelRefused as refusal:
            written.notes.append(f"The model refused ({refusal}).")
            return written
        written.calls += 1
        written.prompt_tokens += asked.reply.prompt_tokens
        written.completion_tokens += asked.reply.completion_tokens
        reply = asked.parsed.value
        if reply is None:
            tried.append((asked.reply.text[:200], f"no JSON of the form asked for ({asked.parsed.problem})"))
            written.notes.append(f"The model's reply was no query ({asked.parsed.problem}).")
            continue
        if reply.template != "none" and len(reply.arguments) == len(TEMPLATES[reply.template].slots):
            written.call = Call(TEMPLATES[reply.template], tuple(reply.arguments))
            return written
        statement = cleaned(reply.cypher)
        reason = _attempt(statement, run, written)
        if reason is None:
            return written
        tried.append((statement, reason))
    return written


def cleaned(statement: str) -> str:
    """Without a code fence and without the one ';' at the end that models put there from habit."""
    return _FENCE.sub("", statement).strip().removesuffix(";").strip()


def _attempt(statement: str, run: Callable[[str], Rows], written: Written) -> str | None:
    """Run a statement; None if it gave rows, else the reason for the repair round."""
    written.statements.append(statement)
    try:
        check_arrows(statement)
        check_labels(statement)
        rows = run(statement)
    except (CypherRefused, CypherFailed) as failure:
        written.notes.append(f"`{statement}` did not run. {failure}")
        return str(failure)
    written.statements[-1] = rows.statement
    if not rows.rows:
        written.notes.append(f"`{rows.statement}` found nothing.")
        return NO_ROWS
    written.rows = rows
    return None


def cells(row: Sequence[Any]) -> list[str]:
    """The words in a row: strings, and the names of nodes; lists are looked into."""
    found: list[str] = []
    for value in row:
        if isinstance(value, dict):
            found += cells([value.get("name", value.get("title"))])
        elif isinstance(value, list):
            found += cells(value)
        elif value is not None:
            found.append(str(value))
    return found


def told(rows: Rows, row: Sequence[Any]) -> str:
    """A row as a line: 'b.name: Kittiwake, r.type: captain_of'."""
    return ", ".join(
        f"{column}: {' / '.join(cells([value]))}" for column, value in zip(rows.columns, row, strict=True)
    )
