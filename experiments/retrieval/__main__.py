"""Which passages answer: ways of fusing vectors and full text, the weight of names, and how much is shown around.

    python -m experiments.retrieval GOLD_DIR

Asks the gold questions of a built library (GUTENGRAPH_HOME), over all its books at once, and writes `results.json`
and `results.md` beside this file. Nothing is embedded but the questions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import numpy as np

from experiments.retrieval.bench import SCORES, Asked, K, questions, score
from experiments.retrieval.report import write_results
from gutengraph_core.files import write_json
from gutengraph_core.passages import Passage, scaled
from gutengraph_core.settings import load_settings
from gutengraph_core.table_queries import NAME_WEIGHT
from gutengraph_core.vectors import CANDIDATES, ChunkTable
from gutengraph_query.brains import Brains
from gutengraph_query.understanding.question import names_apart, read_question

HERE = Path(__file__).parent
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""

Ranked = list[Passage]
Find = Callable[[Asked], Sequence[Passage]]


class Found:
    """What each question's parts find by themselves, asked once."""

    def __init__(self, here: Brains, asked: Sequence[Asked]) -> None:
        table = here.table
        self.mentions = {one.gold.id: _mentions(here, one) for one in asked}
        self.near: dict[str, Ranked] = {}
        self.words: dict[str, dict[str, float]] = {}
        self.names: dict[str, dict[str, float]] = {}
        self.passage: dict[str, Passage] = {}
        self.cosine: dict[str, dict[str, float]] = {}
        every = max(table.count(), 1)
        for one in asked:
            key = one.gold.id
            rest, named = names_apart(one.gold.question)
            self.near[key] = table.search(one.vector, k=every, book=one.book)
            self.cosine[key] = {p.id: p.score for p in self.near[key]}
            self.passage |= {p.id: p for p in self.near[key]}
            self.words[key] = {p.id: p.score for p in table.text_search(rest, k=every, book=one.book)}
            named_found = table.text_search(named, k=every, book=one.book) if named else []
            self.names[key] = {p.id: p.score for p in named_found}

    def bm25(self, one: Asked, weight: float) -> dict[str, float]:
        """Best first; BM25 adds up word by word, so the names' part can be weighed afterwards."""
        words, named = self.words[one.gold.id], self.names[one.gold.id]
        total = {i: words.get(i, 0.0) + weight * named.get(i, 0.0) for i in {*words, *named}}
        return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))

    def vectors(self, one: Asked) -> Sequence[Passage]:
        return self.near[one.gold.id]

    def text(self, weight: float) -> Find:
        return lambda one: [self.passage[i] for i in list(self.bm25(one, weight))[:K]]

    def added(self, weight: float, share: float = 1.0, bonus: float = 0.0) -> Find:
        """Cosine and BM25, each scaled over the candidates, the second times `share`; and `bonus` times the share
        of the question's people that a passage names, by any alias that the graph knows.
        """

        def find(one: Asked) -> Ranked:
            bm25 = self.bm25(one, weight)
            best = list(bm25)[:CANDIDATES]
            ids = {*best, *(p.id for p in self.near[one.gold.id][:CANDIDATES])}
            totals = scaled({i: self.cosine[one.gold.id][i] for i in ids})
            for i, value in scaled({i: bm25[i] for i in best}, floor=0.0).items():
                totals[i] += share * value
            for i in ids:
                totals[i] += bonus * self.mentions[one.gold.id].get(i, 0.0)
            return [self.passage[i] for i in sorted(totals, key=lambda i: (-totals[i], i))[:K]]

        return find

    def ranks(self, weight: float) -> Find:
        """Reciprocal ranks added."""

        def find(one: Asked) -> Ranked:
            totals: dict[str, float] = {}
            for ranking in ([p.id for p in self.near[one.gold.id]], list(self.bm25(one, weight))):
                for place, i in enumerate(ranking[:CANDIDATES]):
                    totals[i] = totals.get(i, 0.0) + 1 / (RANK_CONSTANT + place + 1)
            return [self.passage[i] for i in sorted(totals, key=lambda i: (-totals[i], i))[:K]]

        return find


@click.command()
@click.argument("gold_dir", type=click.Path(exists=True, path_type=Path))
def retrieval(gold_dir: Path) -> None:
    """Score every way of finding five passages."""
    began = time.monotonic()
    here = Brains(load_settings())
    asked = questions(here, gold_dir)
    found = Found(here, asked)
    ways: dict[str, Find] = {"vectors alone": found.vectors}
    for weight in WEIGHTS:
        ways[f"full text alone, names x {weight}"] = found.text(weight)
        ways[f"reciprocal ranks added, names x {weight}"] = found.ranks(weight)
        ways[f"scaled scores added, names x {weight}"] = found.added(weight)
    for share in (0.5, 2.0):
        ways[f"scaled scores added, full text x {share}, names x {NAME_WEIGHT}"] = found.added(
            NAME_WEIGHT, share
        )
    for bonus in (0.1, 0.3):
        name = f"scaled scores added, names x {NAME_WEIGHT}, {bonus} for passages that name the people"
        ways[name] = found.added(NAME_WEIGHT, bonus=bonus)
    rows = []
    for name, find in ways.items():
        by = {n: score(asked, _widened(here.table, find, n)) for n in (0, 1, 2)}
        rows.append(
            {"way": name, **{f"{what}_{n}": getattr(s, what) for n, s in by.items() for what in SCORES}}
        )
    words = [_words(here.table, found.added(NAME_WEIGHT), asked, n) for n in (0, 1, 2)]
    document = {
        "questions": len(asked),
        "led_to_one_book": sum(one.book is not None for one in asked),
        "books": len(here.table.books()),
        "embedder": str(here.embedder.identity),
        "words_a_passage": words,
        "seconds": round(time.monotonic() - began, 1),
        "date": time.strftime("%Y-%m-%d"),
        "rows": rows,
    }
    write_json(HERE / "results.json", document)
    click.echo(write_results())


def _mentions(here: Brains, one: Asked) -> dict[str, float]:
    """Passage -> share of the question's people and places that it names."""
    view = here.graph()
    read = read_question(one.gold.question, lambda words: view.index.knows(words, one.book))
    found: dict[str, float] = {}
    for name in read.names:
        bearers = view.index.find(name.text, one.book)
        told = {m.chunk_id for n in bearers for m in view.graph.mention_passages(n.id, limit=10_000)}
        for passage in told:
            found[passage] = found.get(passage, 0.0) + 1 / len(read.names)
    return found


def _widened(table: ChunkTable, find: Find, neighbours: int) -> Find:
    return (lambda one: table.widen(find(one)[:K], by=neighbours)) if neighbours else find


def _words(table: ChunkTable, find: Find, asked: Sequence[Asked], neighbours: int) -> int:
    """Mean length of a passage that is shown."""
    shown = _widened(table, find, neighbours)
    return round(float(np.mean([len(p.text.split()) for one in asked for p in shown(one)[:K]])))


if __name__ == "__main__":
    retrieval()
