"""The prompt for Cypher: where the critical rule stands, how the schema is told, with and without wrong and right
pairs. Every combination on the gold questions that an edge answers, one try each, no ready query to fall back on.

Valid: a statement that the guard lets pass and Kuzu runs. Right in direction: its arrows are the schema's. Right:
its rows hold the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from pydantic import BaseModel, ConfigDict

from experiments.brains.bootstrap import interval
from experiments.cypher.plot import draw
from experiments.lab.results import Results, results
from experiments.lab.study import Bench, Study
from experiments.walk.study import spread
from gutengraph_core.errors import CypherFailed, CypherRefused, NotBuilt, UnknownBook
from gutengraph_core.graph.worker import Rows
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.llm.structured import reply_schema
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import GoldBook, GoldQuestion, load_gold
from gutengraph_query.evaluate.score import holds_answer
from gutengraph_query.listing import graph_with
from gutengraph_query.prompts.cypher import MAX_TOKENS, PIPELINE, PromptForm, cypher_system
from gutengraph_query.retrieval.arrows import check_arrows
from gutengraph_query.retrieval.cypher import cells, cleaned

FORMS = tuple(
    PromptForm(critical=critical, schema=schema, pairs=pairs, ready=False)
    for critical, schema, pairs in product(("first", "middle", "last"), ("arrows", "prose"), (True, False))
)
STANDING = replace(PIPELINE, ready=False)


class Statement(BaseModel):
    """The model's reply."""

    model_config = ConfigDict(extra="forbid")

    cypher: str


@dataclass(frozen=True)
class Tried:
    """What became of one statement."""

    valid: bool
    directed: bool
    right: bool
    tokens: int


def run(bench: Bench) -> Results:
    """Every form on `passages` questions a book; a base model is refused. Raises NotBuilt without a gold book."""
    if not bench.llm.identity.instruct:
        return _refused(bench)
    here = Brains(bench.settings, llm=bench.llm)
    try:
        questions = [
            (book, question)
            for book in load_gold(bench.gold)
            if _built(here, book)
            for question in spread([q for q in book.questions if q.mode == "graph"], bench.passages)
        ]
        if not questions:
            raise NotBuilt(
                "None of the gold's books is built in this data folder.",
                remedy="Build them first: `gutengraph add 84 1342 && gutengraph build 84 1342`.",
            )
        tried: dict[PromptForm, list[Tried]] = {}
        for form in FORMS:
            tried[form] = [
                attempt(
                    question,
                    title=here.title(book.gutenberg_id),
                    llm=bench.llm,
                    form=form,
                    run=here.worker.run,
                )
                for book, question in questions
            ]
            bench.say(f"{_named(form)}: {sum(t.right for t in tried[form])} of {len(questions)} right")
    finally:
        here.worker.close()
    rows = [_row(form, found) for form, found in tried.items()]
    draw(rows, str(bench.llm.identity), bench.out)
    return results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample=f"{len(questions)} gold questions that an edge answers",
        finding=_finding(tried),
        table=rows,
    )


def _refused(bench: Bench) -> Results:
    return results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample="nothing asked",
        finding="it is refused: a base model follows no instructions, and the pipeline asks none for Cypher. Give one that "
        "does: `make lab STUDY=cypher LLM=ollama:gemma3`.",
        table=[],
    )


def attempt(
    question: GoldQuestion,
    *,
    title: str,
    llm: LLM,
    form: PromptForm,
    run: Callable[[str], Rows],
) -> Tried:
    """One question, one statement. Raises as the model does, and what `run` raises besides its refusals."""
    prompt = (
        f"Question: {question.question} It is about the book '{title}'.\n"
        'Reply with JSON: {"cypher": "MATCH …"}'
    )
    asked = ask(
        llm,
        prompt,
        Statement,
        max_tokens=MAX_TOKENS,
        system=cypher_system(form),
        schema=reply_schema(Statement),
    )
    tokens = asked.reply.prompt_tokens
    if asked.parsed.value is None:
        return Tried(False, False, False, tokens)
    statement = cleaned(asked.parsed.value.cypher)
    try:
        rows = run(statement)
    except (CypherRefused, CypherFailed):
        return Tried(False, False, False, tokens)
    try:
        check_arrows(statement)
    except CypherRefused:
        directed = False
    else:
        directed = True
    found = "\n".join(" ".join(cells(row)) for row in rows.rows)
    return Tried(True, directed, directed and holds_answer(found, question), tokens)


def _built(here: Brains, book: GoldBook) -> bool:
    try:
        graph_with(here, book.gutenberg_id)
    except (NotBuilt, UnknownBook):
        return False
    return True


def _named(form: PromptForm) -> str:
    return f"rule {form.critical}, {form.schema}, {'with' if form.pairs else 'without'} pairs"


def _row(form: PromptForm, tried: Sequence[Tried]) -> dict[str, object]:
    low, high = interval([float(t.right) for t in tried])
    return {
        "critical rule": form.critical,
        "schema": form.schema,
        "pairs": "with" if form.pairs else "without",
        "tokens": round(sum(t.tokens for t in tried) / len(tried)),
        "valid": _share(t.valid for t in tried),
        "right in direction": _share(t.directed for t in tried),
        "right": _share(t.right for t in tried),
        "from": low,
        "to": high,
    }


def _share(values: object) -> float:
    listed = [float(value) for value in values]  # type: ignore[attr-defined]
    return sum(listed) / len(listed)


def _finding(tried: dict[PromptForm, list[Tried]]) -> str:
    """Each knob turned alone from what the pipeline uses, with the paired interval; then the best of all."""
    base = tried[STANDING]
    told = [f"the pipeline's form ({_named(STANDING)}) {_share(t.right for t in base):.2f} right"]
    for other in (
        replace(STANDING, critical="middle"),
        replace(STANDING, critical="last"),
        replace(STANDING, schema="prose"),
        replace(STANDING, pairs=False),
    ):
        differences = [float(b.right) - float(a.right) for a, b in zip(base, tried[other], strict=True)]
        low, high = interval(differences)
        verdict = "better" if low > 0 else "worse" if high < 0 else "noise"
        mean = sum(differences) / len(differences)
        told.append(f"{_named(other)} {mean:+.2f} ({low:+.2f} to {high:+.2f}, {verdict})")
    best = max(tried, key=lambda form: sum(t.right for t in tried[form]))
    told.append(f"most right: {_named(best)}, {_share(t.right for t in tried[best]):.2f}")
    return "; ".join(told) + "."


STUDY = Study(
    name="cypher",
    asks="Where should the critical rule of the Cypher prompt stand, and how should the schema be told?",
    run=run,
    calls=lambda questions: 5 * min(questions, 5) * len(FORMS),
    tokens=(1400, 80),
    seconds=lambda questions: 1.0,
)
