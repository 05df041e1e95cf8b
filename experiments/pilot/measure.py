"""Names a pilot window of each book of a mirror, for the threshold `pilot_min_names`.

    python experiments/pilot/measure.py MIRROR [ID ...] > experiments/pilot/results.md

Without ids every book of the mirror. About 5 s a book on two cores.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.pilot import run_pilot
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_assets.text.windows import make_windows
from gutengraph_core.llm import open_llm
from gutengraph_core.settings import Settings
from gutengraph_core.tables import WINDOWS


def main(mirror: Path, only: set[int]) -> None:
    found = sorted({int(m[1]) for p in mirror.rglob("pg*.txt") if (m := re.search(r"pg(\d+)\.txt", p.name))})
    books = [book for book in found if not only or book in only]
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), mirror=str(mirror), allow_copyrighted=True)
        llm = open_llm(settings.llm, settings)
        print(f"Command: `python experiments/pilot/measure.py MIRROR ID …`. Model: {llm.identity}.\n")
        print("| book | language | kind | windows | names a pilot window | seconds | verdict |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for book in books:
            record = acquire(book, settings)
            body = settings.library.body(book)
            windows = pa.Table.from_pylist(
                make_windows(body, record.chapters, words=settings.window_words), schema=WINDOWS
            )
            began = time.monotonic()
            ledger = Ledger(Path(home) / f"{book}.jsonl", book=book)
            pilot = run_pilot(body, windows, llm, settings, ledger)
            rate = f"{pilot.names / pilot.windows:.1f}" if pilot.windows else "too short"
            cells = (
                book,
                record.language,
                record.kind,
                windows.num_rows,
                rate,
                f"{time.monotonic() - began:.1f}",
            )
            print(f"| {' | '.join(map(str, cells))} | {pilot.reason or 'goes on'} |", flush=True)
        llm.close()


main(Path(sys.argv[1]), {int(word) for word in sys.argv[2:]})
