"""The prompt with which an instruct model chooses a tool, or answers from what the tools have told it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field

MAX_TOKENS = 400
ANSWER = "answer"
NOT_TOLD = "NOT TOLD"

_RULES = (
    "You answer questions about a library of novels with the tools below; you know nothing else about the books.\n"
    "1. Reply with one JSON object and nothing else: a tool with its arguments, or the answer.\n"
    "2. Use one tool at a time. Look at what it returned before you use the next.\n"
    '3. When you can answer: {"tool": "answer", "arguments": {}, "answer": "…"}, at most three sentences of plain '
    "prose, with names and numbers only from what the tools returned.\n"
    f'4. If the tools do not tell it, the answer is "{NOT_TOLD}".'
)


class ToolReply(BaseModel):
    """What the model replies in each round."""

    model_config = ConfigDict(extra="forbid")

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    answer: str = ""


def tool_schema(names: Sequence[str]) -> dict[str, Any]:
    """The reply's schema with the tools that may be chosen; without any, only the answer is left."""
    schema = ToolReply.model_json_schema()
    return {
        "type": "object",
        "properties": {**schema["properties"], "tool": {"enum": [*names, ANSWER]}},
        "required": ["tool"],
        "additionalProperties": False,
    }


def tool_system(tools: Sequence[BaseTool]) -> str:
    """Rules, and each tool by its docstring and its arguments."""
    told = [f"{tool.name}({_arguments(tool)})\n{tool.description}" for tool in tools]
    return f"{_RULES}\n\nTOOLS\n" + "\n\n".join(told)


def _arguments(tool: BaseTool) -> str:
    return ", ".join(f"{name}: {_kind(spec)}" for name, spec in tool.args.items())


def _kind(spec: dict[str, Any]) -> str:
    kinds = [spec["type"]] if "type" in spec else [option["type"] for option in spec.get("anyOf", [])]
    return " or ".join(kinds)


def tool_prompt(
    question: str, *, scope: str, said: Sequence[tuple[str, dict[str, Any], str]], last: bool
) -> str:
    """`said`: (tool, arguments, what it returned) so far. `last`: no tool is left, the answer must come."""
    lines = [f"Question: {question}{scope}"]
    for tool, arguments, returned in said:
        lines += [
            f"You called {tool}({json.dumps(arguments, ensure_ascii=False)})",
            f"It returned: {returned}",
        ]
    lines.append("Answer now." if last else "Which tool next, or what is the answer?")
    return "\n".join(lines)
