"""Jobs: one book from its text to its graph, then what is made once for the whole library, then S3."""

from __future__ import annotations

import dagster as dg

from gutengraph_assets.partitions import books

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

jobs = [build_book, finish_library, sync_to_s3]
schedules = [hourly_sync]
