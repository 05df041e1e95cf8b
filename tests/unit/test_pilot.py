"""The yield gate: a pilot parks what is not worth a night, and says why."""

from __future__ import annotations

import pyarrow as pa
import pytest
from fakes import FakeLLM
from small_mirror import FRENCH, STORY
from stories import windows_of

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.pilot import Pilot, run_pilot, spread
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings

LONG = "\n\n".join(STORY.split("\n\n")[1:] * 6)
PERSON = {" man": -0.1, " woman": -0.5, " place": -9.0, " thing": -9.0}


def pilot(settings: Settings, library: Library, body: str, llm: FakeLLM, **changed: object) -> Pilot:
    ledger = Ledger(library.path(7, "ledger.jsonl"), book=7)
    return run_pilot(body, windows_of(body), llm, settings.model_copy(update=changed), ledger)


def test_the_windows_are_spread_over_the_book() -> None:
    windows = pa.table({"window": list(range(100))})
    assert spread(windows, 5)["window"].to_pylist() == [10, 30, 50, 70, 90]
    assert spread(windows, 1)["window"].to_pylist() == [50]


def test_a_story_goes_on(settings: Settings, library: Library) -> None:
    llm = FakeLLM(logprobs=PERSON)
    found = pilot(settings, library, LONG, llm)
    assert found.reason == ""
    assert found.windows == 5
    assert found.names >= 3
    assert 0 < len(llm.logprob_calls) <= settings.pilot_calls


def test_a_short_book_has_no_pilot(settings: Settings, library: Library) -> None:
    llm = FakeLLM(logprobs=PERSON)
    assert pilot(settings, library, STORY, llm) == Pilot(0, 0, 0, 0, "")
    assert pilot(settings, library, LONG, llm, pilot_windows=0) == Pilot(0, 0, 0, 0, "")
    assert llm.logprob_calls == []


def test_pages_in_another_language_park_it_whatever_the_header_says(
    settings: Settings, library: Library
) -> None:
    llm = FakeLLM(logprobs=PERSON)
    found = pilot(settings, library, "\n\n".join(FRENCH.split("\n\n")[1:] * 20), llm)
    assert "'fr'" in found.reason
    assert llm.logprob_calls == []


def test_a_text_without_names_is_parked(settings: Settings, library: Library) -> None:
    dull = "It was to be had of all the shops, and it was not so much as one would have thought of it.\n\n"
    found = pilot(settings, library, dull * 60, FakeLLM(logprobs=PERSON))
    assert "5 windows spread over it gave 0 names (1 a window wanted)" in found.reason


@pytest.mark.parametrize(
    ("reply", "parked"),
    [
        ("I cannot help with that.", True),
        ('{"people": ["Ada"], "places": ["Saltby"], "objects": ["Heron"]}', False),
    ],
)
def test_a_model_whose_replies_cannot_be_read_parks_it(
    settings: Settings, library: Library, reply: str, parked: bool
) -> None:
    found = pilot(settings, library, LONG, FakeLLM(lambda prompt: reply), naming="list", pilot_min_names=0.2)
    assert ("could not be read" in found.reason) is parked
    assert found.failed == (found.asked if parked else 0)
