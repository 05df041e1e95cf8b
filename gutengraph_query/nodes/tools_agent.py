"""The tool router: an instruct model chains the three tools, five rounds at most, and answers from what they told."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from pydantic import ValidationError

from gutengraph_core.errors import GutenGraphError, ModelRefused, ModelUnreachable, WrongModel
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.protocol import LLM
from gutengraph_query.brains import Brains, brains
from gutengraph_query.merging.evidence import Evidence
from gutengraph_query.merging.extract import UNKNOWN
from gutengraph_query.merging.generate import checked
from gutengraph_query.nodes.common import Update, count, message, spent, timed
from gutengraph_query.prompts.tools import (
    ANSWER,
    MAX_TOKENS,
    NOT_TOLD,
    ToolReply,
    tool_prompt,
    tool_schema,
    tool_system,
)
from gutengraph_query.scope import Scope
from gutengraph_query.state import QueryState
from gutengraph_query.tools import Gathered, tools_for

ROUNDS = 5
"""Replies of the model for one question; in the last one only an answer is left to choose."""
_RETURNED = 6000
"""Characters of one tool's result that the model reads."""


def able_model(here: Brains) -> LLM:
    """The model that can use tools. Raises ModelRefused where the one that is set cannot."""
    llm = here.instructed()
    if llm is None:
        raise ModelRefused(
            f"The model '{here.settings.answering_llm}' is a base model: it cannot call tools.",
            remedy="Set GUTENGRAPH_QUERY_LLM to an instruct model (ollama:<model> or openai:<model>@<url>), "
            "or ask with --mode hybrid.",
        )
    return llm


@timed("tools_agent")
def tools_agent(state: QueryState) -> Update:
    """Fill `answer`, `known`, `citations` and the results that they rest on; every call is a pair of messages.

    Raises ModelRefused if the model cannot call tools, and as the models and stores do.
    """
    here = brains()
    llm = able_model(here)
    question, scope = state["query"], Scope.of(state)
    gathered = Gathered()
    tools = {t.name: t for t in tools_for(here, gathered, scope)}
    about = _about(here, scope)
    said: list[tuple[str, dict[str, Any], str]] = []
    messages: list[AnyMessage] = []
    answer, cut = "", False
    tokens = state.get("tokens")
    for round_ in range(1, ROUNDS + 1):
        last = round_ == ROUNDS
        asked = ask(
            llm,
            tool_prompt(question, scope=about, said=said, last=last),
            ToolReply,
            max_tokens=MAX_TOKENS,
            system=tool_system(list(tools.values())),
            schema=tool_schema([] if last else list(tools)),
        )
        tokens = spent(
            QueryState(tokens=tokens) if tokens else QueryState(),
            calls=1,
            prompt=asked.reply.prompt_tokens,
            completion=asked.reply.completion_tokens,
        )
        reply = asked.parsed.value
        if reply is None:
            said.append(
                ("(nothing)", {}, f"your reply was not of the form asked for: {asked.parsed.problem}")
            )
            messages.append(
                message("tools_agent", f"The model's reply was no call ({asked.parsed.problem}).")
            )
            continue
        if reply.tool == ANSWER or last:
            answer, cut = reply.answer, asked.reply.finish_reason == "length"
            break
        call = {"name": reply.tool, "args": reply.arguments, "id": f"call_{round_}"}
        messages.append(AIMessage(content="", name="tools_agent", tool_calls=[call]))
        returned, failed = _called(tools, reply)
        said.append((reply.tool, reply.arguments, returned))
        messages.append(
            ToolMessage(
                content=returned,
                name=reply.tool,
                tool_call_id=str(call["id"]),
                status="error" if failed else "success",
            )
        )
    evidence = Evidence(gathered.paths, gathered.passages)
    citations = evidence.citations()
    told = "\n".join([question, evidence.text(), *(returned for _, _, returned in said)])
    text, notes = ("", []) if NOT_TOLD in answer.upper() else checked(answer, told, citations, cut=cut)
    known = bool(text)
    messages += [message("tools_agent", note) for note in notes]
    messages.append(message("tools_agent", text or UNKNOWN))
    return {
        "answer": text or UNKNOWN,
        "known": known,
        "citations": citations if known else [],
        "vector_results": gathered.passages,
        "graph_results": gathered.paths,
        "cypher": ";\n".join(dict.fromkeys(gathered.statements)),
        "asked": [*state.get("asked", []), "tools_agent"],
        "model": str(llm.identity),
        "tokens": tokens,
        "messages": messages,
    }


def _about(here: Brains, scope: Scope) -> str:
    if scope.book is not None:
        return f" It is about book {scope.book}, '{here.title(scope.book)}'."
    return f" Look only{scope.words}." if scope.books is not None else ""


def _called(tools: dict[str, BaseTool], reply: ToolReply) -> tuple[str, bool]:
    """What a tool returned, as the model reads it; and whether it failed (which the model may mend)."""
    if reply.tool not in tools:
        return f"There is no tool {reply.tool}. There are {', '.join(tools)}.", True
    try:
        result = tools[reply.tool].invoke(reply.arguments)
    except (ModelUnreachable, WrongModel):
        raise  # the embedder is down: no other arguments would help
    except (GutenGraphError, ValidationError, ToolException) as failure:
        return f"It failed: {failure}", True
    text = json.dumps(result, ensure_ascii=False, default=str)
    if len(text) > _RETURNED:
        return f"{text[:_RETURNED]} … ({count(len(text) - _RETURNED, 'character')} more)", False
    return text, False
