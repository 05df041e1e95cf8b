"""The sweeps: layout, prompt and reply cap on the pinned passages, for names and for relations.

Every combination is asked, one factor at a time is read off, and of the best the reply cap and the window are
then doubled: whether the figure holds (a plateau) or falls (a cliff stands just behind it).

At temperature 0 a reply that ended by itself under one cap is the reply under every higher one: it is asked for
once. What was cut is asked for again with the next cap.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.lab.results import Results, results
from experiments.lab.sample import WORDS, check, load_novel, load_sample, spread
from experiments.lab.separate import chance, separated
from experiments.lab.study import Bench, Study
from experiments.sweeps.grid import MOST, ROOM, Way, caps_for, default_way, doubled_cap, grid, one_at_a_time
from experiments.sweeps.tasks import TASKS, Asking, Score, Window
from gutengraph_core.errors import ModelRefused
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.cache import accept
from gutengraph_core.llm.prompting import estimate_tokens
from gutengraph_core.llm.structured import reply_schema
from gutengraph_query.evaluate.gold import load_gold

CLIFF = 0.5
"""A doubled knob that leaves less than this share of the score stands before a cliff."""


@dataclass(frozen=True)
class Answer:
    """One window asked in one way."""

    score: Score
    failed: bool
    cut: bool
    tokens: int


Answers = dict[Way, list[Answer]]


def run(bench: Bench) -> Results:
    """Every combination on the pinned passages. Raises what gold, mirror and model raise."""
    sample = spread(load_sample(), bench.passages)
    novels = {p.book: load_novel(p.book, gold=bench.gold, mirror=bench.mirror) for p in sample}
    gold = {book.gutenberg_id: book for book in load_gold(bench.gold)}
    for passage in sample:
        check(passage, novels[passage.book])
    windows = [Window(novels[p.book], gold[p.book], *novels[p.book].around(p, WORDS)) for p in sample]
    wide = [Window(novels[p.book], gold[p.book], *novels[p.book].around(p, 2 * WORDS)) for p in sample]
    caps = caps_for(bench.llm.context_tokens)
    asked: dict[str, Answers] = {}
    doubled: dict[str, dict[str, list[Answer] | None]] = {}
    best: dict[str, Way] = {}
    for asking in TASKS:
        answers = asked[asking.task] = _sweep(bench, asking, windows, caps)
        way = best[asking.task] = _best(answers)
        higher = doubled_cap(way)
        doubled[asking.task] = {
            "reply cap": None if higher is None else _each(bench, asking, windows, higher),
            "window": _each(bench, asking, wide, way),
        }
    return _results(bench, len(windows), caps, asked, best, doubled)


def _sweep(bench: Bench, asking: Asking, windows: Sequence[Window], caps: Sequence[int | None]) -> Answers:
    answers: Answers = {way: [] for way in grid(caps)}
    began = time.monotonic()
    for done, window in enumerate(windows, start=1):
        uncut: dict[tuple[str, str], Answer] = {}
        for way in answers:  # caps rise within a layout and a prompt
            same = uncut.get((way.layout, way.prompt))
            answer = same or _ask(bench, asking, window, way)
            answers[way].append(answer)
            if not answer.cut:
                uncut[way.layout, way.prompt] = answer
        left = (time.monotonic() - began) / done * (len(windows) - done)
        bench.say(f"{asking.task}: {done} of {len(windows)} windows, about {left / 60:.0f} min left")
    return answers


def _each(bench: Bench, asking: Asking, windows: Sequence[Window], way: Way) -> list[Answer] | None:
    """None where a window does not fit the model's context."""
    try:
        return [_ask(bench, asking, window, way) for window in windows]
    except ModelRefused as refused:
        bench.say(f"{asking.task}, {way}: {refused.what}")
        return None


def _ask(bench: Bench, asking: Asking, window: Window, way: Way) -> Answer:
    prompt = asking.prompt(window, way, bench.llm.identity.instruct)
    schema = str(reply_schema(asking.model)) if bench.llm.identity.backend != "embedded" else ""
    room = bench.llm.context_tokens - estimate_tokens(prompt) - estimate_tokens(schema) - ROOM
    asked = ask(bench.llm, prompt, asking.model, max_tokens=way.cap or max(1, min(room, MOST)))
    if asked.parsed.cut or asked.parsed.value is None:
        accept(bench.llm, asked.reply)  # a study asks for no second try: a bad reply is its result
    return Answer(
        score=asking.score(window, asked.parsed.value),
        failed=asked.parsed.value is None,
        cut=asked.reply.finish_reason == "length",
        tokens=asked.reply.completion_tokens,
    )


def _best(answers: Answers) -> Way:
    """The way with the best mean F1; of equals the pipeline's own, else the one with the lowest cap."""
    own = default_way()

    def rank(way: Way) -> tuple[float, bool, int]:
        return (round(_mean(answers[way]), 9), way == own, -(way.cap or MOST))

    return max(answers, key=rank)


def _scores(answers: Sequence[Answer]) -> list[float]:
    """F1 of each window; a reply that cannot be read is worth nothing, also where there was nothing to find."""
    return [0.0 if answer.failed else answer.score.f1 for answer in answers]


def _mean(answers: Sequence[Answer]) -> float:
    scores = _scores(answers)
    return sum(scores) / len(scores)


def _results(
    bench: Bench,
    windows: int,
    caps: Sequence[int | None],
    asked: dict[str, Answers],
    best: dict[str, Way],
    doubled: dict[str, dict[str, list[Answer] | None]],
) -> Results:
    rows: list[dict[str, object]] = []
    told: list[str] = []
    for asking in TASKS:
        answers, way = asked[asking.task], best[asking.task]
        shown = one_at_a_time(caps)
        rows += [_row(asking.task, one, answers[one]) for one in shown]
        if way not in shown:
            rows.append(_row(asking.task, way, answers[way], note="best of the grid"))
        verdicts = []
        for knob, after in doubled[asking.task].items():
            verdict = _verdict(answers[way], after)
            verdicts.append(f"{knob} doubled: {verdict}")
            if after is not None:
                rows.append(_row(asking.task, way, after, note=f"best, {knob} doubled"))
        told.append(f"{asking.task}: {_told(answers, way)}; {', '.join(verdicts)}")
    from experiments.sweeps.plot import draw

    draw({task: {str(w): _mean(a) for w, a in answers.items()} for task, answers in asked.items()}, bench)
    return results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample=f"{windows} pinned passages of {WORDS} words",
        finding=". ".join(told) + ".",
        table=rows,
        details={
            "grid": [_row(task, way, a) for task, answers in asked.items() for way, a in answers.items()]
        },
        profile={asking.task: _serves(asked[asking.task], best[asking.task]) for asking in TASKS},
    )


def _verdict(before: Sequence[Answer], after: Sequence[Answer] | None) -> str:
    if after is None:
        return "does not fit or has nothing to double"
    was, now = _mean(before), _mean(after)
    if was > 0 and now < CLIFF * was:
        return f"a cliff ({was:.2f} to {now:.2f})"
    if separated(_scores(before), _scores(after)):
        return f"falls ({was:.2f} to {now:.2f})"
    return f"a plateau as far as these windows tell ({was:.2f} to {now:.2f})"


def _told(answers: Answers, best: Way) -> str:
    own = default_way()
    if best == own:
        return f"nothing beats the pipeline's own way ({own}, F1 {_mean(answers[own]):.2f})"
    by = chance(_scores(answers[best]), _scores(answers[own]), tried=len(answers) - 1)
    verdict = "better than chance allows" if _serves(answers, best)["layout"] else "not separated from noise"
    return (
        f"best is {best} (F1 {_mean(answers[best]):.2f}; the pipeline's own, {own}, {_mean(answers[own]):.2f}): "
        f"{verdict} (p {by:.2f})"
    )


def _serves(answers: Answers, best: Way) -> dict[str, object]:
    """The best way's knobs if it beats the pipeline's own by more than chance, else None for each."""
    own = default_way()
    known = best != own and separated(_scores(answers[best]), _scores(answers[own]), tried=len(answers) - 1)
    # Without a cap a reply of the pipeline would not fit behind a longer window: the highest that was tried.
    cap = best.cap or max(way.cap or 0 for way in answers)
    return {
        "layout": best.layout if known else None,
        "prompt": best.prompt if known else None,
        "reply_tokens": cap if known else None,
    }


def _row(task: str, way: Way, answers: Sequence[Answer], *, note: str = "") -> dict[str, object]:
    windows = len(answers)
    right = sum(a.score.right for a in answers)
    wrong = sum(a.score.wrong for a in answers)
    missed = sum(a.score.missed for a in answers)
    return {
        "task": task,
        "layout": way.layout,
        "prompt": way.prompt,
        "cap": "none" if way.cap is None else way.cap,
        "": note or ("the pipeline's own" if way == default_way() else ""),
        "right a window": right / windows,
        "precision in gold": right / (right + wrong) if right + wrong else None,
        "recall": right / (right + missed) if right + missed else None,
        "F1": _mean(answers),
        "no answer": sum(a.failed for a in answers) / windows,
        "cut": sum(a.cut for a in answers) / windows,
        "tokens": round(sum(a.tokens for a in answers) / windows),
    }


STUDY = Study(
    name="sweeps",
    asks="Which layout, prompt and reply cap serve the model, for names and for relations?",
    run=run,
    # Six ways of each task a window, a half of them cut and asked again with a higher cap.
    calls=lambda passages: passages * 2 * 6 * 3 // 2,
    tokens=(600, 900),  # a base model writes on until whatever cap it is given
)
