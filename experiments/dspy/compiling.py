"""A task compiled for one model: worked examples and instructions chosen on books that it is not scored on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dspy
from experiments.dspy.adapter import GIVEN, REPLY, PromptAdapter, demos_of, signature_of
from experiments.dspy.engine import ProtocolEngine, open_lm
from experiments.dspy.tasks import Case, CompiledTask
from gutengraph_core.llm.compiled import Demo
from gutengraph_core.llm.protocol import LLM

Optimiser = Literal["BootstrapFewShot", "MIPROv2"]

DEMOS = 2
"""Worked examples at most: two windows of 350 words with their replies take 1,200 tokens, which leaves the smallest
context (4,096) room for a third and its reply."""
CANDIDATES = 4
"""Sets of examples and instructions that MIPROv2 makes; it asks the model for each instruction once."""
TRIALS = 8
"""Combinations of them that MIPROv2 tries on the validation books."""
SEED = 20


@dataclass(frozen=True)
class Compiled:
    """What an optimiser came to."""

    optimiser: Optimiser
    instructions: str
    demos: list[Demo]


def compile_task(
    task: CompiledTask, llm: LLM, optimiser: Optimiser, *, train: Sequence[Case], validate: Sequence[Case]
) -> Compiled:
    """Compile `task` for `llm`. Raises what the model raises, and whatever else breaks an optimiser."""
    engine, free = ProtocolEngine(llm, task.model, cap=task.cap), ProtocolEngine(llm)
    name = str(llm.identity)
    task_lm, prompt_lm = open_lm(engine, name), open_lm(free, name)
    cases = [*train, *validate]
    examples = [dspy.Example(case=at, given=case.given).with_inputs(GIVEN) for at, case in enumerate(cases)]

    def metric(example: dspy.Example, prediction: Any, trace: Any = None) -> float:
        return task.score(cases[example.case], getattr(prediction, REPLY, None))

    student = dspy.Predict(signature_of(task))
    settings = {
        "metric": metric,
        "metric_threshold": task.threshold,
        "max_bootstrapped_demos": DEMOS,
        # The gold knows people and a few relations, not all that a full reply lists: the model's own good replies serve.
        "max_labeled_demos": 0,
        "max_errors": len(cases)
        * (TRIALS + CANDIDATES),  # a reply that cannot be read is a bad one, no reason to stop
    }
    with dspy.context(lm=task_lm, adapter=PromptAdapter(task), disable_history=True):
        try:
            if optimiser == "BootstrapFewShot":
                program = dspy.BootstrapFewShot(**settings).compile(student, trainset=examples[: len(train)])
            else:
                program = dspy.MIPROv2(
                    **settings,
                    prompt_model=prompt_lm,
                    task_model=task_lm,
                    auto=None,
                    num_candidates=CANDIDATES,
                    num_threads=1,
                    seed=SEED,
                    track_stats=False,
                ).compile(
                    student,
                    trainset=examples[: len(train)],
                    valset=examples[len(train) :],
                    num_trials=TRIALS,
                    minibatch=False,
                )
        finally:
            for one in (engine, free):
                if one.broken is not None:
                    raise one.broken
    (predictor,) = program.predictors()
    return Compiled(optimiser, predictor.signature.instructions, demos_of(predictor.demos))
