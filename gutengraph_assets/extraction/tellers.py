"""Who says 'I' where: a letter is told by who signs it, a journal by whom its heading names."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Mention, Person

LONGEST_LETTER = 80
"""Paragraphs that are looked back from a signature for the letter's opening."""
SHORT = 30
"""Words of a paragraph that may be a heading."""
SIGNATURE = 120
"""Characters at the end of a letter that may hold its closing formula and the name."""

_WRITING = r"(?:journal|diary|narrative|memorandum|statement|testimony|deposition|account|log|manuscript|letter|note|telegram|story|report|confession)"
_OWN = re.compile(rf"(?:<(\d+)>|(?P<title>\bthe (?:doctor|captain|squire)))'?s? {_WRITING}\b", re.IGNORECASE)
_BY = re.compile(
    rf"^\W*(?:(?:a|the|first|second|last) )?{_WRITING}\b(?: \w+)?,? (?:(?:from|by|of|left by|kept by|written by|told by) )?"
    rf"(?:(?:miss|mr\.?|mrs\.?|dr\.?|sir) )?(?:<(\d+)>|(?P<title>the (?:doctor|captain|squire))\b)(?:.*?\bto (?:\w+\.? )?<(\d+)>)?",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:my )?(?:own )?(?:very )?(?:dear|dearest|beloved|darling)\b[\w .<>']{0,40}(?:[,:!]|\W?-|\Z)",
    re.IGNORECASE,
)
"""A salutation ends in a comma, a colon or a dash."""
_TO = re.compile(r"\W*to (?:\w+\.? )?<(\d+)>\W", re.IGNORECASE)
_INITIALS = r"(?:[A-Z][a-z]{0,2}\. ?){0,2}"
_FORMULA = r"\b(?:yours?|ever|believe me|adieu|farewell|good-?bye)\b"
_SIGNED = re.compile(rf"{_FORMULA}[^<>]{{0,60}}\W{_INITIALS}<(\d+)>\W*\Z", re.IGNORECASE)
"""'Your affectionate brother, R. N'."""
_NAME_ALONE = re.compile(rf"\W*{_INITIALS}<(\d+)>\W*\Z")
_FORMULA_LAST = re.compile(rf"{_FORMULA}[^<>.!?]{{0,60}}\W*\Z", re.IGNORECASE)
_CALLED = re.compile(r"(?:, |\bdear |\bdearest )<(\d+)>(?=[,!?.;])")
_NAMED = re.compile(r"<(\d+)>")


@dataclass(frozen=True)
class Stretch:
    """What one hand wrote. Ids of persons; None where the text does not show."""

    start: int
    end: int
    teller: str | None
    addressee: str | None
    signature: int | None = None
    """Where the paragraph of the signature begins, if the stretch is a letter that has one."""


class Tellers:
    """Who says 'I' at an offset that no speech of the scene holds."""

    def __init__(self, text: BookText, people: Sequence[Person]) -> None:
        self._text = text
        self._people = {person.id: person for person in people}
        self._mentions = sorted((m for p in people for m in p.mentions), key=lambda m: m.start)
        self._starts = [mention.start for mention in self._mentions]
        narrators = [person.id for person in people if person.narrator]
        self._narrator = narrators[0] if narrators else None
        self._titled = _by_title(people)
        self.journals = list(self._journals())
        self.letters = list(self._letters())

    def at(self, offset: int) -> str | None:
        """Whoever wrote the letter or journal there, else the narrator of the book."""
        stretch = self.stretch(offset)
        return stretch.teller if stretch is not None else self._narrator

    def letter(self, offset: int) -> Stretch | None:
        """The letter at an offset, if a letter that is signed holds it."""
        return _covering(self.letters, offset)

    def stretch(self, offset: int) -> Stretch | None:
        """The letter at an offset, else the journal."""
        return self.letter(offset) or _covering(self.journals, offset)

    def _journals(self) -> Iterator[Stretch]:
        """From a heading that says whose words follow to the next such heading."""
        heads: list[tuple[int, str | None, str | None]] = []
        for start, end in self._text.paragraphs:
            if end - start > 12 * SHORT:
                continue
            line, named = self._line(start, end)
            if len(line.split()) > SHORT or not _is_heading(line):
                continue
            match = _OWN.search(line) or _BY.match(line)
            if match is None:
                continue
            teller: str | None
            if match.group(1) is not None:
                teller = named[int(match.group(1))].entity
            else:
                teller = self._titled.get(match.group("title").casefold().removeprefix("the "))
            addressee = match.group(3) if match.re is _BY else None
            heads.append((start, teller, named[int(addressee)].entity if addressee else None))
        ends = [start for start, _, _ in heads[1:]] + [len(self._text.body)]
        if len({who for _, who, _ in heads}) < 2:
            return  # one such heading, or always the same name, is a title
        for (start, who, whom), end in zip(heads, ends, strict=True):
            yield Stretch(start, end, who, whom)

    def _letters(self) -> Iterator[Stretch]:
        paragraphs = self._text.paragraphs
        last = -1
        for number, (start, end) in enumerate(paragraphs):
            signer = self._signer(number)
            first = self._opening(number, last) if signer is not None else None
            if signer is None or first is None or self._talked(first, number):
                continue
            last = number
            addressee = self._addressee(first, number, signer)
            yield Stretch(paragraphs[first][0], end, signer, addressee, start)

    def _talked(self, first: int, last: int) -> bool:
        """Whether somebody stops speaking in between: a letter that is read aloud is one quotation to its end."""
        paragraphs = self._text.paragraphs
        if not self._text.quoted(paragraphs[first][0] + 1):
            return False
        return any(
            not self._text.quoted(start + 1) or not self._text.quoted(end - 1)
            for start, end in paragraphs[first:last]
        )

    def _signer(self, number: int) -> str | None:
        """Who signs in that paragraph: after a closing formula, or by a name that stands alone after one or in capitals."""
        start, end = self._text.paragraphs[number]
        line, named = self._line(max(start, end - SIGNATURE), end)
        if match := _SIGNED.search(line):
            return named[int(match.group(1))].entity
        match = _NAME_ALONE.match(line)
        if match is None or number == 0 or end - start > SIGNATURE:
            return None
        before, until = self._text.paragraphs[number - 1]
        line_before, _ = self._line(max(before, until - SIGNATURE), until)
        mention = named[int(match.group(1))]
        if (
            _FORMULA_LAST.search(line_before)
            or self._text.body[mention.start : mention.end].isupper()
            or self._text.quoted(until - 1)  # the quotation that holds the letter goes on to its signature
        ):
            return mention.entity
        return None

    def _opening(self, number: int, last: int) -> int | None:
        """The paragraph that opens the letter signed in paragraph `number`."""
        paragraphs = self._text.paragraphs
        for at in range(number - 1, max(last, number - LONGEST_LETTER, -1), -1):
            start, end = paragraphs[at]
            line, _ = self._line(start, min(end, start + 120))
            if _TO.match(line) and end - start < 100:
                return at
            if _OPENING.match(line):
                return self._directed(at, last)
            if start in self._text.chapter_starts:
                return at if re.search(r"\bletter\b", self._text.body[start:end], re.IGNORECASE) else None
        return None

    def _directed(self, at: int, last: int) -> int:
        """The line 'To N' a little above a salutation, else the salutation."""
        for above in range(at - 1, max(last, at - 4, -1), -1):
            start, end = self._text.paragraphs[above]
            if end - start < 100 and _TO.match(self._line(start, end)[0]):
                return above
        return at

    def _addressee(self, first: int, last: int, teller: str) -> str | None:
        """Whoever the opening names, else whom the letter calls by name."""
        paragraphs = self._text.paragraphs
        for number in range(first, min(first + 3, last)):
            start, end = paragraphs[number]
            line, named = self._line(start, min(end, start + 80))
            found = [named[int(n)].entity for n in _NAMED.findall(line)[:1]]
            if found and found[0] != teller and (_OPENING.match(line) or _TO.match(line)):
                return found[0]
        return self._called(paragraphs[first][0], paragraphs[last][0], teller)

    def _called(self, start: int, end: int, teller: str) -> str | None:
        """Whom a letter calls by name most: ', N,', 'dear N'."""
        line, named = self._line(start, end)
        called = Counter(named[int(n)].entity for n in _CALLED.findall(line))
        del called[teller]
        return called.most_common(1)[0][0] if called else None

    def _line(self, start: int, end: int) -> tuple[str, list[Mention]]:
        """A stretch on one line, names as marks."""
        inside = self._mentions[bisect_left(self._starts, start) : bisect_left(self._starts, end)]
        parts, at = [], start
        for number, mention in enumerate(inside):
            parts += [self._text.body[at : mention.start], f"<{number}>"]
            at = mention.end
        parts.append(self._text.body[at:end] if at < end else "")
        line = re.sub(r"[\s_]+", " ", "".join(parts)).translate(_STRAIGHT)
        return line.strip(), inside


_STRAIGHT = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "—": "-", "–": "-"})
_SENTENCE = re.compile(r"[a-z,] [a-z]+ed\b|\b(?:was|is|were|had|has|said|am)\b")


def _is_heading(line: str) -> bool:
    """No sentence: nothing is done in a heading."""
    return not _SENTENCE.search(line.replace("continued", "").replace("resumed", "").replace("concluded", ""))


def _covering(stretches: Sequence[Stretch], offset: int) -> Stretch | None:
    at = bisect_right([s.start for s in stretches], offset) - 1
    return stretches[at] if at >= 0 and offset < stretches[at].end else None


def _by_title(people: Sequence[Person]) -> dict[str, str]:
    """'doctor', 'captain', 'squire' -> the one person of the cast who has that title."""
    found: dict[str, set[str]] = {}
    for person in people:
        if person.standing == "cast":
            for title in {name.titles[0] for name in person.parsed if name.titles}:
                found.setdefault({"dr": "doctor"}.get(title, title), set()).add(person.id)
    return {title: next(iter(ids)) for title, ids in found.items() if len(ids) == 1}
