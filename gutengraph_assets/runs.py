"""Runs of the command line: through Dagster, in this process, recorded where the UI reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from gutengraph_assets.instance import process_tag
from gutengraph_assets.registry import add_partitions


@dataclass(frozen=True)
class Run:
    """What came of one run."""

    run_id: str
    success: bool
    error: str = ""
    """Why it failed, in the words of the step that did."""
    warnings: list[str] = field(default_factory=list)
    """Checks that did not pass and did not stop it: '<asset>/<check>: <what it says>'."""


def run_job(
    instance: dg.DagsterInstance,
    job: str,
    *,
    book: int | None = None,
    force: bool = False,
    verbose: bool = False,
    ops: dict[str, Any] | None = None,
) -> Run:
    """Execute a job of the definitions, `ops` as in a run's config.

    A failure of its steps is in the result, not raised. Raises KeyboardInterrupt.
    """
    from gutengraph_assets.definitions import defs

    run_config = {
        "loggers": {"console": {"config": {"log_level": "DEBUG" if verbose else "CRITICAL"}}},
        "resources": {"gutengraph": {"config": {"force": force}}},
        "ops": ops or {},
    }
    if book is not None:
        add_partitions([book], instance)
    result = defs.resolve_job_def(job).execute_in_process(
        run_config=run_config,
        instance=instance,
        partition_key=None if book is None else str(book),
        raise_on_error=False,
        tags={**process_tag(), "gutengraph/by": "command line"},
    )
    if _interrupted(result.all_events):
        # Dagster has turned Ctrl-C into the failure of a step; whoever pressed it meant everything.
        raise KeyboardInterrupt
    failed_checks = list(_failed_checks(result.all_events))
    return Run(
        run_id=result.run_id,
        success=result.success,
        error="" if result.success else _error(result.all_events, failed_checks),
        warnings=[check.text for check in failed_checks if not check.blocking],
    )


@dataclass(frozen=True)
class _Failed:
    text: str
    blocking: bool


def _failed_checks(events: Sequence[dg.DagsterEvent]) -> Iterator[_Failed]:
    for event in events:
        if event.event_type != dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            continue
        found = event.asset_check_evaluation_data
        if not found.passed:
            asset = found.asset_key.to_user_string()
            blocking = bool(found.blocking) and found.severity == dg.AssetCheckSeverity.ERROR
            yield _Failed(f"{asset}/{found.check_name}: {found.description or 'did not pass'}", blocking)


def _interrupted(events: Sequence[dg.DagsterEvent]) -> bool:
    return any(
        event.event_type == dg.DagsterEventType.STEP_FAILURE
        and (error := event.step_failure_data.error) is not None
        and error.cls_name == dg.DagsterExecutionInterruptedError.__name__
        for event in events
    )


def _error(events: Sequence[dg.DagsterEvent], checks: Sequence[_Failed]) -> str:
    """The first step's failure: what a step says of itself, else of the check that blocked, else the
    exception."""
    for check in checks:
        if check.blocking:
            return check.text
    for event in events:
        if event.event_type == dg.DagsterEventType.STEP_FAILURE:
            data = event.step_failure_data
            if data.user_failure_data is not None and data.user_failure_data.description:
                return data.user_failure_data.description
            if data.error is not None:
                return data.error.message.strip()
    return "The run failed; see it in Dagster's UI."
