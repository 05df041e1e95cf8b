"""The enums that answers about a person are brought to, and how often that took a change of words.

Rules read a title ('Lady'), a model writes what it likes ('the hero of the story'): both end in one of a few words, so that
they can be counted and asked for. What the words were is kept beside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from gutengraph_core.graph.schema import CHARACTER_TYPES, ROLES, SOCIAL_CLASSES
from gutengraph_core.names import key, squeeze

Field = Literal["role", "gender", "character_type", "social_class"]

VALUES: dict[Field, tuple[str, ...]] = {
    "role": ROLES,
    "gender": ("M", "F"),
    "character_type": CHARACTER_TYPES,
    "social_class": SOCIAL_CLASSES,
}
_SYNONYMS: dict[Field, dict[str, str]] = {
    "role": {
        "protagonist": "hero|heroine|main character|central character|lead|leading character|narrator|title character",
        "antagonist": "villain|villainess|enemy|foe|adversary|opponent|rival|nemesis",
        "supporting": "secondary|secondary character|ally|friend|mentor|love interest|sidekick|confidant|confidante|foil",
        "minor": "minor character|background|extra|cameo|peripheral|incidental|tertiary",
    },
    "gender": {"M": "male|man|boy|he|masculine", "F": "female|woman|girl|she|feminine"},
    "character_type": {
        "human": "man|woman|person|boy|girl|child|human being|people",
        "animal": "beast|dog|cat|horse|bird|whale|fish",
        "creature": "monster|giant|dragon|vampire|made being|alien|hybrid",
        "spirit": "ghost|god|goddess|devil|demon|angel|fairy|supernatural being|deity",
    },
    "social_class": {
        "royalty": "royal|king|queen|prince|princess|emperor|empress|monarch",
        "nobility": "noble|aristocrat|aristocracy|lord|lady|sir|duke|duchess|earl|count|countess|baron|baroness|baronet|viscount|"
        "marquis|dame|upper class|peer|titled",
        "gentry": "gentleman|gentlewoman|landed gentry|landowner|squire|esquire|upper middle class|wealthy",
        "clergy": "clergyman|priest|vicar|parson|reverend|bishop|minister|monk|nun|religious",
        "officer": "captain|colonel|major|general|lieutenant|admiral|commodore|soldier|military|sergeant|naval officer",
        "professional": "doctor|dr|physician|lawyer|professor|prof|judge|teacher|scholar|scientist|detective|inspector|governess|"
        "middle class|educated",
        "trade": "merchant|shopkeeper|tradesman|businessman|innkeeper|banker|clerk|commerce",
        "labour": "labourer|laborer|worker|working class|peasant|farmer|sailor|seaman|lower class|craftsman|fisherman|poor",
        "servant": "maid|butler|footman|housekeeper|cook|nurse|coachman|domestic|slave|valet",
        "outcast": "criminal|thief|pirate|beggar|vagabond|orphan|exile|convict|fugitive|outlaw",
    },
}
_CANONICAL: dict[Field, dict[str, str]] = {
    name: {
        **{key(value): value for value in VALUES[name]},
        **{key(word): value for value, words in synonyms.items() for word in words.split("|")},
    }
    for name, synonyms in _SYNONYMS.items()
}
_NEGATED = re.compile(
    r"\b(?:not|no|non|never|neither|nor|hardly|scarcely|barely|without|anything but|rather than|\w+n t)\b"
)
"""In words folded by `key`, where 'isn't' is 'isn t'."""
_NOTHING = frozenset(("", "unknown", "none", "n a", "not stated", "unclear", "unspecified"))


def says_nothing(answer: str) -> bool:
    """Whether an answer is empty or a word for not knowing."""
    return key(answer) in _NOTHING


def is_negated(answer: str) -> bool:
    """Whether an answer says what somebody or something is not: 'not a villain' names no role."""
    return _NEGATED.search(key(answer)) is not None


@dataclass
class Normaliser:
    """Brings answers to their enum and counts what that took."""

    same: int = 0
    """Answers that were one of the enum's words as they came."""
    normalised: int = 0
    unknown: int = 0
    """Answers that fit no word of the enum: null in the graph."""
    raw: dict[str, dict[str, str]] = field(default_factory=dict)
    """Person's id -> field -> the answer as it was given, where it was changed or not understood."""

    def take(self, person: str, name: Field, answer: str) -> str | None:
        """The canonical word for an answer; None for one that says nothing or fits no word."""
        given = squeeze(answer)
        if says_nothing(given):
            return None
        folded = key(given)
        known = _CANONICAL[name]
        value = known.get(folded) or _only_one(folded, known)
        if value is not None and given == value:
            self.same += 1
            return value
        if value is None:
            self.unknown += 1
        else:
            self.normalised += 1
        self.raw.setdefault(person, {})[name] = given
        return value


def _only_one(folded: str, known: dict[str, str]) -> str | None:
    """What a longer answer says, if its words point to one value only ('the hero of the tale') and none is denied."""
    if is_negated(folded):
        return None
    padded = f" {folded} "
    found = {value for word, value in known.items() if len(word) > 2 and f" {word} " in padded}
    return found.pop() if len(found) == 1 else None
