"""Norms of the themes' vocabulary for an embedder, and the themes of the built books to be looked at.

    gutengraph build 11 35 36 43 46 74 84 120 219 …
    python -m experiments.themes norms
    python -m experiments.themes show

`norms` takes evenly spread passages of every English work of fiction that is built, and writes `notion_norms.json` into the
data folder (--package: into the package, as was done for the embedded model; the file names the books). `show` prints the
themes and atmospheres of the books whose vectors the library has.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click
import numpy as np

from gutengraph_assets.extraction.notions.find import find_notions
from gutengraph_assets.extraction.notions.norms import FILE, Norms, load_norms
from gutengraph_assets.extraction.notions.vocabulary import DIGEST, VOCABULARY
from gutengraph_core.embedding import open_embedder
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.files import write_text
from gutengraph_core.library import Library
from gutengraph_core.settings import load_settings
from gutengraph_core.vectors import ChunkTable


@click.group()
def themes() -> None:
    """Calibrate and look at themes."""


@themes.command()
@click.argument("homes", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--sample", default=60, show_default=True, help="Passages a book, evenly spread.")
@click.option("--package", is_flag=True, help="Write into the package instead of the data folder.")
def norms(homes: tuple[Path, ...], sample: int, package: bool) -> None:
    """Measure the usual cosine of a passage of fiction with each notion.

    HOMES are data folders whose books are built (default: the one in use); each English work of fiction counts once.
    """
    settings = load_settings()
    embedder = open_embedder(settings)
    taken: dict[int, Matrix] = {}
    for home in homes or (settings.home,):
        library = Library(home.absolute())
        table = ChunkTable.open(library, embedder.identity)
        for book in table.books():
            record = library.record(book)
            if book and book not in taken and record.kind == "fiction" and record.language == "en":
                _, vectors = table.rows(book)
                taken[book] = vectors[np.linspace(0, len(vectors) - 1, min(sample, len(vectors))).astype(int)]
    passages = np.vstack([taken[book] for book in sorted(taken)])
    usual: dict[str, dict[str, tuple[float, float]]] = {}
    for label, descriptions in VOCABULARY.items():
        cosines = passages @ embedder.embed_documents(list(descriptions.values())).T
        usual[label] = {
            name: (round(float(column.mean()), 4), round(float(column.std()), 4))
            for name, column in zip(descriptions, cosines.T, strict=True)
        }
    measured = Norms.model_validate(
        {
            "embedder": str(embedder.identity),
            "vocabulary": DIGEST,
            "books": sorted(taken),
            "passages": len(passages),
            "usual": usual,
        }
    )
    packaged = Path(str(files("gutengraph_assets.extraction.notions").joinpath(FILE)))
    target = packaged if package else settings.home / FILE
    write_text(target, measured.model_dump_json(indent=1) + "\n")
    click.echo(f"{target}: {len(passages)} passages of {len(taken)} books", err=True)


@themes.command()
@click.option("--quote", is_flag=True, help="Show how the best passage begins.")
def show(quote: bool) -> None:
    """Print the themes and atmospheres of the library's books."""
    settings = load_settings()
    embedder = open_embedder(settings)
    known = load_norms(embedder.identity, settings.home)
    if known is None:
        raise click.ClickException(
            f"{embedder.identity} has no norms yet: run `python -m experiments.themes norms`."
        )
    table = ChunkTable.open(settings.library, embedder.identity)
    for book in table.books():
        rows, vectors = table.rows(book)
        click.echo(f"{book}  {settings.library.record(book).title}")
        for notion in find_notions(vectors, embedder, known):
            click.echo(
                f"    {notion.label:<10} {notion.score:.2f}  {notion.name}, {len(notion.passages)} passages"
            )
            if quote:
                click.echo("        " + " ".join(rows["text"][notion.passages[0]].as_py().split())[:160])


if __name__ == "__main__":
    themes()
