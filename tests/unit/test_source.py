"""The source: paths, folders, and HTTP with its failures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest

from gutengraph_assets.gutenberg.source import (
    ATTEMPTS,
    LIVE_INTERVAL_S,
    check_polite,
    fetch_rdf,
    fetch_text,
    text_paths,
)
from gutengraph_core.errors import (
    BadText,
    SettingsError,
    SourceUnreachable,
    TruncatedDownload,
    UnknownBook,
)
from gutengraph_core.library import SourceRecord
from gutengraph_core.settings import Settings

MIRROR = "http://mirror.example"
Answer = Callable[[httpx.Request], httpx.Response]


class Site:
    """Answers requests by path, and keeps them."""

    def __init__(self, answers: dict[str, Answer] | None = None, *, otherwise: int = 404) -> None:
        self.answers = answers or {}
        self.otherwise = otherwise
        self.requests: list[httpx.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.get(request.url.path)
        return answer(request) if answer else httpx.Response(self.otherwise)

    @property
    def paths(self) -> list[str]:
        return [r.url.path for r in self.requests]

    def options(self) -> dict[str, object]:
        return {"transport": httpx.MockTransport(self), "sleep": self.slept.append}


def serve(data: bytes, **headers: str) -> Answer:
    return lambda request: httpx.Response(200, content=data, headers=headers)


def in_turn(*answers: Answer) -> Answer:
    left = list(answers)
    return lambda request: (left.pop(0) if len(left) > 1 else left[0])(request)


def status(code: int, **headers: str) -> Answer:
    return lambda request: httpx.Response(code, headers={k.replace("_", "-"): v for k, v in headers.items()})


def broken(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("connection refused", request=request)


@pytest.fixture
def mirrored(settings: Settings) -> Settings:
    return settings.model_copy(update={"mirror": MIRROR})


def live(settings: Settings) -> Settings:
    return settings.model_copy(update={"mirror": "https://www.gutenberg.org"})


# --- paths and folders ---


def test_the_order_of_paths() -> None:
    assert text_paths(2701) == [
        "cache/epub/2701/pg2701.txt",
        "2/7/0/2701/2701-0.txt",
        "2/7/0/2701/2701.txt",
        "2/7/0/2701/2701-8.txt",
        "files/2701/2701-0.txt",
        "files/2701/2701.txt",
        "files/2701/2701-8.txt",
    ]
    assert text_paths(5)[1] == "0/5/5-0.txt"
    assert text_paths(84)[1] == "8/84/84-0.txt"


@pytest.mark.parametrize("path", [p for book in (5, 2701) for p in text_paths(book)])
@pytest.mark.parametrize("form", ["folder", "file", "http"])
def test_every_layout_is_found_in_folders_and_over_http(
    settings: Settings, tmp_path: Path, path: str, form: str
) -> None:
    book = int(re.findall(r"\d+", path.rsplit("/", 1)[1])[0])
    if form == "http":
        site = Site({"/" + path: serve(b"text", ETag='"e"')})
        got = fetch_text(book, settings.model_copy(update={"mirror": MIRROR + "/"}), **site.options())  # type: ignore[arg-type]
        assert got.url == f"{MIRROR}/{path}"
        assert got.etag == '"e"'
    else:
        file = tmp_path / "a mirror" / path
        file.parent.mkdir(parents=True)
        file.write_bytes(b"text")
        root = tmp_path / "a mirror"
        where = root.as_uri() if form == "file" else str(root)
        got = fetch_text(book, settings.model_copy(update={"mirror": where}))
        assert got.url == file.as_uri()
        assert got.last_modified.endswith("GMT")
    assert got.data == b"text"
    assert not got.not_modified


def test_the_newer_file_wins(settings: Settings, tmp_path: Path) -> None:
    for path in ("files/7/7-8.txt", "cache/epub/7/pg7.txt", "files/7/7-0.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(path.encode())
    assert (
        fetch_text(7, settings.model_copy(update={"mirror": str(tmp_path)})).data == b"cache/epub/7/pg7.txt"
    )


def test_a_folder_without_the_book(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UnknownBook) as caught:
        fetch_text(7, settings.model_copy(update={"mirror": str(tmp_path)}))
    assert caught.value.book == 7
    assert fetch_rdf(7, settings.model_copy(update={"mirror": str(tmp_path)})) is None


@pytest.mark.parametrize("mirror", ["/nowhere/at/all", "file:///nowhere/at/all"])
def test_a_folder_that_is_not_there(settings: Settings, mirror: str) -> None:
    with pytest.raises(SourceUnreachable, match="GUTENGRAPH_MIRROR"):
        fetch_text(7, settings.model_copy(update={"mirror": mirror}))


def test_a_file_that_cannot_be_read(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / text_paths(7)[0]
    file.parent.mkdir(parents=True)
    file.symlink_to(file)
    with pytest.raises(SourceUnreachable, match="cannot be read") as caught:
        fetch_text(7, settings.model_copy(update={"mirror": str(tmp_path)}))
    assert caught.value.book == 7


@pytest.mark.parametrize("mirror", ["ftp://mirror.example", "http://", "s3://bucket"])
def test_a_mirror_that_is_none(settings: Settings, mirror: str) -> None:
    with pytest.raises(SettingsError, match="GUTENGRAPH_MIRROR"):
        fetch_text(7, settings.model_copy(update={"mirror": mirror}))


def test_a_file_beyond_all_books_is_refused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gutengraph_assets.gutenberg.source.LARGEST_BYTES", 100)
    file = tmp_path / text_paths(7)[0]
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(101))
    with pytest.raises(BadText, match="more than"):
        fetch_text(7, settings.model_copy(update={"mirror": str(tmp_path)}))
    site = Site({"/cache/epub/7/pg7.txt": serve(bytes(101))})
    with pytest.raises(BadText, match="more than"):
        fetch_text(7, settings.model_copy(update={"mirror": MIRROR}), **site.options())  # type: ignore[arg-type]


# --- HTTP ---


def test_who_asks_is_said(mirrored: Settings) -> None:
    site = Site({"/cache/epub/7/pg7.rdf": serve(b"<rdf/>")})
    assert fetch_rdf(7, mirrored, **site.options()) == b"<rdf/>"  # type: ignore[arg-type]
    assert site.requests[0].headers["User-Agent"].startswith("GutenGraph/")


def test_not_found_anywhere_is_an_unknown_book(mirrored: Settings) -> None:
    site = Site()
    with pytest.raises(UnknownBook, match="no plain text") as caught:
        fetch_text(7, mirrored, **site.options())  # type: ignore[arg-type]
    assert caught.value.book == 7
    assert site.paths == ["/" + p for p in text_paths(7)]
    assert site.slept == []


def test_refused_everywhere_is_said_as_such(mirrored: Settings) -> None:
    site = Site(otherwise=403)
    with pytest.raises(SourceUnreachable, match=r"refuses.*403"):
        fetch_text(7, mirrored, **site.options())  # type: ignore[arg-type]


def test_a_refusal_of_one_path_does_not_stop_the_search(mirrored: Settings) -> None:
    site = Site({"/files/7/7-0.txt": serve(b"text")}, otherwise=403)
    assert fetch_text(7, mirrored, **site.options()).data == b"text"  # type: ignore[arg-type]


def test_a_busy_server_is_asked_again_with_longer_waits(mirrored: Settings) -> None:
    site = Site({"/cache/epub/7/pg7.txt": in_turn(status(500), status(503), serve(b"text"))})
    assert fetch_text(7, mirrored, **site.options()).data == b"text"  # type: ignore[arg-type]
    assert len(site.requests) == 3
    assert site.slept == [1.0, 2.0]


@pytest.mark.parametrize(
    ("after", "wait"),
    [("7", 7.0), ("100000", 60.0), ("Thu, 01 Jan 2015 00:00:00 GMT", 0.0), ("soon", 1.0)],
)
def test_the_server_says_when_to_come_again(mirrored: Settings, after: str, wait: float) -> None:
    site = Site({"/cache/epub/7/pg7.txt": in_turn(status(429, Retry_After=after), serve(b"text"))})
    assert fetch_text(7, mirrored, **site.options()).data == b"text"  # type: ignore[arg-type]
    assert site.slept == [wait]


@pytest.mark.parametrize("answer", [broken, status(502)], ids=["network", "server"])
def test_a_source_that_stays_away(mirrored: Settings, answer: Answer) -> None:
    site = Site({"/cache/epub/7/pg7.txt": answer})
    with pytest.raises(SourceUnreachable, match="GUTENGRAPH_MIRROR") as caught:
        fetch_text(7, mirrored, **site.options())  # type: ignore[arg-type]
    assert caught.value.book == 7
    assert caught.value.retry
    assert len(site.requests) == ATTEMPTS
    assert site.slept == [1.0, 2.0, 4.0]


def test_a_body_shorter_than_announced_is_fetched_again_and_then_refused(mirrored: Settings) -> None:
    class Cut(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b"half of"

    def cut(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Length": "500"}, stream=Cut())

    site = Site({"/cache/epub/7/pg7.txt": in_turn(cut, serve(b"the whole"))})
    assert fetch_text(7, mirrored, **site.options()).data == b"the whole"  # type: ignore[arg-type]
    site = Site({"/cache/epub/7/pg7.txt": cut})
    with pytest.raises(TruncatedDownload, match="7 of 500 bytes") as caught:
        fetch_text(7, mirrored, **site.options())  # type: ignore[arg-type]
    assert caught.value.book == 7


def test_redirects_are_followed_but_not_for_ever(mirrored: Settings) -> None:
    moved = status(302, Location=f"{MIRROR}/elsewhere.txt")
    site = Site({"/cache/epub/7/pg7.txt": moved, "/elsewhere.txt": serve(b"text")})
    got = fetch_text(7, mirrored, **site.options())  # type: ignore[arg-type]
    assert (got.data, got.url) == (b"text", f"{MIRROR}/cache/epub/7/pg7.txt")
    circle = Site({"/cache/epub/7/pg7.txt": status(302, Location=f"{MIRROR}/cache/epub/7/pg7.txt")})
    with pytest.raises(SourceUnreachable):
        fetch_text(7, mirrored, **circle.options())  # type: ignore[arg-type]


def record(url: str) -> SourceRecord:
    return SourceRecord(
        url=url, sha256="0" * 64, encoding="utf-8", bytes=4, fetched_at="", etag='"e"', last_modified="Mon"
    )


def test_an_unchanged_book_costs_a_header(mirrored: Settings) -> None:
    def conditional(request: httpx.Request) -> httpx.Response:
        same = request.headers.get("If-None-Match") == '"e"' and request.headers["If-Modified-Since"] == "Mon"
        return httpx.Response(304) if same else httpx.Response(200, content=b"new")

    site = Site({"/files/7/7-0.txt": conditional})
    got = fetch_text(7, mirrored, previous=record(f"{MIRROR}/files/7/7-0.txt"), **site.options())  # type: ignore[arg-type]
    assert got.not_modified
    assert got.data == b""
    assert site.paths == ["/files/7/7-0.txt"]
    assert not fetch_text(7, mirrored, **site.options()).not_modified  # type: ignore[arg-type]


def test_a_book_that_moved_or_came_from_another_mirror_is_looked_for_anew(mirrored: Settings) -> None:
    site = Site({"/cache/epub/7/pg7.txt": serve(b"text")})
    for url in (f"{MIRROR}/files/7/7-0.txt", "http://other.example/files/7/7-0.txt"):
        assert fetch_text(7, mirrored, previous=record(url), **site.options()).data == b"text"  # type: ignore[arg-type]
    assert all(r.url.host == "mirror.example" for r in site.requests)


# --- politeness ---


def test_the_live_site_is_asked_once_in_two_seconds_over_all_calls(settings: Settings) -> None:
    site = Site({"/cache/epub/7/pg7.txt": serve(b"text"), "/cache/epub/7/pg7.rdf": serve(b"rdf")})
    asked = live(settings)
    fetch_rdf(7, asked, **site.options())  # type: ignore[arg-type]
    fetch_text(7, asked, **site.options())  # type: ignore[arg-type]
    fetch_text(7, live(Settings(home=settings.home)), **site.options())  # type: ignore[arg-type]
    assert len(site.slept) == 2
    assert all(LIVE_INTERVAL_S - 0.5 < wait <= LIVE_INTERVAL_S for wait in site.slept)


def test_a_mirror_is_not_waited_for(mirrored: Settings) -> None:
    site = Site({"/cache/epub/7/pg7.txt": serve(b"text")})
    for _ in range(3):
        fetch_text(7, mirrored, **site.options())  # type: ignore[arg-type]
    assert site.slept == []


def test_more_than_twenty_books_belong_on_a_mirror(settings: Settings, mirrored: Settings) -> None:
    check_polite(20, live(settings))
    check_polite(500, mirrored)
    check_polite(500, settings)
    with pytest.raises(SettingsError, match="GUTENGRAPH_MIRROR"):
        check_polite(21, live(settings))
    with pytest.raises(SettingsError, match="21 books"):
        check_polite(21, settings.model_copy(update={"mirror": "http://gutenberg.org/"}))


# --- a real server ---


class Handler(BaseHTTPRequestHandler):
    """Book 1 is whole, 2 breaks off, 3 fails once, 4 is unchanged; there is no other."""

    protocol_version = "HTTP/1.1"
    failed_once = False

    def do_GET(self) -> None:
        text = b"The lamp at the end of the mole. " * 100
        if self.path == "/cache/epub/2/pg2.txt":
            self._answer(200, text[:50], length=len(text))
            self.close_connection = True
        elif self.path == "/cache/epub/3/pg3.txt" and not Handler.failed_once:
            Handler.failed_once = True
            self._answer(500, b"busy")
        elif self.path == "/cache/epub/4/pg4.txt" and self.headers.get("If-None-Match") == '"four"':
            self._answer(304, b"")
        elif self.path in ("/cache/epub/1/pg1.txt", "/cache/epub/3/pg3.txt", "/cache/epub/4/pg4.txt"):
            self._answer(200, text)
        else:
            self._answer(404, b"no such file")

    def _answer(self, code: int, body: bytes, length: int | None = None) -> None:
        self.send_response(code)
        if code != 304:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("ETag", '"four"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def server() -> Iterator[str]:
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}"
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def test_a_real_server_and_its_failures(settings: Settings) -> None:
    with server() as address:
        there = settings.model_copy(update={"mirror": address})
        slept: list[float] = []
        whole = fetch_text(1, there, sleep=slept.append)
        assert len(whole.data) == 3_300
        with pytest.raises(TruncatedDownload, match="broke off"):
            fetch_text(2, there, sleep=slept.append)
        assert slept == [1.0, 2.0, 4.0]
        assert fetch_text(3, there, sleep=slept.append).data == whole.data
        assert slept == [1.0, 2.0, 4.0, 1.0]
        first = fetch_text(4, there)
        again = fetch_text(4, there, previous=record(first.url).model_copy(update={"etag": first.etag}))
        assert again.not_modified
        with pytest.raises(UnknownBook):
            fetch_text(9, there)
    with pytest.raises(SourceUnreachable, match="cannot be reached"):
        fetch_text(1, there, sleep=slept.append)
