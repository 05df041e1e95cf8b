"""Memory that is free goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

FREED_BUT_HELD = """
import psutil
from gutengraph_core.memory import give_back_memory

kept = [bytes(60_000) for _ in range(3_000)]
del kept[:-1]  # the last one lies above them all
before = psutil.Process().memory_info().rss
give_back_memory()
print(before - psutil.Process().memory_info().rss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc can be told")
def test_freed_memory_below_a_block_in_use_is_given_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FREED_BUT_HELD], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) > 100_000_000
