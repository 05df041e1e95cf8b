"""Reading relations out of a passage: the task that the sweeps and the compiled prompts share.

The pipeline finds relations by patterns (`gutengraph_assets/extraction/relations`); this is what a model that reads
would add to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from experiments.lab.sample import Novel, standing_in
from gutengraph_core import names
from gutengraph_core.graph.schema import DIRECTED, RELATION_TYPES, SYMMETRIC
from gutengraph_core.llm.profile import Style
from gutengraph_query.evaluate.gold import GoldRelation, Matcher

_TYPES = tuple(sorted(RELATION_TYPES - {"related_to"}))


class Fact(BaseModel):
    """Read: a is TYPE b."""

    model_config = ConfigDict(extra="forbid")

    a: str
    type: Literal[*_TYPES]  # type: ignore[valid-type]
    b: str


class Facts(BaseModel):
    """The relations of one passage."""

    model_config = ConfigDict(extra="forbid")

    relations: list[Fact]


RELATION_TASK = (
    "Say how the people and places named in the text are related, as far as the text says so. Each relation is read "
    "'a is TYPE b': a parent_of b means that a is the parent of b. Name a and b as the text does."
)
_EXHAUSTIVE = (
    "Go through the text sentence by sentence and leave no relation out: kinship and marriage, love and enmity, friendship, service and "
    "rank, who owns, teaches or kills whom, who lives or was born where. A relation counts if a sentence states it or leaves no doubt."
)


def relation_prompt(text: str, *, instruct: bool, style: Style = "terse") -> str:
    """The prompt for one passage; the question comes last for a base model (see the names list)."""
    more = f" {_EXHAUSTIVE}" if style == "exhaustive" else ""
    if instruct:
        told = f"Types: {', '.join(sorted(DIRECTED))}; those that hold both ways: {', '.join(sorted(SYMMETRIC - {'related_to'}))}."
        return f"{RELATION_TASK}{more}\n{told}\n\nText: {text}\nRelations:"
    return (
        f"Text:\n{text}\n\nHow are the people and places named in this text related?{more} Answer as JSON:\n"
    )


Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Judged:
    """What a passage's relations are against the gold."""

    right: int
    wrong: int
    """Of the passage's gold people, but not so in the gold, whose lists are not complete: some of these are true."""
    missed: int
    """Gold relations both of whose ends the passage names."""
    unheard: int
    """With an end that the passage does not name."""

    @property
    def f1(self) -> float:
        """1 where there is nothing to say and nothing was said."""
        whole = 2 * self.right + self.wrong + self.missed + self.unheard
        return 2 * self.right / whole if whole else 1.0


def wanted(novel: Novel, relations: Iterable[GoldRelation], text: str) -> list[GoldRelation]:
    """The gold relations both of whose ends `text` names; it need not say that they hold."""
    here = standing_in(novel.people, text).keys() | standing_in(novel.places, text).keys()
    return [one for one in relations if one.a in here and one.b in here]


def judge(novel: Novel, relations: Sequence[GoldRelation], text: str, found: Iterable[Fact]) -> Judged:
    """Each relation found against the gold, once; a symmetric one in either order."""
    matcher = Matcher([*novel.people.items(), *novel.places.items()])
    true = {_triple(one.a, one.type, one.b) for one in relations}
    here = {_triple(one.a, one.type, one.b) for one in wanted(novel, relations, text)}
    words = f" {names.key(text)} "
    right: set[Triple] = set()
    wrong: set[Triple] = set()
    unheard: set[Triple] = set()
    for fact in found:
        said = _triple(names.key(fact.a), fact.type, names.key(fact.b))
        if not all(names.key(end) and f" {names.key(end)} " in words for end in (fact.a, fact.b)):
            unheard.add(said)
            continue
        meant = {_triple(a, fact.type, b) for a in matcher.of_name(fact.a) for b in matcher.of_name(fact.b)}
        right |= meant & true
        if not meant & true:
            wrong.add(said)
    return Judged(len(right), len(wrong), len(here - right), len(unheard))


def _triple(a: str, kind: str, b: str) -> Triple:
    return (min(a, b), kind, max(a, b)) if kind in SYMMETRIC else (a, kind, b)
