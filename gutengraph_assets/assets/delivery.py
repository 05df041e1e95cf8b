"""Delivery: what has changed goes to S3."""

from typing import Any

import dagster as dg

from gutengraph_assets.assets.graph import enriched_graph, merged_graph
from gutengraph_assets.assets.metadata import OWNERS
from gutengraph_assets.assets.step import digest, library_step
from gutengraph_assets.assets.vectors import ivf_pq_index
from gutengraph_assets.code_version import code_version
from gutengraph_assets.partitions import SYNC_FRESHNESS, every_book
from gutengraph_assets.resources import GutenGraph
from gutengraph_assets.s3.bucket import VerifyReport, verify
from gutengraph_assets.s3.sync import sync
from gutengraph_core.errors import SettingsError
from gutengraph_core.s3.client import parse_uri, s3_errors

VERIFIED = "sync_verified"


class SyncConfig(dg.Config):
    """How to synchronise."""

    prune: bool = False
    """Delete from the bucket what is no longer in the library, however much it is."""


@dg.asset(
    deps=[merged_graph, ivf_pq_index, every_book(enriched_graph)],
    freshness_policy=SYNC_FRESHNESS,
    group_name="delivery",
    kinds={"s3"},
    owners=OWNERS,
    code_version=code_version("gutengraph_assets.s3", "gutengraph_assets.snapshot", "gutengraph_core.s3"),
    check_specs=[
        dg.AssetCheckSpec(
            VERIFIED,
            asset="s3_sync",
            description="Every object of the bucket's manifest is there, in the size that the manifest says.",
        )
    ],
)
def s3_sync(
    context: dg.AssetExecutionContext, config: SyncConfig, gutengraph: GutenGraph
) -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks, Dagster knows it without argument only
    """The stores in the bucket of GUTENGRAPH_S3_URI: one version of the table, the published graph with its
    pointer, the books' files and ledgers. Only what changed; the manifest with sizes and checksums goes
    last."""
    with library_step(context, gutengraph) as step:
        bucket, prefix = parse_uri(gutengraph.settings.s3_uri)
        client = _client(gutengraph.settings.s3_endpoint)
        report = sync(gutengraph.library, client, bucket, prefix, prune=config.prune, progress=step.progress)
        verified = verify(client, bucket, prefix)
        step.fresh = not report.plan.changes
        step.version = digest(
            {"books": report.books, "table": report.table_version, "graph": report.graph_version}
        )
        step.text = (
            f"{report.uploaded} objects ({report.uploaded_bytes:,} bytes) sent, {report.deleted} removed, "
            f"{report.unchanged} as they were"
        )
        step.metadata = {
            "bucket": f"s3://{bucket}/{prefix}",
            "uploaded": report.uploaded,
            "uploaded_bytes": report.uploaded_bytes,
            "deleted": report.deleted,
            "unchanged": report.unchanged,
            "books": report.books,
            "waiting": len(report.waiting),
            "passages": report.table_rows,
            "graph_version": report.graph_version,
        }
        step.checks = [_verified(verified)]
    return step.result


def _client(endpoint: str | None) -> Any:
    """A boto3 client as dagster-aws makes it. Raises SettingsError, S3Error."""
    # Half a second to import, which every build would pay if it stood above.
    from dagster_aws.s3 import S3Resource

    try:
        with s3_errors(endpoint or "S3"):
            return S3Resource(endpoint_url=endpoint).get_client()
    except ValueError as error:
        raise SettingsError(
            f"GUTENGRAPH_S3_ENDPOINT={endpoint} is no address ({error}).",
            remedy="Set it to http(s)://host:port, or unset it for Amazon's own.",
        ) from error


def _verified(report: VerifyReport) -> dg.AssetCheckResult:
    bad = [*report.missing, *report.damaged]
    return dg.AssetCheckResult(
        check_name=VERIFIED,
        passed=report.ok,
        description=f"{report.checked} objects looked at: {len(report.missing)} missing, "
        f"{len(report.damaged)} of another size."
        + (f" The first: {bad[0]}. Run the sync again." if bad else ""),
        metadata={"checked": report.checked, "missing": len(report.missing), "damaged": len(report.damaged)},
    )
