"""`data/inbox/`: files with Gutenberg ids, or texts with their RDF, that become books of the library.

What was taken in goes to `inbox/accepted/`, what cannot be used to `inbox/rejected/` with the reason beside it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gutengraph_assets.gutenberg import catalogue
from gutengraph_assets.gutenberg.source import LARGEST_BYTES, on_shelf
from gutengraph_core.errors import BadText, GutenGraphError
from gutengraph_core.files import disk_errors, write_bytes, write_text
from gutengraph_core.library import Library

FOLDER = "inbox"
ACCEPTED, REJECTED = "accepted", "rejected"
REASON = ".reason.txt"
LARGEST_ID = 10_000_000
"""Gutenberg has counted to some 80,000 in fifty years; a longer number is a slip, or no list of ids."""
_LIST = frozenset({".txt", ".list", ".csv", ".ids", ""})
_NOT_BLANK = re.compile(r"[^\s,;]+")


@dataclass(frozen=True)
class Delivery:
    """Something in the inbox that can be used."""

    name: str
    """The file's name."""
    files: tuple[Path, ...]
    ids: tuple[int, ...]
    key: str
    """Changes with the file's bytes and time: the same delivery is not taken twice."""


@dataclass(frozen=True)
class Refused:
    """Something in the inbox that cannot be used, and why, in words that name the file."""

    name: str
    files: tuple[Path, ...]
    reason: str


def parse_ids(text: str, name: str) -> tuple[int, ...]:
    """Gutenberg ids of a list: separated by white space, commas or semicolons; `#` begins a comment.

    `name` is the file's, for the message. Raises BadText naming file, line and word, or if there is no id.
    """
    found: dict[int, None] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        for word in _NOT_BLANK.findall(line.split("#", 1)[0]):
            if not word.isascii() or not word.isdigit() or int(word) > LARGEST_ID:
                raise BadText(
                    f"{name}, line {number}: {word[:40]!r} is no Gutenberg id.",
                    remedy="Correct the list and put it into the inbox again.",
                )
            found[int(word)] = None
    if not found:
        raise BadText(f"{name}: it has no Gutenberg id.", remedy="Write one id a line, for instance 2701.")
    return tuple(found)


def look(library: Library, *, settle_s: float, at: float) -> Iterator[Delivery | Refused]:
    """What lies in the inbox at the time `at` (seconds since 1970) and has not changed for `settle_s`.

    A text is not laid on the shelf yet: `accept` does. Raises DataFolderError.
    """
    folder = library.home / FOLDER
    if not folder.is_dir():
        return
    with disk_errors(folder):
        files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    for file in files:
        rdf = file.with_suffix(".rdf")
        if file.suffix == ".rdf" and _text_of(file, files) is not None:
            continue  # goes with its text
        together = (file, rdf) if rdf in files and rdf != file else (file,)
        if any(at - path.stat().st_mtime < settle_s for path in together):
            continue  # it may still be being copied
        try:
            yield Delivery(file.name, together, _ids(file, rdf if rdf in together else None), _key(together))
        except GutenGraphError as error:
            yield Refused(file.name, together, str(error))


def _text_of(rdf: Path, files: list[Path]) -> Path | None:
    return next((f for f in files if f.stem == rdf.stem and f != rdf), None)


def _ids(file: Path, rdf: Path | None) -> tuple[int, ...]:
    if file.suffix == ".rdf":
        raise BadText(
            f"{file.name}: an RDF without its text.", remedy="Put the text of the same name beside it."
        )
    if rdf is not None:
        try:
            return (catalogue.number_in(rdf.read_bytes()),)
        except BadText as error:
            raise BadText(f"{rdf.name}: {error.what}", remedy="Take the book's own RDF.") from error
    if file.suffix.lower() not in _LIST:
        raise BadText(f"{file.name}: neither a list of ids nor a text with its RDF.", remedy="Name it .txt.")
    if file.stat().st_size > LARGEST_BYTES:
        raise BadText(f"{file.name}: too large.", remedy="A list has one id a line.")
    data = file.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadText(f"{file.name}: it is no text.", remedy="Write the ids as plain text.") from None
    if "PROJECT GUTENBERG" in text[:20_000].upper():
        raise BadText(
            f"{file.name}: a book's text without its RDF, so that nothing says which book it is.",
            remedy=f"Put {file.stem}.rdf beside it, or only the book's id.",
        )
    return parse_ids(text, file.name)


def _key(files: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
        digest.update(str(path.stat().st_mtime_ns).encode())
    return f"{files[0].name}:{digest.hexdigest()[:16]}"


def shelve(library: Library, delivery: Delivery) -> None:
    """Lay a text and its RDF where the source looks first. A list of ids has none. Raises DataFolderError."""
    if len(delivery.files) < 2:
        return
    (book,) = delivery.ids
    for path in delivery.files:
        suffix = "rdf" if path.suffix == ".rdf" else "txt"
        write_bytes(on_shelf(library.home, book, suffix), path.read_bytes(), book=book)


def accept(library: Library, files: tuple[Path, ...]) -> None:
    """Move files of the inbox to `accepted`."""
    _move(library, files, ACCEPTED)


def reject(library: Library, refused: Refused) -> None:
    """Move files of the inbox to `rejected`, the reason beside them."""
    _move(library, refused.files, REJECTED)
    note_reason(library, refused.name, refused.reason)


def note_reason(library: Library, name: str, reason: str) -> None:
    """Write why (part of) a delivery was refused. `name` is the file's."""
    write_text(library.home / FOLDER / REJECTED / f"{Path(name).name}{REASON}", reason + "\n")


def _move(library: Library, files: tuple[Path, ...], where: str) -> None:
    folder = library.home / FOLDER / where
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for path in files:
            path.replace(folder / path.name)
