"""Relations: recall against gold, samples for reading by hand, and the precision that the reading gives.

python -m experiments.relations recall ../shared/gold            # a built library's gold books
python -m experiments.relations recall ../shared/gold --missed
python -m experiments.relations edges 768 --type parent_of       # what is found, with its sentences
python -m experiments.relations sample                           # drawn relations that nobody has read, with their passages
python -m experiments.relations precision                        # of the draw, as read in judged.jsonl
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import click

from experiments.relations.calibrate import Row, confidences, families, groups, load, precision, rows
from experiments.relations.known import Facts, load_known
from experiments.relations.prepare import prepare as prepare_book
from experiments.relations.recall import KIN, RANK, group_of, judge
from experiments.relations.rerun import rerun
from experiments.relations.sampling import WORKS, judged_again, key_of, samples, unread
from gutengraph_core.llm import open_llm
from gutengraph_core.settings import load_settings
from gutengraph_query.evaluate.gold import load_gold
from gutengraph_query.evaluate.score import share

HERE = Path(__file__).parent
KIN_FILE = HERE / "kin.txt"
JUDGED = HERE / "judged.jsonl"


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
@click.option("--family", "wanted", multiple=True)
@click.option("--least", default=0.0)
def edges(books: tuple[int, ...], types: tuple[str, ...], wanted: tuple[str, ...], least: float) -> None:
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
            if wanted and not any(way.partition(":")[2] in wanted for way in r.how.split(",")):
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
    by_family: dict[str, Counter[str]] = defaultdict(Counter)
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
            by_family[r.how.split(",")[0]][verdict] += 1
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
    total = sum(by_family.values(), Counter())
    for family, verdicts in sorted([*by_family.items(), ("all", total)], key=lambda f: -f[1].total()):
        judged = verdicts["right"] + verdicts["wrong"]
        value = f"{verdicts['right'] / judged:.2f}" if judged else "-"
        click.echo(f"{family}: {value} {dict(verdicts)}")
    click.echo(f"recall {had} of {of}")


@relations.command()
@click.argument("books", type=int, nargs=-1, required=True)
@click.option("--gold", required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--to", "path", required=True, type=click.Path(path_type=Path), help="JSONL to write.")
def judged(books: tuple[int, ...], gold: Path, path: Path) -> None:
    """Write down every relation of the books with its verdict (kin.txt and the gold)."""
    settings = load_settings()
    novels = load_gold(gold)
    facts = load_known(KIN_FILE, novels)
    golden = {novel.gutenberg_id for novel in novels}
    found: list[Row] = []
    for book in books:
        run = rerun(settings.library, book, settings)
        found += rows(run, Facts(facts, run), gold=book in golden)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8")
    unsure = sum(row["verdict"] == "unsure" for row in found)
    click.echo(f"{len(found)} relations of {len(books)} books, {unsure} of them unsure")


def _today(books: Sequence[int]) -> list[Row]:
    """What is found today in the books, with the verdicts of what was read; works of fiction without a gold standard if none is named."""
    settings = load_settings()
    found = [row for book in books or WORKS for row in unread(rerun(settings.library, book, settings))]
    return judged_again(found, load(JUDGED))


@relations.command()
@click.argument("books", type=int, nargs=-1)
@click.option("--context", default=300, help="Characters shown before and after the passage.")
def sample(books: tuple[int, ...], context: int) -> None:
    """The drawn relations that nobody has read: each as a row for judged.jsonl, under its passage."""
    library = load_settings().library
    drawn = {key_of(row): row for part in samples(_today(books)).values() for row in part}
    for _, row in sorted(drawn.items()):
        if row["reason"]:
            continue
        body = library.body(row["book"])
        start, end = row["start"], row["end"]
        around = (body[max(0, start - context) : start], body[start:end], body[end : end + context])
        click.echo("\n# " + " | ".join(" ".join(part.split()) for part in around))
        click.echo(json.dumps(row, ensure_ascii=False))


@relations.command(name="precision")
@click.argument("books", type=int, nargs=-1)
def sampled(books: tuple[int, ...]) -> None:
    """Precision of a fixed draw from the relations found today, and of all of them that were read, old verdicts among them."""
    today = _today(books)
    parts = {**samples(today), "all that were read": [row for row in today if row["reason"]]}
    click.echo(f"{len(today)} relations of {len({row['book'] for row in today})} works")
    click.echo(
        "| what | relations | works | not read | right | precision | 95 % |\n|---|---|---|---|---|---|---|"
    )
    for name, rows_ in parts.items():
        found, works = precision(rows_), len({row["book"] for row in rows_})
        low, high = found["interval"] or (0.0, 1.0)
        missing = sum(not row["reason"] for row in rows_)
        click.echo(
            f"| {name} | {len(rows_)} | {works} | {missing} | {found['hits']}/{found['of']} "
            f"| {found['value'] or 0.0:.2f} | {low:.2f} to {high:.2f} |"
        )
    here, books_ = {key_of(row) for row in today}, set(books or WORKS)
    gone = [row for row in load(JUDGED) if row["book"] in books_ and key_of(row) not in here]
    verdicts = Counter(row["verdict"] for row in gone)
    click.echo(f"\nread, and found no more: {verdicts['right']} right, {verdicts['wrong']} wrong")


@relations.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=JUDGED)
@click.option("--to", "target", type=click.Path(path_type=Path), help="JSON of the figures.")
def table(path: Path, target: Path | None) -> None:
    """Precision of every family and of what is shown as stated, from relations read by hand."""
    read = load(path)
    figures: dict[str, dict[str, object]] = {"groups": {}, "families": {}}
    sureness = confidences(read)
    click.echo("| what | read | right | precision | 95 % | confidence |\n|---|---|---|---|---|---|")
    for part, shares in (
        ("groups", groups(read)),
        ("families", {k: precision(v) for k, v in families(read).items()}),
    ):
        for name, found in shares.items():
            sure = sureness.get(name) if part == "families" else None
            figures[part][name] = {**found, "confidence": sure} if sure is not None else found
            if found["interval"] is None:
                continue
            low, high = found["interval"]
            click.echo(
                f"| {name} | {found['of']} | {found['hits']} | {found['value']:.2f} | {low:.2f} to {high:.2f} | {sure or ''} |"
            )
    click.echo("\n" + ", ".join(f'"{family}": {value}' for family, value in sureness.items()))
    if target is not None:
        target.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    relations()
