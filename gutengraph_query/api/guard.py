"""What stands before every request: the Host header, other sites, the token, the rate; and the headers on the
way out."""

from __future__ import annotations

import hmac
import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gutengraph_core.errors import SettingsError
from gutengraph_core.settings import Settings
from gutengraph_query.api.problems import Problem

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""No inline script or style, nothing from elsewhere, and no text that a browser would read as markup."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LARGEST_REQUEST = 16 << 10
"""Bytes of a request's body: the longest question in the widest letters, and room."""
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_OPEN_PREFIX = "/assets/"
"""The page's own files hold nothing of the library: they need no token and do not count for the rate."""
_CLIENTS = 10_000


def is_loopback(host: str) -> bool:
    """Whether a server that listens on `host` can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(settings: Settings) -> None:
    """Raises SettingsError if the server would be open to others without a token."""
    if not is_loopback(settings.host) and not settings.api_token:
        raise SettingsError(
            f"{settings.host} can be reached from other machines, and no token is set.",
            remedy="Set GUTENGRAPH_API_TOKEN to a long random word, or listen on 127.0.0.1.",
        )


@dataclass
class _Bucket:
    tokens: float
    at: float


class Rates:
    """A token bucket for each client: `per_minute` on average, a tenth of it (at least 60) at once."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._size = float(max(60, per_minute // 10)) if per_minute >= 60 else float(per_minute)
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait(self, client: str) -> float:
        """0 if `client` may go on, else the seconds until it may."""
        now = self._clock()
        bucket = self._buckets.pop(client, None) or _Bucket(self._size, now)
        bucket.tokens = min(self._size, bucket.tokens + (now - bucket.at) * self._rate)
        bucket.at = now
        self._buckets[client] = bucket  # the last is the latest: the longest silent are forgotten first
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / self._rate


class Guard:
    """ASGI middleware. Refuses as `Problem`s; adds the security headers to whatever goes out."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        is_page: Callable[[Scope], bool],
        version: Callable[[], int],
    ) -> None:
        self.app = app
        self._token = settings.api_token
        self._rates = Rates(settings.requests_per_minute)
        self._is_page = is_page
        self._version = version
        named = {name.strip().lower() for name in settings.allowed_hosts.split(",") if name.strip()}
        # A server that others may reach is called by names that it cannot know; there the token protects it.
        self._hosts = LOOPBACK_NAMES | named if is_loopback(settings.host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
                headers["X-Graph-Version"] = str(self._version())
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, with_headers)
        else:
            await self.app(scope, _limited(receive), with_headers)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            return _refused(
                400,
                f"This server is not called {host[:100] or 'nothing'}.",
                "Call it by localhost, or name the host in GUTENGRAPH_ALLOWED_HOSTS.",
            )
        if scope["method"] not in ("GET", "HEAD") and _from_elsewhere(headers, host):
            return _refused(403, "Another site's page sent this.", "Use this server's own page.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_REQUEST:
            return _refused(413, "The request is too large.", "Send less at once.")
        if scope["path"].startswith(_OPEN_PREFIX) or self._is_page(scope):
            return None
        if self._token and not _carries(headers, self._token):
            return _refused(
                401,
                "This server wants a token.",
                "Send `Authorization: Bearer <token>`.",
                {"WWW-Authenticate": "Bearer"},
            )
        client = scope["client"][0] if scope.get("client") else ""
        wait = self._rates.wait(client)
        if wait:
            seconds = str(math.ceil(wait))
            return _refused(429, "Too many requests.", f"Wait {seconds} s.", {"Retry-After": seconds})
        return None


def _limited(receive: Receive) -> Receive:
    """For a body whose length is not told beforehand."""
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > LARGEST_REQUEST:
            raise HTTPException(413)
        return message

    return counted


def _name(host: str) -> str:
    """A Host header without its port and brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _from_elsewhere(headers: Headers, host: str) -> bool:
    if headers.get("sec-fetch-site") == "cross-site":
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != host


def _carries(headers: Headers, token: str) -> bool:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _refused(status: int, what: str, remedy: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(Problem(error=what, remedy=remedy).model_dump(), status, headers)
