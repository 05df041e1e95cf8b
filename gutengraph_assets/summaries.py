"""A plain summary of every run that ends: a file a person can read in the morning, and a webhook if one is set."""

import json
from typing import Any

import dagster as dg
import httpx

from gutengraph_core.errors import NotBuilt, UnknownBook, WebhookError
from gutengraph_core.files import write_text
from gutengraph_core.library import Library
from gutengraph_core.settings import load_settings

FOLDER = "summaries"
WEBHOOK_TIMEOUT_S = 10.0
STATUSES = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


def summary(
    run: dg.DagsterRun, message: str, library: Library, *, started: float, ended: float
) -> dict[str, Any]:
    """What a run did, in values that JSON can hold. `message`: what Dagster says of its end."""
    found: dict[str, Any] = {
        "run": run.run_id,
        "job": run.job_name,
        "result": run.status.value.lower(),
        "seconds": round(ended - started, 1),
        "book": None,
    }
    book = run.tags.get("dagster/partition")
    if book is not None:
        found["book"] = int(book)
        try:
            record = library.record(int(book))
        except (UnknownBook, NotBuilt) as error:
            found |= {"status": "unknown", "reason": str(error)}
        else:
            found |= {
                "title": record.title,
                "status": record.status,
                "reason": record.reason,
                "counts": {k: record.counts.get(k, 0) for k in ("words", "chunks", "cast", "relations")},
            }
    if found["result"] != "success" and not found.get("reason"):
        found["reason"] = message
    return found


def as_text(found: dict[str, Any]) -> str:
    """The same in a few lines."""
    what = f"{found['job']}" + (f", book {found['book']}" if found["book"] is not None else "")
    if found.get("title"):
        what += f" ({found['title']})"
    lines = [f"{what}: {found['result']} after {found['seconds']:.0f} s. Run {found['run']}."]
    if found.get("status"):
        counts = ", ".join(f"{number:,} {name}" for name, number in found.get("counts", {}).items())
        lines.append(f"The book is {found['status']}" + (f": {counts}." if counts else "."))
    if found.get("reason"):
        lines.append(str(found["reason"]))
    return "\n".join(lines) + "\n"


def post(found: dict[str, Any], url: str) -> None:
    """Send the summary as JSON, its text under `text` as chat services want it. Raises WebhookError."""
    try:
        reply = httpx.post(
            url,
            content=json.dumps({"text": as_text(found), **found}, ensure_ascii=False),
            headers={"Content-Type": "application/json"},
            timeout=WEBHOOK_TIMEOUT_S,
        )
        reply.raise_for_status()
    except httpx.HTTPError as error:
        host = httpx.URL(url).host
        raise WebhookError(
            f"The summary of run {found['run']} could not be sent to {host} ({type(error).__name__}).",
            remedy="Correct or unset GUTENGRAPH_WEBHOOK; the summary lies in summaries/.",
        ) from error


def _sensor(status: dg.DagsterRunStatus) -> dg.SensorDefinition:
    @dg.run_status_sensor(
        name=f"summary_of_{status.value.lower()}",
        run_status=status,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Writes `summaries/<run>.txt` in the data folder, and calls GUTENGRAPH_WEBHOOK if it is set.",
    )
    def sensor(context: dg.RunStatusSensorContext) -> None:
        settings = load_settings()
        run = context.dagster_run
        stats = context.instance.get_run_stats(run.run_id)
        started = stats.start_time or stats.launch_time or stats.end_time or 0.0
        found = summary(
            run,
            context.dagster_event.message or "",
            settings.library,
            started=started,
            ended=stats.end_time or started,
        )
        write_text(settings.home / FOLDER / f"{run.run_id}.txt", as_text(found))
        # The file first: a webhook that fails makes the tick fail, and loses nothing.
        if settings.webhook:
            post(found, settings.webhook)

    return sensor


sensors = [_sensor(status) for status in STATUSES]
