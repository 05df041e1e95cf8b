"""Merges made or undone by hand: `overrides/<id>.toml` in the data folder, kept by every rerun.

join = [["the old woman", "Mrs. Brown"]]
split = [["Mr. Brown", "John Brown"]]
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from gutengraph_core.errors import SettingsError

Pair = tuple[str, str]


@dataclass(frozen=True)
class Overrides:
    """Pairs of names as the book has them."""

    join: tuple[Pair, ...] = ()
    split: tuple[Pair, ...] = ()


def read_overrides(home: Path, book: int) -> Overrides:
    """What somebody decided for a book; nothing if there is no file. Raises SettingsError if it is malformed."""
    path = home / "overrides" / f"{book}.toml"
    if not path.exists():
        return Overrides()
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        unknown = sorted(set(document) - {"join", "split"})
        if unknown:
            raise ValueError(f"it has {', '.join(unknown)}, and may have only join and split")
        return Overrides(join=_pairs(document, "join"), split=_pairs(document, "split"))
    except ValueError as error:
        raise SettingsError(
            f"{path} cannot be used: {error}.",
            remedy='Write join = [["Name", "Other name"]] or split = [["Name", "Other name"]].',
            book=book,
        ) from None


def _pairs(document: dict[str, object], field: str) -> tuple[Pair, ...]:
    pairs = document.get(field, [])
    if not isinstance(pairs, list):
        raise ValueError(f"{field} is no list of pairs")
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise ValueError(f"{field} holds {pair!r}, which is no pair of names")
    return tuple((pair[0], pair[1]) for pair in pairs)
