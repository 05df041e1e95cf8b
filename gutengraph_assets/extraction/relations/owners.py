"""Whose 'his', 'her' and 'my' it is.

In a trial on five novels the owner of 'his' and 'her' was right in 29 of 40, the speaker of a quotation was
found for half of them and right in 19 of 30.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.marked import PERSON, Marked

_SAYS = (
    "said|says|cried|cries|replied|answered|asked|exclaimed|observed|remarked|added|continued|returned|"
    "whispered|repeated|began|rejoined|inquired|called"
)
_SPEAKER = re.compile(rf"(?:\b(?:{_SAYS}) {PERSON}|{PERSON} (?:{_SAYS})\b)")
_BACK = 3
"""Sentences of the same paragraph in which an owner is looked for before the pronoun's own."""


class Owners:
    """Resolves pronouns of the sentence at hand from those before it. Feed the sentences in order."""

    def __init__(self, text: BookText, people: Sequence[Person]) -> None:
        self._text = text
        self._before: list[Marked] = []
        narrators = [person for person in people if person.narrator]
        self._narrator = narrators[0] if narrators else None

    def push(self, sentence: Marked) -> None:
        """Make a sentence part of what stands before."""
        self._before = [*self._before[-6:], sentence]

    def of(self, pronoun: str, sentence: Marked, position: int) -> Person | None:
        """The owner of a pronoun at `position` of the sentence's marked text, or None where it is not sure."""
        word = pronoun.casefold()
        if word == "my":
            if sentence.quoted:
                return self._speaker(sentence)
            return self._narrator
        gender = {"his": "M", "her": "F"}.get(word)
        if gender is None:
            return None
        # 'He had N's coat, for his housekeeper …': the subject is a pronoun, and whose it is stands before.
        if not re.match(r"\W*(?:He|She|His|Her)\b", sentence.text) or position < 6:
            here = self._named_here(sentence, position, gender)
            if here is not None:
                return here
        return self._named_before(sentence, gender)

    def _named_here(self, sentence: Marked, position: int, gender: str) -> Person | None:
        here = [
            sentence.person(m.group(1))
            for m in re.finditer(PERSON + r"(?!'s\b)", sentence.text[:position])
            if sentence.person(m.group(1)).gender in (gender, None)
        ]
        # The first person named is mostly the subject, and the subject mostly the owner.
        return here[0] if here else None

    def _named_before(self, sentence: Marked, gender: str) -> Person | None:
        """The first person of that gender in the nearest sentence of the paragraph that names one."""
        paragraph = self._text.paragraph_of(sentence.start)
        for earlier in reversed(self._before[-_BACK:]):
            if self._text.paragraph_of(earlier.start) != paragraph:
                break
            named = [
                earlier.person(m.group(1))
                for m in re.finditer(PERSON + r"(?!'s\b)", earlier.text)
                if earlier.person(m.group(1)).gender == gender
            ]
            if named:
                return named[0]
        return None

    def _speaker(self, sentence: Marked) -> Person | None:
        """Who says a sentence that begins inside a quotation: told in it or in the paragraph before it."""
        if match := _SPEAKER.search(sentence.text):
            return sentence.person(match.group(1) or match.group(2))
        paragraph = self._text.paragraph_of(sentence.start)
        for earlier in reversed(self._before):
            if self._text.paragraph_of(earlier.start) != paragraph:
                break
            if match := _SPEAKER.search(earlier.text):
                return earlier.person(match.group(1) or match.group(2))
        return None
