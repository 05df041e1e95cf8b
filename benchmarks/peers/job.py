"""What a runner is given and what it leaves behind, as JSON: the runners live in other environments."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Stage = Literal["started", "read", "done"]


class Job(BaseModel):
    """One peer's work."""

    text: str
    """Path of the text, UTF-8."""
    questions: dict[str, str]
    """By their ids."""
    work: str
    """An empty folder for the peer's own files."""
    out: str
    """Where the output goes."""
    llm_url: str
    """Of the OpenAI-shaped server, with /v1."""
    llm_key: str
    llm_model: str
    reply_tokens: int
    """Cap of every reply: a base model left alone writes until its context is full."""
    embed_url: str
    """Of the embedding server, with TEI's routes."""
    dimension: int
    book: int
    title: str
    rdf: str
    """Path of the book's catalogue record; '' where there is none."""


class Output(BaseModel):
    """What a peer found. `names`: (name, the peer's own kind); `relations`: (a, b, what the peer says of it)."""

    model_config = ConfigDict(extra="forbid")

    peer: str
    version: str
    stage: Stage = "started"
    names: list[tuple[str, str]] = []
    aliases: dict[str, list[str]] = {}
    """Other names of some of them, by a peer that joins names."""
    relations: list[tuple[str, str, str]] | None = None
    """None: it finds none by its nature, or did not come to it."""
    answers: dict[str, str] = {}
    read_seconds: float | None = None
    answer_seconds: list[float] = []
    peak_mb: float = 0.0
    note: str = ""
