"""Dagster's UI and the page, side by side, until Ctrl-C or until one of them ends. Called by `make dev`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PATIENCE_S = 15.0
"""Dagster's children need some seconds to end in good order."""


def together(commands: Sequence[Sequence[str]], *, patience_s: float = PATIENCE_S) -> int:
    """Run the commands at once; when one ends, or at Ctrl-C, interrupt the others and wait for them.

    Returns 0 after Ctrl-C, else the exit code of the command that ended.
    """
    running = [subprocess.Popen(command) for command in commands]
    try:
        while all(process.poll() is None for process in running):
            time.sleep(0.1)
        code = next(process.returncode for process in running if process.returncode is not None)
    except KeyboardInterrupt:  # a terminal's Ctrl-C has reached the commands too
        code = 0
    # a second Ctrl-C must not leave one of them behind
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    until = time.monotonic() + patience_s
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    for process in running:
        try:
            process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return code


def dagster_home() -> str:
    """Dagster's folder in the data folder that the settings name, made if need be. Raises DataFolderError."""
    from gutengraph_assets.instance import prepare
    from gutengraph_core.settings import load_settings

    return str(prepare(load_settings().library)[0])


if __name__ == "__main__":
    os.environ["DAGSTER_HOME"] = dagster_home()
    bin_dir = Path(sys.executable).parent
    sys.exit(
        together(
            [
                [str(bin_dir / "dagster"), "dev", "-h", "127.0.0.1", "-p", "3000"],
                [str(bin_dir / "gutengraph"), "serve", "--host", "127.0.0.1", "--port", "8000"],
            ]
        )
    )
