"""The judge: a model reads each relation of the built gold novels against its passage.

First it reads relations that a person has read, as many right as wrong. Only a judge that agrees with the person
well enough goes on to the library; another is refused, and the gold is what is left to go by.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from experiments.judge.agreement import LEAST_AGREEMENT, LEAST_KAPPA, Agreement, agreement
from experiments.judge.claims import Claim, hand_read, of_library
from experiments.judge.verdicts import Judged, judge, write_verdicts
from experiments.lab.results import Results, results
from experiments.lab.study import Bench, Study
from gutengraph_core import names
from gutengraph_core.errors import NotBuilt, UnknownBook
from gutengraph_core.graph.schema import STATED
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import load_gold
from gutengraph_query.evaluate.run import what_was_found
from gutengraph_query.evaluate.score import Share, added, relation_scores, share
from gutengraph_query.listing import graph_with

HAND_READ_A_PASSAGE = 2
"""Hand-read relations of either verdict for each passage asked for: 20 passages take 40 right and 40 wrong."""
OF_A_BOOK = 2
"""Relations of each built novel for each passage asked for."""

Row = dict[str, object]


def run(bench: Bench) -> Results:
    """Score the judge, then let it judge or refuse it. Raises what gold, mirror and model raise; NotBuilt if the
    judge is good enough and no gold novel is built."""
    known = hand_read(bench.mirror, HAND_READ_A_PASSAGE * bench.passages)
    judged = _judge_all(bench, known, "read by hand")
    agreed = agreement([(one.claim.by_hand, one.verdict) for one in judged if one.claim.by_hand])
    here = Brains(bench.settings, llm=bench.llm)
    books = [book.gutenberg_id for book in load_gold(bench.gold)]
    rows = [_agreement_row(judged, agreed)]
    if agreed.enough:
        of_books = _judge_all(bench, of_library(here, books, OF_A_BOOK * bench.passages), "of the library")
        judged += of_books
        rows += _library_rows(of_books)
        finding = f"{_told(agreed)} It may judge: {_precision(of_books)}"
    else:
        gold = _gold_rows(bench, here)
        rows += gold
        finding = f"{_told(agreed)} It is refused as a judge; " + (
            "what is left is the gold." if gold else "no gold novel is built here to go by."
        )
    folder = bench.settings.home / "experiments" / f"judge-{names.slug(str(bench.llm.identity))}"
    page = write_verdicts(judged, folder, judge=str(bench.llm.identity), note=finding)
    bench.say(f"Every verdict with its reason: {page}")
    return results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample=f"{len(known)} relations read by hand, of {len({c.book for c in known})} novels",
        finding=finding,
        table=rows,
        details={
            "accepted": agreed.enough,
            "without a verdict": agreed.silent,
            "library built by": sorted({here.library.record(b).llm for b in books if here.library.has(b)}),
        },
    )


def _judge_all(bench: Bench, claims: Sequence[Claim], what: str) -> list[Judged]:
    judged = []
    began = time.monotonic()
    for done, claim in enumerate(claims, start=1):
        judged.append(judge(bench.llm, claim))
        if done % 10 == 0 or done == len(claims):
            left = (time.monotonic() - began) / done * (len(claims) - done)
            bench.say(f"{done} of {len(claims)} relations {what}, about {left / 60:.0f} min left")
    return judged


def _told(agreed: Agreement) -> str:
    low, high = agreed.interval
    return (
        f"It agrees with whoever read by hand on {agreed.share:.2f} of {agreed.of} relations, kappa {agreed.kappa:.2f} "
        f"({low:.2f} to {high:.2f}); {LEAST_AGREEMENT} and {LEAST_KAPPA} are asked for."
    )


def _precision(judged: Sequence[Judged]) -> str:
    if not judged:
        return "the library has no relation."
    found, silent = _right(judged), _silent(judged)
    left_out = f"; {silent} of {len(judged)} got no verdict and are left out" if silent else ""
    if found["interval"] is None:
        return f"no precision{left_out}."
    low, high = found["interval"]
    return (
        f"{found['hits']} of {found['of']} relations are right, precision {found['value']:.2f} "
        f"({low:.2f} to {high:.2f}){left_out}."
    )


def _silent(judged: Sequence[Judged]) -> int:
    return sum(one.verdict is None for one in judged)


def _right(judged: Sequence[Judged]) -> Share:
    """Of those with a verdict."""
    given = [one for one in judged if one.verdict is not None]
    return share(sum(one.verdict == "right" for one in given), len(given))


def _agreement_row(judged: Sequence[Judged], agreed: Agreement) -> Row:
    return _row("read by hand, half of them wrong", _right(judged)) | {
        "no verdict": _silent(judged),
        "agreement": agreed.share,
        "kappa": agreed.kappa,
    }


def _library_rows(judged: Sequence[Judged]) -> list[Row]:
    parts = {
        "library, all": judged,
        "library, stated": [one for one in judged if one.claim.confidence >= STATED],
        "library, likely": [one for one in judged if one.claim.confidence < STATED],
    }
    return [
        _row(f"{what}: judged right", _right(part)) | {"no verdict": _silent(part)}
        for what, part in parts.items()
    ]


def _gold_rows(bench: Bench, here: Brains) -> list[Row]:
    """How much of the gold the built novels have; none where no novel is built."""
    scores = []
    for book in load_gold(bench.gold):
        try:
            graph = graph_with(here, book.gutenberg_id)
        except (NotBuilt, UnknownBook):
            continue
        entries, found = what_was_found(graph, book.gutenberg_id)
        scores.append(relation_scores(book, [entry for entry, _ in entries], found))
    if not scores:
        return []
    return [
        _row("gold: pairs that the library has", added(s["relation_recall_pair"] for s in scores)),
        _row("gold: with type and direction", added(s["relation_recall_typed"] for s in scores)),
    ]


def _row(what: str, found: Share) -> Row:
    low, high = found["interval"] or (None, None)
    return {
        "relations": what,
        "of": found["of"],
        "right": found["hits"],
        "no verdict": None,
        "share": found["value"],
        "from": low,
        "to": high,
        "agreement": None,
        "kappa": None,
    }


STUDY = Study(
    name="judge",
    asks="Can the model judge a relation by its passage, and how many of the library's does it find right?",
    run=run,
    calls=lambda passages: passages * (2 * HAND_READ_A_PASSAGE + 5 * OF_A_BOOK),
    tokens=(450, 50),
)
