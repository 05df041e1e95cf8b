"""How often a model's replies could not be read, were cut, or named what the text does not have, held against what is
allowed: one verdict over one or more steps of a book's ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg

from gutengraph_assets.assets.metadata import markdown_table
from gutengraph_assets.check_frame import Verdict
from gutengraph_assets.extraction.ledger import Ledger, Summary

PROBLEMS_SHOWN = 10
"""Replies quoted in a check; the ledger has them all."""


def parse_fails(ledger: Ledger, steps: Sequence[str], *, most: float) -> Verdict:
    """Passes where of no step more than the share `most` of the replies could not be read."""
    found = [ledger.summary(step) for step in steps]
    failing = any(s.parse_fail_rate > most for s in found)
    text = _together(
        found,
        lambda s: (
            f"{s.failed} of {s.asked} replies could not be read ({s.parse_fail_rate:.1%}, {most:.0%} allowed)."
        ),
    )
    if failing:
        text += " An enforced schema or another model helps; a rerun asks again for the failed ones only."
    numbers = _numbers(
        found,
        lambda s: {
            "asked": s.asked,
            "failed": s.failed,
            "no_json": s.no_json,
            "other_shape": s.other_shape,
            "final": s.final_failures,
            "rate": s.parse_fail_rate,
        },
    )
    return Verdict(not failing, text, numbers | {"allowed": most} | _replies(ledger, steps))


def cut_replies(ledger: Ledger, steps: Sequence[str], *, most: float) -> Verdict:
    """Passes where of no step more than the share `most` of the replies were cut by the cap."""
    found = [ledger.summary(step) for step in steps]
    text = _together(
        found,
        lambda s: (
            f"{s.truncated} of {s.asked} replies were cut ({s.truncation_rate:.1%}, {most:.0%} allowed)."
        ),
    )
    numbers = _numbers(
        found, lambda s: {"asked": s.asked, "truncated": s.truncated, "rate": s.truncation_rate}
    )
    passed = all(s.truncation_rate <= most for s in found)
    return Verdict(passed, text, numbers | {"allowed": most} | _replies(ledger, steps))


def grounded(ledger: Ledger, steps: Sequence[str], *, what: str, least: float) -> Verdict:
    """Passes where of each step at least the share `least` of what was proposed (`what`: 'names') stands in the text."""
    found = [ledger.summary(step) for step in steps]
    text = _together(
        found,
        lambda s: (
            f"{s.grounded} of {s.proposed} {what} stand in the text ({s.grounding_rate:.0%}, {least:.0%} wanted); "
            f"{s.leaks} were the prompt's own examples."
        ),
    )
    numbers = _numbers(
        found,
        lambda s: {
            "proposed": s.proposed,
            "grounded": s.grounded,
            "kept": s.kept,
            "leaks": s.leaks,
            "rate": s.grounding_rate,
        },
    )
    passed = all(s.grounding_rate >= least for s in found)
    return Verdict(passed, text, numbers | {"wanted": least} | _replies(ledger, steps))


def _together(found: Sequence[Summary], words: Callable[[Summary], str]) -> str:
    if len(found) == 1:
        return words(found[0])
    return " ".join(f"{summary.step}: {words(summary)}" for summary in found)


def _numbers(found: Sequence[Summary], numbers: Callable[[Summary], dict[str, Any]]) -> dict[str, Any]:
    """Of one step under their own names, of several with the step's before them."""
    if len(found) == 1:
        return numbers(found[0])
    return {f"{s.step}_{name}": value for s in found for name, value in numbers(s).items()}


def _replies(ledger: Ledger, steps: Sequence[str]) -> dict[str, Any]:
    """The raw replies that went wrong, and the file that has them all."""
    problems = [entry for step in steps for entry in ledger.problems(step)]
    return {
        "replies": markdown_table(
            ("item", "outcome", "cut", "repairs", "reply"),
            [
                (e.item, e.outcome, "yes" if e.truncated else "", ", ".join(e.repaired), e.raw)
                for e in problems[:PROBLEMS_SHOWN]
            ],
        ),
        "ledger": dg.MetadataValue.path(str(ledger.path)),
    }
