"""What a question asks for, read from its words: the names in it, and the relations that it wants.

A small grammar over the relation words of English: "the sister of Mr. Day", "Mr. Day's sister", "whose cook is
Ann", "which ship does Captain Roe command", and these inside one another ("the father of Mr. Day's wife").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gutengraph_core import names
from gutengraph_query.understanding.relation_words import IDENTITY_WORDS, NOUNS, VERBS, Asked

_TOKEN = re.compile(r"(?P<word>[^\W_]+(?:[-'’](?!s\b)[^\W_]+)*)(?P<poss>['’]s\b|(?<=s)['’](?=\s))?")
_FILL = frozenset(
    "the a an old young late poor dear little elder eldest younger youngest only two three four five six".split()
)
_AUX = frozenset("do does did is are was were has have had will would".split())
_WH = frozenset("who whom whose which what where when how why".split())
_PERSONAL = frozenset("who whom whose".split())
_PLACE_WORDS = frozenset(
    "place town city village street road house inn hotel island country county estate ship university school sea".split()
)
_JOINS = frozenset("of to for at in on aboard".split())
_RELATIVE = frozenset("that which who whom".split())
_LOOKAHEAD = 2
_LONGEST_NAME = 6


@dataclass(frozen=True)
class Token:
    """A word of the question; `possessive` if it ends in 's."""

    word: str
    start: int
    end: int
    possessive: bool

    @property
    def low(self) -> str:
        return names.fold(self.word)

    @property
    def capital(self) -> bool:
        return self.word[:1].isupper() or self.word[:1].isdigit()


@dataclass(frozen=True)
class Name:
    """A name in the question that the graph knows: tokens `first` to `last` inclusive."""

    text: str
    first: int
    last: int
    possessive: bool


@dataclass(frozen=True)
class Relation:
    """Asks for those who stand in a relation to `anchor`."""

    asked: Asked
    anchor: Anchor
    word: str
    """The word of the question that asked for it."""


Anchor = Name | Relation


@dataclass(frozen=True)
class Question:
    """A question, read."""

    text: str
    tokens: tuple[Token, ...]
    names: tuple[Name, ...]
    relations: tuple[Relation, ...]
    """What it asks for; several restrict one another."""
    unknown: tuple[str, ...]
    """Capitalised names in it that the graph does not know."""
    counts: bool
    """'How many …'"""
    between: bool
    """'How is X related to Y?'"""
    describes: bool
    """'Who is X?' and no more."""
    lists: str
    """The label that 'who are the characters', 'list the places' asks for; else ''."""
    words: frozenset[str] = field(default_factory=frozenset)
    """Its words, folded."""


def read_question(text: str, is_name: Callable[[Sequence[str]], bool]) -> Question:
    """Read a question. `is_name` says whether a run of folded words is a name that the graph knows."""
    tokens = tokenize(text)
    found = _names(tokens, is_name)
    reader = _Reader(tokens, found)
    relations = reader.relations()
    low = [t.low for t in tokens]
    return Question(
        text=text,
        tokens=tuple(tokens),
        names=tuple(found),
        relations=tuple(relations),
        unknown=tuple(_unknown(tokens, found)),
        counts=" ".join(low[:2]) == "how many",
        between=_between(low, found),
        describes=_describes(low, found),
        lists=_lists(low),
        words=frozenset(names.words(text)),
    )


def wanted_label(text: str) -> str:
    """'Character' where the question asks for a person, 'Location' where it asks for a place, else ''."""
    low = [token.low for token in tokenize(text)]
    opening = next((i for i, word in enumerate(low[:2]) if word in _WH), None)
    if opening is None:
        return ""
    if low[opening] in _PERSONAL:
        return "Character"
    if low[opening] == "where" or (low[opening] in ("which", "what") and set(low[1:4]) & _PLACE_WORDS):
        return "Location"
    return ""


def tokenize(text: str) -> list[Token]:
    """The words of a question."""
    return [Token(m["word"], m.start(), m.end(), m["poss"] is not None) for m in _TOKEN.finditer(text)]


def names_apart(text: str) -> tuple[str, str]:
    """The words of a question without its names, and the names: what has a capital after the first word. The
    graph is not asked, so that passages can be searched where there is none.
    """
    tokens = tokenize(text)
    named = {i for i, token in enumerate(tokens) if i and token.word[:1].isupper()}
    rest = " ".join(token.word for i, token in enumerate(tokens) if i not in named)
    return rest, " ".join(tokens[i].word for i in sorted(named))


def _names(tokens: list[Token], is_name: Callable[[Sequence[str]], bool]) -> list[Name]:
    found: list[Name] = []
    i = 0
    while i < len(tokens):
        for size in range(min(_LONGEST_NAME, len(tokens) - i), 0, -1):
            run = tokens[i : i + size]
            if any(t.possessive for t in run[:-1]) or (i == 0 and run[0].low in _WH):
                continue
            words = [w for t in run for w in names.words(t.word)]
            # 'hands', 'holder', 'angel' are words as well as names: a name has a capital wherever a title may
            if is_name(words) and (run[-1].capital or (size > 1 and run[0].low == "the")):
                found.append(Name(" ".join(t.word for t in run), i, i + size - 1, run[-1].possessive))
                i += size
                break
        else:
            i += 1
    return found


def _unknown(tokens: list[Token], found: list[Name]) -> list[str]:
    taken = {i for name in found for i in range(name.first, name.last + 1)}
    runs: list[list[str]] = []
    previous = -2
    for i, token in enumerate(tokens):
        if i in taken or i == 0 or not token.word[:1].isupper() or token.low in names.TITLES:
            continue
        if i == previous + 1:
            runs[-1].append(token.word)
        else:
            runs.append([token.word])
        previous = i
    return [" ".join(run) for run in runs]


class _Reader:
    """One pass over the tokens. Names are single items in it."""

    def __init__(self, tokens: list[Token], found: list[Name]) -> None:
        self.tokens = tokens
        self.at = {name.first: name for name in found}
        self.inside = {i for name in found for i in range(name.first, name.last + 1)}
        self.used: set[int] = set()

    def relations(self) -> list[Relation]:
        found: list[Relation] = []
        i = 0
        while i < len(self.tokens):
            if i in self.used:
                i += 1
                continue
            relation = self._at(i)
            if relation is not None:
                # 'where was the mate of the Y born' has met 'the mate of the Y' before it meets 'born'
                found = [earlier for earlier in found if earlier != relation.anchor]
                found.append(relation)
            i += 1
        return found

    def _at(self, i: int) -> Relation | None:
        if i in self.inside:
            anchor, after = self._phrase(i)
            if isinstance(anchor, Relation):
                self.used.update(range(i, after))
                return anchor
            return None
        noun = self._noun(i)
        if noun is not None:
            return self._from_noun(i, *noun)
        return self._from_verb(i)

    def _low(self, i: int) -> str:
        return self.tokens[i].low if 0 <= i < len(self.tokens) else ""

    def _noun(self, i: int) -> tuple[Asked, int] | None:
        """The relation noun at i and how many tokens it takes. None right before a name: 'aunt Mary' is a person;
        but 'his aunt, Mary', 'John's aunt Mary' and 'whose aunt Mary' are relations."""
        for size in (2, 1):
            if any(j in self.inside for j in range(i, i + size)) or i + size > len(self.tokens):
                continue
            asked = NOUNS.get(" ".join(self._low(j) for j in range(i, i + size)))
            if asked is not None and (i + size not in self.at or self._owned(i, i + size)):
                return asked, size
        return None

    def _owned(self, i: int, after: int) -> bool:
        before = self.tokens[i - 1] if i else None
        owner = before is not None and (before.possessive or before.low == "whose")
        return owner or self.tokens[after].start > self.tokens[after - 1].end + 1  # a comma between

    def _from_noun(self, i: int, asked: Asked, size: int) -> Relation | None:
        word = " ".join(self._low(j) for j in range(i, i + size))
        after = i + size
        if self._low(i - 1) == "whose":
            anchor, end = self._near_phrase(after)
            if anchor is None:
                return None
            self.used.update(range(i, end))
            return Relation(asked.flipped(), anchor, word)
        if self._low(after) in _JOINS:
            anchor, end = self._phrase(after + 1)
            if anchor is not None:
                self.used.update(range(i, end))
                return Relation(asked, anchor, word)
        return self._loose(i, after, asked, word)

    def _loose(self, i: int, after: int, asked: Asked, word: str) -> Relation | None:
        """'How many daughters has Mr. Day?': the nearest name after it, else before it, is meant."""
        for j in range(after, len(self.tokens)):
            if self._low(j) in VERBS or (j not in self.inside and self._noun(j) is not None):
                break  # that name belongs to the other word
            anchor, end = self._phrase(j)
            if anchor is not None:
                self.used.update(range(i, after))
                if isinstance(anchor, Relation):
                    self.used.update(range(j, end))
                return Relation(asked, anchor, word)
        return None

    def _from_verb(self, i: int) -> Relation | None:
        low = self._low(i)
        if low in IDENTITY_WORDS and self.at:
            name = self.at[max(self.at)]
            return Relation(Asked((("same_as", "source"),)), name, low)
        verb = VERBS.get(low)
        if verb is None:
            return None
        before = [name for name in self.at.values() if name.last < i]
        auxiliary = [j for j in range(i) if self._low(j) in _AUX]
        if before and auxiliary and auxiliary[-1] < before[-1].first:
            # 'whom did X marry', 'where was the mate of the Y born'
            anchor, _ = self._phrase_before(auxiliary[-1] + 1, i)
            return Relation(verb.asked(anchor_is_subject=True), anchor or before[-1], low)
        anchor, after = None, i + 1
        for j in range(i + 1, min(i + 4, len(self.tokens))):
            anchor, after = self._phrase(j)
            if anchor is not None:
                break
        if anchor is None:
            return None
        self.used.update(range(i, after))
        agent = "by" in [self._low(j) for j in range(i + 1, after)]
        return Relation(verb.asked(anchor_is_subject=agent), anchor, low)

    def _clause(self, i: int, noun: Asked) -> tuple[Anchor | None, int]:
        """'the ship that X commands', 'the man who killed X': from behind the relative pronoun."""
        anchor, after = self._phrase(i)
        verb = VERBS.get(self._low(after if anchor is not None else i))
        if verb is None:
            return None, i
        if anchor is not None:
            asked, end = verb.asked(anchor_is_subject=True), after + 1
        else:
            anchor, end = self._phrase(i + 1)
            asked = verb.asked(anchor_is_subject=False)
        if anchor is None:
            return None, i
        word = self._low(end - 1) if end == after + 1 else self._low(i)
        return Relation(replace(asked, gender=noun.gender, label=noun.label), anchor, word), end

    def _phrase_before(self, start: int, end: int) -> tuple[Anchor | None, int]:
        anchor, after = self._phrase(start)
        if anchor is not None and after <= end:
            self.used.update(range(start, after))
            return anchor, after
        return None, start

    def _near_phrase(self, i: int) -> tuple[Anchor | None, int]:
        for j in range(i, min(i + _LOOKAHEAD, len(self.tokens))):
            anchor, end = self._phrase(j)
            if anchor is not None:
                return anchor, end
        return None, i

    def _phrase(self, i: int) -> tuple[Anchor | None, int]:
        """The noun phrase at i that leads to a name, and the token after it."""
        while self._low(i) in _FILL and i not in self.inside:
            i += 1
        anchor: Anchor
        if i in self.at:
            name = self.at[i]
            anchor, i = name, name.last + 1
            possessive = name.possessive
            while possessive:
                noun = self._noun(i)
                if noun is None:
                    break
                asked, size = noun
                word = " ".join(self._low(j) for j in range(i, i + size))
                possessive = self.tokens[i + size - 1].possessive
                anchor, i = Relation(asked, anchor, word), i + size
        else:
            noun = self._noun(i) if i < len(self.tokens) else None
            if noun is None:
                return None, i
            if self._low(i + noun[1]) in _RELATIVE:
                return self._clause(i + noun[1] + 1, noun[0])
            if self._low(i + noun[1]) not in _JOINS:
                return None, i
            inner, end = self._phrase(i + noun[1] + 1)
            if inner is None:
                return None, i
            word = " ".join(self._low(j) for j in range(i, i + noun[1]))
            anchor, i = Relation(noun[0], inner, word), end
        if isinstance(anchor, Relation) and i in self.at:
            named = self.at[i]  # 'Victor's mother, Caroline': the name says who it is
            return named, named.last + 1
        return anchor, i


def _between(low: list[str], found: list[Name]) -> bool:
    if len(found) < 2:
        return False
    text = " ".join(low)
    return bool(re.match(r"how (is|are|was|were) ", text) and ("related" in low or "connected" in low)) or (
        "relation" in low or "relationship" in low or "connection" in low
    )


def _describes(low: list[str], found: list[Name]) -> bool:
    return (
        len(found) == 1
        and low[:1] == ["who"]
        and found[0].last == len(low) - 1
        and all(word in _AUX | _FILL for word in low[1 : found[0].first])
    )


_LISTED = {
    "Character": "characters people persons figures cast",
    "Location": "places locations settings",
    "Object": "objects things",
    "Event": "events",
}


def _lists(low: list[str]) -> str:
    if low[:1] not in (["who"], ["list"], ["name"], ["which"], ["what"], ["how"], ["show"]):
        return ""
    for label, words in _LISTED.items():
        if set(low[:6]) & set(words.split()):
            return label
    return ""
