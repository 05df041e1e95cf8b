"""A person's name taken apart: titles, given name, surname."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gutengraph_assets.extraction.aliases.given_names import gender_of, is_given
from gutengraph_core.names import TITLES, fold, squeeze

_SAME_TITLE = {
    "mister": "mr",
    "mistress": "mrs",
    "ms": "miss",
    "doctor": "dr",
    "professor": "prof",
    "capt": "captain",
    "cap'n": "captain",
    "cap": "captain",
    "col": "colonel",
    "gen": "general",
    "lieut": "lieutenant",
    "lt": "lieutenant",
    "rev": "reverend",
    "mme": "madame",
    "madam": "madame",
    "mlle": "mademoiselle",
    "m": "monsieur",
    "maister": "master",
    "mistah": "mr",
    "missus": "mrs",
    "missis": "mrs",
    "mars": "master",
    "marse": "master",
    "massa": "master",
    "esquire": "squire",
    "sergt": "sergeant",
    "signorina": "mademoiselle",
    "fraulein": "mademoiselle",
}
_MORE_TITLES = {
    "cousin": "",
    "sergt": "",
    "cap": "",
    "supervisor": "",
    "mate": "",
    "nurse": "F",
    "farmer": "M",
    "parson": "M",
    "widow": "F",
    "maister": "M",
    "mistah": "M",
    "missus": "F",
    "missis": "F",
    "mars": "M",
    "marse": "M",
    "massa": "M",
}
_EPITHETS = frozenset("old young little poor dear good the late".split())
_BYNAMES = frozenset(
    "long big black red fat lame blind honest handsome merry tall lucky wild mad crazy lazy".split()
)
"""Before a given name they stand for no other person's ('Long John'); else they are the name ('Grey Fox')."""
_BEFORE_GIVEN = frozenset("sir master dame aunt uncle cousin don sister brother".split())
_BEFORE_EITHER = frozenset(
    "miss lady mother father king queen prince princess saint nurse mademoiselle lord".split()
)
_PARTICLES = frozenset("de del della des di du da la le van von der den st st. saint o' mac ten ter".split())
_SAINT = frozenset(("st", "saint"))
_RANK_PARTS = frozenset("vice rear brigadier under sub chief detective police".split())
_SUFFIXES = frozenset("esq esq. jr jr. jun jun. sen sen. m.d. m.d m.p. m.p. r.n. d.d. q.c.".split())

_WRITTEN_SHORT = {
    short: full
    for full, shorts in {
        "alexander": "alexr.", "benjamin": "benj. benjn.", "charles": "chas.", "christopher": "chr. xpher.", "daniel": "danl.",
        "edward": "edw. edwd.", "francis": "fras.", "frederick": "fredk.", "george": "geo.", "henry": "hy.", "james": "jas.",
        "john": "jno.", "joseph": "jos.", "jonathan": "jona.", "margaret": "margt.", "nathaniel": "nathl.", "nicholas": "nichs.",
        "richard": "richd.", "robert": "robt.", "samuel": "saml.", "thomas": "thos.", "william": "wm. willm.",
    }.items()
    for short in shorts.split()
}  # fmt: skip
"""As period hands and prints shorten given names before a surname."""

YOUNG, OLD = "young", "old"


@dataclass(frozen=True)
class PersonName:
    """Words are folded, titles brought to one spelling ('Doctor' and 'Dr.' are 'dr')."""

    surface: str
    titles: tuple[str, ...]
    rest: tuple[str, ...]
    """What stands after titles and epithets, before suffixes."""
    age: str
    """'young', 'old' or ''."""
    family: bool = False
    """Whether its only word is a surname elsewhere in the book, and nobody's given name: 'Miss Lucas', 'Joyce'."""

    christian: bool = False
    """Whether its only word is a given name elsewhere in the book: the servants' 'Mr. Jonathan'."""

    @property
    def bare_title(self) -> bool:
        """'the Doctor', 'Captain': no name at all."""
        return not self.rest

    @property
    def single(self) -> bool:
        return len(self.rest) == 1

    @property
    def core(self) -> tuple[str, ...]:
        """What stands after titles, without the particles of a lone surname: 'hart' of 'Madame de Hart'."""
        words = self.rest[0].split(" ") if self.single else []
        return tuple(words[-1:]) if len(words) > 1 and words[0] in _PARTICLES - _SAINT else self.rest

    @property
    def noble(self) -> bool:
        """Whether it is a lone surname with its particles, which is as full as many a name gets: 'Van Hart', 'St. Clare'."""
        words = self.rest[0].split(" ") if self.single else []
        return len(words) > 1 and words[0] in _PARTICLES

    @cached_property  # here and below: each name is held against every other
    def husbands(self) -> bool:
        """Whether its first name is her husband's: 'Mrs. Charles Hart', 'Mrs. Charles'."""
        named = len(self.rest) > 1 or self.christian
        if self.titles[-1:] != ("mrs",) or not named or self.rest[0] in _PARTICLES:
            return False
        return gender_of(self.rest[0]) != "F"

    @cached_property
    def given(self) -> str | None:
        """The given name, where the form leaves no doubt, or an only word that is one by the lists."""
        if not self.rest or self.husbands:
            return None
        head = self.rest[0]
        if len(self.rest) > 1:
            if head in _BYNAMES and is_given(self.rest[1]):
                return self.rest[1]
            return None if head in _PARTICLES else head
        if self.family:
            return None
        if self.christian or (self.titles and self.titles[-1] in _BEFORE_GIVEN):
            return head
        if self.titles and self.titles[-1] not in _BEFORE_EITHER:
            return None
        return head if is_given(head) else None

    @cached_property
    def surname(self) -> str | None:
        """The surname, particles included, where the form leaves no doubt."""
        if len(self.rest) > 1:
            if len(self.rest) == 2 and self.rest[0] in _BYNAMES and is_given(self.rest[1]):
                return None
            for i, word in enumerate(self.rest):
                if word in _PARTICLES and i < len(self.rest) - 1:
                    return " ".join(self.rest[i:])
            return self.rest[-1]
        if not self.rest or self.christian:
            return None
        titled = bool(self.titles) and self.titles[-1] not in _BEFORE_GIVEN | _BEFORE_EITHER
        return self.rest[0] if titled or self.family else None

    @property
    def title_gender(self) -> str | None:
        """By the titles alone."""
        genders = {g for t in self.titles if (g := _title_gender(t))}
        return genders.pop() if len(genders) == 1 else None

    @property
    def gender(self) -> str | None:
        """By title, else by a given name of known gender."""
        if by_title := self.title_gender:
            return by_title
        if len(self.rest) == 1 and " of " in self.rest[0]:
            return _title_gender(self.rest[0].split(" ")[0])  # 'King of Bohemia'
        given = self.given
        return gender_of(given) if given else None


def parse_all(mentions: Mapping[str, int]) -> dict[str, PersonName]:
    """Take a book's names apart, each knowing which words are surnames and which are given names in this book.

    `mentions`: how often the text has each name. A word is what it is in twice as many mentions as it is the other.
    """
    parsed = {surface: parse(surface) for surface in mentions}
    firsts: Counter[str] = Counter()
    lasts: Counter[str] = Counter()
    wives = {name.rest[0] for name in parsed.values() if name.titles[-1:] == ("mrs",) and len(name.rest) > 1}
    for surface, name in parsed.items():
        if len(name.rest) > 1 and name.given:
            firsts[name.given] += mentions[surface]
        if (surname := name.surname) and not (
            name.single and (_servants_mr(name, parsed) or (name.titles == ("mrs",) and surname in wives))
        ):
            lasts[surname.split(" ")[-1]] += mentions[surface]

    fuller = {name.surname for name in parsed.values() if len(name.rest) > 1}

    def place(name: PersonName) -> PersonName:
        if not name.single:
            return name
        word = name.rest[0]
        if name.titles == ("mrs",) and word in wives and word not in fuller:
            return replace(name, christian=True)  # 'Mrs. Charles' of 'Mrs. Charles Hart'
        family = lasts[word] > 2 * firsts[word]
        return replace(name, family=family, christian=firsts[word] > 2 * lasts[word])

    return {surface: place(name) for surface, name in parsed.items()}


def _servants_mr(name: PersonName, parsed: Mapping[str, PersonName]) -> bool:
    """'Mr. Oswin', as a servant says it: a given name, which somebody of the book bears before a surname, and no 'Mrs. Oswin'
    anywhere but the wife of an Oswin. What the lists do not know is a given name if the book has a 'Mr. Torvel Hart' too."""
    word = name.rest[0]
    if name.titles[-1:] != ("mr",):
        return False
    bearers = [o for o in parsed.values() if len(o.rest) > 1 and o.rest[0] == word]
    if not bearers or not (is_given(word) or any("mr" in o.titles for o in bearers)):
        return False
    wives = [o for o in parsed.values() if o.titles[-1:] == ("mrs",) and o.rest[:1] == (word,)]
    return not any(o.single for o in wives) or any(not o.single for o in wives)


def parse(surface: str) -> PersonName:
    """Take a name apart by itself. Never fails: what has no known form is all `rest`."""
    words = [fold(w).strip(',;:!?"()') for w in squeeze(surface).split(" ")]
    words = [w for w in words if w]
    age = ""
    while len(words) > 1 and words[0] in _EPITHETS:
        epithet = words.pop(0)
        age = epithet if epithet in (YOUNG, OLD) else age
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    if len(words) > 2 and words[1] == "of" and words[0] in TITLES:
        return PersonName(
            surface, (), (" ".join(words),), age
        )  # 'King of Bohemia' has no part that is a name
    words = [_WRITTEN_SHORT.get(w, w) if len(words) > 1 else w for w in words]
    titles: list[str] = []
    while words and (title := _title(words[0], last=len(words) == 1)):
        titles.append(title)
        words.pop(0)
    if titles and words and words[0] in ("of", "the"):
        return PersonName(surface, (), (" ".join([*titles, *words]),), age)
    return PersonName(surface, tuple(titles), _bound([_trim(w) for w in words]), age)


def _bound(rest: list[str]) -> tuple[str, ...]:
    """'St. John' is one word of a name wherever it stands, and 'van der Hart' is one where no given name goes before."""
    for at, word in enumerate(rest[:-1]):
        if word in _SAINT:
            return _bound([*rest[:at], f"{word} {rest[at + 1]}", *rest[at + 2 :]])
    if len(rest) > 1 and all(word in _PARTICLES for word in rest[:-1]):
        return (" ".join(rest),)
    return tuple(rest)


def _title(word: str, *, last: bool) -> str | None:
    bare = word.rstrip(".")
    if bare == "m" and not word.endswith("."):
        return None
    if last and bare in (
        "m",
        "don",
        "abbe",
        "judge",
        "king",
        "prince",
        "duke",
        "earl",
        "dame",
        "bishop",
        "major",
    ):
        return None  # as likely a name
    if bare in TITLES or bare in _MORE_TITLES:
        return _SAME_TITLE.get(bare, bare)
    parts = bare.split("-")
    if (
        len(parts) > 1
        and not last
        and parts[-1] in TITLES
        and all(p in TITLES or p in _RANK_PARTS for p in parts)
    ):
        return _SAME_TITLE.get(parts[-1], parts[-1])  # 'Major-General Dunn'
    return None


def _title_gender(title: str) -> str | None:
    return (TITLES.get(title) or _MORE_TITLES.get(title)) or None


def _trim(word: str) -> str:
    """'St.' and initials keep their stop out of the comparison."""
    return re.sub(r"(?<=\w)\.$", "", re.sub(r"'s$", "", word))
