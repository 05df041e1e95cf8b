"""Run a study on the model you bring: `python -m experiments.lab run cliff`, or `make lab STUDY=cliff LLM=…`.

Replies are kept in the data folder, so that an interrupted study goes on where it was.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from experiments.lab import sample as pinned
from experiments.lab.results import EXPERIMENTS, load, markdown, rewrite_tables, save
from experiments.lab.study import Bench, all_studies, estimated_seconds
from gutengraph_core.errors import GutenGraphError
from gutengraph_core.llm import open_llm
from gutengraph_core.llm.profile import note
from gutengraph_core.settings import load_settings

_SHARED = Path("../shared")
gold_option = click.option(
    "--gold",
    type=click.Path(path_type=Path),
    default=_SHARED / "gold",
    show_default=True,
    help="Folder of the gold standards.",
)
mirror_option = click.option(
    "--mirror",
    type=click.Path(path_type=Path),
    default=_SHARED / "gutenberg",
    show_default=True,
    help="Folder of a Gutenberg mirror that has the gold novels.",
)


@click.group()
def lab() -> None:
    """Studies that say which window, strategy, prompt and cap serve a model."""


@lab.command(name="list")
@click.option("--passages", default=5, show_default=True, help="Passages of the sample to reckon with.")
def list_studies(passages: int) -> None:
    """The studies, what they ask, what they cost, on which models they were run."""
    for study in all_studies():
        minutes = estimated_seconds(study, passages) / 60
        click.echo(
            f"{study.name:10} {study.asks}\n{'':10} {passages} passages: {study.calls(passages)} model calls, "
            f"about {minutes:.0f} min with the embedded model on two cores"
        )
        for found in load(study.folder):
            click.echo(f"{'':10} {found.date} {found.model}: {found.finding}")


@lab.command()
@click.argument("study", type=click.Choice([study.name for study in all_studies()]))
@click.option("--llm", help="As GUTENGRAPH_LLM; the default is that setting.")
@click.option(
    "--passages", default=5, show_default=True, type=click.IntRange(1, 20), help="How much of the sample."
)
@gold_option
@mirror_option
def run(study: str, llm: str | None, passages: int, gold: Path, mirror: Path) -> None:
    """Run one study and rewrite its results, plot and table."""
    settings = load_settings()
    spec = llm or settings.llm
    (chosen,) = (one for one in all_studies() if one.name == study)
    minutes = estimated_seconds(chosen, passages) / 60
    click.echo(
        f"{study}: {chosen.calls(passages)} calls; about {minutes:.0f} min if nothing is cached.", err=True
    )
    model = open_llm(spec, settings, cache=chosen.cached)
    try:
        bench = Bench(
            llm=model,
            settings=settings,
            gold=gold,
            mirror=mirror,
            passages=passages,
            out=chosen.folder,
            command=f"python -m experiments.lab run {study} --llm {spec} --passages {passages}",
            say=lambda line: click.echo(line, err=True),
        )
        found = chosen.run(bench)
        if found.profile:
            path = note(
                settings, model.identity, found.profile, source=f"{study}, {found.date}, {found.sample}"
            )
            click.echo(f"The model's profile is in {path}.", err=True)
    finally:
        model.close()
    save(found, chosen.folder)
    rewrite_tables(EXPERIMENTS / "README.md", [one.folder for one in all_studies()])
    click.echo(markdown(found))


@lab.command()
def table() -> None:
    """Write the table of experiments/README.md anew from the results on disk."""
    rewrite_tables(EXPERIMENTS / "README.md", [study.folder for study in all_studies()])


@lab.command()
@gold_option
@mirror_option
def pin(gold: Path, mirror: Path) -> None:
    """Choose the sample anew. Figures of the old sample do not compare with those of the new one."""
    books = sorted(int(path.stem) for path in (gold / "novels").glob("*.json"))
    passages = [p for book in books for p in pinned.pin(pinned.load_novel(book, gold=gold, mirror=mirror))]
    pinned.save_sample(passages)
    click.echo(f"{len(passages)} passages of {len(books)} novels pinned.")


def main() -> None:
    """Run the lab; a failure that a user can meet is one line with its remedy."""
    try:
        lab(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except GutenGraphError as error:
        click.echo(str(error), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
