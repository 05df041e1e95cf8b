"""The catalogue: RDF, CSV, rights, top N, and the kind of a text."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from gutenberg_texts import AGENT, rdf

from gutengraph_assets.gutenberg import catalogue
from gutengraph_assets.gutenberg.catalogue import CatalogueEntry, check_rights, read_pg_catalog_csv, read_rdf
from gutengraph_assets.gutenberg.kinds import classify, shape
from gutengraph_core.errors import BadText, RightsError, SettingsError
from gutengraph_core.settings import Settings

# --- RDF ---


def test_everything_an_rdf_tells() -> None:
    assert read_rdf(rdf(), 7) == CatalogueEntry(
        id=7,
        title="The Lamp on the Mole",
        authors=["Fenwick, Ada"],
        subjects=["Lighthouses -- Fiction", "Sea stories"],
        bookshelves=["Harbour Fiction"],
        locc=["PR"],
        language="en",
        rights="Public domain in the USA.",
        downloads=120,
        kind="fiction",
        media="Text",
    )


def test_the_order_of_the_file_does_not_matter() -> None:
    one = read_rdf(rdf(subjects=("Sea stories", "Lighthouses -- Fiction")), 7)
    assert one == read_rdf(rdf(subjects=("Lighthouses -- Fiction", "Sea stories")), 7)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("The Lamp&#13;\nA Tale of the Coast", "The Lamp: A Tale of the Coast"),
        ("The Lamp\nand the Mole", "The Lamp and the Mole"),
        ("The Lamp;\nOr, the Mole", "The Lamp; Or, the Mole"),
        ("Lamps &amp; Moles", "Lamps & Moles"),
        ("", ""),
    ],
)
def test_line_breaks_in_titles_become_one_line(title: str, expected: str) -> None:
    assert read_rdf(rdf(title=title), 7).title == expected


def test_an_agent_may_be_named_elsewhere_in_the_file() -> None:
    """The first mention holds the name, later ones only point to it."""
    people = (
        "<marcrel:ill>" + AGENT.format(n=5, name="Brush, B.") + "</marcrel:ill>"
        '<dcterms:creator rdf:resource="2009/agents/5"/>'
    )
    assert read_rdf(rdf(people=people), 7).authors == ["Brush, B."]


def test_without_an_author_the_translator_stands_and_the_illustrator_never() -> None:
    people = (
        "<marcrel:ill>" + AGENT.format(n=5, name="Brush, B.") + "</marcrel:ill>"
        "<marcrel:trl>" + AGENT.format(n=6, name="Tongue, T.") + "</marcrel:trl>"
    )
    assert read_rdf(rdf(people=people), 7).authors == ["Tongue, T."]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not xml",
        rdf()[:-40],
        rdf(8),
        rdf(prolog='<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>', title="&c;"),
        rdf(prolog='<!DOCTYPE x SYSTEM "file:///etc/passwd">'),
    ],
    ids=["empty", "no-xml", "cut", "another-book", "entity-bomb", "external-dtd"],
)
def test_a_bad_rdf_is_refused_with_the_book(data: bytes) -> None:
    with pytest.raises(BadText) as caught:
        read_rdf(data, 7)
    assert caught.value.book == 7


# --- CSV ---


CSV = (
    "Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves\n"
    '7,Text,2026-11-01,"The Lamp\nA Tale of the Coast",en; la,'
    '"Fenwick, Ada, 1851-1920; Brush, B. [Illustrator]",Sea stories; Lighthouses -- Fiction,PR; PZ,Harbour Fiction\n'
    "8,Sound,2026-11-02,Waves,en,,,,\n"
)


def test_the_csv_tells_the_same_without_downloads_and_rights(tmp_path: Path) -> None:
    path = tmp_path / "pg_catalog.csv"
    path.write_text(CSV, encoding="utf-8")
    first, second = read_pg_catalog_csv(path)
    assert first.title == "The Lamp: A Tale of the Coast"
    assert first.authors == ["Fenwick, Ada", "Brush, B."]
    assert first.locc == ["PR", "PZ"]
    assert (first.language, first.kind, first.downloads, first.rights) == ("en", "fiction", None, "")
    assert (second.media, second.kind) == ("Sound", "other")


def test_another_csv_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("id,name\n7,Lamp\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="lacks the columns"):
        list(read_pg_catalog_csv(path))


# --- rights ---


@pytest.mark.parametrize("rights", ["Copyrighted. Read the copyright notice inside this book for details."])
def test_a_copyrighted_book_is_refused_with_reason_and_remedy(settings: Settings, rights: str) -> None:
    entry = CatalogueEntry(id=7, title="The Lamp", rights=rights)
    with pytest.raises(RightsError, match="Copyrighted") as caught:
        check_rights(entry, settings)
    assert caught.value.book == 7
    assert "GUTENGRAPH_ALLOW_COPYRIGHTED" in str(caught.value)
    check_rights(entry, settings.model_copy(update={"allow_copyrighted": True}))


@pytest.mark.parametrize("rights", ["Public domain in the USA.", "", "None"])
def test_other_rights_pass(settings: Settings, rights: str) -> None:
    check_rights(CatalogueEntry(id=7, rights=rights), settings)


# --- the whole catalogue ---


LIBRARY = {
    7: rdf(7, downloads=120),
    8: rdf(8, downloads=900, title="Waves"),
    9: rdf(9, downloads=5_000, media="Sound"),
    10: rdf(10, downloads=4_000, rights="Copyrighted. Ask."),
    11: rdf(11, downloads=None),
    12: rdf(12, downloads=900),
}


def folder(at: Path) -> Path:
    for book, data in LIBRARY.items():
        path = at / "cache" / "epub" / str(book) / f"pg{book}.rdf"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    return at


def tar_bytes(compression: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:
        for book, data in LIBRARY.items():
            info = tarfile.TarInfo(f"cache/epub/{book}/pg{book}.rdf")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def archive(at: Path, kind: str) -> Path:
    if kind == "folder":
        return folder(at)
    if kind in ("gz", "bz2", ""):
        path = at / f"rdf-files.tar.{kind or 'plain'}"
        path.write_bytes(tar_bytes(kind))
        return path
    path = at / "rdf-files.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        if kind == "tar-in-zip":
            zipped.writestr("rdf-files.tar", tar_bytes(""))
        else:
            for book, data in LIBRARY.items():
                zipped.writestr(f"epub/{book}/pg{book}.rdf", data)
    return path


@pytest.mark.parametrize("kind", ["folder", "", "gz", "bz2", "zip", "tar-in-zip"])
def test_top_n_by_downloads(settings: Settings, tmp_path: Path, kind: str) -> None:
    with_catalogue = settings.model_copy(update={"catalogue": archive(tmp_path, kind)})
    assert [e.id for e in catalogue.top(2, with_catalogue)] == [8, 12]
    assert [e.id for e in catalogue.top(50, with_catalogue)] == [8, 12, 7, 11]
    allowed = with_catalogue.model_copy(update={"allow_copyrighted": True})
    assert [e.id for e in catalogue.top(1, allowed)] == [10]


@pytest.mark.parametrize("kind", ["folder", "bz2", "zip", "tar-in-zip"])
def test_one_book_of_the_catalogue(settings: Settings, tmp_path: Path, kind: str) -> None:
    with_catalogue = settings.model_copy(update={"catalogue": archive(tmp_path, kind)})
    found = catalogue.find(8, with_catalogue)
    assert found is not None
    assert found.title == "Waves"
    assert catalogue.find(404, with_catalogue) is None
    assert catalogue.find(8, settings) is None


def test_one_book_of_the_csv(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "pg_catalog.csv"
    path.write_text(CSV, encoding="utf-8")
    with_catalogue = settings.model_copy(update={"catalogue": path})
    found = catalogue.find(7, with_catalogue)
    assert found is not None
    assert found.authors[0] == "Fenwick, Ada"
    with pytest.raises(SettingsError, match="downloads"):
        catalogue.top(3, with_catalogue)


def test_top_n_without_a_catalogue_says_what_to_set(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="GUTENGRAPH_CATALOGUE"):
        catalogue.top(3, settings)


def test_a_catalogue_that_cannot_be_read(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "rdf-files.tar.bz2"
    path.write_bytes(b"this is no archive")
    with pytest.raises(SettingsError, match="cannot be read"):
        catalogue.top(3, settings.model_copy(update={"catalogue": path}))


# --- kinds ---


@pytest.mark.parametrize(
    ("subjects", "locc", "shelves", "kind"),
    [
        (["Whaling -- Fiction", "Ship captains -- Fiction"], ["PS"], [], "fiction"),
        (["United States -- History -- Civil War, 1861-1865 -- Fiction"], ["PS"], [], "fiction"),
        (["Horror tales -- Appreciation -- Fiction", "Satire"], ["PR"], [], "fiction"),
        (["Fantasy literature"], ["PR", "PZ"], ["Children's Literature"], "fiction"),
        (["Dogs -- Juvenile fiction"], ["PZ"], [], "fiction"),
        (["Fairy tales -- Germany"], ["GR"], [], "fiction"),
        (["Denmark -- Drama", "Tragedies", "Hamlet (Legendary character) -- Drama"], ["PR"], [], "drama"),
        (["Comedies", "Love stories"], ["PR"], [], "drama"),
        (["Epic poetry, English (Old)", "Monsters -- Poetry"], ["PR"], ["Poetry"], "verse"),
        (["Sonnets, English"], ["PR"], [], "verse"),
        (["Philosophy -- History"], ["B"], [], "non-fiction"),
        (["English drama -- History and criticism"], ["PR"], [], "non-fiction"),
        (["Shakespeare, William, 1564-1616 -- Criticism and interpretation"], ["PR"], [], "non-fiction"),
        (["Naturalists -- England -- Biography"], ["QH"], [], "non-fiction"),
        (["Political satire, English", "Ireland -- Politics and government"], ["PR"], [], "non-fiction"),
        (["Napoleon I, Emperor of the French, 1769-1821"], ["DC"], [], "non-fiction"),
        (["English essays"], ["PR"], [], "non-fiction"),
        ([], [], ["Category: Plays/Films/Dramas"], "drama"),
        ([], [], ["Detective Fiction"], "fiction"),
        ([], ["PZ"], [], "fiction"),
        ([], ["PR"], [], "other"),
        ([], [], [], "other"),
    ],
)
def test_the_kind_by_the_catalogue(
    subjects: list[str], locc: list[str], shelves: list[str], kind: str
) -> None:
    assert classify(subjects, locc, shelves) == kind


STORY = (
    "“I never touched it,” said Pettigrew, and he looked at her while she\n"
    "laughed at him. “You did,” she replied, “and I saw you with my own\n"
    "eyes.” He took his hat and went out into the rain without her.\n\n"
) * 20
TREATISE = (
    "The notion of light, as distinguished from the mere sensation of it,\n"
    "presupposes a medium in which motion is propagated; and the doctrine\n"
    "of the medium is accordingly the first part of every theory of light.\n\n"
) * 20
POEM = (
    "  The lamp is lit upon the mole,\n  The tide has turned again;\n  And who will pay the keeper's toll\n  Of all the fishermen?\n\n"
    * 20
)
PLAY = "PETTIGREW. I never touched it.\n\nMASTER. Then who has lit the lamp?\n\n[_Exit._]\n\n" * 20


@pytest.mark.parametrize(
    ("body", "kind"), [(STORY, "fiction"), (TREATISE, "non-fiction"), (POEM, "verse"), (PLAY, "drama")]
)
def test_the_kind_by_the_shape_where_the_catalogue_is_silent(body: str, kind: str) -> None:
    assert classify([], [], [], shape(body)) == kind
    assert classify([], ["PR"], [], shape(body)) == kind


def test_the_catalogue_is_believed_before_the_shape() -> None:
    assert classify(["Light -- Early works to 1800"], ["QC"], [], shape(STORY)) == "non-fiction"


def test_a_poem_printed_as_prose_tells_a_story() -> None:
    subjects = ["Epic poetry, Greek -- Translations into English"]
    assert classify(subjects, ["PA"], [], shape(STORY)) == "fiction"
    assert classify(subjects, ["PA"], [], shape(POEM)) == "verse"
