"""Relations: recall against gold, samples for reading by hand, and the precision that the reading gives.

python -m experiments.relations recall ../shared/gold            # a built library's gold books
python -m experiments.relations recall ../shared/gold --missed
python -m experiments.relations edges 768 --type parent_of       # what is found, with its sentences
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import click

from experiments.relations.known import Facts, load_known
from experiments.relations.prepare import prepare as prepare_book
from experiments.relations.recall import KIN, RANK, group_of, judge
from experiments.relations.rerun import rerun
from gutengraph_core.llm import open_llm
from gutengraph_core.settings import load_settings
from gutengraph_query.evaluate.gold import load_gold
from gutengraph_query.evaluate.score import share

KIN_FILE = Path(__file__).parent / "kin.txt"


@click.group()
def relations() -> None:
    """Measure relations."""


@relations.command()
@click.argument("books", type=int, nargs=-1, required=True)
@click.option("--rules", is_flag=True, help="Type names without a model: seconds a book, and more mistakes.")
def prepare(books: tuple[int, ...], rules: bool) -> None:
    """Text and names of more books for the data folder, enough for `edges` and `sample`: about a minute each."""
    settings = load_settings()
    llm = None if rules else open_llm(settings.llm, settings)
    for book in books:
        prepare_book(settings.library, book, settings, llm)
        click.echo(f"{book} {settings.library.record(book).title}")


@relations.command()
@click.argument("gold", type=click.Path(exists=True, path_type=Path))
@click.option("--missed", is_flag=True, help="List what was missed, and how far it got.")
@click.option("--book", "only", type=int, multiple=True)
def recall(gold: Path, missed: bool, only: tuple[int, ...]) -> None:
    """Typed and pair recall of the gold relations, by group and by type."""
    settings = load_settings()
    typed, pair, of, ways = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for book in load_gold(gold):
        if only and book.gutenberg_id not in only:
            continue
        run = rerun(settings.library, book.gutenberg_id, settings, claims=missed)
        for judged in judge(book, run):
            for key in ("all", group_of(judged.gold.type), judged.gold.type, str(judged.book)):
                of[key] += 1
                typed[key] += judged.typed
                pair[key] += judged.pair
            ways.update(judged.how.split(",")[:1] if judged.typed else [])
            if missed and not judged.typed:
                click.echo(f"{judged.book} {judged.gold.a} {judged.gold.type} {judged.gold.b}: {judged.why}")
    click.echo("| relations | of | typed | pair |\n|---|---|---|---|")
    for key in sorted(of, key=lambda k: (k not in ("all", "kin", "rank", "other"), -of[k], k)):
        shares = [f"{share(n[key], of[key])['value']:.2f} ({n[key]})" for n in (typed, pair)]
        click.echo(f"| {key} | {of[key]} | {' | '.join(shares)} |")
    click.echo("\n" + ", ".join(f"{way} {n}" for way, n in ways.most_common()))


@relations.command()
@click.argument("books", type=int, nargs=-1, required=True)
@click.option("--type", "types", multiple=True)
@click.option("--family", "families", multiple=True)
@click.option("--least", default=0.0)
def edges(books: tuple[int, ...], types: tuple[str, ...], families: tuple[str, ...], least: float) -> None:
    """Every relation found, with the sentence that says it best."""
    settings = load_settings()
    for book in books:
        run = rerun(settings.library, book, settings)
        names = run.names
        count = Counter(relation.how.split(",")[0] for relation in run.relations)
        click.echo(f"# {book}: {len(run.relations)} relations; {dict(count)}; dropped {run.found.dropped}")
        for r in run.relations:
            if (types and r.type not in types) or r.confidence < least:
                continue
            if families and not any(f"pattern:{f}" in r.how.split(",") for f in families):
                continue
            click.echo(
                f"{names[r.source]} {r.type} {names[r.target]} [{r.confidence:.2f} {r.how}] c{r.chapter}: {r.quote[:300]}"
            )


@relations.command()
@click.argument("books", type=int, nargs=-1, required=True)
@click.option("--gold", type=click.Path(exists=True, path_type=Path))
@click.option("--show", is_flag=True, help="List the wrong, the unknown and the missed.")
@click.option("--least", default=0.0, help="Least confidence.")
def known(books: tuple[int, ...], gold: Path | None, show: bool, least: float) -> None:
    """Relations against the kinship known of whole novels (kin.txt and the gold): by family, right, wrong, unknown."""
    settings = load_settings()
    facts = load_known(KIN_FILE, load_gold(gold) if gold else ())
    families: dict[str, Counter[str]] = defaultdict(Counter)
    had = of = 0
    for book in books:
        run = rerun(settings.library, book, settings)
        names, here = run.names, Facts(facts, run)
        count = Counter[str]()
        for r in run.relations:
            if r.type not in KIN | RANK or r.confidence < least:
                continue
            verdict = here.verdict(r)
            count[verdict] += 1
            families[r.how.split(",")[0]][verdict] += 1
            if show and verdict != "right":
                said = f"[{r.confidence:.2f} {r.how}] {r.quote[:240]}"
                click.echo(f"{verdict} {book} {names[r.source]} {r.type} {names[r.target]} {said}")
        wanted = [f for f in here.wanted if f.type in KIN | RANK and here.ends(f.a) and here.ends(f.b)]
        missed = [f for f in wanted if not here.found(f)]
        had, of = had + len(wanted) - len(missed), of + len(wanted)
        if show:
            for f in missed:
                click.echo(f"missed {book} {f.a[0]} {f.type} {f.b[0]}")
        click.echo(f"{book}: {dict(count)}, recall {len(wanted) - len(missed)} of {len(wanted)}")
    total = sum(families.values(), Counter())
    for family, verdicts in sorted([*families.items(), ("all", total)], key=lambda f: -f[1].total()):
        judged = verdicts["right"] + verdicts["wrong"]
        value = f"{verdicts['right'] / judged:.2f}" if judged else "-"
        click.echo(f"{family}: {value} {dict(verdicts)}")
    click.echo(f"recall {had} of {of}")


if __name__ == "__main__":
    relations()
