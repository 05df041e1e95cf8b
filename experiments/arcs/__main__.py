"""The pictures of docs/arcs.md, and the passages on which lexicon and embedding disagree most.

    python -m experiments.arcs draw 84 1342 2701        # docs/arcs-<id>.png, smaller than the asset's
    python -m experiments.arcs disagree 1342            # the passages that the lexicon reads as gladder
    python -m experiments.arcs chapters 1342            # both means by chapter

Reads a built library (GUTENGRAPH_HOME).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
import numpy as np

from gutengraph_assets.arcs import draw_arcs, measure_arc
from gutengraph_core.embedding import open_embedder
from gutengraph_core.settings import load_settings
from gutengraph_core.vectors import ChunkTable

DOCS = Path(__file__).parents[2] / "docs"
WIDTH = 760
COLOURS = 256


@click.group()
def arcs() -> None:
    """Story arcs looked at."""


@arcs.command()
@click.argument("books", type=int, nargs=-1, required=True)
def draw(books: tuple[int, ...]) -> None:
    """Draw arcs as the asset does, scaled down and with fewer colours."""
    from PIL import Image

    settings = load_settings()
    embedder = open_embedder(settings)
    table = ChunkTable.open(settings.library, embedder.identity)
    for book in books:
        rows, vectors = table.rows(book)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "arcs.png"
            draw_arcs(rows, vectors, path, settings.library.record(book).title, embedder=embedder)
            with Image.open(path) as picture:
                size = (WIDTH, round(picture.height * WIDTH / picture.width))
                small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        small.quantize(COLOURS).save(DOCS / f"arcs-{book}.png", optimize=True)
        click.echo(DOCS / f"arcs-{book}.png")


@arcs.command()
@click.argument("book", type=int)
@click.option("--most", default=12, show_default=True)
def disagree(book: int, most: int) -> None:
    """List the passages by how much gladder the lexicon reads them, in standard deviations of the book."""
    settings = load_settings()
    embedder = open_embedder(settings)
    rows, vectors = ChunkTable.open(settings.library, embedder.identity).rows(book)
    arc = measure_arc(rows, vectors, embedder=embedder)
    lexicon, embedding = ((s - s.mean()) / s.std() for s in (arc.lexicon, arc.embedding))
    click.echo(
        f"{np.mean(arc.lexicon > 0):.2f} of the passages are glad to the lexicon, {np.mean(arc.embedding > 0):.2f} to "
        f"the embedding; correlation {np.corrcoef(lexicon, embedding)[0, 1]:.2f}"
    )
    for i in np.argsort(embedding - lexicon)[:most]:
        opening = " ".join(rows["text"][int(i)].as_py().split())[:90]
        click.echo(
            f"{rows['id'][int(i)]} chapter {arc.chapters[i]}: lexicon {arc.lexicon[i]:+.2f} ({lexicon[i]:+.1f} sd), "
            f"embedding {arc.embedding[i]:+.2f} ({embedding[i]:+.1f} sd): {opening} …"
        )


@arcs.command()
@click.argument("book", type=int)
def chapters(book: int) -> None:
    """Both means by chapter, in standard deviations from the book's own mean."""
    settings = load_settings()
    embedder = open_embedder(settings)
    rows, vectors = ChunkTable.open(settings.library, embedder.identity).rows(book)
    arc = measure_arc(rows, vectors, embedder=embedder)
    lexicon, embedding = ((s - s.mean()) / s.std() for s in (arc.lexicon, arc.embedding))
    numbers = np.array(arc.chapters)
    for chapter in dict.fromkeys(arc.chapters):
        here = numbers == chapter
        click.echo(f"{chapter}: lexicon {lexicon[here].mean():+.2f}, embedding {embedding[here].mean():+.2f}")


if __name__ == "__main__":
    arcs()
