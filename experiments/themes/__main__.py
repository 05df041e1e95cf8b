"""Norms of the themes' vocabulary for an embedder, and the themes of the built books to be looked at.

    GUTENGRAPH_MIRROR=../shared/gutenberg python -m experiments.themes norms 11 35 36 45 … --package
    python -m experiments.themes show

`norms` embeds evenly spread passages of the named books, as far as they are English fiction, and writes
`notion_norms.json` into the data folder (--package: into the package, as is done for the embedded model). `show` prints
the themes and atmospheres of the books whose vectors the library has.
"""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path

import click
import numpy as np

from gutengraph_assets.extraction.notions.find import find_notions
from gutengraph_assets.extraction.notions.norms import FILE, Norms, load_norms
from gutengraph_assets.extraction.notions.vocabulary import DIGEST, VOCABULARY
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_assets.text.chunking import chunk_body
from gutengraph_core.embedding import open_embedder
from gutengraph_core.errors import GutenGraphError
from gutengraph_core.files import write_text
from gutengraph_core.settings import load_settings
from gutengraph_core.vectors import ChunkTable


@click.group()
def themes() -> None:
    """Calibrate and look at themes."""


@themes.command()
@click.argument("ids", nargs=-1, required=True, type=int)
@click.option("--sample", default=50, show_default=True, help="Passages a book, evenly spread.")
@click.option("--package", is_flag=True, help="Write into the package instead of the data folder.")
def norms(ids: tuple[int, ...], sample: int, package: bool) -> None:
    """Measure the usual cosine of a passage of fiction with each notion."""
    settings = load_settings()
    embedder = open_embedder(settings)
    texts: list[str] = []
    books = 0
    with tempfile.TemporaryDirectory() as home:
        scratch = settings.model_copy(update={"home": Path(home)})
        for book in ids:
            try:
                record = acquire(book, scratch)
            except GutenGraphError as error:
                click.echo(f"{book}: {error}", err=True)
                continue
            if record.kind != "fiction" or record.language != "en":
                click.echo(f"{book}: {record.kind}, {record.language}: left out", err=True)
                continue
            body = scratch.library.body(book)
            chunks = chunk_body(
                body,
                record.chapters,
                embedder.tokenizer,
                target_tokens=settings.chunk_tokens,
                overlap=settings.chunk_overlap,
            )
            at = np.linspace(0, len(chunks) - 1, min(sample, len(chunks))).astype(int)
            texts += [body[chunks[i].start : chunks[i].end] for i in at]
            books += 1
    passages = embedder.embed_documents(texts)
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
            "books": books,
            "passages": len(texts),
            "usual": usual,
        }
    )
    target = (
        Path(str(files("gutengraph_assets.extraction.notions").joinpath(FILE)))
        if package
        else settings.home / FILE
    )
    write_text(target, measured.model_dump_json(indent=1) + "\n")
    click.echo(f"{target}: {len(texts)} passages of {books} books", err=True)


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
