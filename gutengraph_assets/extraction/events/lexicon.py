"""Words for events: nouns that name one, verbs that state one, and the canonical kind of each."""

from __future__ import annotations

import re

_NOUNS: dict[str, str] = {
    "death": "death decease suicide",
    "killing": "murder assassination slaying",
    "execution": "execution hanging beheading",
    "burial": "funeral burial interment",
    "birth": "birth christening",
    "marriage": "wedding marriage nuptials",
    "elopement": "elopement",
    "trial": "trial court-martial",
    "arrest": "arrest capture imprisonment",
    "escape": "escape",
    "crime": "robbery theft burglary kidnapping abduction",
    "battle": "battle siege storming massacre",
    "gathering": "ball banquet concert picnic coronation",
    "uprising": "mutiny revolt rebellion insurrection",
    "disaster": "shipwreck wreck sinking",
    "treaty": "treaty armistice",
}
KIND_OF_NOUN: dict[str, str] = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}
"""Words that mean an occasion and often something else ('party', 'dinner', 'fire', 'race', 'affair') are left out."""

OF_A_PLACE = frozenset("battle gathering uprising crime killing treaty disaster".split())
"""Kinds that are named by where they happened: 'the ball at Saltby', 'the Saltby murder'."""
OF_A_PERSON = frozenset(
    "death killing execution burial birth marriage elopement trial arrest escape crime".split()
)
ENDS = ("execution", "killing", "death")
"""A person dies once: of these, the first that the text says."""

_PASSIVE: dict[str, str] = {
    "murdered": "murder",
    "assassinated": "assassination",
    "killed": "death",
    "slain": "death",
    "drowned": "death",
    "hanged": "execution",
    "executed": "execution",
    "beheaded": "execution",
    "guillotined": "execution",
    "buried": "burial",
    "arrested": "arrest",
    "married": "marriage",
    "kidnapped": "kidnapping",
}
_ACTIVE: dict[str, str] = {"died": "death", "expired": "death", "eloped": "elopement"}
_IS = r"(?:(?:is|was|were|are|lay|has\s+been|had\s+been|being)\s+)"
_ADVERB = r"(?:(?:now|then|suddenly|afterwards|really|lately|since|soon|at\s+last|there|\w+ly)\s+)?"
STATED = re.compile(
    rf"[\s,]+(?:{_IS}{_ADVERB}(?P<passive>dead|{'|'.join(_PASSIVE)})"
    rf"|(?:had\s+|has\s+)?{_ADVERB}(?P<active>{'|'.join(_ACTIVE)}))\b"
    r"(?!\s+(?:to\b|away\b|against\b|set\b|tired\b|drunk\b|asleep\b|sure\b|certain\b|in\s+earnest\b|in\s+(?:the|his|her|my)\s+(?:book|books|thought|thoughts|papers|morning|hands|newspaper)))"
)
"""What may follow a name: 'was murdered', 'had died'. 'Buried in the papers' is no burial, 'dead against it' no death."""
COMPOUND = (
    r"(?!\s+(?:bed|beds|bell|bells|warrant|settlement|settlements|portion|articles|certificate|day|night|rattle|blow|agony|mask|scene|"
    r"party|dress|gown|guest|guests|march|breakfast|present|presents|morning|clothes|trip|tour|vow|vows|service|bill|price|room)\b)"
)
"""What may not follow a noun: a marriage bed is no marriage."""


def noun_of(match: re.Match[str]) -> str:
    """The noun for what a match of STATED says: 'was dead' -> 'death'."""
    if passive := match["passive"]:
        return _PASSIVE.get(passive, "death")
    return _ACTIVE[match["active"]]


UNSURE = re.compile(
    r"\b(?:if|unless|whether|perhaps|suppos\w+|doubt\w*|fear\w*|afraid|hop(?:e|es|ed|ing)|wish\w*|think|thinks|thought|believ\w+|"
    r"could|would|should|shall|may|might|must|can|will|nearly|almost|threat\w*|prevent\w*|dream\w*|"
    r"imagin\w+|fanc(?:y|ied)|until|till|expect\w*|prospect|possib\w+|chance|intend\w*|meditat\w+|plan\w*|propos\w+|"
    r"seem\w*|as\s+though|attempt\w*|pretend\w*|averse|opposed?|talk\w*|rumou?r\w*|report\w*|in\s+view|bent\s+(?:up)?on)\b",
    re.IGNORECASE,
)
"""Said before an event in its sentence, they make it less than a fact."""
DENIED = re.compile(r"\b(?:never|not|nor|no|neither|without)\b[^,;:—]*\Z|n['’]t\b[^,;:—]*\Z", re.IGNORECASE)
"""The same before it in its clause."""

_CAPITALISED = r"[A-Z][\w-]+(?:['’]\w+)?(?:\s+(?:de\s+|la\s+|the\s+)?[A-Z][\w-]+)*"
NAMED = re.compile(
    r"\b(?P<whole>(?P<noun>[Bb]attle|[Ss]iege|[Ss]torming|[Mm]assacre|[Tt]reaty|[Pp]eace|[Ww]reck|[Ss]inking)"
    rf"\s+of\s+(?:the\s+)?(?P<of>{_CAPITALISED}))"
)
"""Events with a name of their own, which need nobody of the book."""
KIND_OF_NAMED = {**KIND_OF_NOUN, "peace": "treaty"}
