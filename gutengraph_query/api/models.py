"""What goes in and comes out of asking."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from gutengraph_core import names
from gutengraph_core.kinds import Kind
from gutengraph_query.cli import LONGEST_QUESTION
from gutengraph_query.state import Mode

_MOST = 2**31 - 1


class Asked(BaseModel):
    """A question for `/compare`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"question": "Who is the captain of the ship?", "book": 0}]},
    )

    question: str = Field(
        min_length=1,
        max_length=LONGEST_QUESTION,
        pattern=r"\S",
        description=f"Up to {LONGEST_QUESTION} characters.",
    )
    book: int | None = Field(
        default=None, ge=0, le=_MOST, strict=True, description="Ask about this book only."
    )
    up_to: int | None = Field(
        default=None, ge=0, le=_MOST, strict=True, description="Use nothing of what later chapters tell."
    )

    author: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=r"\w",
        description="Ask about this author's books only; the surname is enough where it is one author's.",
    )
    kind: Kind | None = Field(default=None, description="Ask about books of this kind only.")

    @field_validator("question")
    @classmethod
    def _one_line(cls, value: str) -> str:
        return names.squeeze(value) or value.strip()


class AskedOne(Asked):
    """A question for `/ask`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"question": "Who is the captain of the ship?", "mode": "hybrid", "book": 0}]
        },
    )

    mode: Mode = Field(default="auto", description="Which brain is asked; auto decides by the question.")


class Cited(BaseModel):
    """What a number in the answer points to."""

    n: int
    kind: str = Field(examples=["passage", "edge"])
    book: int
    title: str
    chapter: int
    chapter_title: str
    start: int
    end: int
    text: str
    line: str = Field(description="Of an edge: `Ahab -[CAPTAIN_OF]-> Pequod`. Else empty.")


class Near(BaseModel):
    """A passage near a question that the books do not answer."""

    book: int
    title: str
    chapter: int
    chapter_title: str
    start: int
    end: int
    text: str
    score: float = Field(description="Cosine, or the sum of cosine and full-text score, each scaled.")


class Entered(BaseModel):
    """Where the walk through the graph began."""

    node: str
    score: float


class Spent(BaseModel):
    """Tokens of the model."""

    calls: int
    prompt: int
    completion: int
    estimated: bool


class AnswerOut(BaseModel):
    """As `gutengraph ask --json` prints, with titles for its citations."""

    model_config = ConfigDict(extra="allow")  # what the query graph learns to tell later is handed on

    question: str
    mode: str
    routed_to: str
    why: str = Field(description="Why it was routed so.")
    notice: str = Field(description="Which brain could not be asked yet, and why; '' if none was left out.")
    answer: str
    known: bool
    citations: list[Cited]
    nearest: list[Near] = Field(description="Of an answer that is not known: the passages nearest to it.")
    cypher: str
    entry: Entered | None
    paths: list[str]
    model: str
    timings: dict[str, float]
    tokens: Spent


class Failed(BaseModel):
    """A mode that gave no answer, beside others that did."""

    error: str
    remedy: str


class ComparisonOut(BaseModel):
    """One question in three modes, at once. A mode that failed says why; the others stand."""

    question: str
    answers: dict[str, AnswerOut | Failed]


EVENTS = """`text/event-stream`, if `Accept` asks for it. Events, each with a JSON object as its data:

- `step` `{mode, node, said, routed_to, passages, paths}`: one node of the query graph has done its part
- `waiting` `{mode, said}`: what the model is busy with, after two seconds
- `answer` `{mode, answer}`: the answer, as in the JSON form
- `failed` `{mode, error, remedy, status}`: this mode gives no answer
- `done` `{}`: nothing more comes

A comment line is sent every 15 s while nothing happens."""

STREAM: dict[str, Any] = {"text/event-stream": {"schema": {"type": "string", "description": EVENTS}}}
