"""The three tasks that are compiled: what is given, what is replied, what a reply is worth against the gold.

A task renders its prompt with the pipeline's own functions: what the optimiser tries is what the artefact will say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from experiments.lab.relation_task import RELATION_TASK, Facts, relation_prompt
from experiments.sweeps.tasks import Window, score_names, score_relations
from gutengraph_assets.extraction.prompts.name_list import (
    LIST_TASK,
    NameList,
    compiled_list_prompt,
    list_prompt,
)
from gutengraph_assets.text.layout import laid_out
from gutengraph_core.errors import CypherFailed, CypherRefused
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.compiled import CompiledPrompt, Demo, with_demos
from gutengraph_core.llm.profile import Task
from gutengraph_core.llm.protocol import LLM
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import GoldQuestion
from gutengraph_query.evaluate.score import holds_answer
from gutengraph_query.prompts.cypher import (
    MAX_TOKENS,
    CypherReply,
    cypher_prompt,
    cypher_system,
    cypher_task,
    told_question,
)
from gutengraph_query.retrieval.arrows import check_arrows
from gutengraph_query.retrieval.cypher import cells, cleaned
from gutengraph_query.retrieval.templates import TEMPLATES, Call, fill


@dataclass(frozen=True)
class Case:
    """One thing to reply to. `about` is what the task needs to score the reply."""

    book: int
    given: str
    about: Any


Prompt = tuple[str | None, str]
"""System prompt, if any, and the user's turn."""


class CompiledTask(ABC):
    """One task. `instructions` are those that an optimiser starts from; `threshold` is the score from which a reply
    of the model's own is good enough to become a worked example."""

    name: Task
    model: type[BaseModel]
    instructions: str
    cap: int
    threshold: float

    @abstractmethod
    def render(self, instructions: str, demos: Sequence[Demo], given: str) -> Prompt:
        """The prompt as compiled."""

    @abstractmethod
    def own(self, case: Case, *, instruct: bool) -> Prompt:
        """The pipeline's own prompt: the baseline."""

    @abstractmethod
    def score(self, case: Case, reply: Any) -> float:
        """0 to 1; a reply that is None was no valid one."""

    def try_out(self, llm: LLM, case: Case, compiled: CompiledPrompt | None) -> float:
        """Ask as the pipeline would, with the artefact or without. Raises what the model raises."""
        if compiled is None:
            system, prompt = self.own(case, instruct=llm.identity.instruct)
        else:
            system, prompt = self.render(compiled.instructions, compiled.demos, case.given)
        asked = ask(llm, prompt, self.model, max_tokens=self.cap, system=system)
        return self.score(case, asked.parsed.value)


class NamingTask(CompiledTask):
    """The names of a window; scored on its people."""

    name: Task = "names"
    model = NameList
    instructions = LIST_TASK
    cap = 512
    threshold = 0.7

    def render(self, instructions: str, demos: Sequence[Demo], given: str) -> Prompt:
        return None, compiled_list_prompt(given, instructions=instructions, demos=demos)

    def own(self, case: Case, *, instruct: bool) -> Prompt:
        return None, list_prompt(case.given, instruct=instruct)

    def score(self, case: Case, reply: Any) -> float:
        return score_names(case.about, reply).f1 if reply is not None else 0.0


class RelationTask(CompiledTask):
    """The relations of a window; typed and in their direction."""

    name: Task = "relations"
    model = Facts
    instructions = RELATION_TASK
    cap = 512
    threshold = 0.5

    def render(self, instructions: str, demos: Sequence[Demo], given: str) -> Prompt:
        return None, with_demos(instructions, demos, given, given_label="Text", reply_label="Relations")

    def own(self, case: Case, *, instruct: bool) -> Prompt:
        return None, relation_prompt(case.given, instruct=instruct)

    def score(self, case: Case, reply: Any) -> float:
        return score_relations(case.about, reply).f1 if reply is not None else 0.0


class CypherTask(CompiledTask):
    """A question turned into a query; right if what it finds in the built graph holds the gold answer."""

    name: Task = "cypher"
    model = CypherReply
    instructions = cypher_task()
    cap = MAX_TOKENS
    threshold = 1.0

    def __init__(self, here: Brains) -> None:
        self._here = here

    def render(self, instructions: str, demos: Sequence[Demo], given: str) -> Prompt:
        return cypher_system(task=instructions), cypher_prompt(given, title="", demos=demos)

    def own(self, case: Case, *, instruct: bool) -> Prompt:
        return cypher_system(), cypher_prompt(case.given, title="")

    def score(self, case: Case, reply: Any) -> float:
        question: GoldQuestion = case.about
        return float(reply is not None and holds_answer(self._found(case.book, reply), question))

    def _found(self, book: int, reply: CypherReply) -> str:
        if reply.template != "none":
            if len(reply.arguments) != len(TEMPLATES[reply.template].slots):
                return ""
            view = self._here.graph()
            call = Call(TEMPLATES[reply.template], tuple(reply.arguments))
            return "; ".join(row.name for row in fill(call, view.graph, view.index, book=book).rows)
        try:
            statement = cleaned(reply.cypher)
            check_arrows(statement)
            rows = self._here.worker.run(statement)
        except (CypherRefused, CypherFailed):
            return ""
        return "; ".join(cell for row in rows.rows for cell in cells(row))


def window_case(window: Window) -> Case:
    """A window of a novel, in one line, for names and relations."""
    return Case(window.novel.book, laid_out(window.text, "flat"), window)


def question_case(book: int, title: str, question: GoldQuestion) -> Case:
    """A gold question asked within its book."""
    return Case(book, told_question(question.question, title), question)
