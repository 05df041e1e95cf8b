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
    standing = path_threshold(here.settings, here.embedder.identity)
    kept = threshold_of(foreign[here.settings.max_hops])
    levels = sorted({*levels_of(asked, here.settings.max_hops), standing.value, kept})
    answers = Answers(here)
    rows = []
    for hops in HOPS:
        for level in levels:
            rows += [_row(answers, asked, foreign[hops], hops, level, form) for form in FORMS]
        bench.say(f"{hops} hops: {len(levels)} thresholds, {answers.calls} model calls so far")
    draw(rows, str(bench.llm.identity), bench.out)
    note_path_threshold(
        bench.settings,
        here.embedder.identity,
        kept,
        source=f"experiments/walk on this data folder, {len(FOREIGN)} foreign questions",
    )
    return results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample=f"{len(asked)} gold questions, {len(FOREIGN)} foreign ones, embedder {here.embedder.identity}",
        finding=_finding(rows, asked, answers, here, standing.value, kept),
        table=rows,
        details={"threshold": {"before": standing.model_dump(), "found": kept}},
    )


def spread(questions: Sequence[GoldQuestion], most: int) -> list[GoldQuestion]:
    """At most so many, evenly over the list."""
    if most >= len(questions):
        return list(questions)
    return [questions[i * len(questions) // most] for i in range(most)]


def threshold_of(foreign: Sequence[Walked]) -> float:
    """The lowest step above every entry node and path that a question of no book comes to."""
    peaks = [min(one.best, max(e.score for e in one.entries)) for one in foreign if one.entries]
    return round((math.floor(max(peaks, default=0.0) / STEP) + 1) * STEP, 2)


def levels_of(asked: Sequence[Asked], hops: int) -> list[float]:
    """Thresholds to try: quantiles of the questions' paths, down to the step below."""
    scores = [path.score for one in asked for path in one.walks[hops].walks]
    return [math.floor(float(q) / STEP) * STEP for q in np.quantile(scores, QUANTILES)] if scores else []


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
        self._given: dict[tuple[str, tuple[str, ...], Form], tuple[str, int]] = {}
        self.calls = 0
        self.writes = here.llm.identity.instruct

    def of(self, one: Asked, kept: Sequence[ScoredWalk], form: Form) -> tuple[str, int]:
        """The answer and the tokens of the paths in their prompt."""
        form = form if self.writes else "arrows"
        key = (one.question.question, tuple(s.walk.line for s in kept), form)
        if key not in self._given:
            self._given[key] = self._asked(one, kept, form)
        return self._given[key]

    def _asked(self, one: Asked, kept: Sequence[ScoredWalk], form: Form) -> tuple[str, int]:
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
        return draft.text, 0


def _row(
    answers: Answers,
    asked: Sequence[Asked],
    foreign: Sequence[Walked],
    hops: int,
    level: float,
    form: Form,
) -> dict[str, object]:
    paths, tokens, holds, right = [], [], [], []
    for one in asked:
        kept = one.walks[hops].kept(level, limit=answers.limit)
        shown = "\n".join(told(s.walk, form) for s in kept)
        paths.append(len(kept))
        tokens.append(estimate_tokens(shown) if kept else 0)
        holds.append(holds_answer(shown, one.question))
        right.append(bool(kept) and answer_is_right(answers.of(one, kept, form)[0], one.question))
    return {
        "hops": hops,
        "threshold": f"{level:.2f}",
        "form": form,
        "paths": _mean(paths),
        "tokens": round(_mean(tokens)),
        "s": _mean([one.walks[hops].seconds for one in asked]),
        "no path": _mean([not n for n in paths]),
        "paths hold the answer": _mean(holds),
        "right": _mean(right),
        "foreign with a path": f"{sum(bool(one.kept(level, limit=1)) for one in foreign)} of {len(foreign)}",
    }


def _finding(
    rows: Sequence[dict[str, object]],
    asked: Sequence[Asked],
    answers: Answers,
    here: Brains,
    standing: float,
    kept: float,
) -> str:
    """What the hops bring at the threshold in force, with the paired interval; the threshold; the form."""

    def right(hops: int) -> list[float]:
        return [
            float(bool(k) and answer_is_right(answers.of(one, k, "arrows")[0], one.question))
            for one in asked
            for k in [one.walks[hops].kept(standing, limit=answers.limit)]
        ]

    first = right(HOPS[0])
    said = [f"right answers from paths alone at threshold {standing:.2f}: 1 hop {_mean(first):.2f}"]
    for hops in HOPS[1:]:
        differences = [b - a for a, b in zip(first, right(hops), strict=True)]
        low, high = interval(differences)
        verdict = "better" if low > 0 else "worse" if high < 0 else "noise"
        said.append(f"{hops} hops {_mean(differences):+.2f} ({low:+.2f} to {high:+.2f}, {verdict})")
    at = {(row["hops"], row["form"]): row for row in rows if row["threshold"] == f"{standing:.2f}"}
    arrows, records = (at[here.settings.max_hops, form] for form in FORMS)
    form = f"JSON takes {_ratio(records['tokens'], arrows['tokens'])} times the tokens of arrows"
    if answers.writes:
        form += f" and gives {records['right']:.2f} right to their {arrows['right']:.2f}"
    else:
        form += "; this model reads neither (answers are quoted edges)"
    verdict = "as it was" if kept == standing else f"it was {standing:.2f}"
    return f"{', '.join(said)}; no foreign question reaches {kept:.2f}, which is kept for this embedder ({verdict}); {form}."


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
