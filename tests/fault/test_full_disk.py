"""The disk fills up while a book is built: one error that names file and remedy, nothing half-written, and with
room again the very result of an undisturbed build."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest
from fakes import FakeLLM
from small_mirror import put_story
from small_models import Hashes, Words

from gutengraph_assets.instance import open_instance
from gutengraph_assets.resources import models_kept_open
from gutengraph_assets.runs import run_job
from gutengraph_core import files
from gutengraph_core.files import sha256
from gutengraph_core.library import Library
from gutengraph_core.settings import load_settings

BOOK = 7
PERSON = {" man": -0.1, " woman": -0.5, " place": -9.0, " thing": -9.0}


@contextmanager
def ready(library: Library) -> Iterator[dg.DagsterInstance]:
    """Dagster over a data folder, a mirror of one story beside it, and models that cost nothing."""
    mirror = library.home.parent / "mirror"
    put_story(mirror, BOOK)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GUTENGRAPH_HOME", str(library.home))
        patched.setenv("GUTENGRAPH_MIRROR", str(mirror))
        patched.setenv("DAGSTER_HOME", "")
        with models_kept_open(load_settings()) as opened:
            opened.__dict__ |= {"embedder": Hashes(), "tokenizer": Words(), "llm": FakeLLM(logprobs=PERSON)}
            with open_instance(library) as instance:
                yield instance


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The graph that an undisturbed build makes."""
    library = Library(tmp_path_factory.mktemp("undisturbed") / "home")
    with ready(library) as instance:
        assert run_job(instance, "build_book", book=BOOK).success
    return graph_of(library)


@pytest.fixture
def instance(library: Library) -> Iterator[dg.DagsterInstance]:
    with ready(library) as instance:
        yield instance


def graph_of(library: Library) -> dict[str, str]:
    return {p.name: sha256(p) for p in sorted((library.book_dir(BOOK) / "graph").glob("*.parquet"))}


class FullDisk:
    """No file whose name ends in `ending` can be written any more: it is cut half-way, as a full disk cuts it."""

    def __init__(self, ending: str) -> None:
        self.ending = ending

    def fsync(self, descriptor: int) -> None:
        name = os.readlink(f"/proc/self/fd/{descriptor}")
        if f"{self.ending}." in Path(name).name:
            os.truncate(name, os.path.getsize(name) // 2)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fdatasync(descriptor)


@pytest.mark.parametrize(
    "ending",
    ["raw.txt", "body.txt", "chunks.parquet", "mentions.parquet", "entities.parquet", "edges.parquet"],
)
def test_a_full_disk(
    instance: dg.DagsterInstance, library: Library, reference: dict[str, str], ending: str
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(files.os, "fsync", FullDisk(ending).fsync)
        run = run_job(instance, "build_book", book=BOOK)
    assert not run.success
    assert "The disk is full while writing" in run.error
    assert ending in run.error
    assert "Free some space" in run.error
    record = library.record(BOOK)
    assert (record.status, record.reason) == ("failed", run.error)
    assert not list(library.book_dir(BOOK).rglob(f"*{ending}"))
    assert not list(library.book_dir(BOOK).rglob("*.tmp"))
    again = run_job(instance, "build_book", book=BOOK)
    assert again.success, again.error
    assert graph_of(library) == reference
