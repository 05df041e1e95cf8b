"""Whether a person takes part in a book's story, or is only referred to: 'as Pliny says', 'since Adam'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.book_text import BookText, Span

TOLD_SHARE = 0.4
"""Named by the book's people this often, somebody belongs to their lives. Of 34 minor persons without any sign of
taking part, 32 were references in a trial on one novel; of 175 persons of five gold standards the rule misjudges 5."""
TOLD_LEAST = 2
SIGNS = 2

_SAYS = (
    "said|says|say|cried|replied|answered|asked|exclaimed|observed|remarked|added|continued|returned|whispered|"
    "repeated|began|rejoined|inquired|shouted|muttered|murmured|roared|growled|resumed|interrupted|suggested"
)
_SAID_BEFORE = re.compile(rf"\b(?:{_SAYS})\s+\Z")
_SAID_AFTER = re.compile(rf"_?,?\s+(?:{_SAYS})\b")
_ACTS = re.compile(
    r"_?,?\s+(?:\w+ly\s+)?(?:\w{2,}ed|had|was|would|could|did|went|came|stood|sat|rose|took|gave|shook|ran|sprang|drew|put|saw|"
    r"knew|felt|thought|made|got|left|lay|held|threw|fell|found|spoke|told|kept|brought|caught|let|met|heard|led|read|set|"
    r"struck|swung|wore|wrote|broke|bent|became|grew|paid|sent|lost|won|sang|wept|slept|swore|rode|drove)\b"
)
_ADDRESS_BEFORE = re.compile(
    r"(?:^|[,;!?—-]\s*|\b(?:dear|dearest|beloved|oh|ah|well|yes|no|come)\s+)_?\Z", re.IGNORECASE
)
_ADDRESS_AFTER = re.compile(r"_?\s*[,;!?.—-]")
_DEAR = re.compile(r"\b(?:my|dear|dearest|beloved|poor)\s+_?\Z", re.IGNORECASE)
_BEFORE, _AFTER = 14, 26
"""Characters looked at on both sides of a name."""


@dataclass(frozen=True)
class Part:
    """How somebody is seen in a book."""

    mentions: int
    told: int
    """By the book's people."""
    acts: int
    """In which he or she speaks or does something."""
    signs: int
    """These, and those in which he or she is addressed, or called dear or poor."""

    @property
    def takes_part(self) -> bool:
        """Is spoken of by the book's people, or seen there more than once. One sign is as often a figure of speech:
        'Pliny tells us', 'even Nelson fell'."""
        spoken_of = self.told >= TOLD_LEAST and self.told >= TOLD_SHARE * self.mentions
        return spoken_of or self.told == self.mentions or self.signs >= SIGNS


def part_of(text: BookText, spans: Sequence[Span]) -> Part:
    """The part of somebody named at `spans`."""
    quoted = [text.quoted(start) for start, _ in spans]
    signs = acts = 0
    for span, inside in zip(spans, quoted, strict=True):
        acting = _acts(text, span, inside)
        acts += acting
        signs += acting or _is_addressed(text, span, inside)
    return Part(mentions=len(spans), told=sum(quoted), acts=acts, signs=signs)


def _acts(text: BookText, span: Span, quoted: bool) -> bool:
    start, end = span
    before = text.body[max(0, start - _BEFORE) : start]
    after = text.body[end : end + _AFTER]
    if _SAID_BEFORE.search(before) or _SAID_AFTER.match(after):
        return True
    return not quoted and bool(_ACTS.match(after))


def _is_addressed(text: BookText, span: Span, quoted: bool) -> bool:
    start, end = span
    before = text.body[max(0, start - _BEFORE) : start]
    if _DEAR.search(before):
        return True
    if not quoted:
        return False
    opening = text.quotations[text.quotation_of(start) or 0][0]
    before = text.body[max(opening, start - _BEFORE) : start]
    return bool(_ADDRESS_BEFORE.search(before)) and bool(_ADDRESS_AFTER.match(text.body[end : end + _AFTER]))
