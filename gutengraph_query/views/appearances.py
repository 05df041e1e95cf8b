"""Where in a book each person, place, thing and event is mentioned, and under which names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from gutengraph_core import names
from gutengraph_core.errors import NotBuilt
from gutengraph_core.library import Library


@dataclass(frozen=True)
class Seen:
    """The mentions of one node."""

    chapters: Mapping[int, int]
    """Chapter -> mentions in it, in reading order."""
    surfaces: Mapping[str, Mapping[int, int]]
    """Name as the text has it -> chapter -> mentions."""
    first: tuple[int, int]
    """Offsets of the first mention."""

    def mentions(self, up_to: int | None) -> int:
        return sum(n for chapter, n in self.chapters.items() if _told(chapter, up_to))

    def goes_on(self, up_to: int | None) -> bool:
        """Whether a chapter after `up_to` mentions it too."""
        return any(not _told(chapter, up_to) for chapter in self.chapters)

    def names(self, up_to: int | None) -> list[str]:
        """The names used by then, most frequent first; of those that differ by capitals alone, the commonest."""
        told = {
            surface: sum(n for chapter, n in by_chapter.items() if _told(chapter, up_to))
            for surface, by_chapter in self.surfaces.items()
        }
        met = [s for s, n in sorted(told.items(), key=lambda item: (-item[1], item[0])) if n]
        commonest: dict[str, str] = {}
        for surface in met:
            commonest.setdefault(names.fold(surface), surface)
        return list(commonest.values())

    def shown_name(self, name: str, up_to: int | None) -> str:
        """`name`, or, where a reader of chapter `up_to` has not met it, the name they know best."""
        if up_to is None:
            return name
        met = self.names(up_to)
        known = {names.key(surface) for surface in met}
        return name if names.key(name) in known or not met else met[0]


def _told(chapter: int, up_to: int | None) -> bool:
    return up_to is None or chapter <= up_to


@dataclass(frozen=True)
class Mention:
    """One mention."""

    entity: str
    start: int
    end: int
    chapter: int
    chunk_id: str


@dataclass(frozen=True)
class Appearances:
    """All mentions of a book, by node and in reading order."""

    by_node: Mapping[str, Seen]
    in_order: tuple[Mention, ...]

    def within(self, start: int, end: int) -> Counter[str]:
        """Node -> mentions that begin in body[start:end]."""
        return Counter(m.entity for m in self.in_order if start <= m.start < end)

    def together(self, nodes: Container[str], up_to: int | None) -> dict[tuple[str, str], Counter[int]]:
        """Pair of `nodes` -> chapter -> passages in which both are mentioned."""
        present: dict[tuple[int, str], set[str]] = defaultdict(set)
        for m in self.in_order:
            if m.entity in nodes and _told(m.chapter, up_to):
                present[m.chapter, m.chunk_id].add(m.entity)
        pairs: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        for (chapter, _), met in present.items():
            for pair in combinations(sorted(met), 2):
                pairs[pair][chapter] += 1
        return pairs


def appearances(library: Library, book: int) -> Appearances:
    """Read `graph/evidence.parquet`, once for each of its versions. Raises NotBuilt where there is none."""
    path = library.path(book, "graph/evidence.parquet")
    try:
        found = path.stat()
    except FileNotFoundError:
        raise NotBuilt(
            "Its graph has not been built yet.", remedy=f"Run `gutengraph build {book}`.", book=book
        ) from None
    return _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=64)
def _read(path: Path, mtime_ns: int, size: int) -> Appearances:
    import pyarrow.parquet as pq

    columns = ["entity", "surface", "start", "end", "chapter", "chunk_id"]
    rows = sorted(pq.read_table(path, columns=columns).to_pylist(), key=lambda row: row["start"])
    chapters: dict[str, Counter[int]] = defaultdict(Counter)
    surfaces: dict[str, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    first: dict[str, tuple[int, int]] = {}
    for row in rows:
        node = row["entity"]
        chapters[node][row["chapter"]] += 1
        surfaces[node][names.squeeze(row["surface"])][row["chapter"]] += 1
        first.setdefault(node, (row["start"], row["end"]))
    by_node = {node: Seen(chapters[node], surfaces[node], first[node]) for node in chapters}
    mentions = (Mention(r["entity"], r["start"], r["end"], r["chapter"], r["chunk_id"]) for r in rows)
    return Appearances(by_node, tuple(mentions))
