"""What Gutenberg's catalogue knows of a book: its RDF, `pg_catalog.csv`, or an archive of RDFs."""

from __future__ import annotations

import csv
import heapq
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring
from pydantic import BaseModel, ConfigDict

from gutengraph_assets.gutenberg.envelope import one_line
from gutengraph_assets.gutenberg.kinds import classify
from gutengraph_assets.gutenberg.source import rdf_path
from gutengraph_core.errors import BadText, RightsError, SettingsError
from gutengraph_core.library import Kind
from gutengraph_core.names import squeeze
from gutengraph_core.settings import Settings

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NS = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dcterms": "http://purl.org/dc/terms/",
    "pgterms": "http://www.gutenberg.org/2009/pgterms/",
    "dcam": "http://purl.org/dc/dcam/",
    "marcrel": "http://id.loc.gov/vocabulary/relators/",
}
_ABOUT = f"{{{_NS['rdf']}}}about"
_RESOURCE = f"{{{_NS['rdf']}}}resource"
_DOWNLOADS = re.compile(rb"<pgterms:downloads[^>]{0,120}>(\d{1,9})<")
_NAME = re.compile(r"(?:^|/)pg(\d+)\.rdf$")
_YEARS = re.compile(r",\s*(?:active\s+|-)?\??\d[^,]*$|\s*\[[^\]]*\]$")
_COPYRIGHTED = re.compile(r"copyright(?:ed)?\b", re.IGNORECASE)


class CatalogueEntry(BaseModel):
    """One book of the catalogue. Empty strings and lists where it says nothing."""

    model_config = ConfigDict(extra="forbid")

    id: int
    title: str = ""
    """On one line; a line break before a subtitle became ': '."""
    authors: list[str] = []
    """As the catalogue inverts them, without years: 'Melville, Herman'. Translators, editors if none."""
    subjects: list[str] = []
    bookshelves: list[str] = []
    locc: list[str] = []
    language: str = ""
    """ISO code of the first language."""
    rights: str = ""
    downloads: int | None = None
    """In the last 30 days; None where the source does not say (`pg_catalog.csv`)."""
    kind: Kind = "other"
    media: str = "Text"
    """`Text`, `Sound`, `Dataset`, …"""


def _parsed(data: bytes, book: int | None) -> Element:
    try:
        return fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException) as error:
        raise BadText(
            f"Its catalogue entry cannot be read ({error}).",
            remedy="Look at the mirror's RDF file.",
            book=book,
        ) from error


def number_in(data: bytes) -> int:
    """The number of the one book that an RDF is about. Raises BadText if it is no RDF, or of no or several books."""
    root = _parsed(data, None)
    numbers = [_number(e) for e in root.iterfind("pgterms:ebook", _NS)]
    if len(numbers) != 1 or not numbers[0].isdigit():
        raise BadText("The RDF does not say which book it is of.", remedy="Take the book's own RDF.")
    return int(numbers[0])


def read_rdf(data: bytes, book: int) -> CatalogueEntry:
    """One book's RDF. Raises BadText if it is not XML, uses XML's dangerous parts, or holds no such book."""
    root = _parsed(data, book)
    ebook = next((e for e in root.iterfind("pgterms:ebook", _NS) if _number(e) == str(book)), None)
    if ebook is None:
        raise BadText(
            "Its catalogue entry speaks of another book.", remedy="Look at the mirror's RDF file.", book=book
        )
    subjects: list[str] = []
    locc: list[str] = []
    for subject in ebook.iterfind("dcterms:subject/rdf:Description", _NS):
        scheme = subject.find("dcam:memberOf", _NS)
        target = locc if scheme is not None and scheme.get(_RESOURCE, "").endswith("LCC") else subjects
        target.append(_text(subject, "rdf:value"))
    shelves = [
        _text(shelf, "rdf:value") for shelf in ebook.iterfind("pgterms:bookshelf/rdf:Description", _NS)
    ]
    downloads = _text(ebook, "pgterms:downloads")
    title = ebook.find("dcterms:title", _NS)
    return CatalogueEntry(
        id=book,
        title=one_line((title.text or "").splitlines() if title is not None else []),
        authors=_authors(root, ebook),
        # The serialisation shuffles them; sorted, the same book gives the same record.
        subjects=sorted(subjects),
        bookshelves=sorted(shelves),
        locc=sorted(locc),
        language=_text(ebook, "dcterms:language/rdf:Description/rdf:value"),
        rights=_text(ebook, "dcterms:rights"),
        downloads=int(downloads) if downloads.isdigit() else None,
        kind=classify(subjects, locc, shelves),
        media=_text(ebook, "dcterms:type/rdf:Description/rdf:value") or "Text",
    )


def _number(ebook: Element) -> str:
    return ebook.get(_ABOUT, "").rsplit("/", 1)[-1]


def _text(element: Element, path: str) -> str:
    found = element.find(path, _NS)
    return squeeze(found.text or "") if found is not None else ""


def _authors(root: Element, ebook: Element) -> list[str]:
    """Creators, else whoever is named in another role (a translator, an editor)."""
    agents = {a.get(_ABOUT, ""): _text(a, "pgterms:name") for a in root.iterfind(".//pgterms:agent", _NS)}
    creators: list[str] = []
    others: list[str] = []
    for child in ebook:
        role = child.tag.split("}")[-1]
        if child.tag == f"{{{_NS['dcterms']}}}creator":
            names = creators
        elif child.tag.startswith(f"{{{_NS['marcrel']}}}") and role in ("trl", "edt", "com", "aut"):
            names = others
        else:
            continue
        agent = child.find("pgterms:agent", _NS)
        name = agents.get(agent.get(_ABOUT, "") if agent is not None else child.get(_RESOURCE, ""), "")
        if name and name not in names:
            names.append(name)
    return creators or others


def read_pg_catalog_csv(path: Path) -> Iterator[CatalogueEntry]:
    """The entries of `pg_catalog.csv`, which has neither rights nor downloads.

    Raises SettingsError if the file lacks the columns of it.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        missing = {"Text#", "Title", "Language", "Authors", "Subjects", "LoCC", "Bookshelves"} - set(
            rows.fieldnames or []
        )
        if missing:
            raise SettingsError(
                f"{path} lacks the columns {', '.join(sorted(missing))} of pg_catalog.csv.",
                remedy="Point GUTENGRAPH_CATALOGUE at a folder or archive of RDF files, or at that file.",
            )
        for row in rows:
            subjects, locc = sorted(_list(row["Subjects"])), sorted(_list(row["LoCC"]))
            shelves = sorted(_list(row["Bookshelves"]))
            yield CatalogueEntry(
                id=int(row["Text#"]),
                title=one_line(row["Title"].splitlines()),
                authors=[_YEARS.sub("", author) for author in _list(row["Authors"])],
                subjects=subjects,
                bookshelves=shelves,
                locc=locc,
                language=next(iter(_list(row["Language"])), ""),
                kind=classify(subjects, locc, shelves),
                media=row.get("Type") or "Text",
            )


def _list(cell: str) -> list[str]:
    return [squeeze(part) for part in cell.split(";") if part.strip()]


def check_rights(entry: CatalogueEntry, settings: Settings) -> None:
    """Raises RightsError for a book that the catalogue marks as copyrighted, unless that is allowed."""
    if _COPYRIGHTED.match(entry.rights) and not settings.allow_copyrighted:
        raise RightsError(
            f"{entry.title!r} is not in the public domain: the catalogue says {entry.rights!r}",
            remedy="If its licence lets you, set GUTENGRAPH_ALLOW_COPYRIGHTED=true.",
            book=entry.id,
        )


# --- the catalogue as a whole ---


def find(book: int, settings: Settings) -> CatalogueEntry | None:
    """A book's entry in the catalogue of the settings, or None without one or if it is not there."""
    path = settings.catalogue
    if path is None:
        return None
    if path.suffix == ".csv":
        return next((entry for entry in read_pg_catalog_csv(path) if entry.id == book), None)
    if path.is_dir():
        for candidate in (path / rdf_path(book), path / str(book) / f"pg{book}.rdf", path / f"pg{book}.rdf"):
            if candidate.is_file():
                return read_rdf(candidate.read_bytes(), book)
        return None
    return next((read_rdf(data, book) for number, data in _rdfs(path) if number == book), None)


def top(n: int, settings: Settings) -> list[CatalogueEntry]:
    """The `n` texts with the most downloads in the catalogue of the settings, most first.

    Copyrighted books are passed over unless allowed. Raises SettingsError without a catalogue, or if it is
    `pg_catalog.csv`, which does not count downloads.
    """
    path = settings.catalogue
    if path is None or path.suffix == ".csv":
        raise SettingsError(
            "'Top N' needs the downloads that only RDF files give.",
            remedy="Set GUTENGRAPH_CATALOGUE to a folder of RDF files or to rdf-files.tar.bz2 from"
            " https://www.gutenberg.org/cache/epub/feeds/.",
        )
    best: list[tuple[int, int, CatalogueEntry]] = []
    for book, data in _rdfs(path):
        # 70,000 files: most are ruled out by their count alone, without parsing.
        counted = _DOWNLOADS.search(data)
        key = (int(counted[1]) if counted else 0, -book)
        if len(best) >= n and key <= best[0][:2]:
            continue
        entry = read_rdf(data, book)
        if entry.media != "Text" or (_COPYRIGHTED.match(entry.rights) and not settings.allow_copyrighted):
            continue
        heapq.heappush(best, (*key, entry))
        if len(best) > n:
            heapq.heappop(best)
    return [entry for _, _, entry in sorted(best, reverse=True, key=lambda item: item[:2])]


def _rdfs(path: Path) -> Iterator[tuple[int, bytes]]:
    """Book numbers and RDFs of a folder, a tar, a zip, or a tar within a zip (as Gutenberg packs it)."""
    try:
        if path.is_dir():
            for file in sorted(path.rglob("pg*.rdf")):
                if found := _NAME.search(file.name):
                    yield int(found[1]), file.read_bytes()
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    with archive.open(name) as member:
                        if name.endswith(".tar"):
                            yield from _in_tar(member)
                        elif found := _NAME.search(name):
                            yield int(found[1]), member.read()
        else:
            with open(path, "rb") as file_:
                yield from _in_tar(file_)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise SettingsError(
            f"The catalogue {path} cannot be read ({error}).",
            remedy="Set GUTENGRAPH_CATALOGUE to a folder, tar or zip of RDF files.",
        ) from error


def _in_tar(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """RDFs of a tar, compressed or not, read from front to back."""
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for member in archive:
            if member.isfile() and (found := _NAME.search(member.name)):
                yield int(found[1]), cast(IO[bytes], archive.extractfile(member)).read()
