"""A book's text and names as the build makes them, without passages, vectors and graph."""

from __future__ import annotations

import pyarrow as pa

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.candidates import survey
from gutengraph_assets.extraction.evidence import Evidence, Surroundings
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import name_book
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_assets.text.windows import make_windows
from gutengraph_core.files import write_table
from gutengraph_core.library import Library
from gutengraph_core.llm import LLM
from gutengraph_core.settings import Settings
from gutengraph_core.tables import MENTIONS, WINDOWS


def prepare(library: Library, book: int, settings: Settings, llm: LLM | None) -> None:
    """Write `windows.parquet` and `mentions.parquet` of a book that need not be in the library yet.

    Without a model the names are typed by the text's own evidence alone, which is worse and quicker.
    """
    record = acquire(book, settings)
    body = library.body(book)
    rows = make_windows(body, record.chapters, words=settings.window_words)
    windows = pa.Table.from_pylist(rows, schema=WINDOWS)
    if llm is None:
        mentions = _by_rules(body, windows)
    else:
        ledger = Ledger(library.path(book, "ledger.jsonl"), book=book)
        mentions = name_book(body, windows, llm, settings, ledger, book=book)
    write_table(library.path(book, "windows.parquet"), windows, book=book)
    write_table(library.path(book, "mentions.parquet"), mentions, book=book)


def _by_rules(body: str, windows: pa.Table) -> pa.Table:
    """MENTIONS without a model: where the evidence leaves a choice, the likelier of person and place."""
    text = BookText(
        body, windows=list(zip(windows["start"].to_pylist(), windows["end"].to_pylist(), strict=True))
    )
    found = survey(body, windows)
    everything = [Evidence.of(body, candidate) for candidate in found.candidates]
    around = Surroundings(everything, found.stats)
    rows = []
    for evidence in everything:
        judged, leaning = around.judge(evidence), around.leaning(evidence)
        kinds = [kind for kind in judged.kinds if kind != "thing"]
        if not kinds:
            continue
        kind = max(kinds, key=lambda k: leaning[k])
        rows += [
            {
                "name": evidence.candidate.name,
                "kind": kind,
                "subkind": judged.subkind,
                "margin": None,
                "how": "rule",
                "start": o.start,
                "end": o.end,
                "window": text.window_of(o.start),
                "chapter": 0,
            }
            for o in evidence.candidate.occurrences
        ]
    return pa.Table.from_pylist(rows, schema=MENTIONS)
