"""Random joins of names, judged by hand.

    python -m experiments.aliases sample 84 120 1342 1661 2701 11 35 36 43 46 219 768 2641 74
    python -m experiments.aliases precision

`sample` draws joins from the merges of built books, gold names or not, and prints them with the rule and the sentence, as
lines for `joins.csv`. `precision` counts what `joins.csv` says of the joins that the built books still make; joins that
are gone count for nothing, those never judged are not in the sample.
"""

from __future__ import annotations

import csv
import random
import sys
from collections import defaultdict
from pathlib import Path

import click

from gutengraph_core.files import read_table
from gutengraph_core.settings import load_settings
from gutengraph_query.evaluate.score import share

JOINS = Path(__file__).with_name("joins.csv")
COLUMNS = ("book", "a", "b", "rule", "verdict", "quote")
_QUOTE = 50


def joins_of(book: int) -> list[dict[str, str]]:
    """Every join of a book, in a stable order."""
    path = load_settings().library.path(book, "graph/merges.parquet")
    rows = [
        {"book": str(book), **{column: row[column] or "" for column in ("a", "b", "rule", "quote")}}
        for row in read_table(path).to_pylist()
    ]
    return sorted(rows, key=lambda row: (row["a"], row["b"], row["rule"]))


@click.group()
def aliases() -> None:
    """Check joins of names by hand."""


@aliases.command()
@click.argument("books", nargs=-1, required=True, type=int)
@click.option("--size", default=60, show_default=True)
@click.option("--seed", default=7, show_default=True)
def sample(books: tuple[int, ...], size: int, seed: int) -> None:
    """Print random joins as CSV, the verdict left open."""
    rows = [row for book in sorted(books) for row in joins_of(book)]
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    for row in random.Random(seed).sample(rows, min(size, len(rows))):
        out.writerow({**row, "verdict": "", "quote": row["quote"][:_QUOTE]})


@aliases.command()
def precision() -> None:
    """Right of the judged joins, by rule and in all, with Wilson's 95 % interval."""
    with JOINS.open(encoding="utf-8", newline="") as file:
        judged = list(csv.DictReader(file))
    standing = {
        (row["book"], row["a"], row["b"])
        for book in {row["book"] for row in judged}
        if load_settings().library.path(int(book), "graph/merges.parquet").exists()
        for row in joins_of(int(book))
    }
    counts: dict[str, list[bool]] = defaultdict(list)
    for row in judged:
        if (row["book"], row["a"], row["b"]) in standing:
            counts[row["rule"]].append(row["verdict"] == "right")
    click.echo("| rule | joins | right | share |\n|---|---|---|---|")
    everything = [right for found in counts.values() for right in found]
    for rule, found in [*sorted(counts.items()), ("all", everything)]:
        value = share(sum(found), len(found))
        interval = value["interval"]
        shown = f"{value['value']:.2f} ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "-"
        click.echo(f"| {rule} | {len(found)} | {sum(found)} | {shown} |")
    click.echo(f"{len(judged) - len(everything)} judged joins are no longer made.", err=True)


if __name__ == "__main__":
    aliases()
