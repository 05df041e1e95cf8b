"""What a naming strategy hands on: names with a kind, and the places where they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gutengraph_assets.extraction.candidates import Occurrence
from gutengraph_assets.extraction.evidence import Kind

How = Literal["cloze", "label", "list", "rule"]


@dataclass(frozen=True)
class Named:
    """One name, one kind, all its places."""

    name: str
    kind: Kind
    how: How
    occurrences: tuple[Occurrence, ...]
    subkind: str = ""
    margin: float | None = None
