"""Bringing a book into the library: all of it or nothing, once or again."""

from __future__ import annotations

import errno
import hashlib
import logging
from pathlib import Path

import httpx
import pytest
from gutenberg_texts import LAST, PROSE, TITLE_PAGE, book, gutenberg, rdf

from gutengraph_assets.gutenberg.acquire import acquire, look_up
from gutengraph_core.errors import (
    BadText,
    DataFolderError,
    GutenGraphError,
    RightsError,
    SourceUnreachable,
    TruncatedDownload,
    UnknownBook,
)
from gutengraph_core.settings import Settings

TEXT = gutenberg(book("CHAPTER I", "CHAPTER II", front=TITLE_PAGE))


class Shelf:
    """A mirror folder with book 7, and the settings that use it."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.text = root / "cache" / "epub" / "7" / "pg7.txt"
        self.rdf = self.text.with_suffix(".rdf")
        self.text.parent.mkdir(parents=True)
        self.put(TEXT)
        self.rdf.write_bytes(rdf(7))
        self.settings = settings.model_copy(update={"mirror": str(root)})

    def put(self, text: str | bytes) -> None:
        self.text.write_bytes(text.encode() if isinstance(text, str) else text)

    def files(self) -> list[str]:
        """Everything in the data folder, locks aside."""
        home = self.settings.home
        return sorted(
            str(p.relative_to(home)) for p in home.rglob("*") if p.is_file() and p.parent.name != "locks"
        )


@pytest.fixture
def shelf(tmp_path: Path, settings: Settings) -> Shelf:
    return Shelf(tmp_path / "mirror", settings)


def test_a_book_comes_in_with_its_text_and_its_entry(shelf: Shelf) -> None:
    record = acquire(7, shelf.settings)
    library = shelf.settings.library
    body = library.body(7)
    assert library.path(7, "raw.txt").read_bytes() == TEXT.encode()
    assert body.startswith("CHAPTER I\n")
    assert body.rstrip().endswith(LAST.rstrip())
    assert record == library.record(7)
    assert record.title == "The Lamp on the Mole"
    assert record.authors == ["Fenwick, Ada"]
    assert (record.kind, record.language, record.downloads) == ("fiction", "en", 120)
    assert record.rights == "Public domain in the USA."
    assert record.source is not None
    assert record.source.url == shelf.text.as_uri()
    assert record.source.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert (record.source.encoding, record.source.bytes) == ("utf-8", len(TEXT.encode()))
    assert record.body_sha256 == hashlib.sha256(body.encode()).hexdigest()
    assert [c.title for c in record.chapters] == ["CHAPTER I", "CHAPTER II"]
    assert record.counts["chars"] == len(body)
    assert record.counts["words"] == len(body.split())
    assert record.counts["chapters"] == 2
    assert record.counts["stripped_chars"] > 0
    assert shelf.files() == ["books/7/body.txt", "books/7/book.json", "books/7/raw.txt"]


def test_other_steps_fields_survive(shelf: Shelf) -> None:
    shelf.settings.library.update(7, llm="a-model", status="building", counts={"cast": 12})
    record = acquire(7, shelf.settings)
    assert (record.llm, record.counts["cast"]) == ("a-model", 12)


def test_an_unchanged_book_is_left_alone(shelf: Shelf) -> None:
    first = acquire(7, shelf.settings)
    before = {p: (shelf.settings.home / p).stat().st_mtime_ns for p in shelf.files()}
    assert acquire(7, shelf.settings) == first
    assert {p: (shelf.settings.home / p).stat().st_mtime_ns for p in shelf.files()} == before


def test_a_changed_book_is_read_anew(shelf: Shelf) -> None:
    first = acquire(7, shelf.settings)
    shelf.put(TEXT.replace("Pettigrew", "Pennyfeather"))
    second = acquire(7, shelf.settings)
    assert second.body_sha256 != first.body_sha256
    assert "Pennyfeather" in shelf.settings.library.body(7)


@pytest.mark.parametrize("name", ["raw.txt", "body.txt"])
@pytest.mark.parametrize("how", ["gone", "other"])
def test_a_file_that_is_not_what_the_record_says_is_made_again(shelf: Shelf, name: str, how: str) -> None:
    first = acquire(7, shelf.settings)
    path = shelf.settings.library.path(7, name)
    good = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(good[:-10])
    again = acquire(7, shelf.settings)
    assert path.read_bytes() == good
    assert again.body_sha256 == first.body_sha256


def test_without_a_catalogue_entry_header_and_text_tell(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.rdf.unlink()
    with caplog.at_level(logging.INFO):
        record = acquire(7, shelf.settings)
    assert record.title == "The Lamp on the Mole"
    assert record.authors == ["Ada Fenwick"]
    assert record.language == "en"
    assert "no catalogue entry" in caplog.text


def test_the_catalogue_of_the_settings_stands_in_for_a_missing_rdf(shelf: Shelf, tmp_path: Path) -> None:
    shelf.rdf.unlink()
    catalogue = tmp_path / "catalogue"
    catalogue.mkdir()
    (catalogue / "pg7.rdf").write_bytes(rdf(7, title="The Lamp, Catalogued"))
    settings = shelf.settings.model_copy(update={"catalogue": catalogue})
    assert acquire(7, settings).title == "The Lamp, Catalogued"


def test_a_book_that_names_itself_nowhere(shelf: Shelf) -> None:
    shelf.rdf.unlink()
    shelf.put(book("CHAPTER I", "CHAPTER II"))
    record = acquire(7, shelf.settings)
    assert (record.title, record.authors) == ("Book 7", [])


def test_collected_notes_stay_in_non_fiction_only(shelf: Shelf) -> None:
    shelf.put(gutenberg(book("CHAPTER I", "CHAPTER II", back="\n\n\n\nFOOTNOTES:\n\n[1] A kind of lamp.\n")))
    acquire(7, shelf.settings)
    assert "A kind of lamp" not in shelf.settings.library.body(7)
    shelf.rdf.write_bytes(rdf(7, subjects=("Lighthouses -- History",), locc=("TC",), shelves=()))
    shelf.settings.library.path(7, "body.txt").unlink()
    assert acquire(7, shelf.settings).kind == "non-fiction"
    assert "A kind of lamp" in shelf.settings.library.body(7)


def test_notes_stay_in_what_only_its_shape_shows_to_be_non_fiction(shelf: Shelf) -> None:
    shelf.rdf.unlink()
    light = "The notion of light presupposes a medium in which motion is propagated,\nand the doctrine of the medium is the first part of the whole theory.\n\n"
    shelf.put(gutenberg("CHAPTER I\n\n" + light * 9 + "\n\n\nFOOTNOTES:\n\n[1] Optics, p. 3.\n"))
    assert acquire(7, shelf.settings).kind == "non-fiction"
    assert "Optics, p. 3." in shelf.settings.library.body(7)


# --- refusals: one error, the book in it, nothing half-written ---


def test_a_copyrighted_book_is_refused_before_its_text_is_asked_for(settings: Settings) -> None:
    asked = []

    def site(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(200, content=rdf(7, rights="Copyrighted. Read the notice."))

    there = settings.model_copy(update={"mirror": "http://mirror.example"})
    with pytest.raises(RightsError, match="not in the public domain"):
        acquire(7, there, transport=httpx.MockTransport(site))
    assert asked == ["/cache/epub/7/pg7.rdf"]
    assert not settings.library.has(7)


def test_a_book_that_became_copyrighted_or_lost_the_permission(shelf: Shelf) -> None:
    shelf.rdf.write_bytes(rdf(7, rights="Copyrighted. Read the notice."))
    allowed = shelf.settings.model_copy(update={"allow_copyrighted": True})
    assert acquire(7, allowed).rights.startswith("Copyrighted")
    with pytest.raises(RightsError):
        acquire(7, shelf.settings)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"", BadText),
        (b"\x00\x01\x02" * 500, BadText),
        (b"<html><body>blocked</body></html>", BadText),
        (TEXT[:1200].encode(), TruncatedDownload),
    ],
    ids=["empty", "binary", "html", "truncated"],
)
@pytest.mark.parametrize("before", [False, True], ids=["new", "there-before"])
def test_a_bad_text_changes_nothing(
    shelf: Shelf, text: bytes, error: type[GutenGraphError], before: bool
) -> None:
    if before:
        acquire(7, shelf.settings)
    state = {p: (shelf.settings.home / p).read_bytes() for p in shelf.files()}
    shelf.put(text)
    with pytest.raises(error) as caught:
        acquire(7, shelf.settings)
    assert caught.value.book == 7
    assert caught.value.remedy
    assert {p: (shelf.settings.home / p).read_bytes() for p in shelf.files()} == state


def test_an_unknown_book_and_a_missing_mirror(shelf: Shelf) -> None:
    with pytest.raises(UnknownBook, match=r"^Book 8: "):
        acquire(8, shelf.settings)
    gone = shelf.settings.model_copy(update={"mirror": "/nowhere/at/all"})
    with pytest.raises(SourceUnreachable, match=r"^Book 7: .*GUTENGRAPH_MIRROR"):
        acquire(7, gone)
    assert shelf.files() == []


def test_no_network(settings: Settings) -> None:
    def down(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Name or service not known", request=request)

    there = settings.model_copy(update={"mirror": "http://mirror.example"})
    with pytest.raises(SourceUnreachable, match=r"^Book 7: .*Name or service not known"):
        acquire(7, there, transport=httpx.MockTransport(down), sleep=lambda s: None)


def test_a_data_folder_that_cannot_be_written(shelf: Shelf, tmp_path: Path) -> None:
    in_the_way = tmp_path / "a-file"
    in_the_way.write_text("x")
    blocked = shelf.settings.model_copy(update={"home": in_the_way / "home"})
    with pytest.raises(DataFolderError, match=r"^Book 7: .*GUTENGRAPH_HOME") as caught:
        acquire(7, blocked)
    assert caught.value.book == 7


@pytest.mark.parametrize("which", ["raw.txt", "body.txt", "book.json"])
def test_a_full_disk_leaves_whole_files_and_the_next_run_mends_them(
    shelf: Shelf, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire(7, shelf.settings)
    shelf.put(TEXT.replace("Pettigrew", "Pennyfeather"))
    write_bytes = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name.startswith(f".{which}."):
            write_bytes(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_bytes(path, data)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(DataFolderError, match="disk is full"):
            acquire(7, shelf.settings)
    assert shelf.files() == ["books/7/body.txt", "books/7/book.json", "books/7/raw.txt"]
    assert shelf.settings.library.record(7).title == "The Lamp on the Mole"
    record = acquire(7, shelf.settings)
    body = shelf.settings.library.body(7)
    assert "Pennyfeather" in body
    assert record.body_sha256 == hashlib.sha256(body.encode()).hexdigest()


# --- over HTTP ---


def test_a_second_run_over_http_costs_one_header(settings: Settings) -> None:
    asked: list[tuple[str, int]] = []

    def site(request: httpx.Request) -> httpx.Response:
        answer = httpx.Response(404)
        if request.url.path == "/cache/epub/7/pg7.rdf":
            answer = httpx.Response(200, content=rdf(7))
        elif request.url.path == "/cache/epub/7/pg7.txt":
            same = request.headers.get("If-None-Match") == '"seven"'
            answer = (
                httpx.Response(304)
                if same
                else httpx.Response(200, content=TEXT.encode(), headers={"ETag": '"seven"'})
            )
        asked.append((request.url.path, answer.status_code))
        return answer

    there = settings.model_copy(update={"mirror": "http://mirror.example"})
    first = acquire(7, there, transport=httpx.MockTransport(site))
    assert asked == [("/cache/epub/7/pg7.rdf", 200), ("/cache/epub/7/pg7.txt", 200)]
    asked.clear()
    assert acquire(7, there, transport=httpx.MockTransport(site)) == first
    assert asked == [("/cache/epub/7/pg7.txt", 304)]


# --- a look beforehand ---


def test_a_look_at_a_book_writes_nothing(shelf: Shelf) -> None:
    known = look_up(7, shelf.settings)
    assert known["title"] == "The Lamp on the Mole"
    assert known["kind"] == "fiction"
    assert shelf.files() == []
    record = shelf.settings.library.update(7, status="registered", **known)
    assert record.authors == ["Fenwick, Ada"]


def test_a_look_without_a_catalogue_entry_reads_the_header(shelf: Shelf) -> None:
    shelf.rdf.unlink()
    known = look_up(7, shelf.settings)
    assert (known["title"], known["authors"], known["language"]) == (
        "The Lamp on the Mole",
        ["Ada Fenwick"],
        "en",
    )
    with pytest.raises(UnknownBook, match=r"^Book 8: "):
        look_up(8, shelf.settings)


def test_a_look_at_a_copyrighted_book(shelf: Shelf) -> None:
    shelf.rdf.write_bytes(rdf(7, rights="Copyrighted. Read the notice."))
    with pytest.raises(RightsError):
        look_up(7, shelf.settings)


def test_the_sample_book_comes_in(settings: Settings) -> None:
    record = acquire(0, settings)
    assert record.kind == "fiction"
    assert record.language == "en"
    assert len(record.chapters) >= 6
    assert PROSE not in settings.library.body(0)


def test_the_copyrighted_book_of_the_mirror(mirror: Path, settings: Settings) -> None:
    there = settings.model_copy(update={"mirror": str(mirror)})
    with pytest.raises(RightsError, match="Copyrighted"):
        acquire(5200, there)


@pytest.mark.parametrize("number", [514, 829])
def test_mirror_books_without_an_rdf(mirror: Path, settings: Settings, number: int) -> None:
    record = acquire(number, settings.model_copy(update={"mirror": str(mirror)}))
    assert (record.kind, record.language) == ("fiction", "en")
    assert record.title.startswith(("Little Women", "Gulliver's Travels"))
    assert record.authors in (["Louisa May Alcott"], ["Jonathan Swift"])
