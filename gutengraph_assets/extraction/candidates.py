"""Names proposed by code: capitalised spans over the whole book, with what a sentence's start does to them undone."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Occurrence:
    """One place where a name stands: `body[start:end]`, possessive 's not included."""

    start: int
    end: int
    window: int
    chapter: int


@dataclass(frozen=True)
class Candidate:
    """A span that may be a name. Spellings with one `names.key` are one candidate."""

    name: str
    key: str
    occurrences: tuple[Occurrence, ...]

    @property
    def windows(self) -> int:
        """In how many windows it stands."""
        return len({o.window for o in self.occurrences})


def find_candidates(body: str, windows: pa.Table) -> list[Candidate]:
    """The book's candidates in order of first occurrence. `windows` is a WINDOWS table of `body`."""
    raise NotImplementedError
