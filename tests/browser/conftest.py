"""A headless Chromium, Debian's own, and the real server over the small library."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import web_library
from fakes import FakeLLM
from web_server import NAMES, brains_of, serving

from gutengraph_core.library import Library
from gutengraph_core.settings import Settings

CHROMIUM = next(
    (p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None
)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    web_library.build(Library(folder))
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Closed with its module: while Playwright's loop runs, no other test of the session may run one of its own."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # its own sandbox needs rights that a container seldom gives; it sees this server and nothing else
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Site:
    """A running server whose model a test may steer."""

    url: str
    llm: FakeLLM
    home: Path


@pytest.fixture(scope="session")
def site(home: Path) -> Iterator[Site]:
    llm = FakeLLM(logprobs=NAMES)
    given = Settings(home=home, path_threshold=0.2, passage_threshold=0.2, requests_per_minute=10**6)
    with serving(brains_of(given, llm)) as url:
        yield Site(url, llm, home)


@dataclass
class Seen:
    """What went wrong in a page while a test looked at it."""

    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def page(chromium: Any, site: Site, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page that must show no error, break no rule of its policy and ask nobody but the server.

    `@pytest.mark.parametrize("page", [{"viewport": …}], indirect=True)` sets the browser's own options.
    """
    options = {"viewport": {"width": 1280, "height": 900}, **getattr(request, "param", {})}
    context = chromium.new_context(base_url=site.url, **options)
    page = context.new_page()
    page.set_default_timeout(60_000)
    seen = Seen()
    page.seen = seen
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("console", lambda m: seen.errors.append(m.text) if m.type in ("error", "warning") else None)
    page.on("request", lambda r: seen.asked.append(r.url))
    yield page
    context.close()
    assert [e for e in seen.errors if "the server responded with a status of" not in e] == []
    assert [u for u in seen.asked if not u.startswith((site.url, "blob:", "data:"))] == []
