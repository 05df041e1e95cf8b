"""The vector brain: a vector for every passage, and the index over all of them."""

import dagster as dg
import pyarrow as pa

from gutengraph_assets.assets.columns import described
from gutengraph_assets.assets.library import chunks
from gutengraph_assets.assets.metadata import OWNERS, gutenberg_page
from gutengraph_assets.assets.step import BookStep, book_step, digest, library_step
from gutengraph_assets.code_version import code_version
from gutengraph_assets.embedding import embed_passages
from gutengraph_assets.partitions import LIBRARY_FRESHNESS, after_the_last_book, books, every_book
from gutengraph_assets.pools import pool
from gutengraph_assets.resources import GutenGraph
from gutengraph_core.embedding import Embedder, Matrix
from gutengraph_core.errors import NotBuilt
from gutengraph_core.library import BookRecord
from gutengraph_core.settings import Settings
from gutengraph_core.tables import CHUNKS
from gutengraph_core.vector_index import IndexReport
from gutengraph_core.vectors import ChunkTable

VECTORS = CHUNKS.append(pa.field("embedding", pa.list_(pa.float32())))


@dg.asset(
    deps=[chunks],
    partitions_def=books,
    group_name="vectors",
    kinds={"lancedb", "huggingface"},
    owners=OWNERS,
    code_version=code_version("gutengraph_core.embedding", "gutengraph_core.chunk_rows"),
    pool=pool("lancedb", uses_card=True),
    metadata={"dagster/column_schema": described("chunks", VECTORS)},
)
def embeddings_table(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> dg.MaterializeResult[None]:
    """The book's passages with their vectors in the one LanceDB table, its old rows replaced in one commit.
    The table knows which model embedded it and takes no other's vectors."""

    def depends(record: BookRecord) -> dict[str, object]:
        return {"embedder": str(gutengraph.models.embedder.identity)}

    with book_step(context, gutengraph, depends=depends) as step:
        embedder = gutengraph.models.embedder
        passages = step.table("chunks.parquet")
        if _stored(step, embedder) != passages.num_rows:
            step.fresh = False
        if not step.fresh:
            # Opened before anything is embedded: another model's table refuses at once.
            table = ChunkTable.open(step.library, embedder.identity, create=True)
            texts = passages["text"].to_pylist()
            known: dict[str, Matrix] = {}
            # By other code a repaired embedder may give other vectors. By the same, --force keeps them as it keeps replies:
            # a vector depends on the text and the model alone.
            if step.same_code:
                known = table.vectors_by_text(step.book, off_by=gutengraph.settings.norm_tolerance)
            vectors = embed_passages(texts, embedder, step.progress, known=known)
            step.withdraw()
            done = table.replace_book(step.book, passages, vectors)
            step.metadata |= {"inserted": done.inserted, "updated": done.updated, "deleted": done.deleted}
            step.metadata["embedded"] = sum(text not in known for text in texts)
        step.contents = {"chunks": step.upstream["chunks"], "embedder": str(embedder.identity)}
        step.fields["embedder"] = str(embedder.identity)
        step.text = f"{passages.num_rows:,} vectors of {embedder.identity.dimension}"
        step.metadata |= {
            "dagster/row_count": passages.num_rows,
            "gutenberg": gutenberg_page(step.book),
            "dimension": embedder.identity.dimension,
            "embedder": str(embedder.identity),
            "table": dg.MetadataValue.path(str(step.library.lancedb_dir)),
        }
    return step.result


def _stored(step: BookStep, embedder: Embedder) -> int:
    """Rows that the table has of the book."""
    try:
        return ChunkTable.open(step.library, embedder.identity).count(step.book)
    except NotBuilt:
        return 0


COVERAGE = "index_coverage"


@dg.asset(
    deps=[every_book(embeddings_table)],
    automation_condition=after_the_last_book(),
    freshness_policy=LIBRARY_FRESHNESS,
    group_name="vectors",
    kinds={"lancedb"},
    owners=OWNERS,
    code_version=code_version("gutengraph_core.vector_index", "gutengraph_core.index_size"),
    pool="lancedb",
    check_specs=[
        dg.AssetCheckSpec(
            COVERAGE,
            asset="ivf_pq_index",
            description="Every row is in the index and recall@10 is high enough; below the size where an "
            "index pays, the flat scan is exact by itself.",
        )
    ],
)
def ivf_pq_index(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks, Dagster knows it without argument only
    """The index over all passages, made after ingestion and not during: full text always, IVF-PQ from the
    size where it pays; below it a flat scan, which is exact."""
    settings = gutengraph.settings
    with library_step(context, gutengraph) as step:
        try:
            table = ChunkTable.open(gutengraph.library, None)
        except NotBuilt:
            report = None
        else:
            report = table.build_index(
                min_rows=settings.index_min_rows,
                embed_query=lambda text: gutengraph.models.embedder.embed_query(text),
            )
        step.text = report.note if report is not None else "No passages yet."
        step.version = digest(
            {"kind": report.kind, "books": table.books()} if report is not None else {"kind": "none"}
        )
        if report is not None:
            step.metadata = {
                "dagster/row_count": report.rows,
                "kind": report.kind,
                "indexed_rows": report.indexed_rows,
                "text_indexed_rows": report.text_indexed_rows,
                "partitions": report.partitions,
                "sub_vectors": report.sub_vectors,
                "probes": report.probes,
                "recall_at_10": report.recall_at_10,
                "bytes_per_vector": report.bytes_per_vector,
                "seconds": report.seconds,
            }
        step.checks = [_coverage(report, settings)]
    return step.result


def _coverage(report: IndexReport | None, settings: Settings) -> dg.AssetCheckResult:
    if report is None:
        return dg.AssetCheckResult(check_name=COVERAGE, passed=True, description="No passages yet.")
    covered = report.text_indexed_rows == report.rows and report.indexed_rows in (
        (0,) if report.kind == "flat" else (report.rows,)
    )
    return dg.AssetCheckResult(
        check_name=COVERAGE,
        passed=covered and report.recall_at_10 >= settings.min_recall,
        description=f"{report.note} {report.text_indexed_rows} of {report.rows} rows in the full-text index, "
        f"recall@10 {report.recall_at_10:.2f} ({settings.min_recall:.2f} wanted).",
        metadata={
            "rows": report.rows,
            "indexed_rows": report.indexed_rows,
            "text_indexed_rows": report.text_indexed_rows,
            "recall_at_10": report.recall_at_10,
            "recall_wanted": settings.min_recall,
        },
    )
