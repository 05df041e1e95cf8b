"""Whom a bare surname means beside a word of kin: 'my aunt Gardiner' is Mrs. Gardiner, though 'Gardiner' is the man."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gutengraph_assets.extraction.aliases.person_name import parse
from gutengraph_assets.extraction.entities import Mention, Person


class Namesakes:
    """People by surname."""

    def __init__(self, people: Sequence[Person]) -> None:
        self._by_surname: dict[str, list[Person]] = defaultdict(list)
        for person in people:
            for surname in person.surnames:
                self._by_surname[surname].append(person)

    def meant(self, person: Person, mention: Mention, gender: str | None) -> Person | None:
        """Whom a mention of `person` means where the words around it say `gender`; None if nobody fits."""
        if gender is None or person.gender in (gender, None):
            return person
        name = parse(mention.surface)
        if not name.single or name.titles:
            return None
        fitting = [p for p in self._by_surname[name.rest[0]] if p.gender == gender]
        titled = [p for p in fitting if any(n.titles and n.single and n.rest == name.rest for n in p.parsed)]
        grown = [p for p in titled if not any(n.titles[-1:] == ("miss",) for n in p.parsed)]
        for group in (fitting, titled, grown):
            if len(group) == 1:
                return group[0]
        return None
