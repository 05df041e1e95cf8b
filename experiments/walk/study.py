"""The graph walk: hops 1 to 4, how near a path must be to the question, and arrows or JSON.

Every gold question is walked, also those that a lookup would have answered: the study is of the walk. Its answers
are made from the paths alone. The embedded model writes none: the pipeline quotes the surest edges instead, and
the form of the paths is then a matter of their tokens only. Ten questions whose answer is in no book say how near
a path may come by chance; the threshold that they give is kept for the embedder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.brains.bootstrap import interval
from experiments.lab.results import Results, results
from experiments.lab.study import Bench, Study
from experiments.walk.forms import FORMS, Form, told, written
from experiments.walk.paths import Walked, walked
from experiments.walk.plot import draw
from gutengraph_core.embedding.thresholds import note_path_threshold, path_threshold
from gutengraph_core.errors import NotBuilt, UnknownBook
from gutengraph_core.llm.prompting import estimate_tokens
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.foreign import FOREIGN
from gutengraph_query.evaluate.gold import GoldBook, GoldQuestion, load_gold
from gutengraph_query.evaluate.score import answer_is_right, holds_answer
from gutengraph_query.listing import graph_with
from gutengraph_query.merging.evidence import Evidence
from gutengraph_query.merging.extract import extract
from gutengraph_query.nodes.graph_agent import hit_of_walk
from gutengraph_query.retrieval.ego import ScoredWalk

Row = dict[str, Any]
HOPS = (1, 2, 3, 4)
QUANTILES = (0.0, 0.5, 0.75, 0.9)
"""Thresholds are tried where this share of all paths of the gold questions lie below them: cosines of two embedders do
not compare, shares do. At 0 none is dropped."""
STEP = 0.01


@dataclass
class Asked:
    """One gold question and its walks by hops."""

    book: GoldBook
    question: GoldQuestion
    walks: dict[int, Walked] = field(default_factory=dict)


def run(bench: Bench) -> Results:
    """`passages` questions of each gold book that is built. Raises NotBuilt if none is."""
    here = Brains(bench.settings, llm=bench.llm)
    asked = [
        Asked(book, question)
        for book in load_gold(bench.gold)
        if _built(here, book)
        for question in spread(book.questions, bench.passages)
    ]
    if not asked:
        raise NotBuilt(
            "None of the gold's books is built in this data folder.",
            remedy="Build them first: `gutengraph add 84 1342 && gutengraph build 84 1342`.",
        )
    here.warm(asked[0].question.question)
    for n, one in enumerate(asked, start=1):
        text, book = one.question.question, one.book.gutenberg_id
        one.walks = {hops: walked(here, text, book=book, hops=hops) for hops in HOPS}
        if n % 5 == 0 or n == len(asked):
            bench.say(f"{n} of {len(asked)} questions walked")
    foreign = {hops: [walked(here, text, book=None, hops=hops) for text in FOREIGN] for hops in HOPS}
    bench.say(f"{len(FOREIGN)} questions walked whose answer is in no book")
    answers = Answers(here)
    standing = path_threshold(here.settings, here.embedder.identity)
    near = foreign[answers.hops]
    kept, why = _to_keep(answers, asked, near, standing.value)
    levels = sorted({*levels_of(asked, answers.hops), standing.value, threshold_of(near)})
    by: dict[tuple[int, float], Row] = {}
    for hops in HOPS:
        by |= {(hops, level): _row(answers, asked, foreign[hops], hops, level) for level in levels}
        bench.say(f"{hops} hops: {len(levels)} thresholds, {answers.calls} model calls so far")
    rows = list(by.values())
    draw(rows, str(bench.llm.identity), bench.out)
    found = results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample=f"{len(asked)} gold questions, {len(FOREIGN)} foreign ones, embedder {here.embedder.identity}",
        finding=_finding(by[answers.hops, standing.value], asked, answers, standing.value, why),
        table=rows,
        details={"threshold": {"before": standing.model_dump(), "kept": kept}},
    )
    note_path_threshold(  # last: a study that broke off changes nothing
        bench.settings,
        here.embedder.identity,
        kept,
        source=f"experiments/walk on this data folder: {why}",
    )
    return found


def spread(questions: Sequence[GoldQuestion], most: int) -> list[GoldQuestion]:
    """At most so many, evenly over the list."""
    if most >= len(questions):
        return list(questions)
    return [questions[i * len(questions) // most] for i in range(most)]


def threshold_of(foreign: Sequence[Walked]) -> float:
    """The lowest step above every entry node and path that a question of no book comes to."""
    peaks = [min(one.best, max(e.score for e in one.entries)) for one in foreign if one.entries]
    return _at_step(_steps_below(max(peaks, default=0.0)) + 1)


def levels_of(asked: Sequence[Asked], hops: int) -> list[float]:
    """Thresholds to try: quantiles of the questions' paths, down to the step below."""
    scores = [path.score for one in asked for path in one.walks[hops].walks]
    return [_at_step(_steps_below(float(q))) for q in np.quantile(scores, QUANTILES)] if scores else []


def _steps_below(score: float) -> int:
    return math.floor(round(score / STEP, 6))  # .57 / .01 is 56.99…


def _at_step(n: int) -> float:
    return round(n * STEP, 2)  # 57 * .01 is .5700000000000001, which is not the .57 that is in force


def _built(here: Brains, book: GoldBook) -> bool:
    try:
        graph_with(here, book.gutenberg_id)
    except (NotBuilt, UnknownBook):
        return False
    return bool(book.questions)


class Answers:
    """Answers from paths; the same paths are asked about once."""

    def __init__(self, here: Brains) -> None:
        self._here = here
        self.limit = here.settings.max_paths
        self.hops = here.settings.max_hops
        self._given: dict[tuple[str, tuple[str, ...], Form], str] = {}
        self.calls = 0
        self.writes = here.llm.identity.instruct

    def of(self, one: Asked, kept: Sequence[ScoredWalk], form: Form) -> str:
        """The answer."""
        form = form if self.writes else "arrows"
        key = (one.question.question, tuple(s.walk.line for s in kept), form)
        if key not in self._given:
            self._given[key] = self._asked(one, kept, form)
        return self._given[key]

    def right(self, asked: Sequence[Asked], hops: int, level: float, form: Form) -> list[float]:
        """Of each question whether the paths from `level` on give the right answer: 1 or 0."""
        found = []
        for one in asked:
            kept = one.walks[hops].kept(level, limit=self.limit)
            found.append(float(bool(kept) and answer_is_right(self.of(one, kept, form), one.question)))
        return found

    def _asked(self, one: Asked, kept: Sequence[ScoredWalk], form: Form) -> str:
        here, text = self._here, one.question.question
        graph = here.graph().graph
        hits = [hit_of_walk(s, graph) for s in kept]
        if self.writes:
            self.calls += 1
            return written(text, [s.walk for s in kept], hits, form=form, llm=here.llm)
        draft = extract(
            text,
            Evidence(hits, []),
            query=here.query_vector,
            llm=here.llm,
            embedder=here.embedder,
            total=0,
            counts=False,
        )
        return draft.text


def _row(answers: Answers, asked: Sequence[Asked], foreign: Sequence[Walked], hops: int, level: float) -> Row:
    kept = [one.walks[hops].kept(level, limit=answers.limit) for one in asked]
    shown = {form: ["\n".join(told(s.walk, form) for s in found) for found in kept] for form in FORMS}
    tokens = {form: _mean([estimate_tokens(text) if text else 0 for text in shown[form]]) for form in FORMS}
    holds = [holds_answer(text, one.question) for text, one in zip(shown["arrows"], asked, strict=True)]
    return {
        "hops": hops,
        "threshold": _shown(level),
        "paths": _mean([len(found) for found in kept]),
        "no path": _mean([not found for found in kept]),
        "tokens": round(tokens["arrows"]),
        "as JSON": round(tokens["json"]),
        "s": _mean([one.walks[hops].seconds for one in asked]),
        "paths hold the answer": _mean(holds),
        "right": _mean(answers.right(asked, hops, level, "arrows")),
        "right by JSON": _mean(answers.right(asked, hops, level, "json")) if answers.writes else None,
        "foreign with a path": f"{sum(bool(one.kept(level, limit=1)) for one in foreign)} of {len(foreign)}",
    }


def _to_keep(
    answers: Answers, asked: Sequence[Asked], foreign: Sequence[Walked], standing: float
) -> tuple[float, str]:
    """The threshold for this embedder, and why: that in force, unless a question of no book reaches it, or the lowest
    that none reaches gives more right answers by more than chance."""
    hops = answers.hops
    lowest = threshold_of(foreign)
    reached = sum(bool(one.kept(standing, limit=1)) for one in foreign)
    if reached:
        return (
            lowest,
            f"{reached} of {len(foreign)} foreign questions reach {_shown(standing)}, none {lowest:.2f}",
        )
    before, after = (answers.right(asked, hops, level, "arrows") for level in (standing, lowest))
    low, high = interval([b - a for a, b in zip(before, after, strict=True)])
    gain = f"{_mean(after) - _mean(before):+.2f} ({low:+.2f} to {high:+.2f})"
    why = f"no foreign question reaches {_shown(standing)}, nor {lowest:.2f}, which changes the right answers by {gain}"
    return (lowest, why) if low > 0 else (standing, why)


def _finding(row: Row, asked: Sequence[Asked], answers: Answers, standing: float, why: str) -> str:
    """What the hops bring at the threshold in force, with the paired interval; the threshold; the form. `row` is that
    of the hops and the threshold in force."""
    first = answers.right(asked, HOPS[0], standing, "arrows")
    said = [f"right answers from paths alone at threshold {_shown(standing)}: 1 hop {_mean(first):.2f}"]
    for hops in HOPS[1:]:
        more = answers.right(asked, hops, standing, "arrows")
        low, high = interval([b - a for a, b in zip(first, more, strict=True)])
        verdict = "better" if low > 0 else "worse" if high < 0 else "noise"
        said.append(f"{hops} hops {_mean(more) - _mean(first):+.2f} ({low:+.2f} to {high:+.2f}, {verdict})")
    form = f"JSON takes {_ratio(row['as JSON'], row['tokens'])} times the tokens of arrows"
    if answers.writes:
        form += f" and gives {row['right by JSON']:.2f} right to their {row['right']:.2f}"
    else:
        form += "; this model reads neither (answers are quoted edges)"
    return f"{', '.join(said)}; {why}; {form}."


def _shown(level: float) -> str:
    """With as many digits as it has, two at least: .434 and .43 are two thresholds."""
    short = f"{level:.2f}"
    return short if float(short) == level else f"{level:g}"


def _ratio(a: object, b: object) -> str:
    return f"{float(str(a)) / float(str(b)):.2f}" if float(str(b)) else "–"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(np.asarray(values, dtype=float))) if len(values) else 0.0


STUDY = Study(
    name="walk",
    asks="How many hops, how near a path, and arrows or JSON?",
    run=run,
    calls=lambda questions: 5 * questions * len(HOPS) * (len(QUANTILES) + 2) * len(FORMS),
    tokens=(600, 60),
    seconds=lambda questions: 5 * questions * 3.0 + 60,
)
