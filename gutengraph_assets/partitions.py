"""A book is a partition: dynamic, its key the Gutenberg id."""

from __future__ import annotations

import dagster as dg

books = dg.DynamicPartitionsDefinition(name="books")


def every_book(asset: dg.AssetsDefinition) -> dg.AssetDep:
    """What an asset of the whole library depends on: `asset` of every book.

    Dagster does not enforce that each partition is there; the files on disk decide what goes in.
    """
    return dg.AssetDep(asset, partition_mapping=dg.AllPartitionMapping())
