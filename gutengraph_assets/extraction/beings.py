"""Beings without a name: 'the curate', 'the monster', 'the White Rabbit'.

A description with 'the' that recurs through the book and speaks as one person speaks, or a monster that acts;
and that never turns out to be
somebody with a name. Where a title or an apposition says who it is ('Captain Hale'; 'Mr. Dunn, the lawyer'),
it is left to the aliases.
Precision goes before recall: descriptions of many people ('the stranger', 'the old man') and of a scene's
servants stay out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from gutengraph_assets.extraction.candidates import Occurrence
from gutengraph_assets.extraction.contexts import usage
from gutengraph_assets.extraction.lexicon import (
    DEMONYMS,
    FUNCTION_WORDS,
    GENERIC,
    PLACE_HEADS,
    STYLES,
)
from gutengraph_assets.extraction.named import Named
from gutengraph_assets.extraction.naming import BookText
from gutengraph_core import names

_PHRASE = re.compile(r"\b[Tt]he[\s_]+((?:[A-Z][\w’'-]+[\s_]+){0,2}[A-Z][\w-]+|[^\W\d_]+)\b")

_EPITHET_WINDOWS = 3
_EPITHET_SPOKE = 2
"""'the Hatter': the capital is evidence of its own."""
_NOUN_WINDOWS = 12
_NOUN_SPOKE = 5
"""'the curate': in 18 novels 8 of 10 kept were one being without a name, two a named man's trade."""
_SPOKE_SHARE = 0.08
_MONSTER_WINDOWS = 8
_MONSTER_SHARE = 0.05
_MONSTER_ACTED = 3
"""A monster seldom speaks where 'the monster' is written; it must haunt a twentieth of the book and act."""
_SAME_AS_NAMED = 0.06
"""A titled name ('Captain Hale') with this share of the title's windows is who 'the captain' is."""

# 'the devil' is not among them: he is in every oath.
MONSTERS: frozenset[str] = frozenset(
    "monster creature fiend daemon dæmon demon ghost spectre specter phantom vampire beast ogre dragon giant dwarf witch wizard goblin "
    "genie apparition".split()
)
NOBODY: frozenset[str] = (
    frozenset(
        """
        other others latter former same rest last next very old young new poor dead blind sick good great
        little first second third
        whole only one two three driver coachman cabman porter waiter servant maid footman soldier policeman
        constable officer
        landlord landlady clerk attendant messenger speaker voice crowd audience company party gentry public
        world
        chief leader prisoner passenger traveller traveler patient beggar tramp figure
        wind sea sun moon day night time answer reply sound bell clock door
        """.split()
    )
    | GENERIC
)
"""Nouns that mean somebody else in every scene, or nobody."""
_SAME_TITLE: dict[str, str] = {
    "dr": "doctor",
    "capt": "captain",
    "cap'n": "captain",
    "prof": "professor",
    "col": "colonel",
    "rev": "reverend",
}


@dataclass
class _Description:
    """One description and where it stands, 'the' included."""

    bare: str
    capital: bool
    spans: list[tuple[int, int]] = field(default_factory=list)
    nouns: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Beings:
    """Who was found, and why other speaking descriptions were not: reason -> descriptions."""

    named: list[Named]
    dropped: dict[str, int]


def find_beings(text: BookText, named: Iterable[Named]) -> Beings:
    """Beings of the book, by its own words and by the names found before (`named`)."""
    persons = [one for one in named if one.kind == "person"]
    windows = text.windows["window"].to_pylist()
    chapters = text.windows["chapter"].to_pylist()
    starts = text.windows["start"].to_pylist()
    ends_of_persons = {o.end for one in persons for o in one.occurrences}
    starts_of_persons = {o.start for one in persons for o in one.occurrences}
    titled = _titled_windows(persons)
    person_keys = {names.key(one.name) for one in persons}
    found = []
    dropped: defaultdict[str, int] = defaultdict(int)
    for description in _descriptions(text.body):
        inside = [bisect_right(starts, start) - 1 for start, _ in description.spans]
        seen = {windows[at] for at in inside}
        if not _lives(text.body, description, len(seen), len(windows)):
            continue
        reason = ""
        if description.bare in person_keys:
            reason = "a name already"
        elif titled.get(description.bare, 0) >= len(seen) * _SAME_AS_NAMED:
            reason = "a title that somebody bears"
        elif _is_apposed(text.body, description, starts_of_persons, ends_of_persons):
            reason = "an apposition says who"
        if reason:
            dropped[reason] += 1
            continue
        occurrences = tuple(
            Occurrence(start, end, windows[at], chapters[at])
            for (start, end), at in zip(description.spans, inside, strict=True)
        )
        start, end = description.nouns[0]
        shown = "the " + names.squeeze(text.body[start:end])
        found.append(Named(shown, "person", "rule", occurrences, subkind="being"))
    return Beings(found, dict(sorted(dropped.items())))


def _descriptions(body: str) -> list[_Description]:
    """Every 'the X' that may be somebody, by its folded words; capitalised and plain ones apart."""
    found: dict[tuple[str, bool], _Description] = {}
    for match in _PHRASE.finditer(body):
        bare = names.key(match[1])
        words = bare.split(" ")
        capital = match[1][0].isupper()
        if not bare or _is_nobody(words, titled=capital and all(w[:1].isupper() for w in match[1].split())):
            continue
        end = match.end(1)
        description = found.setdefault((bare, capital), _Description(bare, capital))
        description.spans.append((match.start(), end))
        description.nouns.append((match.start(1), end))
    return list(found.values())


def _is_nobody(words: list[str], *, titled: bool) -> bool:
    """`titled`: every word has a capital. Of two such words the book makes a name: 'the Clock Mender'."""
    last = words[-1]
    return (
        len(last) < 3
        or (last in NOBODY and not (titled and len(words) > 1))
        or last in FUNCTION_WORDS
        or last in PLACE_HEADS
        or last in STYLES
        or (len(words) > 1 and (words[0] in names.TITLES or words[0] == "misses"))
        or (last.endswith("s") and not last.endswith("ss"))
        or last.endswith(("men", "women", "people"))
    )


def _lives(body: str, description: _Description, windows: int, of: int) -> bool:
    """Whether it recurs, and speaks or acts, as somebody does."""
    if windows < _EPITHET_WINDOWS:
        return False
    use = usage(body, description.nouns)
    if description.bare in MONSTERS:
        return (
            windows >= _MONSTER_WINDOWS
            and windows >= of * _MONSTER_SHARE
            and use.spoke + use.acted >= _MONSTER_ACTED
        )
    if use.spoke < use.count * _SPOKE_SHARE:
        return False
    if description.capital and description.bare not in DEMONYMS:
        return use.spoke >= _EPITHET_SPOKE
    return windows >= _NOUN_WINDOWS and use.spoke >= _NOUN_SPOKE


def _titled_windows(persons: Iterable[Named]) -> dict[str, int]:
    """By title: the windows of whoever bears it most."""
    most: defaultdict[str, int] = defaultdict(int)
    for one in persons:
        for title in names.split_title(one.name)[0]:
            title = _SAME_TITLE.get(title, title)
            most[title] = max(most[title], len({o.window for o in one.occurrences}))
    return most


def _is_apposed(body: str, description: _Description, starts: set[int], ends: set[int]) -> bool:
    """'the curate, Mr. Dunn', 'the Widow Dunn', 'Dunn, the curate', 'old Dunn the curate'."""
    for start, end in description.spans:
        before = body[max(0, start - 3) : start]
        gap = len(before) - len(before.rstrip(", \n"))
        if gap and start - gap in ends:
            return True
        after = body[end : end + 3]
        gap = len(after) - len(after.lstrip(", \n"))
        if gap and end + gap in starts:
            return True
    return False
