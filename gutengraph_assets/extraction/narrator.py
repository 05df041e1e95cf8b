"""Who says 'I' in a book told in the first person, where the text lets one know."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.entities import Mention, windows_of

FIRST_PERSON_PER_1000 = 7.0
"""'I' outside quotations in 1,000 words outside quotations: at this rate and above a book is told by one of
its people; separated all first-person books from the others in a trial on five novels."""
INSIDE_SHARE = 0.9
"""A narrator's own name is hardly ever outside quotation marks: others say it to him or her."""
LEAST_ADDRESSED = 3
"""A name said once ('Call me …') decides nothing."""
LEAST_WINDOWS = 3
"""Who is only ever addressed in one scene does not tell the book."""

_I = re.compile(r"(?<![\w’'])I(?=[\s’',;.!?—-])")
_WORD = re.compile(r"[^\W_]+")
_BEFORE = re.compile(r"(?:^|[,;!?—]|\b(?:my dear|dear|oh|ah|well|yes|no|come))\s*_?$", re.IGNORECASE)
_AFTER = re.compile(r"_?\s*(?:[,;!?.—”\"’]|$)")


def first_person_rate(text: BookText) -> float:
    """How often 'I' stands outside quotations, per 1,000 words outside quotations."""
    outside, said, at = 0, 0, 0
    for start, end in [*text.quotations, (len(text.body), len(text.body))]:
        stretch = text.body[at : max(at, start)]
        outside += len(_WORD.findall(stretch))
        said += len(_I.findall(stretch))
        at = max(at, end)
    return 1000 * said / outside if outside else 0.0


def find_narrator(text: BookText, mentions: Mapping[str, Sequence[Mention]]) -> str | None:
    """The id of the person who tells the book, or None where the book is not told by one of its people or the
    text does not show who. `mentions`: those of every person that may be it, by id.
    """
    if first_person_rate(text) < FIRST_PERSON_PER_1000:
        return None
    best: tuple[int, str] | None = None
    for entity, found in sorted(mentions.items()):
        inside = [m for m in found if text.quoted(m.start)]
        if len(windows_of(text, found)) < min(LEAST_WINDOWS, len(text.windows)):
            continue
        if len(inside) < INSIDE_SHARE * len(found):
            continue
        addressed = sum(_is_address(text, m) for m in inside)
        if addressed >= LEAST_ADDRESSED and (best is None or addressed > best[0]):
            best = (addressed, entity)
    return best[1] if best else None


def _is_address(text: BookText, mention: Mention) -> bool:
    quotation = text.quotation_of(mention.start)
    if quotation is None:
        return False
    start, end = text.quotations[quotation]
    before = text.body[max(start, mention.start - 12) : mention.start]
    after = text.body[mention.end : min(end, mention.end + 3)]
    return bool(_BEFORE.search(before)) and bool(_AFTER.match(after))
