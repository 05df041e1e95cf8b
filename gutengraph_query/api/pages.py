"""The page: one document for all screens, and its own files. What it shows it asks of the API."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

WEB = Path(__file__).resolve().parent.parent / "web"
_SCREENS = re.compile(
    r"/|/books/?|/books/\d+/?|/ask/?|/compare/?|/passages/\d+/\d+/?|/health-page/?|/review/\d+/?"
)
_ALWAYS = re.compile(r"/|/health-page/?|/review/\d+/?")
"""Screens whose address no operation of the API has."""


def is_page(scope: Scope) -> bool:
    """Whether a request is a browser's for a screen: the API has some of the same addresses, and a browser
    that opens one says that it takes HTML, which a program or a page's own script does not."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    path = scope["path"]
    takes_html = "text/html" in Headers(scope=scope).get("accept", "")
    return bool(_ALWAYS.fullmatch(path) or (takes_html and _SCREENS.fullmatch(path)))


class Pages:
    """ASGI middleware: the document for a screen, the page's files under /assets, the rest to the API."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_page(scope):
            headers = {"Vary": "Accept", "Cache-Control": "no-cache"}
            await FileResponse(WEB / "index.html", headers=headers)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def assets() -> StaticFiles:
    """The page's own files: scripts, styles, the vendored library. Checked against their tags at each load."""

    class Files(StaticFiles):
        def file_response(self, *args, **kwargs):  # type: ignore[no-untyped-def]
            response = super().file_response(*args, **kwargs)
            response.headers["Cache-Control"] = "no-cache"
            return response

    return Files(directory=WEB)
