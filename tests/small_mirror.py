"""A mirror folder with small books of a test's own, in gutenberg.org's layout."""

from __future__ import annotations

from pathlib import Path

STORY = """CHAPTER I.

Captain Rook walked down to the harbour of Saltby with his sister Ada. Ada Rook carried the lantern, for the
captain had only one arm. "It is late," said Captain Rook, "and the Heron sails at six." The people of Saltby
looked after them from their doors, as they always did when Ada and the captain went by together.

"Mr. Finch has not paid," said Ada. Mr. Finch was the owner of the Heron, and he had never paid anybody.

CHAPTER II.

The Heron lay at the quay. Mr. Finch stood on her deck and would not look at Captain Rook. Ada held the lantern
up to his face. "You know my brother," she said. Mr. Finch said that he knew everybody in Saltby, and nobody so
well as Captain Rook. Then Ada laughed, and the captain laughed, and in the end Mr. Finch paid.
"""

FRENCH = """CHAPITRE PREMIER

Le capitaine descendit vers le port avec sa soeur. Elle portait la lanterne, car il n'avait plus qu'un bras, et la
nuit était tombée depuis longtemps. Les gens du village les regardaient passer, comme toujours, et personne ne
disait rien. Il avait promis de partir avant six heures, et il tenait toujours ce qu'il avait promis.

CHAPITRE II

Le navire était au quai. Le maître ne voulait pas regarder le capitaine. Alors la soeur leva la lanterne et lui dit
que tout le monde la connaissait dans ce port. Il rit, elle rit aussi, et à la fin il paya ce qu'il devait.
"""


def text_of(book: int, title: str, body: str, *, language: str = "English") -> str:
    """A whole text: Gutenberg's header, markers and a licence around `body`."""
    upper = title.upper()
    return (
        f"The Project Gutenberg eBook of {title}\n\nTitle: {title}\n\nAuthor: Nobody\n\n"
        f"Release date: January 1, 2026 [eBook #{book}]\n\nLanguage: {language}\n\n\n"
        f"*** START OF THE PROJECT GUTENBERG EBOOK {upper} ***\n\n\n{body}\n\n\n"
        f"*** END OF THE PROJECT GUTENBERG EBOOK {upper} ***\n\n"
        "Updated editions will replace the previous one.\n\nSTART: FULL LICENSE\n"
    )


def rdf_of(
    book: int,
    title: str,
    *,
    language: str = "en",
    rights: str = "Public domain in the USA.",
    subject: str = "Sea stories -- Fiction",
) -> str:
    """A catalogue entry."""
    return f"""<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xml:base="http://www.gutenberg.org/" xmlns:dcterms="http://purl.org/dc/terms/"
  xmlns:dcam="http://purl.org/dc/dcam/" xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <pgterms:ebook rdf:about="ebooks/{book}">
    <dcterms:title>{title}</dcterms:title>
    <dcterms:rights>{rights}</dcterms:rights>
    <dcterms:language><rdf:Description><rdf:value>{language}</rdf:value></rdf:Description></dcterms:language>
    <dcterms:subject><rdf:Description>
      <dcam:memberOf rdf:resource="http://purl.org/dc/terms/LCSH"/><rdf:value>{subject}</rdf:value>
    </rdf:Description></dcterms:subject>
  </pgterms:ebook>
</rdf:RDF>
"""


def put(
    mirror: Path,
    book: int,
    data: bytes | str,
    *,
    rdf: str | None = None,
    path: str = "cache/epub/{}/pg{}.txt",
) -> None:
    """Lay a book's file, and its catalogue entry if there is one, into a mirror folder."""
    file = mirror / path.format(book, book)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    if rdf is not None:
        entry = mirror / f"cache/epub/{book}/pg{book}.rdf"
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(rdf, encoding="utf-8")


def put_story(mirror: Path, book: int = 7, title: str = "The Heron") -> None:
    """A small English book with two chapters."""
    put(mirror, book, text_of(book, title, STORY), rdf=rdf_of(book, title))


def put_french(mirror: Path, book: int = 8, title: str = "Le port") -> None:
    """A small French book."""
    put(mirror, book, text_of(book, title, FRENCH, language="French"), rdf=rdf_of(book, title, language="fr"))
