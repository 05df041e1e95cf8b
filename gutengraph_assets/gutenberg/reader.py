"""From the bytes of a Gutenberg text file to the body that everything else counts offsets in.

The rule: **the body begins and ends where a person would begin and end to read.** It begins with the author's
own first word: a dedication, a motto, a preface, else the first chapter's heading (with the part's above it).
It ends with the last chapter, THE END included. What goes, and is counted:

- Gutenberg's header, footer, licence and small print; producers' and transcribers' lines;
- title pages, publisher's data, contents lists, lists of illustrations, glossaries, bibliographies, indexes;
- what names a translator, editor, publisher or transcriber as its writer (TRANSLATOR'S PREFACE);
- pictures' captions, page numbers in brackets, advertisements, whatever follows THE END;
- notes collected at the end, unless `keep_notes`: in a novel a person has stopped reading, in a treatise not.

Notes among the text stay. In the body lines end in '\\n' and have no trailing spaces, accents are composed
(NFC), and one blank line stands between paragraphs, two where the source had more.
"""

from __future__ import annotations

from dataclasses import dataclass

from gutengraph_assets.gutenberg import back, language
from gutengraph_assets.gutenberg.chapters import Heading, outline
from gutengraph_assets.gutenberg.cleaning import clean
from gutengraph_assets.gutenberg.decoding import decode
from gutengraph_assets.gutenberg.envelope import open_envelope
from gutengraph_assets.gutenberg.front import Front
from gutengraph_assets.gutenberg.paragraphs import Para, drop, join, split
from gutengraph_core.errors import BadText
from gutengraph_core.library import Chapter

LEAST_WORDS = 50
"""Fewer are no book: an index page, a notice that the text has moved, a header without a text."""


@dataclass(frozen=True)
class Stripped:
    """What was taken off a text, of one kind: `what` it was and how many characters."""

    what: str
    chars: int


@dataclass(frozen=True)
class ReadBook:
    """A book as read. `chapters` are contiguous and cover `body`."""

    body: str
    encoding: str
    title: str
    """As the header says; '' if it does not."""
    author: str
    language: str
    """ISO code: declared, else from the header, else by its words; '' if none of them tells."""
    chapters: list[Chapter]
    """Headings count from 1; 0 is what stands before the first one, under the headings of its own."""
    front: list[Stripped]
    back: list[Stripped]
    notes: list[str]
    """What a reader of the log should know: no header, bytes that could not be read, …"""


def read_book(
    data: bytes, *, book: int, declared_language: str | None = None, keep_notes: bool = False
) -> ReadBook:
    """Read a text.

    Raises BadText for what is empty, binary, HTML or too short once stripped, TruncatedDownload for a text
    that has Gutenberg's header and breaks off without its footer.
    """
    decoded = decode(data, book=book)
    lines = decoded.text.split("\n")
    envelope = open_envelope(lines, book=book)
    notes = [*decoded.notes, *envelope.notes]
    paras, cleaned = clean(split("\n".join(lines[envelope.start : envelope.end])))

    found = outline(paras, book_title=envelope.title)
    first = found.headings[0].first if found.headings else None
    front = Front(paras, first=first, listed=found.contents, title=envelope.title, author=envelope.author)
    last = found.headings[-1].index if found.headings else front.first
    tail, tail_gone = back.find(paras, last, keep_notes=keep_notes)
    gone = front.dropped | tail | found.contents
    headings = [h for h in found.headings if h.index not in gone]
    kept = drop(paras, gone)
    body, starts = join(kept)

    if len(body.split()) < LEAST_WORDS:
        raise BadText(
            f"Only {len(body.split())} words are left of it once Gutenberg's own are stripped.",
            remedy="Look at the file: it may be a notice or a page of an index.",
            book=book,
        )
    at = {para.at: start for para, start in zip(kept, starts, strict=True)}
    spoken = language.code(declared_language or "") or language.code(envelope.language)
    if not spoken:
        guessed, share = language.guess(body)
        spoken = guessed if share >= language.SURE else ""
        notes.append(f"language by its words: {spoken or 'unknown'} ({share:.0%} of the votes)")
    return ReadBook(
        body=body,
        encoding=decoded.encoding,
        title=envelope.title,
        author=envelope.author,
        language=spoken,
        chapters=_chapters(headings, paras, at, len(body), front.heads),
        front=[Stripped(what, chars) for what, chars in (cleaned + front.gone).items()],
        back=[Stripped(what, chars) for what, chars in tail_gone.items()],
        notes=notes,
    )


def _chapters(
    headings: list[Heading], paras: list[Para], at: dict[int, int], size: int, heads: list[str]
) -> list[Chapter]:
    """Contiguous spans from heading to heading; all of a text without headings is chapter 0."""
    starts = [at[paras[h.first].at] for h in headings]
    chapters = []
    if not starts or starts[0] > 0:
        end = starts[0] if starts else size
        chapters.append(Chapter(index=0, title="; ".join(heads), start=0, end=end))
    for number, (heading, start) in enumerate(zip(headings, starts, strict=True), 1):
        end = starts[number] if number < len(starts) else size
        chapters.append(Chapter(index=number, title=heading.title, part=heading.part, start=start, end=end))
    return chapters
