"""One question an item, entered in the ledger; what failed is asked once more by the next run, with something changed.

The first attempt has the usual cap. After a cut reply the cap is doubled; after one that cannot be read half of the text is
given, for at temperature 0 the same question has the same answer. Then the failure is final. What failed in a run that was
killed is not tried again before that run has come to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gutengraph_assets.extraction.ledger import Entry, Outcome, StepRun
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.llm.structured import DUPLICATE, M, parse

_OUTCOMES: dict[str, Outcome] = {"valid": "valid", "no JSON": "no_json", "other shape": "other_shape"}
T = TypeVar("T")


@dataclass
class Judged(Generic[T]):
    """What a reply came to. `kept` counts in `proposed` and `grounded` too; `choices`, of which `choices_kept` fit, in none of
    them."""

    value: T
    proposed: int = 0
    grounded: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    choices: int = 0
    choices_kept: int = 0
    choices_unfit: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Question(Generic[M, T]):
    """`prompt(half)`: the prompt, with half of its text if `half`; `judge` holds a valid reply against the text."""

    item: str
    prompt: Callable[[bool], str]
    model: type[M]
    judge: Callable[[M], Judged[T]]
    cap: int
    words: int


def answer(question: Question[M, T], llm: LLM, run: StepRun, *, repair: bool) -> T | None:
    """The judged answer; None where the reply cannot be read. Raises what the model raises."""
    last, retry = run.last(question.item), run.failed_before(question.item)
    attempt, cap = (last.attempt, last.cap) if last else (1, question.cap)
    if last and retry:
        attempt, cap = 2, 2 * retry.cap if retry.truncated else retry.cap
    elif last and last.raw is not None and (last.failed or last.truncated):
        parsed = parse(last.raw, question.model, repair=repair)
        return question.judge(parsed.value).value if parsed.value is not None else None
    half = attempt == 2 and cap == question.cap
    asked = ask(llm, question.prompt(half), question.model, max_tokens=cap, repair=repair)
    judged = question.judge(asked.parsed.value) if asked.parsed.value is not None else None
    outcome = _OUTCOMES[asked.parsed.outcome]
    truncated = asked.reply.finish_reason == "length"
    troubled = outcome != "valid" or truncated or bool(asked.parsed.repairs)
    run.record(
        Entry(
            step=run.step,
            item=question.item,
            attempt=attempt,
            outcome=outcome,
            repaired=list(asked.parsed.repairs),
            truncated=truncated,
            empty=judged is not None and not judged.proposed and not judged.choices,
            final=attempt == 2 and (outcome != "valid" or truncated),
            calls=1,
            proposed=judged.proposed if judged else 0,
            grounded=judged.grounded if judged else 0,
            kept=judged.kept if judged else 0,
            dropped=dict(sorted(judged.dropped.items())) if judged else {},
            choices=judged.choices if judged else 0,
            choices_kept=judged.choices_kept if judged else 0,
            choices_unfit=dict(sorted(judged.choices_unfit.items())) if judged else {},
            duplicate_keys=asked.parsed.counts.get(DUPLICATE, 0),
            cap=cap,
            words=question.words // 2 if half else question.words,
            tokens_in=asked.reply.prompt_tokens,
            tokens_out=asked.reply.completion_tokens,
            seconds=round(asked.reply.seconds, 3),
            raw=asked.reply.text if troubled else None,
        )
    )
    return judged.value if judged else None
