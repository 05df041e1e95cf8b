"""Kin without a name beside the word ('her mother smiled'): who stands near such words more often than by chance.

Over a whole book, each 'her mother' whose 'her' is known casts a vote for every fitting person named near it. A vote is set
against how often that person is named near its owner anyway, so that who is always about gains nothing by it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.lexicon import ROLES, Role
from gutengraph_assets.extraction.relations.marked import PERSON, Marked
from gutengraph_assets.extraction.relations.owners import Owners
from gutengraph_assets.extraction.relations.possible import called_aunt, of_an_age, possible
from gutengraph_core.graph.schema import SYMMETRIC

AHEAD = 1.5
"""Who is the one guardian, aunt or father has to lead the next by this factor."""
_ONE = frozenset(
    "parent_of spouse_of engaged_to guardian_of patron_of aunt_or_uncle_of step_parent_of".split()
)
"""Of these a person has one or few, so that only the likeliest is claimed."""
_TYPES = _ONE | frozenset(("sibling_of", "cousin_of", "grandparent_of", "friend_of"))
OF_ONE_NAME = frozenset(("parent_of", "sibling_of"))
_EVERY = 5
"""Sentences sampled for what is usual around a narrator: every fifth is plenty and five times as fast."""
LEAST_VOTES = 4
LEAST_SURPLUS = 0.8
LEAST_VOTES_ALIKE = 2
LEAST_SURPLUS_ALIKE = 0.0
"""For parent and child, brother and sister of one surname, which speaks for them already."""
LEAST_VOTES_MARRIED = 6
"""For brother and sister of two surnames: one is married, and half the neighbourhood is."""
LEAST_PART = 0.25
"""Of what speaks for somebody as anybody's aunt, what has to speak for this one: less comes of mistaken owners."""
"""Of votes over those expected by chance, in square roots of the expected (its usual deviation, were votes independent)."""
SAME_SENTENCE, NEXT_SENTENCE, NEXT_PARAGRAPH = 1.0, 0.7, 0.4
"""Weight of a vote by where the person is named. In the trial the right person stood in the word's own sentence for 83 of
130 relations, in it or a neighbouring one for 99, in the paragraph for 114."""

_WORDS = "|".join(
    sorted((re.escape(word) for word, role in ROLES.items() if role.type in _TYPES), key=len, reverse=True)
)
_UNNAMED = re.compile(
    rf"(?:\b(?P<owner>[Hh]is|[Hh]er|[Mm]y|[Yy]our|[Oo]ur|[Tt]heir)|{PERSON}'s?) (?:\w+ )?(?P<role>{_WORDS})\b(?!-|'s? <P|,? <P)"
)


@dataclass(frozen=True)
class _Word:
    """One kin word without a name: whose it is, what it says, and where it stands."""

    owner: Person
    role: Role
    sentence: int
    paragraph: int


class Nearby:
    """Gathers the kin words of a book, sentence by sentence, then says who they mean."""

    def __init__(self, text: BookText, people: Sequence[Person]) -> None:
        self._text = text
        # Who has no name of his own has no family in a text either.
        self._people = {p.id: p for p in people if any(a[:1].isupper() for a in p.aliases)}
        self._in_sentence: dict[int, set[str]] = defaultdict(set)
        self._in_paragraph: dict[int, set[str]] = defaultdict(set)
        for person in self._people.values():
            for mention in person.mentions:
                self._in_sentence[text.sentence_of(mention.start)].add(person.id)
                self._in_paragraph[text.paragraph_of(mention.start)].add(person.id)
        self._words: list[_Word] = []

    def read(self, sentence: Marked, owners: Owners) -> None:
        """Take in one sentence's kin words."""
        for match in _UNNAMED.finditer(sentence.text):
            if match.group("owner"):
                whose = owners.all_of(match.group("owner"), sentence, match.start("owner"))
            else:
                whose = [sentence.person(match.group(2))]
            paragraph = self._text.paragraph_of(sentence.start)
            self._words += [
                _Word(owner, ROLES[match.group("role")], sentence.index, paragraph)
                for owner in whose
                if owner.id in self._people
            ]

    def claims(self) -> Iterator[Claim]:
        """The pairs that stand out."""
        votes: Counter[tuple[str, str, str]] = Counter()
        weight: dict[tuple[str, str, str], float] = defaultdict(float)
        chance: dict[tuple[str, str, str], float] = defaultdict(float)
        places: dict[tuple[str, str, str], list[tuple[int, int, int]]] = defaultdict(list)
        usual = {word.owner.id: self._usual(word.owner) for word in self._words}
        for word in self._words:
            near = self._near(word.sentence, word.paragraph)
            for other in sorted({*near, *usual[word.owner.id]}):
                key = self._key(word, self._people[other])
                if key is not None:
                    votes[key] += other in near
                    if near.get(other, 0.0) >= NEXT_SENTENCE:
                        places[key].append(self._place(word, other))
                    weight[key] += near.get(other, 0.0)
                    chance[key] += usual[word.owner.id].get(other, 0.0)
        surplus = {key: (weight[key] - chance[key]) / math.sqrt(chance[key] + 0.5) for key in votes}
        for key in sorted(votes):
            a, type_, b = key
            named_alike = type_ in OF_ONE_NAME and bool(self._people[a].surnames & self._people[b].surnames)
            least_votes, least_surplus = (
                (LEAST_VOTES_ALIKE, LEAST_SURPLUS_ALIKE) if named_alike else (LEAST_VOTES, LEAST_SURPLUS)
            )
            if type_ == "sibling_of" and self._differ(a, b):
                least_votes = LEAST_VOTES_MARRIED
            if votes[key] < least_votes or surplus[key] < least_surplus or not places[key]:
                continue
            by = 1 / AHEAD if named_alike or type_ not in _ONE else AHEAD
            if not self._leads(key, surplus, by=by):
                continue
            if not named_alike and weight[key] < LEAST_PART * self._most(key, weight):
                continue
            _, start, end = min(places[key])
            family = (
                "nearby_friend" if type_ == "friend_of" else "nearby_surname" if named_alike else "nearby"
            )
            yield Claim(a, type_, b, family, start, end)

    def _differ(self, a: str, b: str) -> bool:
        one, other = self._people[a].surnames, self._people[b].surnames
        return bool(one and other) and not one & other

    def _most(self, key: tuple[str, str, str], weight: Mapping[tuple[str, str, str], float]) -> float:
        """The most that speaks for `a` as anybody's TYPE: a slip about the owner is a small part of it."""
        a, type_, b = key
        ends = {a, b} if type_ in SYMMETRIC else {a}
        return max(
            value for (one, same, other), value in weight.items() if same == type_ and ends & {one, other}
        )

    def _leads(
        self, key: tuple[str, str, str], surplus: Mapping[tuple[str, str, str], float], *, by: float
    ) -> bool:
        """Whether `key` stands out `by` that factor from everybody else of that gender who may be b's TYPE."""
        a, type_, b = key
        gender = self._people[a].gender
        rivals = [
            value
            for (one, same, other), value in surplus.items()
            if same == type_
            and b in (one, other)
            and a not in (one, other)
            and b == (other if type_ in _ONE else b)
            if self._people[one if other == b else other].gender in (gender, None)
        ]
        return all(value * by <= surplus[key] for value in rivals)

    def _place(self, word: _Word, other: str) -> tuple[int, int, int]:
        """(rank, start, end) of the sentences that have the kin word and the other person; best if the owner is there too."""
        ats = [
            at
            for at in (word.sentence, word.sentence - 1, word.sentence + 1)
            if other in self._in_sentence.get(at, ())
        ]
        first, last = min(word.sentence, ats[0]), max(word.sentence, ats[0])
        start, end = self._text.sentences[first][0], self._text.sentences[last][1]
        named = any(word.owner.id in self._in_sentence.get(at, ()) for at in range(first, last + 1))
        return (0 if named else 10_000) + end - start, start, end

    def _key(self, word: _Word, other: Person) -> tuple[str, str, str] | None:
        if other.id == word.owner.id:
            return None
        if word.role.gender and other.gender and other.gender != word.role.gender:
            return None
        a, b = (word.owner, other) if word.role.inverse else (other, word.owner)
        if not possible(word.role.type, a, b):
            return None
        if word.role.type == "parent_of" and (of_an_age(a, b) or called_aunt(a) or called_aunt(b)):
            return None
        if word.role.type in SYMMETRIC and b.id < a.id:
            a, b = b, a
        return a.id, word.role.type, b.id

    def _near(self, sentence: int, paragraph: int) -> Mapping[str, float]:
        near: dict[str, float] = {}
        for at in (paragraph - 1, paragraph, paragraph + 1):
            near.update(dict.fromkeys(self._in_paragraph.get(at, ()), NEXT_PARAGRAPH))
        for at in (sentence - 1, sentence + 1):
            near.update(dict.fromkeys(self._in_sentence.get(at, ()), NEXT_SENTENCE))
        near.update(dict.fromkeys(self._in_sentence.get(sentence, ()), SAME_SENTENCE))
        return near

    def _usual(self, owner: Person) -> Mapping[str, float]:
        """Mean weight of everybody near a mention of `owner`; a narrator, who says 'I', is everywhere."""
        if owner.narrator:
            return self._everywhere()
        total: dict[str, float] = defaultdict(float)
        for mention in owner.mentions:
            near = self._near(self._text.sentence_of(mention.start), self._text.paragraph_of(mention.start))
            for other, weight in near.items():
                total[other] += weight
        return {other: weight / len(owner.mentions) for other, weight in total.items()}

    def _everywhere(self) -> Mapping[str, float]:
        """Mean weight of everybody near any sentence."""
        total: dict[str, float] = defaultdict(float)
        sample = range(0, len(self._text.sentences), _EVERY)
        for index in sample:
            paragraph = self._text.paragraph_of(self._text.sentences[index][0])
            for other, weight in self._near(index, paragraph).items():
                total[other] += weight
        return {other: weight / len(sample) for other, weight in total.items()}
