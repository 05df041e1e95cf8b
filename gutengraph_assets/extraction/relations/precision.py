"""How often what a family of patterns says is right: the confidence of its claims.

Measured by hand: `python -m experiments.relations table` computes these from experiments/relations/judged.jsonl, which holds every
relation read with its verdict.
"""

from __future__ import annotations

MEASURED = "2026-11-30"
_READ: dict[str, float] = {
    # grammar names both
    "genitive": 0.95,
    "genitive_after": 0.88,
    "of": 0.85,
    "and_his": 0.82,
    "are": 0.92,
    "spouse_of": 0.92,
    "engaged_to": 0.91,
    "mr_and_mrs": 0.91,
    "mrs_first_surname": 0.92,
    "rank_of_ship": 0.92,
    "owner": 0.92,
    "of_place": 0.94,
    "lived": 0.93,
    "seat": 0.91,
    "house_at": 0.92,
    "born": 0.93,
    # one end resolved
    "pronoun": 0.75,
    "pronoun_of": 0.8,
    "predicate": 0.87,
    "several": 0.76,
    "engagement": 0.8,
    "engaged_pronoun": 0.76,
    "letter": 0.76,
    "vocative": 0.73,
    "pronoun_place": 0.68,
    "mr_and_mrs_rarely": 0.72,
    "couple_named_once": 0.76,
    "narrators_mother": 0.78,
    "captain_often_seen": 0.78,
    "captain_of_chapter": 0.8,
    # names and numbers
    "surname_kin": 0.91,
    "same_surname_couple": 0.9,
    "nearby": 0.7,
    "nearby_surname": 0.86,
    "captain_and_ship": 0.9,
    "rank_near_ship": 0.92,
    # inferred
    "parent_by_marriage": 0.7,
    "parent_by_sibling": 0.63,
    "siblings_by_parent": 0.6,
    "siblings_by_sibling": 0.56,
    "aunt_by_sibling": 0.67,
    "aunt_by_marriage": 0.72,
    "niece_by_sibling": 0.55,  # .54 with what is found no more (11 of 22); of what is found still 11 of 16 are right
    "cousin_by_aunt": 0.67,
}
_NEEDS_ANOTHER: dict[str, float] = {
    "turn": 0.45,
    "vocative_by_turns": 0.5,
    "pronoun_friend": 0.5,
    "predicate_friend": 0.5,
    "nearby_friend": 0.45,
}
"""Right in about half of a trial on five novels, so that another way or chapter has to say the same: below `find.LEAST` alone."""
PRECISION: dict[str, float] = {**_READ, **_NEEDS_ANOTHER}
