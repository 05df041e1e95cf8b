"""The ledger: append-only, survives a kill, and is where every rate comes from."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from gutengraph_assets.extraction.ledger import Entry, Ledger
from gutengraph_core.errors import DataFolderError

STEP = "names"


def entry(item: str, **fields: object) -> Entry:
    return Entry(step=STEP, item=item, **fields)  # type: ignore[arg-type]


def killed(ledger: Ledger, basis: str, done: Entry) -> None:
    """A run that gets one item done and dies."""
    with suppress(KeyboardInterrupt), ledger.run(STEP, basis=basis) as run:
        run.record(done)
        raise KeyboardInterrupt


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl", book=5)


def test_a_step_that_never_ran_is_all_zero(ledger: Ledger) -> None:
    summary = ledger.summary(STEP)
    assert (summary.attempted, summary.asked, summary.parse_fail_rate, summary.grounding_rate) == (
        0,
        0,
        0.0,
        1.0,
    )
    assert ledger.steps() == []
    assert not ledger.path.exists()


def test_rates_come_from_the_last_entry_of_each_item(ledger: Ledger) -> None:
    with ledger.run(STEP, basis="a") as run:
        run.record(
            entry(
                "1",
                proposed=4,
                grounded=3,
                kept=2,
                dropped={"not in the text": 1, "leak": 1},
                leaks=1,
                calls=1,
            )
        )
        run.record(entry("2", outcome="no_json", raw="{", calls=1, words=480))
        run.record(entry("3", outcome="other_shape", raw="[]", calls=1, words=120))
        run.record(
            entry(
                "4",
                truncated=True,
                repaired=["cut list"],
                raw="{...",
                proposed=4,
                grounded=4,
                kept=4,
                calls=1,
            )
        )
        run.record(entry("5", empty=True, calls=1, tokens_in=10, tokens_out=2, seconds=0.5))
        run.record(entry("6", outcome="not_asked", proposed=2, grounded=2, kept=2))
        run.record(entry("2", outcome="no_json", raw="{{", calls=1, words=480, attempt=2))
    summary = ledger.summary(STEP)
    assert summary.attempted == 6
    assert summary.asked == 5
    assert summary.answered == 3
    assert (summary.no_json, summary.other_shape, summary.failed) == (1, 1, 2)
    assert summary.parse_fail_rate == pytest.approx(2 / 5)
    assert summary.truncation_rate == pytest.approx(1 / 5)
    assert summary.grounding_rate == pytest.approx(9 / 10)
    assert summary.leak_rate == pytest.approx(1 / 10)
    assert summary.drop_rate == pytest.approx(2 / 10)
    assert summary.kept == 8
    assert summary.empty == 1
    assert summary.repairs == {"cut list": 1}
    assert (summary.tokens_in, summary.tokens_out, summary.model_seconds) == (10, 2, 0.5)
    assert summary.failures_by_words == {"0-249": 1, "250-499": 1}
    assert [e.item for e in ledger.problems(STEP)] == ["2", "3", "4"]
    assert [e.raw for e in ledger.problems(STEP)] == ["{{", "[]", "{..."]


def test_steps_do_not_mix(ledger: Ledger) -> None:
    with ledger.run(STEP, basis="a") as run:
        run.record(entry("1", kept=1))
    with ledger.run("relations", basis="a") as run:
        run.record(Entry(step="", item="1", kept=5))
    assert ledger.summary(STEP).kept == 1
    assert ledger.summary("relations").kept == 5
    assert ledger.steps() == [STEP, "relations"]


def test_another_basis_starts_anew(ledger: Ledger) -> None:
    with ledger.run(STEP, basis="a") as run:
        run.record(entry("1", outcome="no_json", raw="x"))
    with ledger.run(STEP, basis="b") as run:
        assert run.last("1") is None
        run.record(entry("2", kept=3))
    summary = ledger.summary(STEP)
    assert (summary.attempted, summary.failed, summary.kept) == (1, 0, 3)


def test_the_latest_basis_stands_even_while_its_first_run_is_open(ledger: Ledger) -> None:
    with ledger.run(STEP, basis="a") as run:
        run.record(entry("1", kept=1))
    killed(ledger, "b", entry("1", kept=7))
    assert ledger.summary(STEP).kept == 7


def test_a_return_to_an_old_basis_finds_its_entries(ledger: Ledger) -> None:
    for basis, kept in (("a", 1), ("b", 2)):
        with ledger.run(STEP, basis=basis) as run:
            run.record(entry("1", kept=kept))
    with ledger.run(STEP, basis="a") as run:
        run.record(entry("1", kept=1))
    assert ledger.summary(STEP).kept == 1


def test_a_rerun_that_finds_the_same_writes_only_its_end(ledger: Ledger) -> None:
    for seconds in (3.0, 0.0):
        with ledger.run(STEP, basis="a") as run:
            run.record(entry("1", kept=1, calls=1, seconds=seconds))
    assert len(ledger.entries(STEP)) == 1
    summary = ledger.summary(STEP)
    assert summary.runs == 2
    assert summary.model_seconds == 3.0, "the seconds of the run that really asked"


def test_failures_are_retried_by_the_next_run_and_not_by_the_one_that_is_carried_on(ledger: Ledger) -> None:
    killed(ledger, "a", entry("1", outcome="no_json", raw="x"))
    with ledger.run(STEP, basis="a") as run:
        assert run.last("1") is not None
        assert run.failed_before("1") is None
        run.record(entry("2", kept=1))
    with ledger.run(STEP, basis="a") as run:
        assert run.failed_before("1") is not None
        assert run.failed_before("2") is None
        run.record(entry("1", outcome="no_json", raw="x", attempt=2, final=True))
    with ledger.run(STEP, basis="a") as run:
        assert run.failed_before("1") is None
    assert ledger.summary(STEP).final_failures == 1


@pytest.mark.parametrize(
    "torn", [b'{"step": "names", "item": "2", "ke', b'{"step": "names", "item": "\xc3', b"7", b"[1]"]
)
def test_a_line_torn_by_a_kill_is_survived(ledger: Ledger, torn: bytes) -> None:
    with ledger.run(STEP, basis="a") as run:
        run.record(entry("1", kept=1))
    with open(ledger.path, "ab") as file:
        file.write(torn)
    assert ledger.summary(STEP).attempted == 1
    with ledger.run(STEP, basis="a") as run:
        assert run.last("2") is None
        run.record(entry("2", kept=2))
    assert ledger.summary(STEP).kept == 3
    assert ledger.path.read_bytes().count(b"\n") == 5, "the torn line is closed, not written into"


def test_a_ledger_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        (tmp_path / "books").write_text("a file where a folder should be")
        ledger = Ledger(tmp_path / "books" / "ledger.jsonl", book=5)
    else:
        (tmp_path / "books").mkdir(mode=0o500)
        ledger = Ledger(tmp_path / "books" / "ledger.jsonl", book=5)
    with pytest.raises(DataFolderError, match="Book 5"):
        ledger.append(entry("1"))
