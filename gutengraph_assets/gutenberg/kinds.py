"""The kind of a text: fiction, non-fiction, drama, verse or other, from the catalogue, else from its shape.

The catalogue is asked first: Library of Congress subject headings say `-- Fiction`, `-- Drama`, `-- Poetry`
in so many words. Where it is silent, the text itself: speeches under names, lines that begin with capitals,
verbs of saying, persons referred to.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from gutengraph_assets.gutenberg.paragraphs import split
from gutengraph_core.library import Kind

_CRITICISM = re.compile(
    r"history and criticism|criticism and interpretation|\bbibliography\b|\btechnique\b|\bauthorship\b"
    r"|study and teaching|-- appreciation$|-- history$|\bcriticism, textual\b",
    re.IGNORECASE,
)
_FORMS: list[tuple[Kind, re.Pattern[str]]] = [
    ("drama", re.compile(r"\bdramas?\b|\btraged(?:y|ies)\b|\bcomed(?:y|ies)\b|\bplays\b|\bfarces\b", re.I)),
    (
        "verse",
        re.compile(r"\bpoetry\b|\bpoems?\b|\bsonnets\b|\bballads\b|\blyrik\b|\bpoésie\b|\bverse\b", re.I),
    ),
    (
        "fiction",
        re.compile(
            r"\bfiction\b|\bstories\b|\btales?\b|\bnovels?\b|\bbildungsromans?\b|\bromances?\b|\bfables\b"
            r"|\blegends\b|\b(?:fantasy|epic) literature\b|\bprosa\b|\bromans?\b",
            re.I,
        ),
    ),
    (
        "non-fiction",
        re.compile(
            r"\bhistory\b|\bbiograph(?:y|ies)\b|\bcorrespondence\b|\bessays?\b|\bphilosophy\b|\bpolitics\b"
            r"|\bdescription and travel\b|\breligio(?:n|us)\b|\btheology\b|\bsciences?\b|\blaw\b"
            r"|\beconomics\b|\bdiaries\b|\bpersonal narratives\b|\bsermons\b|\bsatire\b|\bdictionaries\b"
            r"|\bhandbooks\b|\bcooking\b",
            re.I,
        ),
    ),
]
_LITERATURES = {"PR", "PS", "PQ", "PT", "PG", "PH", "PA", "PK", "PL", "PJ"}
"""Library of Congress classes that hold literatures, whatever their form."""
_SPEECH = re.compile(r"\s*[A-Z][A-Z’' ]{1,30}[A-Z]\b\.?(?:\s|$)|\s*_[A-Z][a-z]{1,30}\._")
_SAID = re.compile(
    r"\b(?:said|cried|replied|asked|answered|exclaimed|whispered|shouted"
    r"|dit-il|dit-elle|répondit|sagte|rief|fragte)\b"
)
_PERSONAL = re.compile(r"\b(?:he|she|him|her|his|hers|I|me|my|il|elle|er|sie|ihm|ihr)\b")

SPEECHES = 0.4
"""Share of speeches that makes a play. The mirror's play has .82, its novels .08 at most."""
CAPITAL_LINES = 0.4
"""Share of lines with a capital first that makes verse. The mirror's verse has .63, its prose .24 at most."""
PERSONAL = 35.0
SAID = 2.0
"""Persons and verbs of saying per 1,000 words that make a story. The mirror's English fiction has 42 persons
or more, its treatises 15 at most, its satire 30. A life may pass for a story: none was measured."""


@dataclass(frozen=True)
class Shape:
    """What a text looks like from afar."""

    speeches: float
    """Share of paragraphs that begin with a speaker's name."""
    capital_lines: float
    """Share of lines, first lines of paragraphs aside, that begin with a capital."""
    said: float
    """Verbs of saying per 1,000 words."""
    personal: float
    """Words for one person (he, her, I) per 1,000 words."""


def shape(body: str) -> Shape:
    """Measure a body. Linear in its length."""
    paras = split(body)
    lines = [line.lstrip() for p in paras for line in p.lines[1:]]
    n_words = max(1, len(body.split()))
    return Shape(
        speeches=sum(_SPEECH.match(p.lines[0]) is not None for p in paras) / max(1, len(paras)),
        capital_lines=sum(line[:1].isupper() for line in lines) / max(1, len(lines)),
        said=1000 * len(_SAID.findall(body)) / n_words,
        personal=1000 * len(_PERSONAL.findall(body)) / n_words,
    )


def classify(
    subjects: list[str], locc: list[str], bookshelves: list[str], shape: Shape | None = None
) -> Kind:
    """The kind that subjects tell, else shelves, else the class, else the shape; `other` if none does.

    With a shape, verse that is printed as prose (a translation) counts as fiction: it tells a story.
    """
    told = _vote(subjects) or _vote(bookshelves)
    if told is None and any(c.upper().startswith("PZ") for c in locc):
        told = "fiction"
    if told is None and locc and not any(c[:2].upper() in _LITERATURES for c in locc):
        told = "non-fiction"
    if told == "verse" and shape is not None and shape.capital_lines < CAPITAL_LINES:
        return "fiction"
    if told is not None:
        return told
    return "other" if shape is None else by_shape(shape)


def by_shape(shape: Shape) -> Kind:
    """The kind of a text of which no catalogue tells."""
    if shape.speeches > SPEECHES:
        return "drama"
    if shape.capital_lines > CAPITAL_LINES:
        return "verse"
    if shape.personal >= PERSONAL or shape.said >= SAID:
        return "fiction"
    return "non-fiction" if shape.personal < PERSONAL / 2 else "other"


def _vote(headings: list[str]) -> Kind | None:
    """What most headings say of the form. A form once named beats what the text is about: fiction *about*
    history is fiction, a book *about* fiction is none."""
    votes: Counter[Kind] = Counter()
    for heading in headings:
        last = heading.rsplit(" -- ", 1)[-1]
        if _CRITICISM.search(heading) and not re.search(r"\b(?:fiction|drama|poetry)\b", last, re.I):
            votes["non-fiction"] += 1
            continue
        told = next((kind for kind, form in _FORMS if form.search(last)), None)
        told = told or next((kind for kind, form in _FORMS if form.search(heading)), None)
        if told:
            votes[told] += 1
    forms = {kind: n for kind, n in votes.items() if kind != "non-fiction"}
    if forms and max(forms.values()) * 2 >= votes["non-fiction"]:
        # Of equal votes the rarer form tells more: a play is also catalogued under its legends and tales.
        return max(forms, key=lambda kind: (forms[kind], kind != "fiction"))
    return "non-fiction" if votes["non-fiction"] else None
