"""How a text uses a name: the small words beside it, which tell a person from a ship, a people or a
description."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_BEFORE = 64
_AFTER = 40

_THE = re.compile(r"\bthe[\s_\"“‘]+$", re.IGNORECASE)
_ANY = re.compile(
    r"\b(a|an|this|that|these|those|some|any|every|each|another|no|such|one|two|three|many|what|other|several)[\s_\"“‘]+$",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(my|thy|your|his|her|its|our|their|whose)[\s_\"“‘]+$", re.IGNORECASE)
_AT = re.compile(
    r"\b(in|into|at|near|from|towards?|reached|reach|leaving|left|entered|quitted|visit(?:ed)?|through|across|around|outside|"
    r"inside|beyond|via|throughout|to|road to|town of|city of|village of|county of|streets? of|coast of)[\s_]+$",
    re.IGNORECASE,
)
_VERBS_OF_SPEECH = (
    "said|says|asked|cried|replied|answered|returned|exclaimed|whispered|murmured|muttered|shouted|growled|continued|"
    "observed|remarked|added|thought|screamed|roared|interrupted|inquired|enquired|repeated|called|began|rejoined|"
    "resumed|demanded|sighed|laughed|declared|protested|suggested|explained|pleaded|urged|sobbed|gasped|quoth"
)
_VERBS_BEFORE = (
    "said|says|asked|cried|replied|answered|exclaimed|whispered|murmured|muttered|shouted|growled|observed|remarked|screamed|"
    "roared|inquired|enquired|rejoined|demanded|sighed|laughed|declared|protested|suggested|explained|pleaded|sobbed|gasped|quoth"
)
"""Not 'called', 'thought', 'returned': what follows those is mostly no speaker."""
_VERBS_OF_ACTION = (
    "looked|turned|smiled|nodded|shook|rose|sat|stood|walked|ran|went|came|took|gave|knew|felt|saw|heard|seemed|wished|"
    "wanted|told|spoke|stopped|paused|stared|glanced|entered|bowed|leaned|laid|put|held|opened|drew|threw|made|got|"
    "was|had|has|is|did|would|could|will"
)
_SPOKE_BEFORE = re.compile(
    rf"\b({_VERBS_BEFORE})[\s_]+(?:the[\s_]+|old[\s_]+|poor[\s_]+|little[\s_]+)*$", re.IGNORECASE
)
_SPOKE_AFTER = re.compile(rf"^[\s_]+({_VERBS_OF_SPEECH})\b")
_ACTED_AFTER = re.compile(rf"^[\s_]+({_VERBS_OF_ACTION})\b")

_SHIP = (
    "ship|schooner|brig|brigantine|sloop|barque|bark|frigate|steamer|steamship|steamboat|vessel|whaler|yacht|yawl|cutter|"
    "ketch|lugger|man-of-war|clipper|galleon|packet|trawler|smack|corvette|barge|launch|tug|liner"
)
_ABOARD = re.compile(
    rf"(?:\b(?:{_SHIP})[,\s]+(?:(?:called|named)[\s]+)?(?:the[\s]+)?|"
    r"\b(?:aboard|on[\s]+board|board)[\s]+(?:of[\s]+)?(?:the[\s]+)?|"
    rf"\b(?:crew|captain|skipper|decks?|quarter-deck|hull|hold|cabin|forecastle|bulwarks|masts?|mast-heads?|bows?|stern|helm|keel|"
    rf"wreck|sails|anchor|rigging|boats?|owners?|log|mates?|mariners?)[\s]+of[\s]+(?:the[\s]+)?)[_\"“‘]*$",
    re.IGNORECASE,
)
_AFLOAT = re.compile(
    rf"^[_\"”’]*(?:,[\s]+(?:a|an|the|our)[\s]+(?:[\w-]+[\s]+){{0,3}}(?:{_SHIP})\b|"
    r"['’]s[\s]+(?:crew|decks?|quarter-deck|hull|hold|forecastle|bulwarks|masts?|bows?|stern|helm|keel|sails|rigging|boats?|"
    r"company|commander|prow|sides|bowsprit|timbers)\b|"
    r"[\s]+(?:sailed|weighed|anchored|hove|tacked|foundered|drifted|lay[\s]+at[\s]+anchor|put[\s]+to[\s]+sea|bore[\s]+down|swung[\s]+to|"
    r"was[\s]+(?:wrecked|lost|sunk|bound|launched|steering|sailing)|steered)\b)",
)
_PLACE_NOUN = (
    "inn|hotel|tavern|public-house|estate|farm|island|islands|mountains?|river|street|hills?|valley|village|town|city|county|"
    "country|coast|shore|harbou?r|forest|road"
)
_PLACED_AFTER = re.compile(rf"^[_\"”’]*[\s]+(?:{_PLACE_NOUN})\b")
_PLACED_BEFORE = re.compile(
    rf"\b(?:{_PLACE_NOUN})[,\s]+(?:of[\s]+|called[\s]+|named[\s]+)?(?:the[\s]+)?[_\"“‘]*$"
)
_CHURCHLY = re.compile(
    r"^['’]s\b(?![\s]+[a-z])|^['’]s?[\s]+(?:church|cathedral|chapel|square|hall|abbey|hospital|bells?|steeple|spire|clock)\b",
    re.I,
)

_QUOTE_BEFORE = re.compile(r"(?:^|[\s(—-])[\"'“‘]_?$")
_QUOTE_AFTER = re.compile(r"^_?[!?.,]?_?[\"'”’](?!\w)")
_PRONOUN = re.compile(r"\b(he|him|himself|she|her|herself|it|its|itself)\b", re.IGNORECASE)
_HE = frozenset("he him himself".split())
_REACH = 90
"""Characters after a mention in which a pronoun counts: some fourteen words."""


@dataclass(frozen=True)
class Usage:
    """Shares of a name's occurrences, 0 to 1, and counts of telling places."""

    count: int
    the: float
    any: float
    """behind 'a', 'this', 'some', a numeral"""
    own: float
    """behind 'my', 'his', 'their'"""
    located: float
    """behind 'in', 'at', 'near', 'town of'"""
    spoke: int
    """occurrences that speak"""
    acted: int
    """occurrences that do something else"""
    afloat: int
    """occurrences beside the words of a ship"""
    placed: int
    """occurrences beside the noun of a place: 'the Three Cups inn', 'the village of Marlow'"""
    italic: float
    """between underscores, as ships and newspapers are set"""
    cited: float
    """alone between quotation marks: a word that is quoted, or called out"""
    churchly: float
    """written as a church or a square is: a possessive without a thing possessed"""

    @property
    def determined(self) -> float:
        """Behind an article or a possessive: how descriptions stand, and names of persons do not."""
        return self.the + self.any + self.own


def usage(body: str, spans: Iterable[tuple[int, int]]) -> Usage:
    """Count over a name's occurrences `(start, end)` in `body`. Shares are 0 where there is none."""
    n = the = some = own = located = spoke = acted = afloat = churchly = italic = placed = cited = 0
    for start, end in spans:
        n += 1
        before = body[max(0, start - _BEFORE) : start]
        after = body[end : end + _AFTER]
        the += bool(_THE.search(before))
        some += bool(_ANY.search(before))
        own += bool(_OWN.search(before))
        located += bool(_AT.search(before))
        spoken = bool(_SPOKE_BEFORE.search(before) or _SPOKE_AFTER.search(after))
        spoke += spoken
        acted += not spoken and bool(_ACTED_AFTER.search(after))
        placed += bool(_PLACED_BEFORE.search(before) or _PLACED_AFTER.search(after))
        italic += before.endswith("_") and after.startswith("_")
        afloat += bool(_ABOARD.search(before) or _AFLOAT.search(after))
        cited += bool(_QUOTE_BEFORE.search(before) and _QUOTE_AFTER.match(after))
        churchly += bool(_CHURCHLY.search(after))
    whole = max(n, 1)
    return Usage(
        count=n,
        the=the / whole,
        any=some / whole,
        own=own / whole,
        located=located / whole,
        spoke=spoke,
        acted=acted,
        afloat=afloat,
        placed=placed,
        italic=italic / whole,
        cited=cited / whole,
        churchly=churchly / whole,
    )


def called_he(body: str, spans: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Occurrences after which the next pronoun is 'he', and those after which it is 'she' or 'it'. 'his' says
    nothing: it is as often the speaker's."""
    he = others = 0
    for _, end in spans:
        after = body[end : end + _REACH].split("\n\n")[0]
        if found := _PRONOUN.search(after):
            he += found[1].lower() in _HE
            others += found[1].lower() not in _HE
    return he, others
