"""What of the gold relations is found, and of each that is not, how far it got."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from experiments.relations.rerun import Rerun
from gutengraph_assets.extraction.relations.possible import possible
from gutengraph_core.graph.schema import SYMMETRIC
from gutengraph_query.evaluate.gold import GoldBook, GoldRelation, character_matcher, place_matcher

Group = Literal["kin", "rank", "other"]
KIN = frozenset("parent_of sibling_of spouse_of engaged_to cousin_of aunt_or_uncle_of".split())
RANK = frozenset(
    "captain_of first_mate_of second_mate_of third_mate_of harpooneer_of boatswain_of coxswain_of".split()
)


def group_of(type_: str) -> Group:
    """Kinship, rank aboard ship, or anything else."""
    return "kin" if type_ in KIN else "rank" if type_ in RANK else "other"


@dataclass(frozen=True)
class Judged:
    """One gold relation: `typed` and `pair` say whether it was found, `why` how far a missed one got."""

    book: int
    gold: GoldRelation
    typed: bool
    pair: bool
    how: str
    why: str


def judge(gold: GoldBook, run: Rerun) -> Iterator[Judged]:
    """Every gold relation of the book, against the relations of the run."""
    characters, places = character_matcher(gold), place_matcher(gold)
    owners = {
        e.id: characters.of_names(e.aliases) | places.of_names(e.aliases) for e in [*run.people, *run.others]
    }
    for wanted in gold.relations:
        typed, pair, how = False, False, ""
        for relation in run.relations:
            ways = [(relation.source, relation.target)]
            back = (relation.target, relation.source)
            if any(wanted.a in owners[x] and wanted.b in owners[y] for x, y in [*ways, back]):
                pair = True
            if relation.type in SYMMETRIC:
                ways.append(back)
            if relation.type == wanted.type and any(
                wanted.a in owners[x] and wanted.b in owners[y] for x, y in ways
            ):
                typed, how = True, relation.how
        yield Judged(run.book, wanted, typed, pair, how, "" if typed else _why(wanted, run, owners))


def _why(wanted: GoldRelation, run: Rerun, owners: dict[str, set[str]]) -> str:
    entities = {e.id: e for e in [*run.people, *run.others]}
    a = [e for e in entities.values() if wanted.a in owners[e.id]]
    b = [e for e in entities.values() if wanted.b in owners[e.id]]
    if not a or not b:
        return "an end is not in the graph: " + " and ".join(
            name for name, found in ((wanted.a, a), (wanted.b, b)) if not found
        )
    ids_a, ids_b = {e.id for e in a}, {e.id for e in b}
    text = run.text
    sentences = [{text.sentence_of(m.start) for e in found for m in e.mentions} for found in (a, b)]
    together = len(sentences[0] & sentences[1])
    claimed: dict[str, list[str]] = {}
    for claim in run.claims:
        one, other = {claim.a, claim.b} & ids_a, {claim.a, claim.b} & ids_b
        if one and other and one != other:
            turned = claim.type not in SYMMETRIC and claim.b in ids_a
            claimed.setdefault(claim.type + (" (turned)" if turned else ""), []).append(
                f"{claim.family} {claim.confidence}"
            )
    genders = "/".join(str(getattr(e, "gender", None)) for e in (a[0], b[0]))
    impossible = (
        ""
        if not hasattr(a[0], "gender") or not hasattr(b[0], "gender") or possible(wanted.type, a[0], b[0])  # type: ignore[arg-type]
        else "; names or genders against it"
    )
    return f"{together} sentences with both, {genders}; claims {claimed or 'none'}{impossible}"
