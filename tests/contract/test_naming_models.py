"""Naming with the real small model: the sample book, human gold, a kill, a warm rerun."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from places import ROOT

from experiments.naming.scoring import Counts, gold_windows, score_window
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP, name_book
from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_assets.text.windows import make_windows
from gutengraph_core import names
from gutengraph_core.llm import open_llm
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings
from gutengraph_core.tables import WINDOWS
from tests.naming_texts import windows_of

LITBANK_WORKS = 4
"""Of ten: 140 calls, a quarter of a minute."""


class Killed(BaseException):
    """A kill, as far as this process can play one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("naming")


@pytest.fixture(scope="module")
def llm(folder: Path) -> Iterator[LLM]:
    model = open_llm("embedded", Settings(home=folder))
    yield model
    model.close()


@pytest.fixture(scope="module")
def sample() -> tuple[str, pa.Table]:
    (path,) = (ROOT / "data" / "sample" / "cache").rglob("*.txt")
    book = read_book(path.read_bytes(), book=0)
    rows = make_windows(book.body, book.chapters, words=500)
    return book.body, pa.Table.from_pylist(rows, schema=WINDOWS)


@pytest.fixture(scope="module")
def cold(folder: Path, llm: LLM, sample: tuple[str, pa.Table]) -> tuple[pa.Table, float]:
    """The sample's mentions and the seconds that they took, nothing in the cache."""
    began = time.monotonic()
    table = name_book(*sample, llm, Settings(home=folder), Ledger(folder / "cold.jsonl", book=0), book=0)
    return table, time.monotonic() - began


def test_the_samples_cast_is_found_and_typed(
    cold: tuple[pa.Table, float], sample: tuple[str, pa.Table]
) -> None:
    (path,) = (ROOT / "data" / "sample" / "gold" / "novels").glob("*.json")
    gold = json.loads(path.read_text(encoding="utf-8"))
    rows = cold[0].to_pylist()
    kinds = {names.key(row["name"]): (row["kind"], row["subkind"]) for row in rows}
    main = [c for c in gold["characters"] if c["importance"] != "minor"]
    found = [
        c
        for c in main
        if any(kinds.get(names.key(n), ("",))[0] == "person" for n in [c["name"], *c["aliases"]])
    ]
    assert len(found) >= 0.95 * len(main)
    assert kinds["fair penitent"] == ("place", "vessel")
    assert kinds["marrowby"][0] == "place"
    places = {names.key(p["name"]) for p in gold["places"]}
    assert not {key for key in places if kinds.get(key, ("",))[0] == "person"}
    for row in rows:
        assert names.key(sample[0][row["start"] : row["end"]]) == names.key(row["name"])


def test_warm_it_gives_the_same_bytes_many_times_faster(
    folder: Path, llm: LLM, sample: tuple[str, pa.Table], cold: tuple[pa.Table, float]
) -> None:
    began = time.monotonic()
    again = name_book(*sample, llm, Settings(home=folder), Ledger(folder / "cold.jsonl", book=0), book=0)
    warm = time.monotonic() - began
    assert again.equals(cold[0])
    assert warm < cold[1] / 5, "candidates are found anew, replies are not"


@pytest.mark.parametrize("seed", [3, 8])
def test_killed_anywhere_the_next_run_comes_to_the_same(
    folder: Path, sample: tuple[str, pa.Table], cold: tuple[pa.Table, float], seed: int
) -> None:
    home = folder / f"killed-{seed}"
    model = open_llm("embedded", Settings(home=home))
    ledger = Ledger(home / "ledger.jsonl", book=0)
    at = random.Random(seed).randint(5, 60)

    def kill(done: int, total: int) -> None:
        if done == at:
            raise Killed

    with pytest.raises(Killed):
        name_book(*sample, model, Settings(home=home), ledger, progress=kill, book=0)
    with open(ledger.path, "ab") as file:
        file.write(b'{"step": "names", "item": "half a li')
    assert name_book(*sample, model, Settings(home=home), ledger, book=0).equals(cold[0])
    summary, undisturbed = ledger.summary(STEP), Ledger(folder / "cold.jsonl").summary(STEP)
    loose = {"model_seconds", "wall_seconds", "runs"}
    assert summary.model_dump(exclude=loose) == undisturbed.model_dump(exclude=loose)
    model.close()


def test_the_list_with_the_embedded_model_is_grounded_and_accounted_for(
    folder: Path, llm: LLM, sample: tuple[str, pa.Table]
) -> None:
    body, windows = sample
    ledger = Ledger(folder / "list.jsonl")
    first = windows.slice(0, 2)
    table = name_book(body, first, llm, Settings(home=folder, naming="list", list_reply_tokens=96), ledger)
    summary = ledger.summary(STEP)
    assert summary.asked == 2
    assert summary.tokens_in > 500
    assert summary.tokens_out > 0
    assert summary.proposed == summary.kept + sum(summary.dropped.values())
    assert summary.truncated == sum(entry.tokens_out >= 96 for entry in ledger.standing(STEP))
    for row in table.to_pylist():
        assert names.key(body[row["start"] : row["end"]]) == names.key(row["name"])


@pytest.mark.gold
def test_names_per_window_against_human_gold(gold: Path, folder: Path, llm: LLM) -> None:
    counts = Counts()
    lines = (gold / "litbank" / "litbank_names_dev.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines[:LITBANK_WORKS]):
        work = json.loads(line)
        windows = windows_of(work["text"])
        rows = name_book(
            work["text"], windows, llm, Settings(home=folder), Ledger(folder / f"litbank-{number}.jsonl")
        ).to_pylist()
        for window, entities in gold_windows(work, windows):
            counts += score_window(rows, entities, window, loose=True, label=work["title"])
    assert counts.f1 >= 0.85, counts.errors
