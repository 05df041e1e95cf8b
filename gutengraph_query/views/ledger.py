"""What a book's ledger says, in words: what each step attempted, kept, cut, dropped and failed.

The counting rule is the ledger's own: of each item its last entry on the step's latest basis stands.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, Field

from gutengraph_core.library import Library

_FAILED = ("no_json", "other_shape")
_ITEMS = {"names": "names", "enrichment": "characters", "chapters": "parts of chapters", "relations": "pairs"}


class StepSummary(BaseModel):
    """Counts of one step."""

    step: str
    words: str = Field(examples=["312 windows, 4 cut short, 2 failed"])
    attempted: int
    asked: int
    failed: int
    truncated: int
    repaired: int
    empty: int
    proposed: int
    kept: int
    dropped: dict[str, int]
    set_aside: dict[str, int]
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float


def ledger(library: Library, book: int) -> list[StepSummary]:
    """Each step's counts, in the order in which the steps first ran; nothing where nothing ran."""
    entries: dict[str, list[dict[str, Any]]] = {}
    basis: dict[str, str] = {}
    seconds: dict[str, float] = {}
    for line in _lines(library, book):
        step = str(line.get("step", ""))
        basis[step] = str(line.get("basis", ""))
        entries.setdefault(step, [])
        if "item" in line:
            entries[step].append(line)
        else:
            seconds[step] = float(line.get("seconds", 0.0))
    return [_summary(step, rows, basis[step], seconds.get(step, 0.0)) for step, rows in entries.items()]


def _lines(library: Library, book: int) -> Iterator[dict[str, Any]]:
    try:
        data = library.path(book, "ledger.jsonl").read_bytes()
    except FileNotFoundError:
        return
    for raw in data.split(b"\n"):
        try:
            line = json.loads(raw) if raw.strip() else None
        except ValueError:  # torn by a kill: its item is done again, and counts then
            line = None
        if isinstance(line, dict):
            yield line


def _summary(step: str, rows: list[dict[str, Any]], basis: str, seconds: float) -> StepSummary:
    standing = list({r["item"]: r for r in rows if r.get("basis", "") == basis}.values())
    dropped: Counter[str] = Counter()
    set_aside: Counter[str] = Counter()
    for row in standing:
        dropped.update(row.get("dropped", {}))
        set_aside.update(row.get("set_aside", {}))

    def total(field: str) -> int:
        return sum(int(row.get(field, 0)) for row in standing)

    found = StepSummary(
        step=step,
        words="",
        attempted=len(standing),
        asked=sum(r.get("outcome", "valid") != "not_asked" for r in standing),
        failed=sum(r.get("outcome") in _FAILED for r in standing),
        truncated=sum(bool(r.get("truncated")) for r in standing),
        repaired=sum(bool(r.get("repaired")) for r in standing),
        empty=sum(bool(r.get("empty")) for r in standing),
        proposed=total("proposed"),
        kept=total("kept"),
        dropped=dict(dropped.most_common()),
        set_aside=dict(set_aside.most_common()),
        calls=total("calls"),
        tokens_in=total("tokens_in"),
        tokens_out=total("tokens_out"),
        seconds=round(seconds, 1),
    )
    return found.model_copy(update={"words": _in_words(found, standing)})


def _in_words(found: StepSummary, standing: list[dict[str, Any]]) -> str:
    windows = sum(bool(row.get("words")) for row in standing) * 2 > len(standing)
    read = found.step in ("enrichment", "chapters")
    items = "windows" if windows and not read else _ITEMS.get(found.step, "items")
    # '(survey)', '(beings)': entries about the whole text and no single item
    parts = [f"{sum(not str(row['item']).startswith('(') for row in standing):,} {items}"]
    if found.asked:
        parts.append(f"{found.asked:,} asked of the model")
    parts.append(f"{found.kept:,} kept of {found.proposed:,} proposed")
    if choices := sum(int(row.get("choices", 0)) for row in standing):
        fit = sum(int(row.get("choices_kept", 0)) for row in standing)
        parts.append(f"{fit:,} of {choices:,} choices fit")
    for count, word in (
        (found.truncated, "cut short"),
        (found.repaired, "repaired"),
        (found.empty, "empty"),
        (found.failed, "failed"),
    ):
        if count:
            parts.append(f"{count:,} {word}")
    if found.asked and not found.failed:
        parts.append("none failed")
    return ", ".join(parts)
