"""The cast of a play: whoever a speech is labelled with.

In a text of which most paragraphs begin with a name in capitals and a stop ('HORATIO. Friends to this ground.') the labels
need no model: they are the persons, and who has none is only spoken of.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

from gutengraph_assets.extraction.candidates import Occurrence
from gutengraph_assets.extraction.named import Named
from gutengraph_assets.extraction.naming import BookText
from gutengraph_core import names

SPEAKER = "speaker"
"""Subkind of a person who speaks in a play."""
LEAST_SHARE = 0.3
"""Of the paragraphs: a story has none, a play half of them or more beside its stage directions."""
LEAST_SPEECHES = 2
"""Who speaks once is a voice behind the scene, or a misprint."""
_LABEL = re.compile(r"(?:(?<=\n\n)|\A)[ \t_]*([A-Z][A-Z’'-]*[A-Z](?:[ ][A-Z][A-Z’'-]*)*)[.:]_?(?=[ \n])")
_PARAGRAPH = re.compile(r"(?:\A|\n\n)\s*\S")
_MANY = frozenset(
    "all both omnes chorus within voices danes lords ladies others several act scene prologue epilogue".split()
)
"""Labels that are several persons or none."""


def find_speakers(text: BookText, named: list[Named]) -> list[Named]:
    """`named` with the speakers of a play in place of what was found under their names; unchanged if it is no play."""
    labels: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    body = text.body
    for match in _LABEL.finditer(body):
        words = names.words(match[1])
        if not _MANY & set(words):
            labels[" ".join(words)].append(match.span(1))
    speeches = sum(map(len, labels.values()))
    if speeches < LEAST_SHARE * len(_PARAGRAPH.findall(body)):
        return named
    speakers = {key: spans for key, spans in labels.items() if len(spans) >= LEAST_SPEECHES}
    known = {names.key(one.name): one for one in named}
    found = []
    for key, spans in speakers.items():
        start, end = spans[0]
        before = known[key].occurrences if key in known else ()
        places = {o.start: o for o in (*before, *_occurrences(text, spans))}
        shown = known[key].name if key in known else names.squeeze(body[start:end]).title()
        found.append(Named(shown, "person", "rule", tuple(places[at] for at in sorted(places)), SPEAKER))
    return [one for one in named if names.key(one.name) not in speakers] + found


def _occurrences(text: BookText, spans: list[tuple[int, int]]) -> list[Occurrence]:
    starts = text.windows["start"].to_pylist()
    windows = text.windows["window"].to_pylist()
    chapters = text.windows["chapter"].to_pylist()
    found = []
    for start, end in spans:
        at = max(0, bisect_right(starts, start) - 1)
        found.append(Occurrence(start, end, windows[at], chapters[at]))
    return found
