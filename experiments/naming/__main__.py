"""Names per window against human gold, for each strategy, with any backend; and what a novel costs.

    python -m experiments.naming litbank ../shared/gold/litbank/*.jsonl
    python -m experiments.naming novels ../shared/gold/novels/84.json --mirror ../shared/gutenberg

    python -m experiments.naming table

Replies are kept in the data folder, so that a second run costs nothing. `litbank` prints a Markdown table and enters what it
found, by model and strategy, into `results.json` (not with --dry-run), with --by-kind what went wrong; `table` prints all that stands there. The backend is
that of GUTENGRAPH_LLM: with Ollama or an OpenAI-compatible server the same command shows which strategy serves that model.
"""

from __future__ import annotations

import json
import time
from datetime import date
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from experiments.naming.scoring import Counts, gold_windows, score_window
from gutengraph_assets.extraction.candidates import survey
from gutengraph_assets.extraction.evidence import Evidence, Surroundings
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP, name_book
from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_assets.text.windows import make_windows
from gutengraph_core import names
from gutengraph_core.files import write_text
from gutengraph_core.library import Chapter
from gutengraph_core.llm import LLM, open_llm
from gutengraph_core.settings import load_settings
from gutengraph_core.tables import WINDOWS

STRATEGIES = ("rules", "list", "label", "cloze")
RESULTS = Path(__file__).with_name("results.json")
_HEAD = (
    "| model | strategy | windows | precision | recall | F1 | F1, leading articles, adjectives, uncles off | failed windows |\n"
    "|---|---|---|---|---|---|---|---|"
)


@click.group()
def naming() -> None:
    """Measure naming strategies."""


def _windows(body: str, chapters: list[Chapter], words: int) -> pa.Table:
    return pa.Table.from_pylist(make_windows(body, chapters, words=words), schema=WINDOWS)


def _by_rules(body: str, windows: pa.Table) -> list[dict[str, object]]:
    """The text's own evidence alone, no model: where it leaves a choice, the likelier of person and place."""
    found = survey(body, windows)
    everything = [Evidence.of(body, candidate) for candidate in found.candidates]
    around = Surroundings(everything, found.stats)
    rows: list[dict[str, object]] = []
    for evidence in everything:
        kinds = [kind for kind in around.judge(evidence).kinds if kind != "thing"]
        if not kinds:
            continue
        leaning = around.leaning(evidence)
        kind = max(kinds, key=lambda k: leaning[k])
        subkind = around.judge(evidence).subkind
        rows += [
            {"name": evidence.candidate.name, "kind": kind, "subkind": subkind, "start": o.start}
            for o in evidence.candidate.occurrences
        ]
    return rows


def _found(strategy: str, body: str, windows: pa.Table, llm: LLM, folder: Path) -> list[dict[str, object]]:
    if strategy == "rules":
        return _by_rules(body, windows)
    settings = load_settings().model_copy(update={"naming": strategy})
    return name_book(body, windows, llm, settings, _ledger(strategy, body, folder)).to_pylist()


def _ledger(strategy: str, body: str, folder: Path) -> Ledger:
    return Ledger(folder / f"{names.slug(body[:60])}-{strategy}.jsonl")


@naming.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--strategy", "strategies", multiple=True, type=click.Choice(STRATEGIES), default=STRATEGIES)
@click.option("--errors", is_flag=True, help="List what was missed and what was wrong.")
@click.option("--by-kind", is_flag=True, help="Count what was missed and wrong by what went wrong (strict).")
@click.option("--dry-run", is_flag=True, help="Leave results.json as it is.")
def litbank(
    files: tuple[Path, ...], strategies: tuple[str, ...], errors: bool, by_kind: bool, dry_run: bool
) -> None:
    """F1 of people and places per window of GUTENGRAPH_WINDOW_WORDS, each distinct name once a window."""
    settings = load_settings()
    llm = open_llm(settings.llm, settings)
    folder = settings.home / "experiments" / "naming"
    click.echo(_HEAD)
    for strategy in strategies:
        exact, loose = Counts(), Counts()
        count = failed = 0
        for file in files:
            for line in file.read_text(encoding="utf-8").splitlines():
                work = json.loads(line)
                whole = [Chapter(index=1, title="", start=0, end=len(work["text"]))]
                windows = _windows(work["text"], whole, settings.window_words)
                rows = _found(strategy, work["text"], windows, llm, folder)
                failed += _ledger(strategy, work["text"], folder).summary(STEP).failed
                everything = frozenset(names.key(text) for *_, text in work["entities"])
                for window, gold in gold_windows(work, windows):
                    count += 1
                    exact += score_window(rows, gold, window, loose=False, elsewhere=everything)
                    loose += score_window(rows, gold, window, loose=True, label=work["title"])
        result = {
            "model": "none" if strategy == "rules" else str(llm.identity),
            "strategy": strategy,
            "windows": count,
            "window_words": settings.window_words,
            "precision": round(exact.precision, 3),
            "recall": round(exact.recall, 3),
            "f1": round(exact.f1, 3),
            "f1_loose": round(loose.f1, 3),
            "failed": failed,
            "date": date.today().isoformat(),
        }
        click.echo(_row(result))
        if not dry_run:
            _keep(result)
        if by_kind:
            click.echo(f"\n| {strategy}: what went wrong | names |\n|---|---|")
            for what, number in sorted(exact.kinds.items(), key=lambda item: (-item[1], item[0])):
                click.echo(f"| {what} | {number} |")
        if errors:
            for line in loose.errors:
                click.echo(line, err=True)


@naming.command()
def table() -> None:
    """Print what results.json holds."""
    click.echo(_HEAD)
    for result in _results():
        click.echo(_row(result))


def _results() -> list[dict[str, Any]]:
    return list(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else []


def _keep(result: dict[str, Any]) -> None:
    """Replace what was known of this model, strategy and window size."""
    key = ("model", "strategy", "window_words")
    others = [r for r in _results() if [r[k] for k in key] != [result[k] for k in key]]
    ordered = sorted(
        [*others, result], key=lambda r: (r["model"] != "none", r["model"], STRATEGIES.index(r["strategy"]))
    )
    write_text(RESULTS, json.dumps(ordered, indent=1) + "\n")


def _row(r: dict[str, Any]) -> str:
    shares = " | ".join(f"{r[name]:.2f}" for name in ("precision", "recall", "f1", "f1_loose"))
    return f"| {r['model']} | {r['strategy']} | {r['windows']} | {shares} | {r['failed']} |"


@naming.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--mirror", required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--strategy", "strategies", multiple=True, type=click.Choice(STRATEGIES[1:]), default=("cloze",)
)
def novels(files: tuple[Path, ...], mirror: Path, strategies: tuple[str, ...]) -> None:
    """Gold characters with a name among those typed person, before any aliases; calls and seconds a novel."""
    settings = load_settings()
    llm = open_llm(settings.llm, settings)
    folder = settings.home / "experiments" / "naming"
    click.echo(f"Model {llm.identity}\n")
    click.echo("| book | strategy | main | all | persons | calls | s |")
    click.echo("|---|---|---|---|---|---|---|")
    for file in files:
        gold = json.loads(file.read_text(encoding="utf-8"))
        number = gold["gutenberg_id"]
        data = (mirror / "cache" / "epub" / str(number) / f"pg{number}.txt").read_bytes()
        book = read_book(data, book=number)
        windows = _windows(book.body, book.chapters, settings.window_words)
        for strategy in strategies:
            chosen = settings.model_copy(update={"naming": strategy})
            ledger = Ledger(folder / f"{number}-{strategy}.jsonl")
            began = time.monotonic()
            table = name_book(book.body, windows, llm, chosen, ledger, book=number)
            seconds = time.monotonic() - began
            persons = {names.key(r["name"]) for r in table.to_pylist() if r["kind"] == "person"}
            known = persons | {names.key(names.split_title(key)[1]) for key in persons}
            main = [c for c in gold["characters"] if c["importance"] != "minor"]
            shares = " | ".join(_share(group, known) for group in (main, gold["characters"]))
            calls = ledger.summary(STEP).calls
            click.echo(f"| {number} | {strategy} | {shares} | {len(persons)} | {calls} | {seconds:.0f} |")


def _share(characters: list[dict[str, list[str]]], known: set[str]) -> str:
    found = sum(
        any(names.key(n) in known for n in [c["name"], *c["aliases"], *c["also_accept"]]) for c in characters
    )
    return f"{found}/{len(characters)}"


if __name__ == "__main__":
    naming()
