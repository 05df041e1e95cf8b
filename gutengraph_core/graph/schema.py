"""The graph's schema: the one source that the writer, the prompts and the documentation read."""

from __future__ import annotations

from typing import Literal

SYMMETRIC: frozenset[str] = frozenset(
    "sibling_of spouse_of friend_of enemy_of cousin_of engaged_to colleague_of same_as related_to".split()
)

DIRECTED: frozenset[str] = frozenset(
    "parent_of step_parent_of grandparent_of aunt_or_uncle_of loves employer_of serves works_for owner_of captain_of "
    "first_mate_of second_mate_of third_mate_of harpooneer_of coxswain_of boatswain_of teacher_of student_at "
    "governess_of guardian_of patron_of creator_of kills patient_of lives_in born_in".split()
)

RELATION_TYPES: frozenset[str] = SYMMETRIC | DIRECTED
"""Read: a is TYPE b. `related_to` where the text says no more."""

Label = Literal["Character", "Location", "Object", "Event"]
LABELS: tuple[Label, ...] = ("Character", "Location", "Object", "Event")

ROLES: tuple[str, ...] = ("protagonist", "antagonist", "supporting", "minor")

INTERACTS_PAIRS: tuple[tuple[Label, Label], ...] = (
    ("Character", "Location"),
    ("Character", "Object"),
    ("Character", "Event"),
    ("Object", "Location"),
    ("Event", "Location"),
    ("Object", "Event"),
)
"""The pairs that INTERACTS_WITH holds; RELATED_TO is Character to Character."""
