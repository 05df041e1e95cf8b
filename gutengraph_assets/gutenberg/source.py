"""Where a book's bytes come from: the live site, any mirror in its layout, or a folder.

Politeness towards the live site follows its own rules for robots (gutenberg.org/policy/robot_access.html):
one request every two seconds, which is what its recommended `wget -w 2` does, shared by all processes of one
data folder; a User-Agent that says who asks; conditional requests, so that an unchanged book costs a header.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from gutengraph_core.errors import (
    BadText,
    GutenGraphError,
    SettingsError,
    SourceUnreachable,
    TruncatedDownload,
    UnknownBook,
)
from gutengraph_core.library import SourceRecord
from gutengraph_core.settings import Settings

LIVE_HOSTS = frozenset({"gutenberg.org", "www.gutenberg.org", "gutenberg.net", "www.gutenberg.net"})
LIVE_INTERVAL_S = 2.0
"""Seconds between two requests to the live site: `-w 2` of its robot policy."""
LIVE_LIMIT = 20
"""More books than this at once belong on a mirror: the site's policy asks it of harvesters."""
ATTEMPTS = 4
LONGEST_WAIT_S = 60.0
LARGEST_BYTES = 64 * 2**20
"""The largest plain texts of fiction have 6 MB; what is ten times that is no book of prose."""
MIRROR_REMEDY = "Check the connection, or set GUTENGRAPH_MIRROR to a mirror or a folder in its layout."


@dataclass(frozen=True)
class Fetched:
    """Bytes as they came. With `not_modified` there are none: what was fetched before is still right."""

    data: bytes
    url: str
    etag: str = ""
    last_modified: str = ""
    not_modified: bool = False


class _TryAgain(Exception):
    """A failure that may pass: a busy server, a broken connection, a body cut short."""

    def __init__(self, why: str, *, cut: bool = False, wait_s: float | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.cut = cut
        self.wait_s = wait_s


def text_paths(book: int) -> list[str]:
    """Paths of a book's text below a mirror's root, in order of preference.

    The site's own newest file, then the mirrors' tree (`2/7/0/2701/`, and `0/5/` for one digit), then the
    older `files/`; in each UTF-8 before ASCII before Latin-1.
    """
    tree = "/".join(str(book)[:-1]) or "0"
    folders = (f"{tree}/{book}", f"files/{book}")
    endings = ("-0", "", "-8")
    return [f"cache/epub/{book}/pg{book}.txt"] + [f"{f}/{book}{e}.txt" for f in folders for e in endings]


def rdf_path(book: int) -> str:
    """Path of a book's catalogue entry below a mirror's root."""
    return f"cache/epub/{book}/pg{book}.rdf"


def on_shelf(home: Path, book: int, suffix: str) -> Path:
    """Where a text or RDF of the reader's own lies (`suffix` `txt` or `rdf`). It comes before any mirror."""
    return home / "shelf" / f"cache/epub/{book}/pg{book}.{suffix}"


def is_live(settings: Settings) -> bool:
    """Whether books come from gutenberg.org itself."""
    return urlsplit(settings.mirror).hostname in LIVE_HOSTS


def check_polite(n_books: int, settings: Settings) -> None:
    """Raises SettingsError if so many books are asked of the live site that it should be a mirror."""
    if n_books > LIVE_LIMIT and is_live(settings):
        raise SettingsError(
            f"{n_books} books at once are too many for gutenberg.org, which asks for at most {LIVE_LIMIT}.",
            remedy="Set GUTENGRAPH_MIRROR to a mirror (https://www.gutenberg.org/MIRRORS.ALL) or a folder.",
        )


def fetch_text(
    book: int,
    settings: Settings,
    *,
    previous: SourceRecord | None = None,
    transport: httpx.BaseTransport | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Fetched:
    """The first of `text_paths` that exists. With `previous`, an HTTP source is asked only if it changed.

    Raises UnknownBook if there is none, SourceUnreachable if the source does not answer or refuses,
    TruncatedDownload if fewer bytes came than announced, BadText above 64 MB, SettingsError for a bad mirror.
    """
    if (own := _read(settings.home, str(on_shelf(Path(), book, "txt")), book)) is not None:
        return own
    if folder := _folder(settings):
        for path in text_paths(book):
            if (found := _read(folder, path, book)) is not None:
                return found
    else:
        with _session(settings, book, transport, sleep) as session:
            if previous is not None and previous.url.startswith(session.base):
                found = session.get(previous.url.removeprefix(session.base), previous=previous)
                if found is not None:
                    return found
            for path in text_paths(book):
                if (found := session.get(path)) is not None:
                    return found
            session.raise_if_refused()
    raise UnknownBook(
        f"{settings.mirror} has no plain text of it.",
        remedy="Check the number at https://www.gutenberg.org, or the layout of the mirror.",
        book=book,
    )


def fetch_rdf(
    book: int,
    settings: Settings,
    *,
    transport: httpx.BaseTransport | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> bytes | None:
    """The catalogue entry of a book, or None where the source has none. Raises as `fetch_text` does."""
    if (own := _read(settings.home, str(on_shelf(Path(), book, "rdf")), book)) is not None:
        return own.data
    if folder := _folder(settings):
        found = _read(folder, rdf_path(book), book)
    else:
        with _session(settings, book, transport, sleep) as session:
            found = session.get(rdf_path(book))
    return None if found is None else found.data


# --- a folder ---


def _folder(settings: Settings) -> Path | None:
    """The mirror as a folder, or None if it is to be asked over HTTP."""
    parts = urlsplit(settings.mirror)
    if parts.scheme in ("http", "https"):
        if not parts.hostname:
            raise SettingsError(
                f"GUTENGRAPH_MIRROR is no address: {settings.mirror!r}.", remedy="Name a host or a folder."
            )
        return None
    if parts.scheme == "file":
        folder = Path(unquote(parts.path))
    elif "://" in settings.mirror:
        raise SettingsError(
            f"GUTENGRAPH_MIRROR has a scheme that is not spoken here: {settings.mirror!r}.",
            remedy="Use https://, http://, file:// or a folder.",
        )
    else:
        folder = Path(settings.mirror).expanduser().absolute()
    if not folder.is_dir():
        raise SourceUnreachable(
            f"The mirror {folder} is not a folder that exists.", remedy="Correct GUTENGRAPH_MIRROR."
        )
    return folder


def _read(folder: Path, path: str, book: int) -> Fetched | None:
    file = folder / path
    try:
        size = file.stat()
        if size.st_size > LARGEST_BYTES:
            raise _too_large(file.as_uri(), book)
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise SourceUnreachable(
            f"{file} cannot be read ({error.strerror}).", remedy="Correct GUTENGRAPH_MIRROR.", book=book
        ) from error
    changed = datetime.fromtimestamp(int(size.st_mtime), UTC)
    return Fetched(data, file.as_uri(), last_modified=format_datetime(changed, usegmt=True))


# --- HTTP ---


class _Session:
    """One book's requests to one server: rate limit, retries, and what to say when they fail."""

    def __init__(
        self, client: httpx.Client, settings: Settings, book: int, sleep: Callable[[float], None]
    ) -> None:
        self.client = client
        self.settings = settings
        self.book = book
        self.sleep = sleep
        self.base = settings.mirror.rstrip("/") + "/"
        self.refused = ""

    def get(self, path: str, *, previous: SourceRecord | None = None) -> Fetched | None:
        """One file, or None if it is not there. A refusal counts as not there, and is remembered:
        some mirrors say 403 for whatever they lack."""
        url = self.base + path
        headers = {}
        if previous is not None:
            if previous.etag:
                headers["If-None-Match"] = previous.etag
            if previous.last_modified:
                headers["If-Modified-Since"] = previous.last_modified
        try:
            for attempt in Retrying(
                retry=retry_if_exception_type(_TryAgain),
                stop=stop_after_attempt(ATTEMPTS),
                wait=_wait,
                sleep=self.sleep,
                reraise=True,
            ):
                with attempt:
                    return self._once(url, headers)
        except _TryAgain as error:
            raise self._failure(url, error) from error
        raise AssertionError("tenacity returns or raises")  # pragma: no cover

    def _once(self, url: str, headers: dict[str, str]) -> Fetched | None:
        _keep_distance(self.settings, self.sleep)
        try:
            with self.client.stream("GET", url, headers=headers) as response:
                return self._answer(url, response)
        except httpx.TransportError as error:
            cut = isinstance(error, httpx.RemoteProtocolError) and "complete message" in str(error)
            raise _TryAgain(str(error) or type(error).__name__, cut=cut) from error
        except (httpx.InvalidURL, httpx.TooManyRedirects) as error:
            raise SourceUnreachable(f"{url}: {error}.", remedy=MIRROR_REMEDY, book=self.book) from error

    def _answer(self, url: str, response: httpx.Response) -> Fetched | None:
        status = response.status_code
        if status == 304:
            return Fetched(b"", url, not_modified=True)
        if status == 429 or status >= 500:
            raise _TryAgain(f"HTTP {status}", wait_s=_retry_after(response))
        if status in (401, 403):
            self.refused = f"HTTP {status}"
            return None
        if status >= 400:
            return None
        announced = response.headers.get("Content-Length", "")
        data = bytearray()
        for piece in response.iter_bytes():
            data += piece
            if len(data) > LARGEST_BYTES:
                raise _too_large(url, self.book)
        encoded = "Content-Encoding" in response.headers
        came = response.num_bytes_downloaded if encoded else len(data)
        if announced.isdigit() and came < int(announced):
            raise _TryAgain(f"{came} of {announced} bytes arrived", cut=True)
        return Fetched(
            bytes(data),
            url,
            etag=response.headers.get("ETag", ""),
            last_modified=response.headers.get("Last-Modified", ""),
        )

    def _failure(self, url: str, error: _TryAgain) -> GutenGraphError:
        if error.cut:
            return TruncatedDownload(
                f"{url} broke off in each of {ATTEMPTS} attempts ({error.why}).",
                remedy="Try again later, or set GUTENGRAPH_MIRROR to another mirror.",
                book=self.book,
            )
        return SourceUnreachable(
            f"{url} cannot be reached ({error.why}).", remedy=MIRROR_REMEDY, book=self.book
        )

    def raise_if_refused(self) -> None:
        """Where nothing was found and something was refused, the refusal is the news."""
        if self.refused:
            raise SourceUnreachable(
                f"{self.base} refuses to give it ({self.refused}).",
                remedy="Set GUTENGRAPH_MIRROR to another mirror or a folder.",
                book=self.book,
            )


@contextmanager
def _session(
    settings: Settings, book: int, transport: httpx.BaseTransport | None, sleep: Callable[[float], None]
) -> Iterator[_Session]:
    with httpx.Client(
        transport=transport,
        timeout=httpx.Timeout(30.0, connect=10.0),
        follow_redirects=True,
        headers={"User-Agent": user_agent()},
    ) as client:
        yield _Session(client, settings, book, sleep)


def user_agent() -> str:
    """Who asks, in words that a site's owner can act upon."""
    return f"GutenGraph/{version('gutengraph')} (builds a reader's own local library; one book at a time)"


def _keep_distance(settings: Settings, sleep: Callable[[float], None]) -> None:
    """Wait until the live site may be asked again, whichever process of this data folder asked last."""
    if not is_live(settings):
        return
    library = settings.library
    with library.lock("live-site"):
        stamp = library.locks_dir / "live-site.stamp"
        if stamp.exists():
            since = time.time() - stamp.stat().st_mtime
            if 0 <= since < LIVE_INTERVAL_S:
                sleep(LIVE_INTERVAL_S - since)
        stamp.touch()


def _wait(state: RetryCallState) -> float:
    """Seconds before the next attempt: what the server asks for, else 1, 2, 4."""
    outcome = state.outcome
    error = outcome.exception() if outcome is not None else None
    asked = error.wait_s if isinstance(error, _TryAgain) else None
    return min(LONGEST_WAIT_S, asked if asked is not None else 2.0 ** (state.attempt_number - 1))


def _retry_after(response: httpx.Response) -> float | None:
    """`Retry-After` in seconds; it may also be a date."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _too_large(url: str, book: int) -> BadText:
    return BadText(
        f"{url} has more than {LARGEST_BYTES // 2**20} MB.", remedy="This is no book of prose.", book=book
    )
