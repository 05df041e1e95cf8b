"""Kin who call one another so: 'Oh, mamma, do come,' said Lucy, and her mother answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gutengraph_assets.extraction.book_text import BookText, Span
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.lexicon import KIN, Role
from gutengraph_assets.extraction.relations.possible import of_an_age, possible
from gutengraph_assets.extraction.speech import SURE_WAYS, Speech, Speeches

SHORT = 300
"""Characters of a paragraph that is quoted to its end."""

_WORDS: dict[str, Role] = {
    **{
        word: KIN[word]
        for word in "mother mamma mama papa father uncle aunt brother sister cousin niece nephew wife husband daughter".split()
    },
    **dict.fromkeys(("auntie", "aunty"), KIN["aunt"]),
}
# 'My son' and 'my child' are said by every old man and priest.
_VOCATIVE = re.compile(
    r"(?:^|[,;!?—-])\s*_?(?:(?:my dear|dear|dearest|oh|ah|well|yes|no|come|please|and|but|o)[ ,]+)*"
    rf"(?P<word>{'|'.join(sorted(_WORDS, key=len, reverse=True))})_?\s*(?:[,;!?.—-]|$)",
    re.IGNORECASE,
)


def spoken(text: BookText, people: Sequence[Person], speeches: Speeches) -> Iterator[Claim]:
    """What the words say by which people address each other."""
    known = {person.id: person for person in people}
    for start, end in text.quotations:
        speech = speeches.at(start)
        if speech is None or speech.speaker is None or speech.addressee is None:
            continue
        found = list(_VOCATIVE.finditer(text.body[start:end]))
        if len({_WORDS[match.group("word").casefold()] for match in found}) > 1:
            continue  # 'Father, mother, …': spoken to several
        for match in found:
            place = _place(text, speech, start + match.start("word"))
            claim = _claim(known, speech, _WORDS[match.group("word").casefold()], place)
            if claim is not None:
                yield claim


def _place(text: BookText, speech: Speech, word: int) -> Span:
    """The word's sentence, with the rest of a short paragraph, in which the tag stands."""
    start, end = text.sentences[text.sentence_of(word)]
    return start, speech.end if speech.end - start <= SHORT else end


def _claim(known: dict[str, Person], speech: Speech, role: Role, place: Span) -> Claim | None:
    owner, bearer = known[speech.speaker or ""], known[speech.addressee or ""]
    if owner.id == bearer.id or (role.gender and bearer.gender != role.gender):
        return None
    a, b = (owner, bearer) if role.inverse else (bearer, owner)
    if not possible(role.type, a, b) or (role.type == "parent_of" and of_an_age(a, b)):
        return None
    sure = speech.way in SURE_WAYS
    family = "vocative" if sure else "vocative_by_turns"
    return Claim(a.id, role.type, b.id, family, *place)
