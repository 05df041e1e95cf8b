"""The prompt with which an instruct model decides which brain a question is for."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

MAX_TOKENS = 24
"""`{"route": "vector"}` in any tokenizer, with room for white space."""

SYSTEM = (
    "You route questions about novels to one of two stores.\n"
    "graph: who people are, how they are related, ranks, families, ships and their crews, lists and counts of "
    "characters or places.\n"
    "vector: what happens, why, when and where, how something is described, what somebody says, objects, moods.\n"
    "hybrid: a person to be found by what they did, or a question that asks for both.\n"
    "Examples: 'Who is the captain of the ship?' graph. 'List the sisters of Anne.' graph. 'What colour was the "
    "door?' vector. 'How is the storm described?' vector. 'Who stole the ring, and why?' hybrid."
)


class RouteReply(BaseModel):
    """What the model replies."""

    model_config = ConfigDict(extra="forbid")

    route: Literal["vector", "graph", "hybrid"]


def route_prompt(question: str) -> str:
    return f'Question: {question}\nReply with JSON: {{"route": "vector" | "graph" | "hybrid"}}'


def route_schema() -> dict[str, Any]:
    return RouteReply.model_json_schema()
