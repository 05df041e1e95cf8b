"""The paths of a walk as a model reads them: arrows, as the pipeline tells them, or JSON records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from gutengraph_core.llm.protocol import LLM
from gutengraph_query.merging.evidence import Evidence
from gutengraph_query.merging.extract import UNKNOWN
from gutengraph_query.merging.generate import checked
from gutengraph_query.prompts.answer import MAX_TOKENS, NOT_TOLD, SYSTEM, answer_prompt
from gutengraph_query.retrieval.ego import Walk
from gutengraph_query.state import GraphHit

Form = Literal["arrows", "json"]
FORMS: tuple[Form, ...] = ("arrows", "json")
_ARROW_RULE = "5. A line such as `A -[PARENT_OF]-> B` means: A is the parent of B."
_JSON_RULE = '5. A record such as {"a": "A", "type": "parent_of", "b": "B"} means: A is the parent of B.'


def told(trail: Walk, form: Form) -> str:
    """One path with the quotes it rests on."""
    if form == "arrows":
        quotes = " ".join(f"“{edge.quote}”" for edge in trail.edges)
        return f"{trail.line}: {quotes}"
    records = [
        {"a": e.source_name, "type": e.type, "b": e.target_name, "quote": e.quote} for e in trail.edges
    ]
    return json.dumps(records, ensure_ascii=False)


def system(form: Form) -> str:
    """The pipeline's system prompt with the rule of how this form is read. Raises ValueError if it has none."""
    if _ARROW_RULE not in SYSTEM:
        raise ValueError("the answer prompt no longer explains arrows")
    return SYSTEM if form == "arrows" else SYSTEM.replace(_ARROW_RULE, _JSON_RULE)


def written(question: str, trails: Sequence[Walk], hits: Sequence[GraphHit], *, form: Form, llm: LLM) -> str:
    """An instruct model's answer from the paths, checked as the pipeline checks it.

    Raises as the model does.
    """
    shown = [(n, told(trail, form)) for n, trail in enumerate(trails, start=1)]
    reply = llm.complete(answer_prompt(question, shown), max_tokens=MAX_TOKENS, system=system(form))
    if NOT_TOLD.casefold() in reply.text.casefold():
        return UNKNOWN
    evidence = Evidence(hits, [])
    known = "\n".join([evidence.text(), question, *(text for _, text in shown)])
    text, _ = checked(reply.text, known, evidence.citations(), cut=reply.finish_reason == "length")
    return text or UNKNOWN
