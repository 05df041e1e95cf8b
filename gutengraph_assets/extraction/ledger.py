"""The ledger: what every step attempted, kept, repaired, cut, dropped and failed, one JSON line at a time.

Append-only, one file a book (`ledger.jsonl`). A line is either an item's entry (a window, a name, a pair of
ends: what
the step works through) or the end of a run. The last entry of an item wins; a run's number is one more than
the ends that stand, so that a run that was killed is carried on under its own number. Rates are read from
here and
nowhere else.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from gutengraph_core.files import disk_errors

Outcome = Literal["valid", "no_json", "other_shape", "not_asked"]
_FAILED: frozenset[Outcome] = frozenset({"no_json", "other_shape"})


class Entry(BaseModel):
    """What became of one item in one attempt."""

    model_config = ConfigDict(extra="forbid")

    step: str
    item: str
    """What was worked on, in the step's own terms: '12' a window, '12/0' its first half, 'mary lennox' a
    name."""
    basis: str = ""
    """Model, prompt and text in one digest: entries of another basis count for nothing."""
    run: int = 0
    attempt: int = 1
    outcome: Outcome = "valid"
    """`not_asked`: decided by a rule, no model asked. The rest says how the reply parsed."""
    repaired: list[str] = []
    truncated: bool = False
    halved: bool = False
    """Given up as a whole: its halves ('12/0', '12/1') are items of their own."""
    empty: bool = False
    """Valid, and says that there is nothing."""
    final: bool = False
    """A failure after which nothing more is tried."""
    calls: int = 0
    proposed: int = 0
    """Items that the reply named (or that code proposed), before grounding."""
    grounded: int = 0
    kept: int = 0
    choices: int = 0
    """Answers of a fixed choice (an enum's word), a judgement that claims no words of the text: in neither `proposed`,
    `grounded` nor `kept`."""
    choices_kept: int = 0
    choices_unfit: dict[str, int] = {}
    """Reason -> count, of the choices not kept."""
    dropped: dict[str, int] = {}
    """Reason -> count, of what was proposed and not kept; what was not in the text stands under
    `not_in_text`."""
    set_aside: dict[str, int] = {}
    """Reason -> count, of what was never proposed at all (words that only open sentences)."""
    leaks: int = 0
    """Names of the prompt's own examples that came back; among `dropped` too."""
    duplicate_keys: int = 0
    cap: int = 0
    """Reply cap in tokens; 0 where there is none."""
    words: int = 0
    """Length of the window asked about."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    raw: str | None = None
    """The reply itself where it failed, was cut or was repaired."""

    @property
    def failed(self) -> bool:
        return self.outcome in _FAILED

    @property
    def to_retry(self) -> bool:
        """Failed or cut, and something else can still be tried."""
        return (self.failed or self.truncated) and not self.final


class RunEnd(BaseModel):
    """The end of a step's run."""

    model_config = ConfigDict(extra="forbid")

    step: str
    run: int
    basis: str
    seconds: float
    """By the wall, the model's own time included."""


class Summary(BaseModel):
    """A step's counts and rates, over the last entry of each of its items."""

    model_config = ConfigDict(extra="forbid")

    step: str
    attempted: int = 0
    asked: int = 0
    answered: int = 0
    valid: int = 0
    no_json: int = 0
    other_shape: int = 0
    failed: int = 0
    final_failures: int = 0
    repaired: int = 0
    truncated: int = 0
    empty: int = 0
    calls: int = 0
    proposed: int = 0
    grounded: int = 0
    kept: int = 0
    choices: int = 0
    choices_kept: int = 0
    choices_unfit: dict[str, int] = {}
    leaks: int = 0
    duplicate_keys: int = 0
    dropped: dict[str, int] = {}
    set_aside: dict[str, int] = {}
    repairs: dict[str, int] = {}
    tokens_in: int = 0
    tokens_out: int = 0
    model_seconds: float = 0.0
    """Waiting for replies, in the runs that really asked."""
    wall_seconds: float = 0.0
    """The last finished run."""
    runs: int = 0
    failures_by_words: dict[str, int] = {}
    """'0-249' -> failures among windows of that length: a systematic hole shows here."""
    parse_fail_rate: float = 0.0
    """failed / asked"""
    truncation_rate: float = 0.0
    """truncated / asked"""
    grounding_rate: float = 1.0
    """grounded / proposed"""
    drop_rate: float = 0.0
    """dropped / proposed"""
    leak_rate: float = 0.0
    """leaks / proposed"""


class StepRun:
    """One run of a step over its items."""

    def __init__(self, ledger: Ledger, step: str, basis: str) -> None:
        self.step = step
        self.basis = basis
        self._ledger = ledger
        ends = [end for end in ledger.ends(step) if end.basis == basis]
        self.number = len(ends) + 1
        self._last = {entry.item: entry for entry in ledger.entries(step) if entry.basis == basis}

    def last(self, item: str) -> Entry | None:
        """The standing entry of an item, or None if it was never finished on this basis."""
        return self._last.get(item)

    def failed_before(self, item: str) -> Entry | None:
        """The standing entry if it calls for another attempt, from a run that came to its end.

        What failed earlier in *this* run (killed and carried on) is not tried again yet: a killed run and an
        undisturbed
        one must come to the same.
        """
        entry = self._last.get(item)
        return entry if entry is not None and entry.to_retry and entry.run < self.number else None

    def record(self, entry: Entry) -> None:
        """Append an entry. One that says what already stands (a warm rerun's) is not written again."""
        entry = entry.model_copy(update={"step": self.step, "basis": self.basis, "run": self.number})
        standing = self._last.get(entry.item)
        if standing is not None and _same(standing, entry):
            return
        self._ledger.append(entry)
        self._last[entry.item] = entry


def _same(a: Entry, b: Entry) -> bool:
    """Equal but for the run and what asking again may change: seconds and token counts."""
    loose = {"run", "seconds", "tokens_in", "tokens_out"}
    return a.model_dump(exclude=loose) == b.model_dump(exclude=loose)


class Ledger:
    """A book's ledger file. Reading it survives a line torn by a kill; the torn item counts as not done."""

    def __init__(self, path: Path, *, book: int | None = None) -> None:
        self.path = path
        self.book = book

    # --- writing ---
    def append(self, line: Entry | RunEnd) -> None:
        """Add one line and flush it. Raises DataFolderError."""
        text = json.dumps(line.model_dump(exclude_defaults=True), ensure_ascii=False) + "\n"
        with disk_errors(self.path, book=self.book):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                # One write per line, so that two steps of one book never mix their lines.
                os.write(descriptor, (("\n" if torn else "") + text).encode("utf-8"))
            finally:
                os.close(descriptor)

    @contextmanager
    def run(self, step: str, *, basis: str) -> Iterator[StepRun]:
        """A run of `step`; its end is written when the block is left without an exception.

        `basis` is one digest of all that the results depend on (the model served, the prompt, options, the
        text): under
        another basis every item is new.
        """
        run = StepRun(self, step, basis)
        began = time.monotonic()
        yield run
        self.append(
            RunEnd(step=step, run=run.number, basis=basis, seconds=round(time.monotonic() - began, 3))
        )

    # --- reading ---
    def _lines(self) -> Iterator[Entry | RunEnd]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            try:
                document = json.loads(line)
                yield (
                    Entry.model_validate(document) if "item" in document else RunEnd.model_validate(document)
                )
            except (UnicodeDecodeError, ValueError, TypeError, ValidationError):
                continue  # torn by a kill: its item is done again

    def entries(self, step: str) -> list[Entry]:
        """All entries of a step in the order written."""
        return [line for line in self._lines() if isinstance(line, Entry) and line.step == step]

    def ends(self, step: str) -> list[RunEnd]:
        return [line for line in self._lines() if isinstance(line, RunEnd) and line.step == step]

    def steps(self) -> list[str]:
        """Steps that have an entry or an end, in order of appearance."""
        return list(dict.fromkeys(line.step for line in self._lines()))

    def standing(self, step: str) -> list[Entry]:
        """The last entry of each item on the step's latest basis, items in order of first appearance."""
        lines = [line for line in self._lines() if line.step == step]
        basis = lines[-1].basis if lines else ""
        entries = [line for line in lines if isinstance(line, Entry)]
        last: dict[str, Entry] = {}
        for entry in entries:
            if entry.basis == basis:
                last[entry.item] = entry
        return list(last.values())

    def problems(self, step: str) -> list[Entry]:
        """Standing entries that failed, were cut or were repaired, with their raw replies."""
        return [e for e in self.standing(step) if e.failed or e.truncated or e.repaired]

    def summary(self, step: str) -> Summary:
        """Counts and rates of a step. All zero for a step that never ran."""
        entries = self.standing(step)
        ends = self.ends(step)
        asked = [e for e in entries if e.outcome != "not_asked"]
        outcomes = Counter(e.outcome for e in entries)
        dropped: Counter[str] = Counter()
        set_aside: Counter[str] = Counter()
        unfit: Counter[str] = Counter()
        repairs: Counter[str] = Counter()
        by_words: Counter[str] = Counter()
        for entry in entries:
            dropped.update(entry.dropped)
            set_aside.update(entry.set_aside)
            unfit.update(entry.choices_unfit)
            repairs.update(entry.repaired)
            if entry.failed:
                low = entry.words // 250 * 250
                by_words[f"{low}-{low + 249}"] += 1
        failed = sum(e.failed for e in entries)
        truncated = sum(e.truncated for e in entries)
        proposed = sum(e.proposed for e in entries)
        grounded = sum(e.grounded for e in entries)
        leaks = sum(e.leaks for e in entries)
        return Summary(
            step=step,
            attempted=len(entries),
            asked=len(asked),
            answered=len(asked) - failed,
            valid=outcomes["valid"],
            no_json=outcomes["no_json"],
            other_shape=outcomes["other_shape"],
            failed=failed,
            final_failures=sum(e.failed and e.final for e in entries),
            repaired=sum(bool(e.repaired) for e in entries),
            truncated=truncated,
            empty=sum(e.empty for e in entries),
            calls=sum(e.calls for e in entries),
            proposed=proposed,
            grounded=grounded,
            kept=sum(e.kept for e in entries),
            choices=sum(e.choices for e in entries),
            choices_kept=sum(e.choices_kept for e in entries),
            choices_unfit=dict(sorted(unfit.items())),
            leaks=leaks,
            duplicate_keys=sum(e.duplicate_keys for e in entries),
            dropped=dict(sorted(dropped.items())),
            set_aside=dict(sorted(set_aside.items())),
            repairs=dict(sorted(repairs.items())),
            tokens_in=sum(e.tokens_in for e in entries),
            tokens_out=sum(e.tokens_out for e in entries),
            model_seconds=round(sum(e.seconds for e in entries), 3),
            wall_seconds=ends[-1].seconds if ends else 0.0,
            runs=len(ends),
            failures_by_words=dict(sorted(by_words.items(), key=lambda kv: int(kv[0].split("-")[0]))),
            parse_fail_rate=_rate(failed, len(asked)),
            truncation_rate=_rate(truncated, len(asked)),
            grounding_rate=_rate(grounded, proposed, empty=1.0),
            drop_rate=_rate(dropped.total(), proposed),
            leak_rate=_rate(leaks, proposed),
        )


def _rate(part: int, whole: int, *, empty: float = 0.0) -> float:
    return round(part / whole, 4) if whole else empty
