"""DSPy: prompts for names, relations and Cypher compiled for the model, and scored on books it was not compiled on.

Both optimisers compile; the one that does better on the validation book is kept as an artefact in the data folder and
scored against the pipeline's own prompt on the books held out. A base model follows no instruction: MIPROv2, which
asks the model itself for better ones, and Cypher, which the pipeline never asks it for, are refused with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.brains.bootstrap import interval
from experiments.dspy.split import Split, split
from experiments.dspy.tasks import (
    Case,
    CompiledTask,
    CypherTask,
    NamingTask,
    RelationTask,
    question_case,
    window_case,
)
from experiments.lab.results import Results, results
from experiments.lab.sample import WORDS, check, load_novel, load_sample, spread
from experiments.lab.separate import LEVEL, chance
from experiments.lab.study import Bench, Study
from experiments.sweeps.tasks import Window
from gutengraph_core import names
from gutengraph_core.errors import MissingExtra, ModelRefused, NotBuilt, UnknownBook
from gutengraph_core.library import now
from gutengraph_core.llm.compiled import CompiledPrompt, save_compiled
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import GoldBook, load_gold
from gutengraph_query.listing import graph_with

if TYPE_CHECKING:
    from experiments.dspy.compiling import Compiled, Optimiser

OPTIMISERS: tuple[Optimiser, ...] = ("BootstrapFewShot", "MIPROv2")
Cases = Mapping[int, Sequence[Case]]
"""By book."""


@dataclass(frozen=True)
class Outcome:
    """One task: what each optimiser came to, and the chosen one against the pipeline's own prompt."""

    rows: list[dict[str, object]]
    told: str


def run(bench: Bench) -> Results:
    """Compile what can be compiled. Raises MissingExtra without DSPy, SettingsError for too few books, and what gold,
    mirror and model raise."""
    try:
        import dspy
    except ImportError:
        raise MissingExtra(
            "DSPy is not installed.",
            remedy="Run `.venv/bin/python -m pip install -c constraints.txt -e '.[lab]'`.",
        ) from None
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    gold = {book.gutenberg_id: book for book in load_gold(bench.gold)}
    windows = _windows(bench, gold)
    parts = split(list(windows))
    here = Brains(bench.settings, llm=bench.llm)
    outcomes = [_task(bench, task, windows, parts) for task in (NamingTask(), RelationTask())]
    try:
        outcomes.append(_cypher(bench, here, gold, parts))
    finally:
        if "worker" in vars(here):
            here.worker.close()
    folder = _folder(bench)
    return results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample=f"{sum(map(len, windows.values()))} pinned passages of {WORDS} words; books {_listed(parts.train)} to compile "
        f"on, {_listed(parts.validate)} to choose by, {_listed(parts.held_out)} held out",
        finding=" ".join(outcome.told for outcome in outcomes)
        + (f" To use them: GUTENGRAPH_COMPILED_PROMPTS={_shown(folder, bench)}." if folder.exists() else ""),
        table=[row for outcome in outcomes for row in outcome.rows],
    )


def _shown(folder: Path, bench: Bench) -> str:
    return str(folder).replace(str(bench.settings.home), "$GUTENGRAPH_HOME")


def _listed(books: Sequence[int]) -> str:
    return ", ".join(map(str, books))


def _folder(bench: Bench) -> Path:
    return bench.settings.home / "prompts" / names.slug(str(bench.llm.identity))


def _windows(bench: Bench, gold: Mapping[int, GoldBook]) -> dict[int, list[Case]]:
    found: defaultdict[int, list[Case]] = defaultdict(list)
    for passage in spread(load_sample(), bench.passages):
        novel = load_novel(passage.book, gold=bench.gold, mirror=bench.mirror)
        check(passage, novel)
        window = Window(novel, gold[passage.book], *novel.around(passage, WORDS))
        found[passage.book].append(window_case(window))
    return dict(found)


def _cypher(bench: Bench, here: Brains, gold: Mapping[int, GoldBook], parts: Split) -> Outcome:
    if not bench.llm.identity.instruct:
        return Outcome([], "cypher: refused, for the pipeline never asks a base model for it.")
    cases: dict[int, list[Case]] = {}
    for number in (*parts.train, *parts.validate, *parts.held_out):
        book = gold[number]
        asked = [q for q in book.questions if q.mode != "vector"][: 2 * bench.passages]
        try:
            graph_with(here, number)
        except (NotBuilt, UnknownBook) as missing:
            return Outcome([], f"cypher: not compiled, book {number} is not built ({missing.what})")
        cases[number] = [question_case(number, here.title(number), question) for question in asked]
    return _task(bench, CypherTask(here), cases, parts)


def _task(bench: Bench, task: CompiledTask, cases: Cases, parts: Split) -> Outcome:
    train, validate, held = (
        [case for book in books for case in cases[book]]
        for books in (parts.train, parts.validate, parts.held_out)
    )
    own = _scores(bench, task, validate, None)
    rows = [_row(task, "the pipeline's own", own, None)]
    compiled: list[tuple[float, CompiledPrompt]] = []
    notes: list[str] = []
    for optimiser in OPTIMISERS:
        if optimiser == "MIPROv2" and not bench.llm.identity.instruct:
            notes.append("MIPROv2 refused: a base model writes no instructions")
            continue
        bench.say(f"{task.name}: {optimiser} on {len(train)} cases")
        found = _compile(bench, task, optimiser, train, validate)
        if isinstance(found, str):
            notes.append(f"{optimiser} failed: {found}")
            continue
        artefact = _artefact(bench, task, found, parts)
        scores = _scores(bench, task, validate, artefact)
        rows.append(_row(task, optimiser, scores, artefact))
        if artefact.demos or artefact.instructions != task.instructions:
            compiled.append((_mean(scores), artefact))
        else:
            notes.append(f"{optimiser} found no example good enough and no other instruction")
    noted = "".join(f" ({note})" for note in notes)
    if not compiled:
        return Outcome(rows, f"{task.name}: nothing compiled{noted}.")
    _, best = max(compiled, key=lambda one: one[0])
    bench.say(f"{task.name}: {len(held)} cases of the books held out")
    before, after = (_scores(bench, task, held, artefact) for artefact in (None, best))
    save_compiled(best.model_copy(update={"scores": _kept(before, after)}), _folder(bench))
    for row in rows:
        if row["prompt"] in ("the pipeline's own", best.optimiser):
            scores = before if row["prompt"] == "the pipeline's own" else after
            low, high = interval(scores)
            row.update({"held out": _mean(scores), "from": low, "to": high, "cases": len(scores)})
    return Outcome(rows, f"{task.name}: {_verdict(best, before, after)}{noted}.")


def _compile(
    bench: Bench, task: CompiledTask, optimiser: Optimiser, train: Sequence[Case], validate: Sequence[Case]
) -> Compiled | str:
    """What was compiled, or why the optimiser broke: a model may write what it cannot read."""
    from dspy.utils.exceptions import DSPyError
    from experiments.dspy.compiling import compile_task

    try:
        return compile_task(task, bench.llm, optimiser, train=train, validate=validate)
    except DSPyError as error:
        return next(iter(str(error).splitlines()), type(error).__name__)


def _artefact(bench: Bench, task: CompiledTask, found: Compiled, parts: Split) -> CompiledPrompt:
    identity = bench.llm.identity
    return CompiledPrompt(
        task=task.name,
        model=str(identity),
        digest=identity.digest,
        instructions=found.instructions,
        demos=found.demos,
        optimiser=found.optimiser,
        trained_on=[*parts.train, *parts.validate],
        date=now()[:10],
        command=bench.command,
    )


def _scores(
    bench: Bench, task: CompiledTask, cases: Sequence[Case], compiled: CompiledPrompt | None
) -> list[float]:
    """A prompt that does not fit the model's context scores nothing."""
    scores = []
    for case in cases:
        try:
            scores.append(task.try_out(bench.llm, case, compiled))
        except ModelRefused as refused:
            bench.say(f"{task.name}, book {case.book}: {refused.what}")
            scores.append(0.0)
    return scores


def _mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)


def _kept(before: Sequence[float], after: Sequence[float]) -> dict[str, object]:
    return {"held_out_own": list(before), "held_out_compiled": list(after)}


def _verdict(best: CompiledPrompt, before: Sequence[float], after: Sequence[float]) -> str:
    by = min(chance(after, before), chance(before, after))
    better = "better" if _mean(after) > _mean(before) else "worse"
    verdict = better if by <= LEVEL / 2 else "not separated from noise"
    (low, high), (own_low, own_high) = interval(after), interval(before)
    return (
        f"{best.optimiser} {_mean(after):.2f} ({low:.2f} to {high:.2f}) against {_mean(before):.2f} "
        f"({own_low:.2f} to {own_high:.2f}) of the pipeline's own on books held out: {verdict}"
    )


def _row(
    task: CompiledTask, prompt: str, validation: Sequence[float], artefact: CompiledPrompt | None
) -> dict[str, object]:
    return {
        "task": task.name,
        "prompt": prompt,
        "examples": len(artefact.demos) if artefact else None,
        "validation": _mean(validation),
        "held out": None,
        "from": None,
        "to": None,
        "cases": None,
    }


STUDY = Study(
    name="dspy",
    asks="Do prompts compiled for this model beat the pipeline's own on books they were not compiled on?",
    run=run,
    # Two tasks: bootstrap on 2 of 5 books, MIPROv2's sets and trials, validation and held-out books twice.
    calls=lambda passages: passages * 2 * 8,
    tokens=(1300, 120),
)
