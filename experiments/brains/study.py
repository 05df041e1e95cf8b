"""The two brains: every gold question in three modes, and questions of atmosphere that have no key.

For each kind of question (a passage answers it, an edge does, both help): the share of right answers of each
mode, the seconds and tokens it took, and what the right answers rest on. Whether hybrid is better than either
brain alone is said only where the paired interval says so.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.brains.bootstrap import interval
from experiments.brains.questions import ATMOSPHERE
from experiments.lab.results import Results, results
from experiments.lab.study import Bench, Study
from gutengraph_core import names
from gutengraph_core.errors import NotBuilt, UnknownBook
from gutengraph_core.graph import versions
from gutengraph_query.ask import COMPARED, Answer, ask
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import GoldBook, GoldQuestion, load_gold
from gutengraph_query.evaluate.memo import RememberingEmbedder
from gutengraph_query.evaluate.score import answer_is_right
from gutengraph_query.listing import graph_with
from gutengraph_query.state import Mode

KINDS = {"vector": "a passage answers it", "graph": "an edge answers it", "hybrid": "both help"}
_OPEN = "atmosphere (no key)"


@dataclass(frozen=True)
class Asked:
    """One question in one mode."""

    kind: str
    mode: Mode
    right: bool | None
    """None where the question has no key."""
    known: bool
    seconds: float
    tokens: int
    evidence: tuple[str, ...]
    """Kinds of what the answer cites, each once."""


def run(bench: Bench) -> Results:
    """Every gold question of the books that are built, `passages` a book. Raises NotBuilt if none is."""
    here = Brains(bench.settings, llm=bench.llm)
    here = here.with_embedder(RememberingEmbedder(here.embedder))
    books = [book for book in load_gold(bench.gold) if _built(here, book)]
    if not books:
        raise NotBuilt(
            "None of the gold's books is built in this data folder.",
            remedy="Build them first: `gutengraph add 84 1342 && gutengraph build 84 1342`.",
        )
    answers = Kept(_kept_in(here))
    asked: list[Asked] = []
    for book in books:
        here.warm(book.questions[0].question)
        for question in book.questions[: bench.passages]:
            asked += [answers.of(here, book, question, mode) for mode in COMPARED]
        for text in ATMOSPHERE.get(book.gutenberg_id, ()):
            asked += [answers.of(here, book, text, mode) for mode in COMPARED]
        bench.say(
            f"{book.title}: {min(bench.passages, len(book.questions))} questions asked in {len(COMPARED)} modes"
        )
    return summary(bench, asked, books=len(books))


def _built(here: Brains, book: GoldBook) -> bool:
    try:
        graph_with(here, book.gutenberg_id)
    except (NotBuilt, UnknownBook):
        return False
    return bool(book.questions)


def _kept_in(here: Brains) -> Path:
    """One file a model and version of the graph: answers of another library are not gone on with. After a change
    of the query code delete it."""
    library = here.library
    served = names.slug(str(here.llm.identity))
    return library.home / "experiments" / f"brains-{served}-v{versions.require(library).number}.jsonl"


class Kept:
    """Answers already given, one a line, so that an interrupted study asks only what is left."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self._known = {key: _read(answer) for key, answer in map(json.loads, lines)}

    def of(self, here: Brains, book: GoldBook, question: GoldQuestion | str, mode: Mode) -> Asked:
        """The answer that is kept, or a new one. A text without a key is neither right nor wrong."""
        text = question if isinstance(question, str) else question.question
        key = f"{book.gutenberg_id} {mode} {text}"
        if key not in self._known:
            began = time.perf_counter()
            answer = ask(here, text, mode=mode, book=book.gutenberg_id)
            seconds = time.perf_counter() - began
            if isinstance(question, str):
                one = _asked(_OPEN, mode, answer, seconds, right=None)
            else:
                right = answer_is_right(answer["answer"], question)
                one = _asked(KINDS[question.mode], mode, answer, seconds, right=right)
            self._keep(key, one)
        return self._known[key]

    def _keep(self, key: str, one: Asked) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, asdict(one)], ensure_ascii=False) + "\n")
        self._known[key] = one


def _read(answer: dict[str, Any]) -> Asked:
    return Asked(**{**answer, "evidence": tuple(answer["evidence"])})


def _asked(kind: str, mode: Mode, answer: Answer, seconds: float, *, right: bool | None) -> Asked:
    return Asked(
        kind=kind,
        mode=mode,
        right=right,
        known=answer["known"],
        seconds=seconds,
        tokens=answer["tokens"]["prompt"] + answer["tokens"]["completion"],
        evidence=tuple(sorted({citation["kind"] for citation in answer["citations"]})),
    )


def summary(bench: Bench, asked: Sequence[Asked], *, books: int) -> Results:
    """The table, the plot and the paragraph of so many answers."""
    from experiments.brains.plot import draw

    rows = []
    for kind in (*KINDS.values(), _OPEN, "all with a key"):
        for mode in COMPARED:
            group = [a for a in asked if a.mode == mode and _of(kind, a)]
            if group:
                rows.append(_row(kind, mode, group))
    draw(rows, str(bench.llm.identity), bench.out)
    keyed = [a for a in asked if a.right is not None]
    return results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample=f"{len(keyed) // len(COMPARED)} gold questions of {books} novels, asked within their book",
        finding=_thesis(keyed),
        table=rows,
    )


def _of(kind: str, one: Asked) -> bool:
    return one.right is not None if kind == "all with a key" else one.kind == kind


def _row(kind: str, mode: Mode, group: list[Asked]) -> dict[str, object]:
    keyed = [float(a.right) for a in group if a.right is not None]
    low, high = interval(keyed) if keyed else (None, None)
    rests = Counter("+".join(a.evidence) or "nothing" for a in group if a.right or a.right is None)
    return {
        "question": kind,
        "mode": mode,
        "questions": len(group),
        "right": sum(keyed) / len(keyed) if keyed else None,
        "from": low,
        "to": high,
        "says it knows": sum(a.known for a in group) / len(group),
        "s": sum(a.seconds for a in group) / len(group),
        "tokens": round(sum(a.tokens for a in group) / len(group)),
        "right answers rest on": ", ".join(f"{what} {n}" for what, n in rests.most_common()) or "–",
    }


def _thesis(keyed: Sequence[Asked]) -> str:
    right = {mode: [float(bool(a.right)) for a in keyed if a.mode == mode] for mode in COMPARED}
    told = [f"right answers: {', '.join(f'{mode} {_mean(right[mode]):.2f}' for mode in COMPARED)}"]
    for alone in ("vector", "graph"):
        differences = [h - a for h, a in zip(right["hybrid"], right[alone], strict=True)]
        low, high = interval(differences)
        verdict = (
            "hybrid is better"
            if low > 0
            else f"{alone} is better"
            if high < 0
            else "not separated from noise"
        )
        told.append(f"hybrid minus {alone} {_mean(differences):+.2f} ({low:+.2f} to {high:+.2f}): {verdict}")
    only = Counter(
        "both brains" if v and g else "the passages alone" if v else "the graph alone" if g else "neither"
        for v, g in zip(right["vector"], right["graph"], strict=True)
    )
    told.append("answered by " + ", ".join(f"{who} {n}" for who, n in only.most_common()))
    return "; ".join(told) + "."


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


STUDY = Study(
    name="brains",
    asks="What does each brain contribute to the same question?",
    run=run,
    calls=lambda questions: 5 * (questions + 2) * 2 * 6,
    tokens=(300, 2),
    cached=False,
)
