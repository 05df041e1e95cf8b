"""Where the repository lies, and the number of its own book."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE_ID = 0
