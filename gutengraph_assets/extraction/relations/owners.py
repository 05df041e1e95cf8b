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
from gutengraph_assets.extraction.speech import SURE_WAYS, Speeches

_COMMON_SUBJECT = re.compile(r"\W*(?:The|A|An|This|That|One|Another|Some) [a-z]")
_BACK = 3
"""Sentences of the same paragraph in which an owner is looked for before the pronoun's own."""


class Owners:
    """Resolves pronouns of the sentence at hand from those before it. Feed the sentences in order."""

    def __init__(self, text: BookText, people: Sequence[Person], speeches: Speeches) -> None:
        self._text = text
        self._before: list[Marked] = []
        self._people = {person.id: person for person in people}
        self._speeches = speeches
        narrators = [person for person in people if person.narrator]
        self._narrator = narrators[0] if narrators else None

    def push(self, sentence: Marked) -> None:
        """Make a sentence part of what stands before."""
        self._before = [*self._before[-6:], sentence]

    def of(self, pronoun: str, sentence: Marked, position: int) -> Person | None:
        """The owner of a pronoun at `position` of the sentence's marked text, or None where it is not sure."""
        word = pronoun.casefold()
        if word in ("my", "our", "your"):
            return self._in_speech(word, sentence, position)
        gender = {"his": "M", "her": "F"}.get(word)
        if gender is None:
            return None
        # 'He had N's coat, for his housekeeper …': the subject is a pronoun, and whose it is stands before.
        if not re.match(r"\W*(?:He|She|His|Her)\b", sentence.text) or position < 6:
            here = self._named_here(sentence, position, gender)
            if here is not None:
                return here
        if _COMMON_SUBJECT.match(sentence.text):
            return None  # 'The landlord sent us to his cousin N': nobody who has a name
        return self._named_before(sentence, gender)

    def by_turns(self, pronoun: str, sentence: Marked, position: int) -> bool:
        """Whether the owner of 'my' or 'your' is known by the turns of a dialogue only, and no tag says it."""
        if pronoun.casefold() not in ("my", "our", "your"):
            return False
        speech = self._speeches.at(sentence.offset(position))
        return speech is not None and speech.way not in SURE_WAYS

    def addressed(self, person: Person, sentence: Marked, position: int) -> bool:
        """Whether a speech is spoken to `person`: 'My father, N, was …' then says nothing of who the father is."""
        speech = self._speeches.at(sentence.offset(position))
        return speech is not None and speech.addressee == person.id

    def _in_speech(self, word: str, sentence: Marked, position: int) -> Person | None:
        at = sentence.offset(position)
        if not self._text.quoted(at):
            return self._narrator if word == "my" else None
        speech = self._speeches.at(at)
        if speech is None:
            return None
        return self._people.get((speech.addressee if word == "your" else speech.speaker) or "")

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
