"""Works that are no novels, real ones: a treatise has no cast, a play has its speakers, another language is parked.

No model is asked: what it would say of single names does not decide these.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from gutengraph_assets.extraction.candidates import survey
from gutengraph_assets.extraction.filter import filter_entities
from gutengraph_assets.extraction.grounding import mentions_table
from gutengraph_assets.extraction.named import Named
from gutengraph_assets.extraction.naming import BookText
from gutengraph_assets.extraction.speakers import find_speakers
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_assets.status import parked_reason
from gutengraph_assets.text.windows import make_windows
from gutengraph_core.library import BookRecord
from gutengraph_core.settings import Settings
from gutengraph_core.tables import WINDOWS

pytestmark = pytest.mark.mirror


def _read(book: int, mirror: Path, settings: Settings) -> tuple[BookRecord, str, pa.Table]:
    here = settings.model_copy(update={"mirror": str(mirror)})
    record = acquire(book, here)
    body = here.library.body(book)
    rows = make_windows(body, record.chapters, words=here.window_words)
    return record, body, pa.Table.from_pylist(rows, schema=WINDOWS)


def test_hegels_lectures_have_persons_and_no_cast(mirror: Path, settings: Settings) -> None:
    record, body, windows = _read(51635, mirror, settings)
    assert record.kind == "non-fiction"
    # Every span that may be a name is taken for a person here: still nobody is cast.
    named = [Named(c.name, "person", "rule", c.occurrences, "") for c in survey(body, windows).candidates]
    found = filter_entities(
        record=record, body=body, windows=windows, mentions=mentions_table(named), settings=settings
    )
    assert found.counts["cast"] == 0
    assert found.counts["mentioned"] > 20
    mentioned = {row["name"] for row in found.entities.to_pylist() if row["standing"] == "mentioned"}
    assert {"Plato", "Socrates"} <= mentioned


def test_hamlet_has_the_cast_of_the_play(mirror: Path, settings: Settings) -> None:
    record, body, windows = _read(1524, mirror, settings)
    assert record.kind == "drama"
    named = find_speakers(BookText(body, windows), [])
    found = filter_entities(
        record=record, body=body, windows=windows, mentions=mentions_table(named), settings=settings
    )
    cast = {row["name"] for row in found.entities.to_pylist() if row["standing"] == "cast"}
    assert cast >= set(
        "Hamlet Horatio Polonius Laertes Ophelia King Queen Ghost Rosencrantz Guildenstern Marcellus Barnardo "
        "Francisco Osric Reynaldo Fortinbras Captain Messenger".split()
    )
    assert {"First Clown", "Second Clown", "First Player", "Player King", "Player Queen"} <= cast
    assert len(cast) < 35


def test_a_german_book_is_parked_with_the_reason(mirror: Path, settings: Settings) -> None:
    record, _, _ = _read(22367, mirror, settings)
    assert record.language == "de"
    assert "English only" in parked_reason(record)
