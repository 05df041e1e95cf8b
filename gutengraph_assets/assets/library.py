"""The library: a book's text as a reader would have it, and its passages."""

import dagster as dg

from gutengraph_assets.assets.columns import described
from gutengraph_assets.assets.metadata import (
    OWNERS,
    gutenberg_page,
    markdown_table,
    source_link,
)
from gutengraph_assets.assets.step import book_step, digest
from gutengraph_assets.code_version import code_version
from gutengraph_assets.disk import check_disk
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_assets.partitions import books
from gutengraph_assets.resources import GutenGraph
from gutengraph_assets.text.chunking import chunk_body, chunk_table
from gutengraph_core.errors import SettingsError
from gutengraph_core.library import BookRecord
from gutengraph_core.tables import CHUNKS


@dg.asset(
    partitions_def=books,
    group_name="library",
    kinds={"gutenberg", "text"},
    owners=OWNERS,
    code_version=code_version("gutengraph_assets.gutenberg"),
)
def raw_text(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> dg.MaterializeResult[None]:
    """The book as it was fetched (`raw.txt`), and its body (`body.txt`): header, footer, licence, producers'
    lines and adverts stripped, chapters found, the catalogue's entry beside it. All offsets count characters
    of the body."""
    with book_step(
        context, gutengraph, depends=lambda record: {}, outputs=("raw.txt", "body.txt"), always=True
    ) as step:
        # The first step of a book: here a run from the UI is refused before it writes anything large.
        check_disk([step.book], step.library, merged=False, force=gutengraph.force)
        record = acquire(step.book, gutengraph.settings)
        body = step.library.body(step.book)
        catalogue = record.model_dump(
            include={"title", "authors", "subjects", "kind", "language", "chapters"}
        )
        step.contents = {"catalogue": digest(catalogue)}
        headings = [c for c in record.chapters if c.index > 0]
        words = record.counts["words"]
        step.text = f"{record.title or 'untitled'}: {words:,} words, {len(headings)} chapters"
        step.metadata = {
            "title": record.title,
            "authors": ", ".join(record.authors),
            "language": record.language,
            "kind_of_text": record.kind,
            "gutenberg": gutenberg_page(step.book),
            "words": words,
            "characters": len(body),
            "chapters": markdown_table(
                ("#", "part", "title", "characters"),
                [(c.index, c.part, c.title, c.end - c.start) for c in record.chapters],
            ),
        }
        if record.source is not None:
            step.metadata |= {
                "source": source_link(record.source.url),
                "source_sha256": record.source.sha256,
                "encoding": record.source.encoding,
                "fetched_at": record.source.fetched_at,
            }
    return step.result


@dg.asset(
    deps=[raw_text],
    partitions_def=books,
    group_name="library",
    kinds={"parquet", "text"},
    owners=OWNERS,
    code_version=code_version("gutengraph_assets.text"),
    metadata={"dagster/column_schema": described("chunks", CHUNKS)},
)
def chunks(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> dg.MaterializeResult[None]:
    """The body cut into passages at the best place (paragraph, line, sentence, word), counted with the
    embedding model's own tokenizer and never over its limit. Overlapping by a tenth; each knows its chapter
    and its offsets."""
    settings = gutengraph.settings

    def depends(record: BookRecord) -> dict[str, object]:
        target = min(settings.chunk_tokens, gutengraph.models.tokenizer.limit)
        if not 0 <= settings.chunk_overlap < target / 2:
            raise SettingsError(
                f"Passages of {target} tokens cannot share {settings.chunk_overlap} with their neighbours.",
                remedy="Set GUTENGRAPH_CHUNK_OVERLAP to less than half of GUTENGRAPH_CHUNK_TOKENS.",
            )
        return {
            "embedding": settings.embedding,
            "limit": gutengraph.models.tokenizer.limit,
            "tokens": settings.chunk_tokens,
            "overlap": settings.chunk_overlap,
            "strategy": settings.chunk_strategy,
        }

    with book_step(context, gutengraph, depends=depends, outputs=("chunks.parquet",)) as step:
        if not step.fresh:
            body = step.library.body(step.book)
            found = chunk_body(
                body,
                step.record.chapters,
                gutengraph.models.tokenizer,
                target_tokens=settings.chunk_tokens,
                overlap=settings.chunk_overlap,
                strategy=settings.chunk_strategy,
                embed=gutengraph.models.embedder.embed_documents
                if settings.chunk_strategy == "semantic"
                else None,
            )
            step.write("chunks.parquet", chunk_table(step.record, body, found))
        table = step.table("chunks.parquet")
        tokens = table["token_count"].to_pylist()
        step.counts = {"chunks": table.num_rows}
        step.text = f"{table.num_rows:,} passages"
        step.metadata = {
            "dagster/row_count": table.num_rows,
            "gutenberg": gutenberg_page(step.book),
            "longest_tokens": max(tokens, default=0),
            "mean_tokens": round(sum(tokens) / len(tokens), 1) if tokens else 0,
            "limit_tokens": gutengraph.models.tokenizer.limit,
            "file": dg.MetadataValue.path(str(step.library.path(step.book, "chunks.parquet"))),
        }
    return step.result
