"""How the making of one book went, in a table that is read in ten seconds: what there is, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.ledger import Summary
from gutengraph_assets.extraction.reading import chapters, portraits
from gutengraph_assets.progress import span
from gutengraph_assets.status import UPSTREAM, parked_reason
from gutengraph_core.library import BookRecord
from gutengraph_core.settings import Settings

CHAPTERLESS_WORDS = 40_000
"""A text of this length without one heading is a sign that the headings were not seen: the novella ends here."""
BEFORE = frozenset(UPSTREAM) - {"enriched_graph", "story_arcs"}
CROWD = 10
"""A cast of this size in which nobody is related to anybody is worth a look."""


@dataclass(frozen=True)
class Line:
    """One thing that was made."""

    what: str
    came_out: str
    look: str = ""
    """Why somebody should look at it; '' if it went well."""


def how_it_went(
    record: BookRecord, names: Summary, settings: Settings, *, readings: Sequence[Summary] = ()
) -> list[Line]:
    """The book's lines, from its record's counts and the ledger's `names` (the summary of the naming step) and
    `readings` (those of the steps in which an instruct model reads the book, if one does).

    Thresholds are those of the checks. The record's counts must hold those of every step up to the book's
    graph; its time is that of the steps before it.
    """
    counts = record.counts
    lines = [_text(record), Line("passages", f"{counts.get('chunks', 0):,}, as many vectors")]
    if reason := parked_reason(record):
        lines.append(Line("names, cast, relations", "none: the book is parked", look=reason))
    else:
        lines += [_names(counts, names, settings), _cast(record, settings), _relations(counts)]
        lines += [_reading(summary, settings) for summary in readings]
    seconds = {name: step.seconds for name, step in record.steps.items() if name in BEFORE}
    longest = max(seconds, key=lambda name: seconds[name], default="")
    if longest:
        most = f"{longest} {span(seconds[longest])}"
        lines.append(Line("time", f"{span(sum(seconds.values()))} up to here, most of it {most}"))
    return lines


def verdict(lines: list[Line]) -> str:
    """'Went well.', or what to look at."""
    to_look_at = [line.what for line in lines if line.look]
    return f"Look at: {'; '.join(to_look_at)}." if to_look_at else "Went well."


def _text(record: BookRecord) -> Line:
    words, chapters = record.counts.get("words", 0), record.counts.get("chapters", 0)
    missed = chapters == 0 and words >= CHAPTERLESS_WORDS
    return Line(
        "text",
        f"{words:,} words, {chapters} chapters, {record.kind}, language '{record.language or 'unknown'}'",
        look="a long text without one heading" if missed else "",
    )


def _names(counts: dict[str, int], names: Summary, settings: Settings) -> Line:
    return Line(
        "names",
        f"{counts.get('names', 0):,} in {counts.get('windows', 0):,} windows; "
        f"{names.asked:,} asked of the model, {names.failed} failed, {names.truncated} cut",
        look=_faults(names, "names", settings),
    )


def _reading(read: Summary, settings: Settings) -> Line:
    return Line(
        {portraits.STEP: "portraits", chapters.STEP: "chapters read"}[read.step],
        f"{read.asked:,} asked of the model, {read.failed} failed, {read.truncated} cut; {read.kept:,} answers kept",
        look=_faults(read, "quotes", settings),
    )


def _faults(found: Summary, what: str, settings: Settings) -> str:
    """What is beyond the thresholds; `what` was held against the text."""
    faults = [
        f"{share:.0%} of the replies {happened}, {most:.0%} allowed"
        for share, most, happened in (
            (found.parse_fail_rate, settings.max_parse_fail_rate, "could not be read"),
            (found.truncation_rate, settings.max_truncation_rate, "were cut"),
        )
        if share > most
    ]
    if found.grounding_rate < settings.min_grounding_rate:
        faults.append(f"only {found.grounding_rate:.0%} of the {what} stand in the text")
    return "; ".join(faults)


def _cast(record: BookRecord, settings: Settings) -> Line:
    counts = record.counts
    cast, persons, dropped = (counts.get(name, 0) for name in ("cast", "persons", "dropped"))
    faults = []
    if record.kind == "fiction" and cast < settings.min_cast:
        faults.append("a work of fiction without a cast")
    if persons >= settings.min_persons and dropped / persons > settings.max_drop_rate:
        faults.append(f"{dropped / persons:.0%} of the persons dropped")
    return Line(
        "cast",
        f"{cast} of {persons} persons, {counts.get('mentioned', 0)} only mentioned, {dropped} dropped",
        look="; ".join(faults),
    )


def _relations(counts: dict[str, int]) -> Line:
    relations, twins = counts.get("relations", 0), counts.get("orphan_twins", 0)
    faults = []
    if relations == 0 and counts.get("cast", 0) >= CROWD:
        faults.append("nobody is related to anybody")
    if twins:
        faults.append(f"{twins} nodes are written like a connected one")
    return Line(
        "relations",
        f"{relations}, of which {counts.get('stated', 0)} stated; {counts.get('events', 0)} events; "
        f"{counts.get('orphans', 0)} nodes stand alone",
        look="; ".join(faults),
    )
