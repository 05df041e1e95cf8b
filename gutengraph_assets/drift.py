"""Whether a book's result has moved away from that of its last good run, in the few numbers that would show it."""

from __future__ import annotations

from gutengraph_core.files import read_table
from gutengraph_core.library import Library

UNTYPED = "related_to"
"""The type of a relation where the text says no more."""
SMALL = 10
"""Changes of fewer than so many names or relations are no drift, however large their share."""


def measured(library: Library, book: int) -> dict[str, float]:
    """Persons, places and things kept, relations, and the share of them without a type, from the files."""
    nodes = read_table(library.path(book, "graph/nodes.parquet")).num_rows
    types = read_table(library.path(book, "graph/edges.parquet"))["type"].to_pylist()
    untyped = types.count(UNTYPED) / len(types) if types else 0.0
    return {"names": nodes, "relations": len(types), "untyped_share": round(untyped, 4)}


def drifted(before: dict[str, float], now: dict[str, float], *, most: float) -> list[str]:
    """What has changed by more than `most`, in words. Nothing where there is no earlier run."""
    found = []
    for name in ("names", "relations"):
        old, new = before.get(name), now[name]
        if old is None or abs(new - old) < SMALL:
            continue
        share = abs(new - old) / max(old, new)
        if share > most:
            found.append(f"{name} {'rose' if new > old else 'fell'} from {old:g} to {new:g}")
    old_share = before.get("untyped_share")
    enough = min(before.get("relations", 0), now["relations"]) >= SMALL
    if old_share is not None and enough and abs(now["untyped_share"] - old_share) > most:
        found.append(f"relations without a type went from {old_share:.0%} to {now['untyped_share']:.0%}")
    return found
