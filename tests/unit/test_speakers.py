"""In a play the labels of the speeches are the cast; a story has none."""

from __future__ import annotations

from stories import record_of, windows_of

from gutengraph_assets.extraction.candidates import Occurrence
from gutengraph_assets.extraction.filter import filter_entities
from gutengraph_assets.extraction.grounding import mentions_table
from gutengraph_assets.extraction.named import Named
from gutengraph_assets.extraction.naming import BookText
from gutengraph_assets.extraction.speakers import SPEAKER, find_speakers
from gutengraph_core import names
from gutengraph_core.settings import Settings

PLAY = """ACT I

SCENE. A quay.

 Enter Orsin and the Clown.

ORSIN. Who goes there?

FIRST CLOWN. A fool, my lord Orsin, and Mardian sends me.

ORSIN. Then go back to Mardian.

KING. Peace, both!

PLAYER KING. I play a king.

KING. And I am one.

FIRST CLOWN. Mardian would weep.

PLAYER KING. Good night.

ALL. Good night.

ALL. Good night again.

SAILOR. Ahoy!
"""
STORY = PLAY.replace(". ", " said: ").title()


def _text(body: str) -> BookText:
    return BookText(body, windows_of(body))


def _named(body: str, name: str, kind: str = "place") -> Named:
    at = [i for i in range(len(body)) if body.startswith(name, i)]
    return Named(name, kind, "cloze", tuple(Occurrence(i, i + len(name), 0, 0) for i in at))  # type: ignore[arg-type]


def test_labels_are_persons_whatever_the_model_took_them_for() -> None:
    found = {
        one.name: one for one in find_speakers(_text(PLAY), [_named(PLAY, "Orsin"), _named(PLAY, "Mardian")])
    }
    assert set(found) == {"Orsin", "First Clown", "King", "Player King", "Mardian"}
    assert (found["Orsin"].kind, found["Orsin"].subkind) == ("person", SPEAKER)
    assert len(found["Orsin"].occurrences) == 4  # two labels, two mentions
    assert found["Mardian"].kind == "place"
    for one in found.values():
        assert all(names.key(PLAY[o.start : o.end]) == names.key(one.name) for o in one.occurrences)


def test_a_story_is_left_as_it_is() -> None:
    named = [_named(STORY, "Orsin")]
    assert find_speakers(_text(STORY), named) is named


def test_who_speaks_is_cast_and_who_is_spoken_of_is_not(settings: Settings) -> None:
    named = find_speakers(_text(PLAY), [_named(PLAY, "Orsin", "person"), _named(PLAY, "Mardian", "person")])
    found = filter_entities(
        record=record_of(PLAY, kind="drama"),
        body=PLAY,
        windows=windows_of(PLAY),
        mentions=mentions_table(named),
        settings=settings,
    )
    rows = {row["name"]: row for row in found.entities.to_pylist()}
    cast = {name for name, row in rows.items() if row["standing"] == "cast"}
    assert cast == {"Orsin", "First Clown", "King", "Player King"}
    assert rows["Mardian"]["reason"] == "has no speech in the play"
