"""Kuzu and llama.cpp in one process: a build needs both."""

from __future__ import annotations

import subprocess
import sys


def test_llamacpp_can_be_loaded_after_kuzu() -> None:
    """In a process of its own: where it fails, it takes the whole process with it."""
    code = "import gutengraph_core.graph.engine, xllamacpp; print('both')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "both", done.stderr
