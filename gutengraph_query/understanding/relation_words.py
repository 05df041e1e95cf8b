"""English words that ask for a relation, and what they say in sentences: one table for questions and for answers.

The type of a relation is read "source is TYPE target", as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

End = Literal["source", "target"]


@dataclass(frozen=True)
class Asked:
    """What a word asks for: relations by type, and on which end of each its answer stands.

    A father is the source of `parent_of`, a son its target. `gender` is what the word says of the answer,
    `label` what kind of node it must be; '' says nothing.
    """

    ends: tuple[tuple[str, End], ...]
    gender: str = ""
    label: str = ""

    def flipped(self) -> Asked:
        """What 'whose WORD is X' asks for: the other end."""
        return Asked(tuple((kind, _OTHER[end]) for kind, end in self.ends))


_OTHER: dict[End, End] = {"source": "target", "target": "source"}


def _nouns(words: str, relations: str, gender: str = "", label: str = "") -> dict[str, Asked]:
    """`relations`: types joined by spaces; `<type` if the word stands on the target's end."""
    ends: list[tuple[str, End]] = [
        (kind.lstrip("<"), "target" if kind.startswith("<") else "source") for kind in relations.split()
    ]
    meaning = Asked(tuple(ends), gender, label)
    return {word.replace("_", " "): meaning for word in words.split()}


_KIN = (
    "sibling_of cousin_of spouse_of parent_of <parent_of aunt_or_uncle_of <aunt_or_uncle_of grandparent_of "
    "<grandparent_of step_parent_of <step_parent_of"
)

NOUNS: dict[str, Asked] = {
    **_nouns("father fathers dad papa", "parent_of", "M"),
    **_nouns("mother mothers mamma mama", "parent_of", "F"),
    **_nouns("parent parents", "parent_of"),
    **_nouns("son sons", "<parent_of", "M"),
    **_nouns("daughter daughters", "<parent_of", "F"),
    **_nouns("child children", "<parent_of"),
    **_nouns("stepfather step-father", "step_parent_of", "M"),
    **_nouns("stepmother step-mother", "step_parent_of", "F"),
    **_nouns("stepson step-son", "<step_parent_of", "M"),
    **_nouns("stepdaughter step-daughter", "<step_parent_of", "F"),
    **_nouns("grandfather", "grandparent_of", "M"),
    **_nouns("grandmother", "grandparent_of", "F"),
    **_nouns("grandparent grandparents", "grandparent_of"),
    **_nouns("grandson grandsons", "<grandparent_of", "M"),
    **_nouns("granddaughter granddaughters", "<grandparent_of", "F"),
    **_nouns("grandchild grandchildren", "<grandparent_of"),
    **_nouns("brother brothers", "sibling_of", "M"),
    **_nouns("sister sisters", "sibling_of", "F"),
    **_nouns("sibling siblings", "sibling_of"),
    **_nouns("husband husbands", "spouse_of", "M"),
    **_nouns("wife wives", "spouse_of", "F"),
    **_nouns("spouse", "spouse_of"),
    **_nouns("fiancé fiance betrothed", "engaged_to", "M"),
    **_nouns("fiancée fiancee", "engaged_to", "F"),
    **_nouns("aunt aunts", "aunt_or_uncle_of", "F"),
    **_nouns("uncle uncles", "aunt_or_uncle_of", "M"),
    **_nouns("niece nieces", "<aunt_or_uncle_of", "F"),
    **_nouns("nephew nephews", "<aunt_or_uncle_of", "M"),
    **_nouns("cousin cousins", "cousin_of"),
    **_nouns("friend friends companion companions", "friend_of"),
    **_nouns("enemy enemies foe foes rival rivals", "enemy_of"),
    **_nouns("colleague colleagues partner partners", "colleague_of"),
    **_nouns("lover lovers suitor suitors admirer", "loves"),
    **_nouns("captain captains commander skipper", "captain_of", label="Character"),
    **_nouns("mate chief_mate first_mate", "first_mate_of"),
    **_nouns("second_mate", "second_mate_of"),
    **_nouns("third_mate", "third_mate_of"),
    **_nouns("mates", "first_mate_of second_mate_of third_mate_of"),
    **_nouns("harpooneer harpooneers harpooner", "harpooneer_of"),
    **_nouns("coxswain", "coxswain_of"),
    **_nouns("boatswain bosun", "boatswain_of"),
    **_nouns("ship ships vessel", "<captain_of", label="Location"),
    **_nouns("employer employers master mistress", "employer_of"),
    **_nouns("employee employees assistant clerk", "works_for <employer_of"),
    **_nouns("servant servants valet maid butler footman housekeeper gamekeeper cook", "serves works_for"),
    **_nouns("owner owners landlord landlady", "owner_of", label="Character"),
    **_nouns("teacher teachers tutor professor schoolmaster", "teacher_of"),
    **_nouns("pupil pupils student students", "<teacher_of"),
    **_nouns("governess", "governess_of", "F"),
    **_nouns("guardian guardians", "guardian_of"),
    **_nouns("ward wards", "<guardian_of"),
    **_nouns("patron patroness benefactor benefactress", "patron_of"),
    **_nouns("relative relatives kinsman kinswoman relation", _KIN),
    **_nouns("creator maker", "creator_of"),
    **_nouns("creature creation", "<creator_of"),
    **_nouns("killer murderer", "kills"),
    **_nouns("victim victims", "<kills"),
    **_nouns("doctor physician", "<patient_of"),
    **_nouns("patient patients", "patient_of"),
    **_nouns("home residence", "<lives_in", label="Location"),
    **_nouns("birthplace", "<born_in", label="Location"),
}


@dataclass(frozen=True)
class RelationVerb:
    """A verb between two ends; its subject is the source of each type ("X kills Y")."""

    types: tuple[str, ...]

    def asked(self, *, anchor_is_subject: bool) -> Asked:
        """What is asked for when the named end is the verb's subject, or its object."""
        return Asked(tuple((kind, "target" if anchor_is_subject else "source") for kind in self.types))


def _verbs(words: str, types: str) -> dict[str, RelationVerb]:
    return dict.fromkeys(words.split(), RelationVerb(tuple(types.split())))


VERBS: dict[str, RelationVerb] = {
    **_verbs("marry marries married wed weds", "spouse_of engaged_to"),
    **_verbs("engaged betrothed", "engaged_to spouse_of"),
    **_verbs("love loves loved adores", "loves"),
    **_verbs("kill kills killed murder murders murdered slays slew", "kills"),
    **_verbs("command commands commanded captains captained", "captain_of"),
    **_verbs("create creates created", "creator_of"),
    **_verbs("employ employs employed hires hired", "employer_of"),
    **_verbs("serve serves served", "serves works_for"),
    **_verbs("own owns owned", "owner_of"),
    **_verbs("teach teaches taught", "teacher_of"),
    **_verbs("live lives lived reside resides resided dwell dwells dwelt", "lives_in"),
    **_verbs("born native", "born_in"),
    **_verbs("study studies studied", "student_at"),
    **_verbs("befriend befriends befriended", "friend_of"),
    **_verbs("pretended disguised posed impersonated", "same_as"),
}

IDENTITY_WORDS = frozenset(("reality", "truth", "really", "disguise", "alias"))
"""'Who was X in truth?' asks for `same_as`."""

_SAID: dict[str, str] = {
    "sibling_of": "is a sibling of",
    "spouse_of": "is married to",
    "friend_of": "is a friend of",
    "enemy_of": "is an enemy of",
    "cousin_of": "is a cousin of",
    "engaged_to": "is engaged to",
    "colleague_of": "is a colleague of",
    "same_as": "is the same as",
    "related_to": "is connected with",
    "parent_of": "is a parent of",
    "step_parent_of": "is a step-parent of",
    "grandparent_of": "is a grandparent of",
    "aunt_or_uncle_of": "is aunt or uncle of",
    "loves": "loves",
    "employer_of": "is the employer of",
    "serves": "serves",
    "works_for": "works for",
    "owner_of": "is the owner of",
    "captain_of": "is captain of",
    "first_mate_of": "is first mate of",
    "second_mate_of": "is second mate of",
    "third_mate_of": "is third mate of",
    "harpooneer_of": "is harpooneer of",
    "coxswain_of": "is coxswain of",
    "boatswain_of": "is boatswain of",
    "teacher_of": "is a teacher of",
    "student_at": "is a student at",
    "governess_of": "is governess of",
    "guardian_of": "is guardian of",
    "patron_of": "is a patron of",
    "creator_of": "is the creator of",
    "kills": "kills",
    "patient_of": "is a patient of",
    "lives_in": "lives in",
    "born_in": "was born in",
    "takes_part_in": "takes part in",
    "happens_at": "happens at",
}

_GENDERED: dict[str, tuple[str, str]] = {
    "sibling_of": ("is the brother of", "is the sister of"),
    "parent_of": ("is the father of", "is the mother of"),
    "step_parent_of": ("is the stepfather of", "is the stepmother of"),
    "grandparent_of": ("is the grandfather of", "is the grandmother of"),
    "aunt_or_uncle_of": ("is the uncle of", "is the aunt of"),
    "spouse_of": ("is the husband of", "is the wife of"),
}


def said(kind: str, *, gender: str | None = None, sure: bool = True) -> str:
    """How "a is TYPE b" is said between the two names: 'is captain of', 'is probably the sister of'.

    The word of a gender is used where `gender` is M or F; 'probably' where it is not `sure`.
    """
    known = kind in _GENDERED and gender in ("M", "F")
    phrase = _GENDERED[kind][0 if gender == "M" else 1] if known else _SAID[kind]
    if sure:
        return phrase
    verb, _, rest = phrase.partition(" ")
    return f"{verb} probably {rest}" if verb in ("is", "was") else f"probably {phrase}"
