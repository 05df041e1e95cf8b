"""How often what a family of patterns says is right: the confidence of its claims.

Measured by hand: `python -m experiments.relations table` computes these from experiments/relations/judged.jsonl, which holds every
relation read with its verdict.
"""

from __future__ import annotations

MEASURED = "2026-11-30"
_READ: dict[str, float] = {
    # grammar names both
    "genitive": 0.94,
    "genitive_after": 0.88,
    "of": 0.9,
    "and_his": 0.79,
    "are": 0.94,
    "spouse_of": 0.93,
    "engaged_to": 0.93,
    "mr_and_mrs": 0.94,
    "mrs_first_surname": 0.96,
    "rank_of_ship": 0.94,
    "owner": 0.93,
    "of_place": 0.94,
    "lived": 0.94,
    "seat": 0.93,
    "house_at": 0.94,
    "born": 0.95,
    # one end resolved
    "pronoun": 0.76,
    "pronoun_of": 0.81,
    "predicate": 0.88,
    "several": 0.78,
    "engagement": 0.83,
    "engaged_pronoun": 0.79,
    "letter": 0.84,
    "vocative": 0.74,
    "pronoun_place": 0.76,
    "mr_and_mrs_rarely": 0.81,
    "couple_named_once": 0.84,
    "narrators_mother": 0.81,
    "captain_often_seen": 0.81,
    "captain_of_chapter": 0.83,
    # names and numbers
    "surname_kin": 0.91,
    "same_surname_couple": 0.93,
    "nearby": 0.71,
    "nearby_surname": 0.89,
    "captain_and_ship": 0.91,
    "rank_near_ship": 0.93,
    # inferred
    "parent_by_marriage": 0.78,
    "parent_by_sibling": 0.74,
    "siblings_by_parent": 0.64,
    "siblings_by_sibling": 0.61,
    "aunt_by_sibling": 0.72,
    "aunt_by_marriage": 0.79,
    "niece_by_sibling": 0.61,
    "cousin_by_aunt": 0.74,
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
