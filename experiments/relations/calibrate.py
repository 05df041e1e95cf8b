"""The hand check, written down, and the precision of each family that it gives."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from experiments.relations.known import Facts
from experiments.relations.recall import KIN, RANK
from experiments.relations.rerun import Rerun
from gutengraph_assets.extraction.relations.find import Relation
from gutengraph_core.graph.schema import STATED
from gutengraph_query.evaluate.score import Share, added, share

WEIGHT = 10
"""For how many read relations the precision of a family's whole class counts: of some families hardly any were read."""
CLASSES: dict[str, str] = {
    "grammar names both": "genitive genitive_after of and_his are spouse_of engaged_to mr_and_mrs mrs_first_surname rank_of_ship owner "
    "of_place lived seat house_at born",
    "one end resolved": "pronoun pronoun_of predicate several engagement engaged_pronoun letter vocative pronoun_place "
    "mr_and_mrs_rarely couple_named_once narrators_mother captain_often_seen captain_of_chapter",
    "names and numbers": "surname_kin same_surname_couple nearby nearby_surname captain_and_ship rank_near_ship",
    "inferred": "parent_by_marriage parent_by_sibling siblings_by_parent siblings_by_sibling aunt_by_sibling aunt_by_marriage "
    "niece_by_sibling cousin_by_aunt",
}
"""Families by how they know who is meant. Those that are believed only with another way or chapter are not here: what is kept
of them says nothing of what they are worth alone."""


class Row(TypedDict):
    """One relation as found and read. `verdict` is right, wrong or unsure."""

    book: int
    gold: bool
    chapter: int
    start: int
    end: int
    a: str
    type: str
    b: str
    how: str
    confidence: float
    verdict: str
    reason: str


def rows(run: Rerun, facts: Facts, *, gold: bool) -> Iterator[Row]:
    """Every relation of a run with what is known of it."""
    for r in run.relations:
        verdict = facts.verdict(r)
        said = "unsure" if verdict == "unknown" else verdict
        yield row_of(run, r, gold=gold, verdict=said, reason=facts.reason(r))


def row_of(run: Rerun, relation: Relation, *, gold: bool, verdict: str = "unsure", reason: str = "") -> Row:
    """A relation of a run as a row; without verdict and reason one that nobody has judged."""
    names = run.names
    return Row(
        book=run.book,
        gold=gold,
        chapter=relation.chapter,
        start=relation.start,
        end=relation.end,
        a=names[relation.source],
        type=relation.type,
        b=names[relation.target],
        how=relation.how,
        confidence=relation.confidence,
        verdict=verdict,
        reason=reason,
    )


def load(path: Path) -> list[Row]:
    """The rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def precision(judged: Iterable[Row]) -> Share:
    """Right among those read with a verdict."""
    verdicts = [row["verdict"] for row in judged if row["verdict"] != "unsure"]
    return share(verdicts.count("right"), len(verdicts))


def families(judged: Sequence[Row]) -> dict[str, list[Row]]:
    """Family -> the rows that it found, alone or with others."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in judged:
        for way in row["how"].split(","):
            found[way.partition(":")[2]].append(row)
    return dict(sorted(found.items()))


def confidences(judged: Sequence[Row]) -> dict[str, float]:
    """Family -> its precision drawn towards its class's, the more the fewer were read."""
    found = families(judged)
    sure = {}
    for members in CLASSES.values():
        listed = members.split()
        read = {family: precision(found.get(family, [])) for family in listed}
        pooled = added(read.values())
        for family, one in read.items():
            sure[family] = round((one["hits"] + (pooled["value"] or 0.0) * WEIGHT) / (one["of"] + WEIGHT), 2)
    return sure


def groups(judged: Sequence[Row]) -> dict[str, Share]:
    """The figures that are claimed: kin and rank, stated and likely, on gold books and on others."""
    kin = [row for row in judged if row["type"] in KIN | RANK]
    parts = {
        "all": list(judged),
        "kin and rank": kin,
        "kin and rank, gold books": [row for row in kin if row["gold"]],
        "kin and rank, other books": [row for row in kin if not row["gold"]],
        "stated": [row for row in judged if row["confidence"] >= STATED],
        "stated, other books": [row for row in judged if row["confidence"] >= STATED and not row["gold"]],
        "stated, kin and rank": [row for row in kin if row["confidence"] >= STATED],
        "likely": [row for row in judged if row["confidence"] < STATED],
    }
    return {name: precision(part) for name, part in parts.items()}
