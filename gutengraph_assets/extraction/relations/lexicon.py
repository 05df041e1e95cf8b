"""Words for what one person is to another, and what each says: 'her aunt N' makes N aunt_or_uncle_of her."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Role:
    """What the bearer of a word is to its owner ('her aunt': owner 'her')."""

    type: str
    inverse: bool = False
    """Whether the owner is TYPE the bearer: 'her son N' makes her parent_of N."""
    gender: str | None = None
    """What the word says of its bearer: M or F."""


def _entry(words: str, type_: str, gender: str | None = None, *, inverse: bool = False) -> dict[str, Role]:
    return dict.fromkeys(words.split("|"), Role(type_, inverse, gender))


KIN: dict[str, Role] = {
    **_entry("father|papa", "parent_of", "M"),
    **_entry("mother|mamma|mama", "parent_of", "F"),
    **_entry("son|eldest son|only son|youngest son|little boy", "parent_of", "M", inverse=True),
    **_entry("daughter|eldest daughter|only daughter|youngest daughter", "parent_of", "F", inverse=True),
    **_entry("child|only child", "parent_of", inverse=True),
    **_entry("brother|elder brother|younger brother|eldest brother|half-brother", "sibling_of", "M"),
    **_entry(
        "sister|elder sister|younger sister|eldest sister|half-sister|youngest sister", "sibling_of", "F"
    ),
    **_entry("husband", "spouse_of", "M"),
    **_entry("wife|lady wife|late wife", "spouse_of", "F"),
    **_entry("uncle|great-uncle", "aunt_or_uncle_of", "M"),
    **_entry("aunt|great-aunt", "aunt_or_uncle_of", "F"),
    **_entry("nephew", "aunt_or_uncle_of", "M", inverse=True),
    **_entry("niece", "aunt_or_uncle_of", "F", inverse=True),
    **_entry("cousin", "cousin_of"),
    **_entry("grandfather", "grandparent_of", "M"),
    **_entry("grandmother", "grandparent_of", "F"),
    **_entry("grandson", "grandparent_of", "M", inverse=True),
    **_entry("granddaughter|grand-daughter", "grandparent_of", "F", inverse=True),
    **_entry("stepfather|step-father", "step_parent_of", "M"),
    **_entry("stepmother|step-mother", "step_parent_of", "F"),
    **_entry("stepson|step-son", "step_parent_of", "M", inverse=True),
    **_entry("stepdaughter|step-daughter", "step_parent_of", "F", inverse=True),
    **_entry("betrothed|fiance|fiancee|fiancé|fiancée|affianced|intended", "engaged_to"),
}
"""'brother-in-law', 'mother-in-law' and the like are none of these: the patterns refuse '-in-law'."""

OTHERS: dict[str, Role] = {
    **_entry("friend|best friend|old friend|dear friend|intimate friend|dearest friend", "friend_of"),
    **_entry("enemy|mortal enemy|old enemy|rival", "enemy_of"),
    **_entry("colleague|partner", "colleague_of"),
    **_entry("housekeeper|maid|servant|manservant|man-servant|valet|butler|cook|groom|coachman", "serves"),
    **_entry("footman|gardener|gamekeeper|steward|maidservant|waiting-maid|cabin-boy|page", "serves"),
    **_entry("clerk|secretary|agent|bailiff|man of business", "works_for"),
    **_entry("governess", "governess_of", "F"),
    **_entry("tutor|schoolmaster|schoolmistress|professor", "teacher_of"),
    **_entry("pupil", "teacher_of", inverse=True),
    **_entry("guardian", "guardian_of"),
    **_entry("ward", "guardian_of", inverse=True),
    **_entry("patron|patroness|benefactor|benefactress", "patron_of"),
    **_entry("employer|master|mistress", "employer_of"),
    **_entry("patient", "patient_of"),
    **_entry("harpooneer|harpooner", "harpooneer_of", "M"),
}

ROLES: dict[str, Role] = {**KIN, **OTHERS}

RANKS: dict[str, str] = {
    "captain": "captain_of",
    "master": "captain_of",
    "skipper": "captain_of",
    "first mate": "first_mate_of",
    "chief mate": "first_mate_of",
    "first officer": "first_mate_of",
    "mate": "first_mate_of",
    "second mate": "second_mate_of",
    "third mate": "third_mate_of",
    "boatswain": "boatswain_of",
    "bosun": "boatswain_of",
    "coxswain": "coxswain_of",
    "harpooneer": "harpooneer_of",
    "harpooner": "harpooneer_of",
}
"""What a member of a crew is to the ship."""

OWNERS: tuple[str, ...] = ("owner", "proprietor", "landlord", "landlady", "part-owner", "principal owner")
"""What a person is to a house, an inn or a ship that is theirs."""
