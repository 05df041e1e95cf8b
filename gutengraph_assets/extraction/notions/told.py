"""Themes and atmospheres that an instruct model named, each with the passages of its quotes."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from gutengraph_assets.extraction.notions.find import MOST, NAMED, SUPPORT, Notion, described
from gutengraph_assets.extraction.reading.chapters import Shown
from gutengraph_core.embedding.protocol import Embedder
from gutengraph_core.graph.schema import NotionLabel


def told_notions(shown: Sequence[Shown], starts: Sequence[int], embedder: Embedder) -> list[Notion]:
    """Those with SUPPORT passages at least, most passages first. `starts`: where each passage of the book begins.

    `score` of such a notion is the number of passages with a quote for it.
    """
    rests: defaultdict[tuple[NotionLabel, str], dict[int, None]] = defaultdict(dict)
    for one in shown:
        passage = bisect_right(starts, one.start) - 1
        if passage >= 0:
            rests[one.label, one.name][passage] = None
    found: list[Notion] = []
    for label, most in MOST.items():
        vectors = described(embedder, label)
        able = [
            Notion(label, name, float(len(on)), tuple(on)[:NAMED], vectors[name])
            for (of, name), on in rests.items()
            if of == label and len(on) >= SUPPORT
        ]
        found += sorted(able, key=lambda n: (-n.score, n.name))[:most]
    return found
