"""Books to compile on, to choose by and to score on: split by book and never by window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_core.errors import SettingsError


@dataclass(frozen=True)
class Split:
    """Gutenberg numbers. A passage of a book that was trained on tells too much of the book's others."""

    train: tuple[int, ...]
    validate: tuple[int, ...]
    held_out: tuple[int, ...]


def split(books: Sequence[int]) -> Split:
    """Two fifths of the books, by number from the back, held out; one to choose by; the others to compile on.

    Raises SettingsError for fewer than three.
    """
    ordered = sorted(books)
    if len(ordered) < 3:
        raise SettingsError(
            f"Compiling needs three gold novels at least, to train on, to choose by and to score on; there are {len(ordered)}.",
            remedy="Name a folder with more of them: --gold FOLDER; with PASSAGES of 3 or more, so that each has one.",
        )
    held = max(1, 2 * len(ordered) // 5)
    return Split(tuple(ordered[: -held - 1]), (ordered[-held - 1],), tuple(ordered[-held:]))
