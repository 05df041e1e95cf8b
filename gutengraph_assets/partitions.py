"""A book is a partition: dynamic, its key the Gutenberg id."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import dagster as dg

LIBRARY_FRESHNESS = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=30), warn_window=timedelta(days=7)
)
"""Of what is made after the last book: a library that gets no book needs no new index, so this warns late. Whether
it is behind the books is decided by the check `up_to_date`."""
SYNC_FRESHNESS = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(hours=24), warn_window=timedelta(hours=3)
)
"""Of the copy in S3: the schedule runs hourly; three missed ones are worth a look."""


books = dg.DynamicPartitionsDefinition(name="books")


def every_book(asset: dg.AssetsDefinition) -> dg.AssetDep:
    """What an asset of the whole library depends on: `asset` of every book.

    Dagster does not enforce that each partition is there; the files on disk decide what goes in.
    """
    return dg.AssetDep(asset, partition_mapping=dg.AllPartitionMapping())


def after_the_last_book() -> dg.AutomationCondition[Any]:
    """Once something above has changed since the last time, and no book is on its way any more.

    `since_last_handled` keeps a change in mind while other books are being built: the last of them may fail and
    change nothing. What was in progress when the change came must not be forgotten.
    """
    changed = dg.AutomationCondition.any_deps_updated().since_last_handled()
    return (
        changed & ~dg.AutomationCondition.any_deps_in_progress() & ~dg.AutomationCondition.in_progress()
    ).with_label("after the last book")
