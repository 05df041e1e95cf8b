"""What a study is, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from experiments.lab.results import EXPERIMENTS, Results
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings

Say = Callable[[str], None]


@dataclass(frozen=True)
class Bench:
    """What every study works with. `passages` of the pinned sample are used, spread over the books; plots go
    into `out`."""

    llm: LLM
    settings: Settings
    gold: Path
    mirror: Path
    passages: int
    out: Path
    command: str
    say: Say


@dataclass(frozen=True)
class Study:
    """One study: `experiments/<name>/`. `calls` says how many model calls so many passages cost, and
    `tokens` how many tokens an average call reads and writes: what the time estimate is made of."""

    name: str
    asks: str
    run: Callable[[Bench], Results]
    calls: Callable[[int], int]
    tokens: tuple[int, int]
    cached: bool = True
    """Whether replies may come from the reply cache. Not where seconds are measured: such a study keeps its own
    answers, to go on where it was."""

    seconds: Callable[[int], float] | None = None
    """With the embedded model, where its calls do not say it: a study that asks it nothing still works."""

    @property
    def folder(self) -> Path:
        return EXPERIMENTS / self.name


_STUDIES = ("cliff", "sweeps", "judge", "dspy", "brains", "walk", "cypher")


def all_studies() -> list[Study]:
    """Every study of the lab, in the order of the README."""
    return [import_module(f"experiments.{name}.study").STUDY for name in _STUDIES]


READ_TOKENS_S, WRITE_TOKENS_S = 330.0, 45.0
"""Tokens a second that the embedded model reads and writes on two cores: rough, not measured, and for the time
estimate alone. A server with a larger model or a GPU has its own."""


def estimated_seconds(study: Study, passages: int) -> float:
    """Seconds that a study takes with the embedded model on two cores and an empty reply cache."""
    if study.seconds is not None:
        return study.seconds(passages)
    reads, writes = study.tokens
    return study.calls(passages) * (reads / READ_TOKENS_S + writes / WRITE_TOKENS_S)
