"""A narrator who calls somebody 'Aunt N' or 'Cousin N' : a niece, a nephew, a cousin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.claims import Claim
from gutengraph_assets.extraction.relations.lexicon import KIN
from gutengraph_assets.extraction.relations.possible import possible
from gutengraph_assets.extraction.tellers import Tellers

_TITLES = ("aunt", "uncle", "cousin")


def named_so(text: BookText, people: Sequence[Person], tellers: Tellers) -> Iterator[Claim]:
    """What a narrator says by such a name."""
    known = {person.id: person for person in people}
    for person in people:
        for mention in person.mentions:
            title = mention.surface.partition(" ")[0].casefold()
            if title not in _TITLES or person.narrator:
                continue
            if text.quoted(mention.start):
                continue  # a whole village may say 'Aunt N', the servants too
            speaker = known.get(tellers.at(mention.start) or "")
            role = KIN[title]
            if speaker is None or speaker.id == person.id or not possible(role.type, person, speaker):
                continue
            place = text.sentences[text.sentence_of(mention.start)]
            yield Claim(person.id, role.type, speaker.id, "called", *place)
