"""Precision of the cast: gold plus a hand check of the rest.

    gutengraph build 84 120 1342 1661 2701 11 35 36 43 46 219 768 2641 74
    python -m experiments.cast precision --gold ../shared/gold
    python -m experiments.cast unchecked --gold ../shared/gold

`checked.csv` has a line for every cast entry that somebody has judged: book, name as shown, verdict (right, or wrong:
place, thing, people, title, duplicate, several, referred), reason. An entry that bears a name of the gold lists is right
without a line. What is neither is listed as unchecked and counts for nothing, so that a change of the rules shows at once
what is new.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from experiments.relations.rerun import rerun
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings, load_settings
from gutengraph_query.evaluate.gold import Matcher, character_matcher, load_gold
from gutengraph_query.evaluate.score import share

CHECKED = Path(__file__).with_name("checked.csv")
RIGHT = "right"


@dataclass
class Tally:
    """One book's cast by verdict."""

    gold: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    @property
    def row(self) -> str:
        hits, of = self.gold + self.right, self.gold + self.right + len(self.wrong)
        found = share(hits, of)
        interval = found["interval"]
        value = f"{found['value']:.2f} ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "-"
        return f"{of + len(self.unchecked)} | {self.gold} | {self.right} | {len(self.wrong)} | {len(self.unchecked)} | {value}"

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.gold + other.gold,
            self.right + other.right,
            self.wrong + other.wrong,
            self.unchecked + other.unchecked,
        )


def verdicts() -> dict[tuple[int, str], str]:
    """(book, name) -> verdict. Raises ClickException if a line is given twice."""
    found: dict[tuple[int, str], str] = {}
    with CHECKED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = int(row["book"]), row["name"]
            if key in found:
                raise click.ClickException(f"{CHECKED.name} judges {key} twice.")
            found[key] = row["verdict"]
    return found


def cast_of(library: Library, book: int, settings: Settings) -> list[dict[str, Any]]:
    """A book's cast by the rules that run now, from its stored windows and mentions: seconds, no model."""
    people = rerun(library, book, settings).people
    return [
        {"name": p.name, "aliases": p.aliases, "mentions": len(p.mentions)}
        for p in people
        if p.standing == "cast"
    ]


def tally(
    cast: list[dict[str, Any]], book: int, matcher: Matcher | None, judged: dict[tuple[int, str], str]
) -> Tally:
    """Count a book's cast."""
    found = Tally()
    for entry in cast:
        verdict = judged.get((book, entry["name"]))
        if matcher and matcher.of_names(entry["aliases"]):
            found.gold += 1
        elif verdict == RIGHT:
            found.right += 1
        elif verdict:
            found.wrong.append(f"{book} {entry['name']}: {verdict}")
        else:
            found.unchecked.append(
                f"{book},{entry['name']},,  # {' / '.join(entry['aliases'])}, {entry['mentions']} mentions"
            )
    return found


def _tallies(gold: Path | None) -> Iterator[tuple[int, str, bool, Tally]]:
    settings = load_settings()
    library = settings.library
    matchers = {g.gutenberg_id: character_matcher(g) for g in load_gold(gold)} if gold else {}
    judged = verdicts()
    known = {book for book, _ in judged} | set(matchers)
    for record in library.records():
        if record.id in known and library.path(record.id, "mentions.parquet").exists():
            matcher = matchers.get(record.id)
            counted = tally(cast_of(library, record.id, settings), record.id, matcher, judged)
            yield record.id, record.title, matcher is not None, counted


_gold = click.option("--gold", type=click.Path(exists=True, file_okay=False, path_type=Path))


@click.group()
def cast() -> None:
    """Measure the precision of the cast."""


@cast.command()
@_gold
@click.option("--wrong", is_flag=True, help="List the wrong ones too.")
def precision(gold: Path | None, wrong: bool) -> None:
    """Right of those judged, by book, with Wilson's 95 % interval."""
    click.echo(
        "| book | cast | in gold | right by hand | wrong | unchecked | precision |\n|---|---|---|---|---|---|---|"
    )
    groups: dict[bool, Tally] = {}
    for number, title, is_gold, counted in _tallies(gold):
        click.echo(f"| {number} {title.partition(';')[0]} | {counted.row} |")
        groups[is_gold] = groups.get(is_gold, Tally()) + counted
    for is_gold, counted in sorted(groups.items(), reverse=True):
        click.echo(f"| {'developer books' if is_gold else 'other books'} | {counted.row} |")
    if wrong:
        for counted in groups.values():
            click.echo("\n".join(counted.wrong), err=True)


@cast.command()
@_gold
def unchecked(gold: Path | None) -> None:
    """Lines to be judged and added to checked.csv."""
    for _, _, _, counted in _tallies(gold):
        for line in counted.unchecked:
            click.echo(line)


if __name__ == "__main__":
    cast()
