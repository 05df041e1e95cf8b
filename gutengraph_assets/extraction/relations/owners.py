"""Whose 'his', 'her', 'my', 'your', 'our' and 'their' it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.relations.marked import PERSON, Marked
from gutengraph_assets.extraction.speech import SURE_WAYS, Speech, Speeches
from gutengraph_assets.extraction.tellers import Tellers

_COMMON_SUBJECT = re.compile(r"\W*(?:The|A|An|This|That|One|Another|Some) [a-z]")
_PRONOUN_SUBJECT = re.compile(r"\W*(?:He|She|His|Her)\b")
_COUPLE = re.compile(rf"{PERSON}(?:(?:,| and) {PERSON})*,? and {PERSON}")
_BACK = 3
"""Sentences of the same paragraph in which an owner is looked for before the pronoun's own."""


@dataclass(frozen=True)
class _Named:
    """A person named in a sentence; `quotation` is the one that the name stands in, None for the telling."""

    person: Person
    position: int
    quotation: int | None
    possessive: bool


class Owners:
    """Resolves pronouns of the sentence at hand from those before it. Feed the sentences in order."""

    def __init__(
        self, text: BookText, people: Sequence[Person], speeches: Speeches, tellers: Tellers
    ) -> None:
        self._text = text
        self._before: list[tuple[Marked, list[_Named]]] = []
        self._people = {person.id: person for person in people}
        self._speeches = speeches
        self._tellers = tellers

    def push(self, sentence: Marked) -> None:
        """Make a sentence part of what stands before."""
        self._before = [*self._before[-6:], (sentence, self._named(sentence))]

    def of(self, pronoun: str, sentence: Marked, position: int) -> Person | None:
        """The owner of a pronoun at `position` of the sentence's marked text, or None where it is not sure."""
        word = pronoun.casefold()
        if word in ("my", "our", "your"):
            return self._in_speech(word, sentence, position)
        gender = {"his": "M", "her": "F"}.get(word)
        if gender is None:
            return None
        quotation = self._text.quotation_of(sentence.offset(position))
        # 'He had N's coat, for his housekeeper …': the subject is a pronoun, and whose it is stands before.
        if not _PRONOUN_SUBJECT.match(sentence.text) or position < 6:
            here = self._named_here(sentence, position, gender, quotation)
            if here is not None:
                return here
        if _COMMON_SUBJECT.match(sentence.text):
            return None  # 'The landlord sent us to his cousin N': nobody who has a name
        return self._named_before(sentence, gender, quotation)

    def all_of(self, pronoun: str, sentence: Marked, position: int) -> list[Person]:
        """The owner, or of 'their' those who are named together before it in the sentence or the one before."""
        if pronoun.casefold() != "their":
            owner = self.of(pronoun, sentence, position)
            return [owner] if owner is not None else []
        quotation = self._text.quotation_of(sentence.offset(position))
        for text, whole in (
            (sentence.text[:position], sentence),
            *((s.text, s) for s, _ in self._before[-1:]),
        ):
            for match in reversed(list(_COUPLE.finditer(text))):
                if re.search(PERSON, text[match.end() :]):
                    return []  # 'N and M are well, and O wrote to their cousin': theirs may be others' than N's and M's
                marks = re.findall(PERSON, match.group())
                where = {self._text.quotation_of(whole.named[int(m)].mention.start) for m in marks}
                if where == {quotation}:
                    return list({m.id: m for m in map(whole.person, marks)}.values())
        return []

    def by_turns(self, pronoun: str, sentence: Marked, position: int) -> bool:
        """Whether the owner of 'my' or 'your' is known by the turns of a dialogue only, and no tag says it."""
        if pronoun.casefold() not in ("my", "our", "your"):
            return False
        speech = self._speech(sentence, position)
        return speech is not None and speech.way not in SURE_WAYS

    def addressed(self, person: Person, sentence: Marked, position: int) -> bool:
        """Whether a speech is spoken to `person`: 'My father, N, was …' then says nothing of who the father is."""
        speech = self._speech(sentence, position)
        return speech is not None and speech.addressee == person.id

    def _speech(self, sentence: Marked, position: int) -> Speech | None:
        at = sentence.offset(position)
        return self._speeches.at(at) if self._text.quoted(at) else None

    def _in_speech(self, word: str, sentence: Marked, position: int) -> Person | None:
        at = sentence.offset(position)
        if not self._text.quoted(at):
            stretch = self._tellers.stretch(at)
            if word == "your":
                return self._people.get((stretch.addressee if stretch is not None else None) or "")
            return self._people.get(self._tellers.at(at) or "")
        speech = self._speeches.at(at)
        if speech is None:
            return None
        return self._people.get((speech.addressee if word == "your" else speech.speaker) or "")

    def _named(self, sentence: Marked) -> list[_Named]:
        """Everybody named in a sentence."""
        return [
            _Named(
                sentence.person(m.group(1)),
                m.start(),
                self._text.quotation_of(sentence.named[int(m.group(1))].mention.start),
                sentence.text.startswith("'s", m.end()),
            )
            for m in re.finditer(PERSON, sentence.text)
        ]

    def _named_here(
        self, sentence: Marked, position: int, gender: str, quotation: int | None
    ) -> Person | None:
        here = [
            n
            for n in self._named(sentence)
            if n.position < position and n.quotation == quotation and n.person.gender in (gender, None)
        ]
        # The first person named is mostly the subject, and the subject mostly the owner.
        subjects = [n.person for n in here if not n.possessive]
        return subjects[0] if subjects else None

    def _named_before(self, sentence: Marked, gender: str, quotation: int | None) -> Person | None:
        """The first person of that gender in the nearest sentence of the paragraph that names one."""
        paragraph = self._text.paragraph_of(sentence.start)
        for earlier, found in reversed(self._before[-_BACK:]):
            if self._text.paragraph_of(earlier.start) != paragraph:
                break
            named = [
                n.person
                for n in found
                if n.person.gender == gender and not n.possessive and n.quotation == quotation
            ]
            if named:
                return named[0]
        return None
