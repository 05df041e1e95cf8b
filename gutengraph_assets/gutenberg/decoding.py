"""From bytes to clean characters: encoding, line ends, composed accents, nothing invisible.

The declared encoding is the last thing to believe: of 41 books one called Latin-1 'ASCII', four had none.
Bytes that are valid UTF-8 are UTF-8 (a Latin-1 text with accents is so by chance with a likelihood near nil).
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

from charset_normalizer import from_bytes

from gutengraph_core.errors import BadText

_DECLARED = re.compile(rb"^Character set encoding:[ \t]*([^\r\n]+)", re.IGNORECASE | re.MULTILINE)
_HEAD_BYTES = 20_000
_MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\x7fELF": "a program",
    b"{\\rtf": "an RTF document",
}
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head)\b", re.I | re.S
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]")
_WINDOWS = re.compile(rb"[\x80-\x9f]")
"""Quotes and dashes in Windows' code page, control characters in Latin-1."""
_INVISIBLE = str.maketrans(dict.fromkeys(map(ord, "\ufeff\u200b\u2060\u00ad\x1a"), None))
"""Byte-order marks, zero-width spaces, soft hyphens (they split names), and DOS's end of file."""
_BREAKS = re.compile(r"\r\r\n|\r\n|[\r\x0b\x0c\x85\u2028\u2029]")

MOST_CONTROLS = 0.001
"""Share of control characters above which a file is no text."""
MOST_BROKEN = 0.1
"""Share of a text's special characters that may be broken in UTF-8; more, and it is in another encoding."""
FOREIGN_SCRIPT = 0.25
"""Share of high bytes above which a text is in no Latin script, and its encoding has to be guessed."""


@dataclass(frozen=True)
class Decoded:
    """Text with '\\n' line ends, in NFC, without trailing spaces, and how it was read."""

    text: str
    encoding: str
    notes: list[str]


def decode(data: bytes, *, book: int) -> Decoded:
    """Raises BadText for an empty file, a binary one, and HTML."""
    remedy = "Look at the address it came from, and build it again once that serves the plain text."
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise BadText(f"What was fetched is {what}, not a text.", remedy=remedy, book=book)
    notes: list[str] = []
    text, encoding = _characters(data, notes)
    controls = len(_CONTROL.findall(text))
    if controls > MOST_CONTROLS * len(text):
        raise BadText("What was fetched is binary, not a text.", remedy=remedy, book=book)
    if controls:
        notes.append(f"{controls} control characters removed")
        text = _CONTROL.sub("", text)
    text = _clean(text)
    if not text.strip():
        raise BadText("What was fetched is empty.", remedy=remedy, book=book)
    if _HTML.match(text[:5000]):
        raise BadText("What was fetched is an HTML page, not a plain text.", remedy=remedy, book=book)
    return Decoded(text, encoding, notes)


def _characters(data: bytes, notes: list[str]) -> tuple[str, str]:
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return _mended(data, encoding, notes), encoding
    if data.isascii():
        return data.decode("ascii"), "ascii"
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    declared = _declared(data)
    mended = data.decode("utf-8", "replace")
    broken = mended.count("\ufffd")
    if broken < MOST_BROKEN * sum(not c.isascii() for c in mended):
        return _mended(data, "utf-8", notes), "utf-8"
    high = sum(byte > 0x7F for byte in data[:: max(1, len(data) // 100_000)])
    foreign = high > FOREIGN_SCRIPT * min(len(data), 100_000)
    guesses = [declared] if declared not in ("", "ascii", "utf-8", "iso8859-1") else []
    if foreign and not guesses and (best := from_bytes(data[:200_000]).best()) is not None:
        guesses.append(best.encoding)
    western = "cp1252" if _WINDOWS.search(data) else "latin-1"
    for encoding in (*guesses, western):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if declared and declared not in (encoding, "iso8859-1"):
            notes.append(f"declared as {declared}, read as {encoding}")
        return text, encoding
    return data.decode("latin-1"), "latin-1"


def _declared(data: bytes) -> str:
    """The codec that the header names, in Python's spelling, or '' if it names none that exists."""
    found = _DECLARED.search(data, 0, _HEAD_BYTES)
    if found is None:
        return ""
    name = found[1].decode("ascii", "ignore").strip().lower().replace("iso latin-1", "iso-8859-1")
    try:
        return codecs.lookup(name.removeprefix("unicode ")).name
    except LookupError:
        return ""


def _mended(data: bytes, encoding: str, notes: list[str]) -> str:
    text = data.decode(encoding, "replace").removeprefix("\ufeff")
    if broken := text.count("\ufffd"):
        notes.append(f"{broken} characters could not be read and stand as U+FFFD")
    return text


def _clean(text: str) -> str:
    text = _BREAKS.sub("\n", text).translate(_INVISIBLE)
    # Line by line: a pattern for spaces at line ends is quadratic in a run of spaces that is not at one.
    return "\n".join(line.rstrip() for line in unicodedata.normalize("NFC", text).split("\n"))
