"""What every check of a book does around its one question: it is named after it, and stops what must not go on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from gutengraph_assets.assets.graph import enriched_graph
from gutengraph_assets.partitions import books
from gutengraph_assets.resources import GutenGraph
from gutengraph_core.library import Library

ERROR = dg.AssetCheckSeverity.ERROR
WARN = dg.AssetCheckSeverity.WARN


@dataclass(frozen=True)
class Verdict:
    """Whether a check passed, in words, and the numbers that decided it."""

    passed: bool
    text: str
    numbers: dict[str, Any] = field(default_factory=dict)


Decide = Callable[[int, GutenGraph], Verdict]


def book_check(
    asset: dg.AssetsDefinition,
    *,
    blocking: bool = False,
    severity: dg.AssetCheckSeverity = ERROR,
) -> Callable[[Decide], dg.AssetChecksDefinition]:
    """A check of one book's `asset`, named and described by the function that decides it."""

    def wrap(decide: Decide) -> dg.AssetChecksDefinition:
        @dg.asset_check(
            asset=asset,
            name=decide.__name__,
            description=decide.__doc__,
            blocking=blocking,
            partitions_def=books,
        )
        def check(context: dg.AssetCheckExecutionContext, gutengraph: GutenGraph) -> dg.AssetCheckResult:
            book = int(context.partition_key)
            verdict = decide(book, gutengraph)
            if blocking and not verdict.passed:
                _stop(gutengraph.library, book, asset.key.path[-1], f"{decide.__name__}: {verdict.text}")
            return result_of(verdict, severity)

        return check

    return wrap


def _stop(library: Library, book: int, name: str, reason: str) -> None:
    """Mark the book as failed, and what did not pass as to be made again. Its graph goes into no merged graph."""
    fields: dict[str, Any] = {}
    done = library.record(book).steps.get(name)
    if done is not None:
        fields["steps"] = {name: done.model_copy(update={"fingerprint": ""}).model_dump()}
    if name == enriched_graph.key.path[-1]:
        fields["graph_sha256"] = {}
    library.update(book, status="failed", pid=None, reason=reason, **fields)


def result_of(verdict: Verdict, severity: dg.AssetCheckSeverity) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=verdict.passed, severity=severity, description=verdict.text, metadata=verdict.numbers
    )
