"""`gutengraph s3`: sync, verify, restore. Nothing heavier than click is imported until a command runs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

_json = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else.")


@click.group()
def s3() -> None:
    """Keep a copy of the library in an S3 bucket (GUTENGRAPH_S3_URI)."""


@s3.command("sync")
@click.option("--dry-run", is_flag=True, help="Say what would be sent and removed, and do nothing.")
@click.option("--prune", is_flag=True, help="Remove from the copy what is gone here, however much it is.")
@click.option("-v", "--verbose", is_flag=True, help="Show Dagster's own log too.")
def s3_sync(dry_run: bool, prune: bool, verbose: bool) -> None:
    """Send what has changed to the bucket of GUTENGRAPH_S3_URI."""
    from gutengraph_assets.building import sync_library
    from gutengraph_assets.s3.sync import sync
    from gutengraph_core.s3.client import make_client, parse_uri
    from gutengraph_core.settings import load_settings

    settings = load_settings()
    bucket, prefix = parse_uri(settings.s3_uri)
    if not dry_run:
        sync_library(settings, prune=prune, verbose=verbose)
        return
    report = sync(settings.library, make_client(settings.s3_endpoint), bucket, prefix, dry_run=True)
    for key in report.plan.uploads:
        click.echo(f"send    {key}")
    for key in report.plan.deletes:
        click.echo(f"remove  {key}")
    click.echo(
        f"{len(report.plan.uploads)} to send ({report.plan.upload_bytes:,} bytes), "
        f"{len(report.plan.deletes)} to remove, {report.unchanged} as they are.",
        err=True,
    )
    if report.plan.lost:
        click.echo(f"It would remove {' and '.join(report.plan.lost)}: --prune allows it.", err=True)


@s3.command("verify")
@click.option("--deep", is_flag=True, help="Read every object and compare its sha256, not only its size.")
@_json
def s3_verify(deep: bool, as_json: bool) -> None:
    """Compare the bucket with its manifest; exit code 1 if something is missing or damaged."""
    from gutengraph_assets.s3.bucket import verify
    from gutengraph_core.s3.client import make_client, parse_uri
    from gutengraph_core.settings import load_settings

    settings = load_settings()
    bucket, prefix = parse_uri(settings.s3_uri)
    report = verify(make_client(settings.s3_endpoint), bucket, prefix, deep=deep)
    if as_json:
        click.echo(json.dumps({"ok": report.ok, "deep": deep, **asdict(report)}, indent=1))
    else:
        for key in report.missing:
            click.echo(f"missing  {key}")
        for key in report.damaged:
            click.echo(f"damaged  {key}")
        click.echo(
            f"{report.checked} objects compared by {'sha256' if deep else 'size'}: {len(report.missing)} missing, "
            f"{len(report.damaged)} damaged.",
            err=True,
        )
        if not report.ok:
            click.echo("Run `gutengraph s3 sync` where the library is: it sends them again.", err=True)
    if not report.ok:
        sys.exit(1)


@s3.command("restore")
@click.option("--dry-run", is_flag=True, help="Say what would be fetched, and do nothing.")
@_json
def s3_restore(dry_run: bool, as_json: bool) -> None:
    """Bring the library of GUTENGRAPH_S3_URI into an empty GUTENGRAPH_HOME, byte for byte."""
    from gutengraph_assets.progress import Console, Meter, listening
    from gutengraph_assets.s3.restore import restore
    from gutengraph_core.s3.client import make_client, parse_uri
    from gutengraph_core.settings import load_settings

    settings = load_settings()
    bucket, prefix = parse_uri(settings.s3_uri)
    client = make_client(settings.s3_endpoint)
    with listening(Console()):
        meter = Meter(None, "restore")
        report = restore(settings.library, client, bucket, prefix, dry_run=dry_run, progress=meter)
    if not dry_run:
        from gutengraph_assets.instance import open_instance
        from gutengraph_assets.registry import add_partitions

        with open_instance(settings.library) as instance:
            add_partitions(settings.library.ids(), instance)
    if as_json:
        click.echo(json.dumps(asdict(report), indent=1))
    else:
        done = "To fetch" if dry_run else "Restored"
        click.echo(
            f"{done}: {report.files} files ({report.bytes:,} bytes), {len(report.books)} books, "
            f"{report.table_rows:,} passages, graph version {report.graph_version}, into {settings.home}.",
            err=True,
        )
