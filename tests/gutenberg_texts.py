"""Small texts in Project Gutenberg's wrappings, written for the tests: every quirk without a real book."""

from __future__ import annotations

HEADER = """The Project Gutenberg EBook of {title}, by {author}

This eBook is for the use of anyone anywhere at no cost and with
almost no restrictions whatsoever.


Title: {title}

Author: {author}

Release Date: November, 2026 [EBook #7]

Language: {language}

Character set encoding: {charset}

"""
START = "*** START OF THIS PROJECT GUTENBERG EBOOK {upper} ***\n"
END = """End of the Project Gutenberg EBook of {title}, by {author}

*** END OF THIS PROJECT GUTENBERG EBOOK {upper} ***

***** This file should be named 7-0.txt or 7-0.zip *****

Updated editions will replace the previous one.

*** START: FULL LICENSE ***

THE FULL PROJECT GUTENBERG LICENSE
"""

PROSE = (
    "The lamp at the end of the mole had burned all night, and nobody in the\n"
    "town could say who had lit it. Old Pettigrew, who kept the tide-book,\n"
    "said that it was none of his doing; the harbour-master said the same,\n"
    "and looked at Pettigrew while he said it.\n"
)
MORE = (
    "By the forenoon a crowd had gathered on the steps, and every man in it\n"
    "had a brother or a cousin who had seen the light go up. None of them\n"
    "had seen the hand that held the match, and most of them were glad.\n"
)
TALK = "“I never touched it,” said Pettigrew.\n"
LAST = (
    "So they put the lamp out at noon, and at dusk it was burning again, and\n"
    "after that the town left it alone and steered by it.\n"
)


def gutenberg(
    text: str,
    *,
    title: str = "The Lamp on the Mole",
    author: str = "Ada Fenwick",
    language: str = "English",
    charset: str = "UTF-8",
    start: str = START,
    end: str = END,
) -> str:
    """`text` between header and footer."""
    names = {
        "title": title,
        "author": author,
        "upper": title.upper(),
        "language": language,
        "charset": charset,
    }
    return (
        HEADER.format(**names) + start.format(**names) + "\n\n\n" + text + "\n\n\n\n\n" + end.format(**names)
    )


def chapter(heading: str, *, last: bool = False) -> str:
    """A chapter of three short paragraphs under `heading`, four blank lines above it."""
    return f"\n\n\n\n{heading}\n\n{PROSE}\n{TALK}\n{LAST if last else MORE}"


def book(*headings: str, front: str = "", back: str = "") -> str:
    """Chapters under headings, with something in front and behind."""
    chapters = [chapter(heading, last=heading == headings[-1]) for heading in headings]
    return front + "".join(chapters) + back


TITLE_PAGE = """Produced by a Careful Volunteer




THE LAMP ON THE MOLE

by

Ada Fenwick

LONDON: HARBOUR & CO, PUBLISHERS

1887
"""

AGENT = '<pgterms:agent rdf:about="2009/agents/{n}"><pgterms:name>{name}</pgterms:name></pgterms:agent>'


def rdf(
    book: int = 7,
    *,
    title: str = "The Lamp on the Mole",
    people: str = "<dcterms:creator>" + AGENT.format(n=1, name="Fenwick, Ada") + "</dcterms:creator>",
    subjects: tuple[str, ...] = ("Lighthouses -- Fiction", "Sea stories"),
    locc: tuple[str, ...] = ("PR",),
    shelves: tuple[str, ...] = ("Harbour Fiction",),
    rights: str = "Public domain in the USA.",
    downloads: int | None = 120,
    media: str = "Text",
    prolog: str = "",
) -> bytes:
    """A catalogue entry in Gutenberg's RDF."""

    def value(tag: str, text: str, scheme: str = "") -> str:
        member = f'<dcam:memberOf rdf:resource="http://purl.org/dc/terms/{scheme}"/>' if scheme else ""
        return f"<{tag}><rdf:Description>{member}<rdf:value>{text}</rdf:value></rdf:Description></{tag}>"

    parts = [
        f"<dcterms:title>{title}</dcterms:title>",
        people,
        *(value("dcterms:subject", s, "LCSH") for s in subjects),
        *(value("dcterms:subject", c, "LCC") for c in locc),
        *(value("pgterms:bookshelf", s) for s in shelves),
        value("dcterms:language", "en"),
        value("dcterms:type", media),
        f"<dcterms:rights>{rights}</dcterms:rights>",
        f'<pgterms:downloads rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">{downloads}'
        "</pgterms:downloads>" if downloads is not None else "",
    ]  # fmt: skip
    return (
        f'<?xml version="1.0" encoding="utf-8"?>{prolog}'
        '<rdf:RDF xml:base="http://www.gutenberg.org/"'
        ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dcam="http://purl.org/dc/dcam/"'
        ' xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/" xmlns:dcterms="http://purl.org/dc/terms/"'
        ' xmlns:marcrel="http://id.loc.gov/vocabulary/relators/">'
        f'<pgterms:ebook rdf:about="ebooks/{book}">{"".join(parts)}</pgterms:ebook></rdf:RDF>'
    ).encode()
