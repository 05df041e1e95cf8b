"""Jobs: one book from its text to its graph, then what is made once for the whole library, S3, upkeep."""

from dataclasses import asdict
from typing import Any

import dagster as dg

from gutengraph_assets.partitions import books
from gutengraph_assets.resources import GutenGraph
from gutengraph_core.errors import GutenGraphError, NotBuilt
from gutengraph_core.vectors import ChunkTable

BOOK_ASSETS = (
    "raw_text",
    "chunks",
    "embeddings_table",
    "story_arcs",
    "window_names",
    "filtered_entities",
    "enriched_graph",
)
LIBRARY_ASSETS = ("ivf_pq_index", "merged_graph")

build_book = dg.define_asset_job(
    "build_book",
    selection=dg.AssetSelection.assets(*BOOK_ASSETS),
    partitions_def=books,
    description="One book, from its source to its own graph. A partition is a book.",
)
# Apart from the books' job: a job that held both would merge the library again for every book.
finish_library = dg.define_asset_job(
    "finish_library",
    selection=dg.AssetSelection.assets(*LIBRARY_ASSETS),
    description="Once, after the books: the vector index and the merged graph.",
)
sync_to_s3 = dg.define_asset_job(
    "sync_to_s3",
    selection=dg.AssetSelection.assets("s3_sync"),
    description="What has changed goes to the bucket of GUTENGRAPH_S3_URI.",
)
hourly_sync = dg.ScheduleDefinition(
    name="hourly_sync",
    job=sync_to_s3,
    cron_schedule="7 * * * *",
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Switch it on once GUTENGRAPH_S3_URI is set.",
)


@dg.op(pool="lancedb")
def tidy_table(context: dg.OpExecutionContext, gutengraph: GutenGraph) -> None:
    """Merge the table's small files, index new rows, delete versions that nobody can still be reading."""
    try:
        done = ChunkTable.open(gutengraph.library, None).maintain()
    except NotBuilt:
        context.log.info("No passages yet: nothing to tidy.")
        return
    except GutenGraphError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
    context.add_output_metadata({name: value for name, value in asdict(done).items() if value is not None})


@dg.job(description="Upkeep of the LanceDB table: small files, new rows in the indices, old versions.")
def maintain_table() -> None:
    tidy_table()


daily_maintenance = dg.ScheduleDefinition(
    name="daily_maintenance",
    job=maintain_table,
    cron_schedule="37 4 * * *",
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="For a library that grows daily. Harmless while books are built: writers wait some seconds.",
)
merge_after_the_last_book = dg.AutomationConditionSensorDefinition(
    "after_the_last_book",
    target=dg.AssetSelection.assets(*LIBRARY_ASSETS),
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Index and merged graph, once no book is on its way any more.",
)

jobs: list[Any] = [build_book, finish_library, sync_to_s3, maintain_table]
schedules = [hourly_sync, daily_maintenance]
sensors = [merge_after_the_last_book]
