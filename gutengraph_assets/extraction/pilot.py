"""The pilot: a few windows spread over the book are extracted before the rest, to see whether it is worth a night.

A text that is no prose in English, or a model whose replies cannot be read, shows in five windows as well as in
five hundred. Nothing of the pilot goes into the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import BookText, basis_of, choose_strategy
from gutengraph_assets.gutenberg.language import guess
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings

STEP = "pilot"
WORTH = 4
"""A book of fewer than so many times the pilot's windows is extracted at once: the pilot would save nothing."""


@dataclass(frozen=True)
class Pilot:
    """What the pilot found."""

    windows: int
    """0: the book is too short for a pilot."""
    names: int
    """Persons, places and things kept."""
    asked: int
    failed: int
    """Replies that could not be read."""
    reason: str
    """Why the book is to be parked; '' if it is to be extracted."""


def pilot_settings(settings: Settings) -> dict[str, object]:
    """What the pilot's verdict depends on: with other thresholds a parked book gets another chance."""
    return settings.model_dump(
        include={"pilot_windows", "pilot_calls", "pilot_min_names", "pilot_max_fail_rate"}
    )


def spread(windows: pa.Table, count: int) -> pa.Table:
    """`count` rows of `windows`, the middle one of each of so many equal parts."""
    rows = windows.num_rows
    return windows.take([rows * (2 * part + 1) // (2 * count) for part in range(count)])


def run_pilot(body: str, windows: pa.Table, llm: LLM, settings: Settings, ledger: Ledger) -> Pilot:
    """Extract `settings.pilot_windows` windows of `body` and decide. Raises what the model raises.

    `windows` is a WINDOWS table. Attempts are entered in the ledger under the step `pilot`.
    """
    count = settings.pilot_windows
    if count == 0 or windows.num_rows < count * WORTH:
        return Pilot(0, 0, 0, 0, "")
    sample = spread(windows, count)
    text = "\n\n".join(
        body[start:end]
        for start, end in zip(sample["start"].to_pylist(), sample["end"].to_pylist(), strict=True)
    )
    language, share = guess(text)
    if language not in ("en", ""):
        return Pilot(
            count,
            0,
            0,
            0,
            f"Its pages are in '{language}' ({share:.0%} of the words that tell), whatever its header says; "
            "names and relations are found in English only.",
        )
    few = settings.model_copy(update={"naming_max_calls": settings.pilot_calls})
    strategy = choose_strategy(llm, few)
    with ledger.run(STEP, basis=basis_of(body, sample, llm, strategy)) as run:
        names = len(strategy.find(BookText(body, sample), run, lambda done, total: None))
    summary = ledger.summary(STEP)
    return Pilot(
        count, names, summary.asked, summary.failed, _verdict(count, names, summary.parse_fail_rate, settings)
    )


def _verdict(windows: int, names: int, fail_rate: float, settings: Settings) -> str:
    if fail_rate > settings.pilot_max_fail_rate:
        return (
            f"Of the model's replies to {windows} windows spread over it {fail_rate:.0%} could not be read "
            f"({settings.pilot_max_fail_rate:.0%} allowed): another model or GUTENGRAPH_NAMING helps."
        )
    if names < settings.pilot_min_names * windows:
        return (
            f"{windows} windows spread over it gave {names} names ({settings.pilot_min_names:g} a window "
            "wanted): it is no story, or the model cannot read it."
        )
    return ""
