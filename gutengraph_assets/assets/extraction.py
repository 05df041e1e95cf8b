"""Extraction: names found in the text and typed by the model, then persons filtered by how often the text has
them."""

from typing import Any

import dagster as dg
import pyarrow as pa

from gutengraph_assets.assets.columns import described
from gutengraph_assets.assets.library import raw_text
from gutengraph_assets.assets.metadata import OWNERS, gutenberg_page, markdown_table
from gutengraph_assets.assets.step import BookStep, book_step, park
from gutengraph_assets.code_version import code_version
from gutengraph_assets.extraction.filter import filter_entities
from gutengraph_assets.extraction.ledger import Ledger, Summary
from gutengraph_assets.extraction.naming import STEP, choose_strategy, name_book
from gutengraph_assets.extraction.pilot import pilot_settings, run_pilot
from gutengraph_assets.partitions import books
from gutengraph_assets.pools import pool
from gutengraph_assets.resources import GutenGraph
from gutengraph_assets.status import language_reason, parked_reason
from gutengraph_assets.text.windows import make_windows
from gutengraph_core.files import sha256
from gutengraph_core.library import BookRecord
from gutengraph_core.tables import ENTITIES, MENTIONS, MERGES, WINDOWS

SHOWN = 40
"""Rows of a table in the UI; the file has them all."""
CODE = (
    "gutengraph_assets.extraction",
    "gutengraph_assets.gutenberg.language",
    "gutengraph_assets.text.layout",
    "gutengraph_assets.text.sentences",
    "gutengraph_assets.text.windows",
    "gutengraph_core.llm.ask",
    "gutengraph_core.llm.compiled",
    "gutengraph_core.llm.structured",
    "gutengraph_core.names",
)
"""What decides the names: the package itself, and what it reads the text, asks the model and reads the reply with."""


@dg.asset(
    deps=[raw_text],
    partitions_def=books,
    group_name="extraction",
    kinds={"llm", "parquet"},
    owners=OWNERS,
    code_version=code_version(*CODE),
    pool=pool("llm", uses_card=True),
    metadata={"dagster/column_schema": described("mentions", MENTIONS)},
)
def window_names(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> dg.MaterializeResult[None]:
    """The names of the book: code proposes the capitalised spans of paragraph-aligned windows, the model says
    what each names, code keeps only what stands in the text at the offset claimed. Every attempt is entered
    in the ledger. A book in another language, or
    one whose pilot yields next to nothing, is parked here: the asset is then empty."""

    def depends(record: BookRecord) -> dict[str, object]:
        if (reason := language_reason(record)) and not (record.forced or gutengraph.force):
            return {"parked": reason}
        # Asking for the identity comes before anything is written: a wrong model stops here.
        settings = gutengraph.settings_for_names
        return {
            "llm": str(gutengraph.models.llm.identity),
            "options": choose_strategy(gutengraph.models.llm, settings).options,
            "window_words": settings.window_words,
            "pilot": None if record.forced else pilot_settings(settings),
        }

    with book_step(
        context, gutengraph, depends=depends, outputs=("windows.parquet", "mentions.parquet")
    ) as step:
        ledger = Ledger(step.library.path(step.book, "ledger.jsonl"), book=step.book)
        if any(entry.to_retry for entry in ledger.standing(STEP)):
            step.fresh = False
        if gutengraph.force and parked_reason(step.record):
            step.record = step.library.update(step.book, forced=True)
        if not step.fresh:
            _pass_the_gate(step, gutengraph, ledger)
        if reason := parked_reason(step.record):
            park(step, reason, {"windows.parquet": WINDOWS, "mentions.parquet": MENTIONS})
        else:
            _name(step, gutengraph, ledger)
    return step.result


def _pass_the_gate(step: BookStep, gutengraph: GutenGraph, ledger: Ledger) -> None:
    """A pilot of a few windows decides whether the book is worth the rest."""
    if language_reason(step.record) or step.record.forced or gutengraph.force:
        return
    pilot = run_pilot(
        step.library.body(step.book),
        _windows(step, gutengraph),
        gutengraph.models.llm,
        gutengraph.settings_for_names,
        ledger,
    )
    step.record = step.library.update(
        step.book, gate=pilot.reason, counts={"pilot_windows": pilot.windows, "pilot_names": pilot.names}
    )


def _windows(step: BookStep, gutengraph: GutenGraph) -> pa.Table:
    body = step.library.body(step.book)
    rows = make_windows(body, step.record.chapters, words=gutengraph.settings_for_names.window_words)
    return pa.Table.from_pylist(rows, schema=WINDOWS)


def _name(step: BookStep, gutengraph: GutenGraph, ledger: Ledger) -> None:
    settings = gutengraph.settings_for_names
    if not step.fresh:
        body = step.library.body(step.book)
        windows = _windows(step, gutengraph)
        mentions = name_book(
            body, windows, gutengraph.models.llm, settings, ledger, progress=step.progress, book=step.book
        )
        step.write("windows.parquet", windows)
        step.write("mentions.parquet", mentions)
    step.fields["llm"] = str(gutengraph.models.llm.identity)
    _report_names(step, ledger)


def _report_names(step: BookStep, ledger: Ledger) -> None:
    windows = step.table("windows.parquet")
    mentions = step.table("mentions.parquet")
    found = mentions.group_by(["name", "kind"]).aggregate([("start", "count")]).to_pylist()
    found.sort(key=lambda row: (-row["start_count"], row["name"]))
    summary = ledger.summary(STEP)
    step.counts = {"windows": windows.num_rows, "mentions": mentions.num_rows, "names": len(found)}
    step.text = f"{len(found):,} names, {mentions.num_rows:,} mentions in {windows.num_rows:,} windows"
    step.metadata = {
        "dagster/row_count": mentions.num_rows,
        "gutenberg": gutenberg_page(step.book),
        "windows": windows.num_rows,
        "names": markdown_table(
            ("name", "kind", "mentions"),
            [(row["name"], row["kind"], row["start_count"]) for row in found[:SHOWN]],
        ),
        "model": step.fields["llm"],
        "ledger": ledger_table(summary),
        "ledger_file": dg.MetadataValue.path(str(ledger.path)),
        "attempted": summary.attempted,
        "asked": summary.asked,
        "failed": summary.failed,
        "truncated": summary.truncated,
        "repaired": summary.repaired,
        "proposed": summary.proposed,
        "kept": summary.kept,
        "dropped": markdown_table(("reason", "names"), sorted(summary.dropped.items())),
        "tokens_in": summary.tokens_in,
        "tokens_out": summary.tokens_out,
        "model_seconds": summary.model_seconds,
    }


def ledger_table(summary: Summary) -> dg.MarkdownMetadataValue:
    """What was attempted, and what became of it, each with its share of what it is a part of."""

    def row(what: str, count: int, whole: int, of: str) -> tuple[str, str, str]:
        return (what, f"{count:,}", f"{count / whole:.1%} of {of}" if whole else "")

    rows = [
        ("attempted", f"{summary.attempted:,}", ""),
        row("asked of the model", summary.asked, summary.attempted, "attempted"),
        row("valid replies", summary.answered, summary.asked, "asked"),
        row("failed: no JSON", summary.no_json, summary.asked, "asked"),
        row("failed: another shape", summary.other_shape, summary.asked, "asked"),
        row("failed for good", summary.final_failures, summary.asked, "asked"),
        row("cut by the cap", summary.truncated, summary.asked, "asked"),
        row("repaired", summary.repaired, summary.asked, "asked"),
        row("empty", summary.empty, summary.asked, "asked"),
        ("names proposed", f"{summary.proposed:,}", ""),
        row("that stand in the text", summary.grounded, summary.proposed, "proposed"),
        row("kept", summary.kept, summary.proposed, "proposed"),
        row("the prompt's own examples", summary.leaks, summary.proposed, "proposed"),
        *(row(f"dropped: {why}", n, summary.proposed, "proposed") for why, n in summary.dropped.items()),
        *(
            [row("choices that fit the enum", summary.choices_kept, summary.choices, "choices")]
            if summary.choices
            else []
        ),
        *(row(f"no fit: {why}", n, summary.choices, "choices") for why, n in summary.choices_unfit.items()),
        *((f"never proposed: {why}", f"{n:,}", "") for why, n in summary.set_aside.items()),
        *(
            (f"failures in windows of {words} words", f"{n:,}", "")
            for words, n in summary.failures_by_words.items()
        ),
    ]
    return markdown_table(("what", "count", "share"), rows)


@dg.asset(
    deps=[window_names],
    partitions_def=books,
    group_name="extraction",
    kinds={"parquet"},
    owners=OWNERS,
    code_version=code_version(*CODE),
    metadata={"dagster/column_schema": described("entities", ENTITIES)},
)
def filtered_entities(
    context: dg.AssetExecutionContext, gutengraph: GutenGraph
) -> dg.MaterializeResult[None]:
    """Who and what stays: the names of one person are merged first, then persons (not names) are counted in
    the windows whose text has any of their names. Dropped names keep their reason; merges keep their
    evidence."""

    def depends(record: BookRecord) -> dict[str, object]:
        override = gutengraph.library.home / "overrides" / f"{record.id}.toml"
        return {
            "parked": parked_reason(record),
            "kind": record.kind,
            "min_windows": gutengraph.settings.min_windows,
            "override": sha256(override) if override.exists() else "",
        }

    with book_step(
        context, gutengraph, depends=depends, outputs=("entities.parquet", "merges.parquet")
    ) as step:
        if reason := parked_reason(step.record):
            park(step, reason, {"entities.parquet": ENTITIES, "merges.parquet": MERGES})
        else:
            if not step.fresh:
                found = filter_entities(
                    record=step.record,
                    body=step.library.body(step.book),
                    windows=step.table("windows.parquet"),
                    mentions=step.table("mentions.parquet"),
                    settings=gutengraph.settings,
                )
                step.write("entities.parquet", found.entities)
                step.write("merges.parquet", found.merges)
                step.counts = found.counts
            _report_entities(step)
    return step.result


def _report_entities(step: BookStep) -> None:
    rows = step.table("entities.parquet").to_pylist()
    rows.sort(key=lambda row: (-row["windows"], row["name"]))
    persons = [row for row in rows if row["label"] == "Character"]
    cast = [row for row in persons if row["standing"] == "cast"]
    dropped = [row for row in rows if row["standing"] == "dropped"]
    step.text = f"{len(cast)} of {len(persons)} persons are cast, {len(dropped)} names dropped"
    step.metadata = {
        "dagster/row_count": len(rows),
        "gutenberg": gutenberg_page(step.book),
        "cast": _cast_table(cast),
        "dropped": markdown_table(
            ("name", "label", "windows", "reason"),
            [(row["name"], row["label"], row["windows"], row["reason"]) for row in dropped[:SHOWN]],
        ),
        "persons": len(persons),
        "cast_count": len(cast),
        "dropped_count": len(dropped),
    }


def _cast_table(cast: list[dict[str, Any]]) -> dg.MarkdownMetadataValue:
    return markdown_table(
        ("name", "also", "windows", "mentions"),
        [
            (
                row["name"],
                ", ".join(a for a in row["aliases"] if a != row["name"]),
                row["windows"],
                row["mentions"],
            )
            for row in cast[:SHOWN]
        ],
    )
