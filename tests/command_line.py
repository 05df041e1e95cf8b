"""Running `gutengraph` inside the test's own process, as a user would see it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from gutengraph_core.cli import main


@dataclass(frozen=True)
class Seen:
    """What a user sees of a command."""

    code: int
    out: str
    err: str


def gutengraph(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *arguments: str | int
) -> Seen:
    """Run a command; its exit code, stdout and stderr. A bug's traceback is raised, not shown."""
    monkeypatch.setattr(sys, "argv", ["gutengraph", *map(str, arguments)])
    capfd.readouterr()
    code = 0
    try:
        main()
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else 1
    captured = capfd.readouterr()
    return Seen(code, captured.out, captured.err)
