"""The settings that are swept, and how one is picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import get_args

from gutengraph_core.llm.profile import Layout, Style
from gutengraph_core.settings import Settings

WANTED_CAPS = (2048, 4096)
"""The caps that others compared. Those that a context cannot hold beside the window are left out."""
MOST = 16_384
"""No cap at all means what the context leaves, but not more: a rambling reply has to end."""
ROOM = 256
"""Tokens kept free for a server's chat template."""


@dataclass(frozen=True)
class Way:
    """One way of asking. `cap`: tokens of the reply; None: whatever the context leaves, MOST at most."""

    layout: Layout
    prompt: Style
    cap: int | None

    def __str__(self) -> str:
        return f"{self.layout}, {self.prompt}, {'no cap' if self.cap is None else f'cap {self.cap}'}"


def default_way() -> Way:
    """What the pipeline does by itself."""
    field = Settings.model_fields
    return Way(field["list_layout"].default, field["list_prompt"].default, field["list_reply_tokens"].default)


def caps_for(context_tokens: int) -> tuple[int | None, ...]:
    """The pipeline's own cap, an eighth and a quarter of the context, those that others compared, and none."""
    own = default_way().cap or 0
    scaled = {own, *(min(context_tokens // part, WANTED_CAPS[-1]) for part in (8, 4)), *WANTED_CAPS}
    return (*sorted(cap for cap in scaled if cap <= context_tokens // 2), None)


def grid(caps: Sequence[int | None]) -> list[Way]:
    """Every combination."""
    return [Way(*way) for way in product(get_args(Layout), get_args(Style), caps)]


def one_at_a_time(caps: Sequence[int | None]) -> list[Way]:
    """The pipeline's own way, and those that differ from it in one factor."""
    own = default_way()
    return [own, *(way for way in grid(caps) if _differences(way, own) == 1)]


def _differences(one: Way, other: Way) -> int:
    return (one.layout != other.layout) + (one.prompt != other.prompt) + (one.cap != other.cap)


def doubled_cap(way: Way) -> Way | None:
    """The same way with twice the cap; None where there is none to double."""
    return None if way.cap is None else replace(way, cap=2 * way.cap)
