"""The context cliff: the same passages in windows of 50 to 6,000 words, asked in five ways, and a control.

Window by window: which of the gold people that it names are found, what is invented, whether the reply parses
or is cut, and whether those in the middle are lost. The control asks on the same windows for the sentence in
their middle, word for word: where that still works and the names do not, it is not reading that fails.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from experiments.cliff.prompts import WEIGHTS, Weight, cliff_prompt, reading_prompt
from experiments.cliff.score import Tally, cliff_of
from experiments.lab.results import Results, results
from experiments.lab.sample import Novel, Passage, check, load_novel, load_sample, spread, standing_in
from experiments.lab.separate import separated
from experiments.lab.study import Bench, Study
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import name_book
from gutengraph_core import names
from gutengraph_core.errors import ModelRefused
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.cache import accept
from gutengraph_core.settings import Settings
from gutengraph_core.tables import WINDOWS

LENGTHS = (50, 100, 250, 350, 500, 1000, 2000, 4000, 6000)
STRATEGIES = ("label", "cloze")
REPLY_CAP = 512
"""Tokens of a reply: a sheet of a dozen characters, and more than any list of a window of 500 words needs."""
HARDLY_ANYBODY = 0.4
"""An F1 that no length reaches: there is then nothing to fall off from."""
CONTROL = "reading (control)"
_OPENING, _GOES_ON, _LEAST = 6, 4, 14
"""The control: words of the sentence that are given, words that must follow, words of the sentence at least."""
_SENTENCE = re.compile(r"[A-Z][^.!?\"“”]+[.!?]")


def run(bench: Bench) -> Results:
    """Every length and way of asking on the pinned passages. Raises what gold, mirror and model raise."""
    sample = spread(load_sample(), bench.passages)
    novels = {p.book: load_novel(p.book, gold=bench.gold, mirror=bench.mirror) for p in sample}
    for passage in sample:
        check(passage, novels[passage.book])
    tallies: defaultdict[tuple[str, int], Tally] = defaultdict(Tally)
    ways = _ways(bench)
    reading: defaultdict[int, list[bool]] = defaultdict(list)
    steps = list(product(LENGTHS, sample))
    began = time.monotonic()
    for done, (length, passage) in enumerate(steps, start=1):
        novel = novels[passage.book]
        start, end = novel.around(passage, length)
        text = names.squeeze(novel.body[start:end])
        present = standing_in(novel.people, text)
        for way, answer in ways.items():
            _try(tallies[way, length], text, present, answer)
        answered = _reads(bench, novel, passage, text)
        if answered is not None:
            reading[length].append(answered)
        left = (time.monotonic() - began) / done * (len(steps) - done)
        bench.say(
            f"{length} words, book {passage.book}: {done} of {len(steps)}, about {left / 60:.0f} min left"
        )
    return _results(bench, sample, tallies, reading)


Way = Callable[[str, Tally], Iterable[str]]
"""Names of people in a text; counts failures and cuts in the tally."""


def _ways(bench: Bench) -> dict[str, Way]:
    ways: dict[str, Way] = {f"list, {weight}": _listing(bench, weight) for weight in WEIGHTS}
    for strategy in STRATEGIES:
        if strategy != "cloze" or bench.llm.gives_logprobs:
            ways[strategy] = _by_strategy(bench, strategy)
    return ways


def _try(tally: Tally, text: str, present: dict[str, frozenset[str]], way: Way) -> None:
    began = time.monotonic()
    try:
        answered = list(way(text, tally))
    except ModelRefused:
        tally.refused += 1
        tally.each.append(None)
        return
    tally.seconds += time.monotonic() - began
    tally.windows += 1
    tally.add(text, present, answered)


def _listing(bench: Bench, weight: Weight) -> Way:
    model, _ = WEIGHTS[weight]

    def way(text: str, tally: Tally) -> Iterable[str]:
        asked = ask(bench.llm, cliff_prompt(text, weight), model, max_tokens=REPLY_CAP)
        if asked.parsed.cut:
            accept(bench.llm, asked.reply)  # a study asks for no second try: the cut reply is its result
        tally.truncated += asked.reply.finish_reason == "length"
        tally.failed += asked.parsed.value is None
        return asked.parsed.value.named() if asked.parsed.value else []

    return way


def _by_strategy(bench: Bench, strategy: str) -> Way:
    settings = bench.settings.model_copy(update={"naming": strategy})

    def way(text: str, tally: Tally) -> Iterable[str]:
        row = {
            "window": 0,
            "chapter": 1,
            "start": 0,
            "end": len(text),
            "words": len(text.split()),
            "text": text,
        }
        with TemporaryDirectory() as folder:
            ledger = Ledger(Path(folder) / "ledger.jsonl")
            windows = pa.Table.from_pylist([row], schema=WINDOWS)
            found = name_book(text, windows, bench.llm, settings, ledger).to_pylist()
            step = ledger.summary("names")
        tally.failed += step.failed
        tally.truncated += step.truncated
        return {one["name"] for one in found if one["kind"] == "person"}

    return way


def _reads(bench: Bench, novel: Novel, passage: Passage, text: str) -> bool | None:
    """Whether the model goes on with the passage's middle sentence; None where the window lacks it or it does not fit."""
    told = names.squeeze(novel.body[passage.start : passage.end])
    sentences = [s for s in _SENTENCE.findall(told) if len(s.split()) >= _LEAST and s in text]
    if not sentences:
        return None
    sentence = min(sentences, key=lambda s: abs(told.index(s) + len(s) // 2 - len(told) // 2))
    words = sentence.split()
    opening = " ".join(words[:_OPENING])
    try:
        reply = bench.llm.complete(reading_prompt(text, opening), max_tokens=24, stop=("\n",), raw=True)
    except ModelRefused:
        return None
    accept(bench.llm, reply)
    return names.words(reply.text)[:_GOES_ON] == names.words(" ".join(words[_OPENING:]))[:_GOES_ON]


def _results(
    bench: Bench,
    sample: list[Passage],
    tallies: dict[tuple[str, int], Tally],
    reading: dict[int, list[bool]],
) -> Results:
    rows = []
    curves: dict[str, dict[int, float]] = defaultdict(dict)
    for (way, length), tally in sorted(tallies.items(), key=lambda item: (item[0][0], item[0][1])):
        measured = tally.windows > 0
        if measured:
            curves[way][length] = tally.f1
        rows.append(
            {
                "asked": way,
                "words": length,
                "windows": tally.windows,
                "F1": tally.f1 if measured else None,
                "recall": tally.recall if measured else None,
                "precision": tally.precision if measured else None,
                "first third": _share(tally.thirds[0]),
                "middle": _share(tally.thirds[1]),
                "last": _share(tally.thirds[2]),
                "invented": tally.invented if measured else None,
                "no answer": tally.failed if measured else None,
                "cut": tally.truncated if measured else None,
                "does not fit": tally.refused,
                "s a window": tally.seconds / tally.windows if measured else None,
            }
        )
    curves[CONTROL] = {length: sum(right) / len(right) for length, right in reading.items()}
    cliffs = {way: cliff_of(curve) for way, curve in curves.items()}
    from experiments.cliff.plot import draw

    draw(curves, str(bench.llm.identity), bench.out)
    return results(
        STUDY.name,
        bench.llm.identity,
        command=bench.command,
        sample=f"{len(sample)} pinned passages of {len({p.book for p in sample})} novels",
        finding=_finding(cliffs, curves),
        table=rows,
        profile={"names": serves(bench, tallies)},
        details={"cliffs": cliffs, "reading": {str(k): v for k, v in sorted(curves[CONTROL].items())}},
    )


_NAMING = {"list, names": "list", "label": "label", "cloze": "cloze"}
"""The ways of asking that the pipeline knows, by the name of its strategy."""


def serves(bench: Bench, tallies: dict[tuple[str, int], Tally]) -> dict[str, object]:
    """The strategy that serves this model on windows of the pipeline's own length; None where the pipeline's own is
    not beaten by more than chance.

    No length is chosen: each is scored on a text of its own, and a short one names fewer people. An earlier choice of
    one is taken back.
    """
    words = Settings.model_fields["window_words"].default
    each = {
        _NAMING[way]: [one for one in tally.each if one is not None]
        for (way, length), tally in tallies.items()
        if way in _NAMING and length == words and not tally.refused
    }
    own = "cloze" if bench.llm.gives_logprobs else "list"
    best = max(each, key=lambda one: sum(each[one]), default=own)
    beaten = best != own and own in each and separated(each[best], each[own], tried=len(each) - 1)
    return {"strategy": best if beaten else None, "window_words": None}


def _share(found_of_all: list[int]) -> float | None:
    found, everyone = found_of_all
    return found / everyone if everyone else None


def _finding(cliffs: dict[str, int | None], curves: dict[str, dict[int, float]]) -> str:
    told = []
    for way, cliff in cliffs.items():
        longest = max(curves[way], default=0)
        best = max(curves[way].values(), default=0.0)
        if best < HARDLY_ANYBODY:
            said = f"finds hardly anybody at any length (F1 at most {best:.2f})"
        else:
            said = f"falls off at {cliff} words" if cliff else f"no cliff up to {longest} words"
        told.append(f"{way}: {said}")
    return "; ".join(told) + "."


STUDY = Study(
    name="cliff",
    asks="How long a window can the model bear, by how much it is asked to say of each name?",
    run=run,
    calls=lambda passages: passages * len(LENGTHS) * (len(WEIGHTS) + 1 + 15),
    # Half the cloze calls' and a tenth of the lists' figures: most calls are a cloze's, which read a sentence.
    tokens=(400, 12),
)
