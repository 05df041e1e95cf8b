"""Story arcs: a book's passages in reading order, as a picture."""

import dagster as dg

from gutengraph_assets.arcs import draw_arcs
from gutengraph_assets.assets.metadata import OWNERS, gutenberg_page, picture
from gutengraph_assets.assets.step import book_step
from gutengraph_assets.assets.vectors import embeddings_table
from gutengraph_assets.code_version import code_version
from gutengraph_assets.partitions import books
from gutengraph_assets.pools import pool
from gutengraph_assets.resources import GutenGraph
from gutengraph_core.files import write_json
from gutengraph_core.vectors import ChunkTable


@dg.asset(
    deps=[embeddings_table],
    partitions_def=books,
    group_name="arcs",
    kinds={"matplotlib", "png"},
    owners=OWNERS,
    pool=pool(None, uses_card=True),
    code_version=code_version("gutengraph_assets.arcs", "gutengraph_assets.sentiment"),
)
def story_arcs(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> dg.MaterializeResult[None]:
    """The book's passages projected to two dimensions in reading order, coloured by chapter and by sentiment,
    once by a lexicon and once by the embedding model: a lexicon reads irony as joy. The numbers lie in
    `arcs.json`."""
    with book_step(context, gutengraph, depends=lambda record: {}, outputs=("arcs.png", "arcs.json")) as step:
        path = step.library.path(step.book, "arcs.png")
        if not step.fresh:
            embedder = gutengraph.models.embedder
            rows, vectors = ChunkTable.open(step.library, embedder.identity).rows(step.book)
            title = step.record.title or f"Book {step.book}"
            shown = draw_arcs(rows, vectors, path, title, embedder=embedder, chapters=step.record.chapters)
            write_json(step.library.path(step.book, "arcs.json"), shown, book=step.book)
        step.text = f"drawn, {path.stat().st_size // 1024} KB"
        step.metadata = {"arcs": picture(path), "gutenberg": gutenberg_page(step.book)}
    return step.result
