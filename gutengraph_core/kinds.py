"""The kinds of text that a library tells apart."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["fiction", "non-fiction", "drama", "verse", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)
