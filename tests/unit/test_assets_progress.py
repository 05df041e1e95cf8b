"""Progress: what a person reads on a terminal and in a log, and what goes to the run's log."""

from __future__ import annotations

import io
import logging

import pytest

from gutengraph_assets.progress import Console, Event, Meter, listening, span, tell


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_span(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_meter_tells_the_time_left_at_the_pace_of_this_run() -> None:
    clock = Clock()
    heard: list[Event] = []
    meter = Meter(84, "window_names", clock=clock)
    with listening(heard.append):
        meter(50, 100)  # fifty came from an earlier run and say nothing of the pace
        clock.now = 20.0
        meter(60, 100)
    assert heard[0].left_s is None
    assert heard[1].left_s == pytest.approx(80.0)
    assert (heard[1].done, heard[1].total, heard[1].book) == (60, 100, 84)


def test_meter_logs_about_twenty_lines_however_many_calls(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("test.meter")
    meter = Meter(84, "window_names", log)
    with caplog.at_level(logging.INFO, logger="test.meter"):
        for done in range(1, 1001):
            meter(done, 1000)
    assert len(caplog.messages) == 20
    assert caplog.messages[-1].startswith("window_names: 1000 of 1000")


def test_nobody_hears_after_the_block() -> None:
    heard: list[Event] = []
    with listening(heard.append):
        tell(Event(1, "chunks", "began"))
    tell(Event(1, "chunks", "ended"))
    assert [event.kind for event in heard] == ["began"]


def test_console_without_a_terminal_writes_whole_lines_and_not_too_many() -> None:
    clock, out = Clock(), io.StringIO()
    console = Console(out, clock)
    console(Event(84, "window_names", "began"))
    for second in range(1, 13):
        clock.now = float(second)
        console(Event(84, "window_names", "on", second, 12, 12.0 - second))
    console(Event(84, "window_names", "ended", text="210 names"))
    lines = out.getvalue().splitlines()
    assert lines == [
        "      84  window_names  5 of 12, about 7 s left",
        "      84  window_names  10 of 12, about 2 s left",
        "      84  window_names  210 names  (12 s)",
    ]
    assert "\r" not in out.getvalue()


def test_console_on_a_terminal_rewrites_one_line_a_step() -> None:
    clock, out = Clock(), Terminal()
    console = Console(out, clock)
    console(Event(None, "merged_graph", "began"))
    console(Event(None, "merged_graph", "on", 1, 2, None))
    console(Event(None, "merged_graph", "ended", text="2 books"))
    assert out.getvalue().count("\n") == 1
    last = out.getvalue().rsplit("\r", 1)[-1]
    assert last == "  merged_graph  2 books  (0 s)\n"
