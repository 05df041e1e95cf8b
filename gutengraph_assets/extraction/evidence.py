"""What the text itself says of a candidate, before any model is asked.

A title makes a person, 'Street' a place, a deck and a crew a ship; an article before it makes a description
of what would
else pass for a name. Where the text decides, no model is asked; where it only excludes, the model chooses
among the rest.

How things with names of their own are classed: a ship is a place of kind vessel; an inn, a house with a name
is a place; a
horse, a dog or a whale that bears a proper name is a person; a book, a newspaper, a law is a thing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gutengraph_assets.extraction.candidates import Candidate
from gutengraph_assets.extraction.case_statistics import CaseStatistics
from gutengraph_assets.extraction.contexts import Usage, usage
from gutengraph_assets.extraction.lexicon import PLACE_HEADS, PLACE_LEADS, SURNAME_HEADS
from gutengraph_core import names

Kind = Literal["person", "place", "thing"]
KINDS: tuple[Kind, ...] = ("person", "place", "thing")

SURE_TITLES: frozenset[str] = frozenset(
    "mr mrs miss ms dr doctor sir lady dame captain capt cap'n colonel col lieutenant lieut sergeant corporal inspector "
    "professor madame mme mademoiselle mlle monsieur mistress master mister uncle aunt herr frau signor signora reverend rev "
    "squire admiral commodore count baron baroness countess viscount marquis princess madam".split()
)
"""Titles that only persons bear. Kings, generals, fathers and judges also name streets, laws and rivers."""
_OFFICES: frozenset[str] = frozenset(
    "mayor general president chairman speaker sergeant secretary coroner lieutenant-general major-general attorney "
    "attorney-general solicitor-general officer doctor chief justice so-and-so what-you-may-call-her what's-his-name "
    "sahib".split()
)
"""'Mr. Attorney-General' is an office, not a name."""

_TRADES: frozenset[str] = frozenset(
    "widow dowager deacon parson farmer nurse cousin granny goodman goody citizen comrade miller".split()
)
"""Before a surname these do what titles do: 'the Widow Dunn'."""
_PLAIN: frozenset[str] = frozenset("mr mrs miss ms dr sir master mister".split())
"""No street or square begins with these: 'Mr. Street'."""
_COMMANDS: frozenset[str] = frozenset("admiral commodore captain colonel general".split())
"""Ships, inns and streets are named after them, and then stand behind 'the'."""

_DESCRIBED = 0.5
"""From this share of articles on a capitalised word is a description: of 600 hand-labelled names in eight
novels that were persons'
proper names none without a title reached it."""
_OFTEN_DETERMINED = 0.35
_SPOKEN_COUNT = 3
_SPOKEN_SHARE = 0.08
_OFTEN_LOCATED = 0.25
_MOSTLY_LOCATED = 0.35
_OFTEN = 8
_AFLOAT_SHARE = 0.08
_CITED = 0.5
"""More of a word's occurrences stand alone in quotes than not: a cry, or a word that is talked about."""
_FEW = 8
_SHIPS_THE = 0.3


_OWNED = re.compile(r"(?:'s|s')$")
_SAINTS = frozenset("st saint ste sainte".split())
_ROYAL: frozenset[str] = frozenset(
    "king queen prince princess duke duchess count countess earl baron baroness lord lady marquis marchioness viscount emperor "
    "empress archbishop bishop archduke grand-duke sultan czar tsar pope".split()
)
"""With 'of' and a country they name somebody: 'the Countess of X'."""

ACTING = 4.0
LOCATED = 3.0
DESCRIBED = 2.0
"""What the shares of acting, of standing behind 'in' or 'at', and of articles weigh against the model's
log-probabilities. Fitted on
the 780 names of eight novels together with the cloze's constants: F1 .950 without, .957 with; half or double
is the same."""
_NAMES_A_PLACE = 1.5
"""Said of 'Stoke' where the book has 'Stoke Cottage'."""
_BESIDE_A_PLACE = 1.5
"""Said of 'Marlow' in 'the village of Marlow'."""
_PLACED_SHARE = 0.1
_SHRINK = 1
"""Shares of few occurrences count less: n / (n + 1) of their weight."""


@dataclass(frozen=True)
class Verdict:
    """`kinds`: what it may still be; one: decided; none: dropped for `reason`. `subkind` goes with a decided
    kind."""

    kinds: tuple[Kind, ...]
    subkind: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Evidence:
    """A candidate with its use in the text."""

    candidate: Candidate
    usage: Usage
    tokens: tuple[str, ...]
    """Folded words of the name as written, titles without their stops."""

    @classmethod
    def of(cls, body: str, candidate: Candidate) -> Evidence:
        spans = [(o.start, o.end) for o in candidate.occurrences]
        tokens = tuple(word.rstrip(".") for word in names.fold(candidate.name).split(" "))
        return cls(candidate, usage(body, spans), tokens)


class Surroundings:
    """What the other candidates of the book say about one."""

    def __init__(self, everything: list[Evidence], stats: CaseStatistics) -> None:
        self._stats = stats
        self._ends = {e.tokens[-1] for e in everything if len(e.tokens) > 1}
        self._begin_places = {
            e.tokens[0] for e in everything if len(e.tokens) == 2 and _is_place_by_head(e.tokens)
        }
        self._titled: set[str] = set()
        for e in everything:
            if len(e.tokens) > 1 and e.tokens[0] in SURE_TITLES and e.tokens[-1] not in _OFFICES:
                self._titled.add(names.key(names.split_title(e.candidate.name)[1]))

    def judge(self, evidence: Evidence) -> Verdict:
        """What the text leaves open."""
        tokens, use = evidence.tokens, evidence.usage
        titled = tokens[0] in SURE_TITLES and len(tokens) > 1
        if use.cited > _CITED and not (use.spoke or use.acted) and use.count > 1 and not titled:
            return Verdict((), reason="a word quoted or called out")
        if titled and tokens[-1] in _OFFICES:
            return Verdict((), reason="an office")
        if use.the >= _DESCRIBED and use.placed and use.placed >= use.count * _PLACED_SHARE:
            return Verdict(("place",))
        if titled and use.the >= _DESCRIBED and tokens[0] in _COMMANDS and use.count > 1:
            return Verdict(("place", "thing"))
        if titled and (tokens[0] in _PLAIN or tokens[-1] not in PLACE_HEADS - SURNAME_HEADS):
            return Verdict(("person",))
        if len(tokens) > 2 and tokens[0] in _ROYAL and tokens[1] == "of":
            return Verdict(("person",))
        if is_vessel(use):
            return Verdict(("place",), subkind="vessel")
        if _is_place_by_head(tokens) or (
            len(tokens) > 1 and tokens[-1] in PLACE_HEADS and _OWNED.search(tokens[-2])
        ):
            return Verdict(("place",))
        if evidence.candidate.key in self._titled:
            # 'Darcy' where the book has 'Mr. Darcy', unless it stands like a place or a people.
            certain = use.located < _OFTEN_LOCATED and use.determined < _OFTEN_DETERMINED
            return Verdict(("person",) if certain else KINDS)
        # 'a Schlegel' and 'her Elizabeth Bates' are still persons; 'a Lascar' and 'her Ayah' are not.
        described = use.the if len(tokens) > 1 or tokens[0] in self._ends else use.determined
        if described >= _DESCRIBED and not any(t in names.TITLES or t in _TRADES for t in tokens[:-1]):
            if len(tokens) == 1 and self._stats.lower[tokens[0]] and tokens[0] not in self._ends:
                return Verdict((), reason="a common noun with a capital")
            return Verdict(("place", "thing"))
        if use.count >= _OFTEN and use.located >= _MOSTLY_LOCATED and not use.spoke:
            return Verdict(("place", "thing"))
        if (
            use.spoke >= _SPOKEN_COUNT
            and use.spoke >= use.count * _SPOKEN_SHARE
            and use.located < _OFTEN_LOCATED
        ):
            return Verdict(("person",))
        if tokens[0] in _SAINTS and use.churchly + use.located >= _DESCRIBED:
            return Verdict(("place", "thing"))
        return Verdict(KINDS)

    def leaning(self, evidence: Evidence) -> dict[Kind, float]:
        """What the text says for each kind, to be added to the model's log-probabilities."""
        use = evidence.usage
        weight = use.count / (use.count + _SHRINK)
        acting = (use.spoke + use.acted) / use.count if use.count else 0.0
        beside = _BESIDE_A_PLACE if use.placed >= max(1, use.count * _PLACED_SHARE) and not use.spoke else 0.0
        named_after = _NAMES_A_PLACE if evidence.tokens[0] in self._begin_places and not use.spoke else 0.0
        return {
            "person": ACTING * weight * acting - DESCRIBED * use.determined,
            "place": LOCATED * weight * use.located + max(named_after, beside),
            "thing": 0.0,
        }


def _is_place_by_head(tokens: tuple[str, ...]) -> bool:
    return len(tokens) > 1 and (tokens[-1] in PLACE_HEADS - SURNAME_HEADS or tokens[0] in PLACE_LEADS)


def is_vessel(use: Usage) -> bool:
    """Beside the words of a ship, and behind 'the' as ships are: often, or once where the name is rare or
    always in italics."""
    if use.the >= _DESCRIBED and use.afloat:
        return use.count <= _FEW or use.italic >= _DESCRIBED or use.afloat >= use.count * _AFLOAT_SHARE
    return use.afloat >= 2 and use.afloat >= use.count * _AFLOAT_SHARE and use.determined >= _SHIPS_THE


def of_one_place(evidence: Evidence, places: set[str]) -> bool:
    """'Stoke Park' where 'Stoke' is a place: the head may be a surname, the place's name is none."""
    tokens = evidence.tokens
    return len(tokens) == 2 and tokens[0] in places and tokens[1] in PLACE_HEADS


def of_one_family(evidence: Evidence, persons: set[str], places: set[str]) -> bool:
    """Whether a name of several words holds a name that is a person's already, and none that is a place's.

    `persons` and `places` are folded words that are such names by themselves.
    """
    tokens = [t for t in evidence.tokens if t not in names.TITLES]
    if not 2 <= len(tokens) <= 4 or tokens[-1] in PLACE_HEADS or "of" in tokens or tokens[0] in _SAINTS:
        return False
    return (tokens[0] in persons or tokens[-1] in persons) and not any(t in places for t in tokens)
