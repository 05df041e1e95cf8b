"""Precision of the events that rules find, judged by hand.

    gutengraph build 35 43 45 46 74 76 84 98 105 120 121 141 158 161 174 219 345 541 768 829 1342 1524 1661 1727 2641 2701 2891 16328 51635
    python -m experiments.events precision
    python -m experiments.events unchecked

`checked.csv` has a line for every event that somebody has judged: book, name as shown, right or wrong, why. An event that
happens in the book or that its people tell of as a fact is right; what is feared, a joke, or somebody else's is wrong. What is
not judged counts for nothing and is listed by `unchecked`, with its quote.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from experiments.relations.rerun import rerun
from gutengraph_assets.extraction.events.find import find_events
from gutengraph_core.library import Library
from gutengraph_core.settings import load_settings
from gutengraph_query.evaluate.score import share

CHECKED = Path(__file__).with_name("checked.csv")


def verdicts() -> dict[tuple[int, str], str]:
    """(book, event) -> right or wrong."""
    with CHECKED.open(encoding="utf-8", newline="") as file:
        return {(int(row["book"]), row["name"]): row["verdict"] for row in csv.DictReader(file)}


def found(library: Library) -> Iterator[tuple[int, str, str, str]]:
    """(book, name, kind, quote) of every event of every named book, found again from its names: seconds, no model."""
    settings = load_settings()
    for record in library.records():
        if not library.path(record.id, "mentions.parquet").exists():
            continue
        run = rerun(library, record.id, settings)
        events = find_events(run.text, run.people, run.others, book=record.id, kind=record.kind)
        quotes: dict[str, Any] = {end: e.quote for e in events.edges for end in (e.source, e.target)}
        for event in events.events:
            yield record.id, event.name, event.kind, quotes.get(event.id, "")


@click.group()
def events() -> None:
    """Check events by hand."""


@events.command()
def precision() -> None:
    """Right of those judged, by kind and in all, with Wilson's 95 % interval."""
    judged = verdicts()
    counts: dict[str, list[bool]] = {}
    unjudged = 0
    for book, name, kind, _ in found(load_settings().library):
        verdict = judged.get((book, name))
        if verdict is None:
            unjudged += 1
        else:
            counts.setdefault(kind, []).append(verdict == "right")
    click.echo("| kind | events | right | share |\n|---|---|---|---|")
    everything = [right for rights in counts.values() for right in rights]
    for kind, rights in [*sorted(counts.items()), ("all", everything)]:
        of = share(sum(rights), len(rights))
        interval = of["interval"]
        shown = f"{of['value']:.2f} ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "-"
        click.echo(f"| {kind} | {len(rights)} | {sum(rights)} | {shown} |")
    click.echo(f"{unjudged} events are not judged.", err=True)


@events.command()
def unchecked() -> None:
    """Lines to be judged and added to checked.csv, with the quote."""
    judged = verdicts()
    for book, name, kind, quote in found(load_settings().library):
        if (book, name) not in judged:
            click.echo(f"{book},{name},,{kind}: {quote[:150]}")


if __name__ == "__main__":
    events()
