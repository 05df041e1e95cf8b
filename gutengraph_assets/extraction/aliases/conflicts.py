"""What two names of one person cannot be. Conflicts hold between whole clusters: one bad pair keeps them apart."""

from __future__ import annotations

from gutengraph_assets.extraction.aliases.given_names import are_variants
from gutengraph_assets.extraction.aliases.person_name import OLD, YOUNG, PersonName

RANKS = frozenset(
    "captain colonel major general lieutenant sergeant corporal admiral commodore reverend bishop inspector judge governor dr prof".split()
)
_SAME_CALLING = (
    frozenset({"dr", "prof"}),
    frozenset({"dr", "reverend"}),
    frozenset({"reverend", "bishop"}),
    frozenset({"captain", "admiral", "commodore"}),
    frozenset({"captain", "major", "colonel", "general", "lieutenant"}),
)
_ROYAL = frozenset(("king", "queen", "saint"))
_NEVER_TOGETHER = frozenset(
    frozenset(pair)
    for pair in (
        ("mrs", "miss"),
        ("lady", "miss"),
        ("lady", "mrs"),
        ("sir", "mr"),
        ("lord", "mr"),
        ("madame", "mademoiselle"),
    )
)


def conflict(a: PersonName, b: PersonName, *, gender_a: str | None, gender_b: str | None) -> str | None:
    """Why `a` and `b` cannot be one person, or None. Genders are the names' own where known, else the pronouns'."""
    if gender_a and gender_b and gender_a != gender_b:
        return "gender"
    if titles := _titles_conflict(a, b):
        return titles
    if {a.age, b.age} == {YOUNG, OLD}:
        return "age"
    ga, gb = a.given, b.given
    if ga and gb and not are_variants(ga, gb) and not (_is_surname(a, b) or _is_surname(b, a)):
        return "given_name"
    if (_ROYAL & set(a.titles) and b.surname) or (_ROYAL & set(b.titles) and a.surname):
        return "title"  # a king goes by no surname
    sa, sb = a.surname, b.surname
    if sa and sb and sa != sb and not _surname_within(sa, sb):
        return "surname"
    return _married(a, b) or _married(b, a)


def _titles_conflict(a: PersonName, b: PersonName) -> str | None:
    for x in a.titles:
        for y in b.titles:
            if frozenset((x, y)) in _NEVER_TOGETHER:
                return "title"
            if (
                x in RANKS
                and y in RANKS
                and x != y
                and not any({x, y} <= calling for calling in _SAME_CALLING)
            ):
                return "title"
            if (x in RANKS and y in ("mrs", "miss", "lady", "madame")) or (
                y in RANKS and x in ("mrs", "miss", "lady", "madame")
            ):
                return "title"
    return None


def _is_surname(single: PersonName, full: PersonName) -> bool:
    """'Anderson' beside 'Job Anderson' is his surname, whatever lists of given names say."""
    return single.single and full.surname == single.rest[0]


def _surname_within(a: str, b: str) -> bool:
    """'bourgh' of 'de bourgh', 'saxe' of 'von saxe', the 'f' of 'Colonel F'."""
    if 1 in (len(a), len(b)):
        return a[0] == b[0]
    wa, wb = a.split(" "), b.split(" ")
    return set(wa) <= set(wb) or set(wb) <= set(wa)


def _married(a: PersonName, b: PersonName) -> str | None:
    """'Mrs. X' and 'Lady X' are not 'First X', who has his or her own name; 'Mrs. First X' says so itself."""
    wife = {"mrs", "madame", "lady"}
    if not (wife & set(a.titles[-1:]) and a.single and a.given is None):
        return None
    return "married" if b.given and not b.single and not wife & set(b.titles) else None
