"""What this process holds of the machine's memory."""

from __future__ import annotations

import ctypes
import sys


def give_back_memory() -> None:
    """Hand what the allocator keeps of freed memory back to the system, where it can be told to (glibc).

    Batches of many lengths leave it in pieces: a process that embeds forty books would end with twice what it holds
    (`benchmarks/embedding_memory.md`). Costs some 10 to 60 ms.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
