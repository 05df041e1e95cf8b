"""Names and relations as the sweeps ask for them, and what a reply is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from experiments.cliff.score import Tally
from experiments.lab.relation_task import Facts, judge, relation_prompt
from experiments.lab.sample import Novel, standing_in
from experiments.sweeps.grid import Way
from gutengraph_assets.extraction.prompts.name_list import NameList, list_prompt
from gutengraph_assets.text.layout import laid_out
from gutengraph_core.llm.profile import Task
from gutengraph_query.evaluate.gold import GoldBook


@dataclass(frozen=True)
class Window:
    """A piece of a gold novel."""

    novel: Novel
    gold: GoldBook
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.novel.body[self.start : self.end]


@dataclass(frozen=True)
class Score:
    """One window's reply against the gold."""

    right: int
    wrong: int
    missed: int
    f1: float


@dataclass(frozen=True)
class Asking:
    """A task: its reply's model, its prompt for a window, and the score of a reply (None: no valid one)."""

    task: Task
    model: type[BaseModel]
    prompt: Callable[[Window, Way, bool], str]
    score: Callable[[Window, Any], Score]


def _ask_names(window: Window, way: Way, instruct: bool) -> str:
    return list_prompt(laid_out(window.text, way.layout), instruct=instruct, style=way.prompt)


def score_names(window: Window, reply: NameList | None) -> Score:
    """People only: the gold's places are too few to call another place wrong."""
    tally = Tally()
    tally.add(window.text, standing_in(window.novel.people, window.text), reply.people if reply else [])
    return Score(tally.right, tally.wrong, tally.missed, tally.f1)


def _ask_relations(window: Window, way: Way, instruct: bool) -> str:
    return relation_prompt(laid_out(window.text, way.layout), instruct=instruct, style=way.prompt)


def score_relations(window: Window, reply: Facts | None) -> Score:
    """Typed and in its direction. What names an end that the window lacks is wrong."""
    found = reply.relations if reply else []
    judged = judge(window.novel, window.gold.relations, window.text, found)
    return Score(judged.right, judged.wrong + judged.unheard, judged.missed, judged.f1)


TASKS = (
    Asking("names", NameList, _ask_names, score_names),
    Asking("relations", Facts, _ask_relations, score_relations),
)
