"""Fixtures for everybody: a data folder of one's own, the mirror of real books, the gold standards."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from places import ROOT

from gutengraph_core.library import Library
from gutengraph_core.settings import Settings

if TYPE_CHECKING:
    from seaweed import Seaweed


def _beside(variable: str, name: str) -> Path | None:
    path = Path(os.environ.get(variable) or ROOT.parent / "shared" / name)
    return path if path.is_dir() else None


MIRROR = _beside("GUTENGRAPH_TEST_MIRROR", "gutenberg")
GOLD = _beside("GUTENGRAPH_TEST_GOLD", "gold")


@pytest.fixture(autouse=True)
def _no_stray_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A developer's own GUTENGRAPH_… variables must not steer the tests."""
    for name in list(os.environ):
        if name.startswith("GUTENGRAPH_") and not name.startswith("GUTENGRAPH_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GUTENGRAPH_HOME", str(tmp_path / "home"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder of the test's own."""
    return tmp_path / "home"


@pytest.fixture
def library(home: Path) -> Library:
    return Library(home)


@pytest.fixture
def settings(home: Path) -> Settings:
    """Defaults, with a data folder of the test's own and the sample folder as the mirror."""
    return Settings(home=home, mirror=str(ROOT / "data" / "sample"))


@pytest.fixture
def mirror() -> Path:
    """Real books in gutenberg.org's layout."""
    if MIRROR is None:
        pytest.skip("no mirror of real books: put one at ../shared/gutenberg or set GUTENGRAPH_TEST_MIRROR")
    return MIRROR


@pytest.fixture
def gold() -> Path:
    """Gold standards in the format of `gutengraph evaluate`."""
    if GOLD is None:
        pytest.skip("no gold standards: put them at ../shared/gold or set GUTENGRAPH_TEST_GOLD")
    return GOLD


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    """A real S3 server, started once; each test has a bucket of its own there."""
    from seaweed import running_seaweed

    with running_seaweed(tmp_path_factory.mktemp("seaweed")) as running:
        yield running


@pytest.fixture
def s3(seaweed: Seaweed) -> Any:
    """A boto3 client of it."""
    return seaweed.client()


@pytest.fixture
def bucket(s3: Any) -> str:
    """An empty bucket."""
    name = f"books-{uuid.uuid4().hex[:12]}"
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture(scope="session")
def _six_books(tmp_path_factory: pytest.TempPathFactory) -> Library:
    from s3_library import fill

    return fill(Library(tmp_path_factory.mktemp("six-books")))


@pytest.fixture
def filled(library: Library, _six_books: Library) -> Library:
    """A library with six small books (`s3_library.fill`), the test's own."""
    shutil.copytree(_six_books.home, library.home)
    return library


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):  # type: ignore[no-untyped-def]
    """With GUTENGRAPH_TEST_REQUIRE_ALL set (in CI), a skipped test is a failed one."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("GUTENGRAPH_TEST_REQUIRE_ALL") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be skipped: {report.longrepr}"
