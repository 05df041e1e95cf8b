"""What a letter's salutation and close say: 'My dear Cousin, …', '… your affectionate brother, N'."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.lexicon import KIN, Role
from gutengraph_assets.extraction.relations.possible import possible
from gutengraph_assets.extraction.tellers import Stretch, Tellers

CLOSING = 300
"""Characters before a signature in which the close stands."""

_WORDS = "|".join(sorted((w for w in KIN if " " not in w), key=len, reverse=True))
_SALUTATION = re.compile(
    rf"\W*(?:my )?(?:own )?(?:very )?(?:dear|dearest|beloved|darling) (?P<word>{_WORDS})\b(?!-)",
    re.IGNORECASE,
)
_CLOSE = re.compile(rf"\byour\s+(?:[\w-]+,?\s+(?:and\s+)?){{0,3}}(?P<word>{_WORDS})\b,?(?!-)", re.IGNORECASE)


def written(text: BookText, people: Sequence[Person], tellers: Tellers) -> Iterator[Claim]:
    """What every signed letter says of its writer and of whom it is written to."""
    known = {person.id: person for person in people}
    for letter in tellers.letters:
        writer, reader = known.get(letter.teller or ""), known.get(letter.addressee or "")
        if writer is None or reader is None or writer.id == reader.id or letter.signature is None:
            continue
        yield from _salutation(text, letter, writer, reader)
        start = max(letter.start, letter.signature - CLOSING)
        closes = list(_CLOSE.finditer(text.body, start, letter.end))
        if closes and not re.search(r"[.!?]\s+[A-Z]", text.body[closes[-1].end() : letter.signature]):
            place = text.sentences[text.sentence_of(closes[-1].start())][0], letter.end
            # 'Your brother, N': the writer is the reader's brother.
            yield from _claim(KIN[closes[-1].group("word").casefold()], writer, reader, place)


def _salutation(text: BookText, letter: Stretch, writer: Person, reader: Person) -> Iterator[Claim]:
    first = text.paragraph_of(letter.start)
    for number in range(first, min(first + 4, len(text.paragraphs))):
        start, end = text.paragraphs[number]
        match = _SALUTATION.match(text.body[start : min(end, start + 80)])
        if match:
            place = text.sentences[text.sentence_of(start)]
            # 'My dear Cousin': the reader is the writer's cousin.
            yield from _claim(KIN[match.group("word").casefold()], reader, writer, place)
            return


def _claim(role: Role, bearer: Person, owner: Person, place: tuple[int, int]) -> Iterator[Claim]:
    if role.gender and bearer.gender not in (role.gender, None):
        return
    a, b = (owner, bearer) if role.inverse else (bearer, owner)
    if possible(role.type, a, b):
        yield Claim(a.id, role.type, b.id, "letter", *place)
