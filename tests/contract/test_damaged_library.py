"""What is damaged on disk is said in words, and the remedy that the words give helps."""

from __future__ import annotations

from pathlib import Path

import harbour_story as story
import pytest

from gutengraph_core.errors import NotBuilt, StoreError
from gutengraph_core.graph import versions
from gutengraph_core.settings import Settings


@pytest.mark.parametrize("written", [b"v77\n", b"", b"\xff\x00"])
def test_a_damaged_pointer_is_named(tmp_path: Path, written: bytes) -> None:
    library = Settings(home=tmp_path).library
    library.graph_dir.mkdir()
    pointer = library.graph_dir / "CURRENT"
    pointer.write_bytes(written)
    with pytest.raises(StoreError, match=r"CURRENT.*gutengraph build"):
        versions.current(library)


@pytest.mark.parametrize("written", [b"v77\n", b"\xff\x00"])
def test_the_next_build_mends_a_damaged_pointer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bytes
) -> None:
    pytest.importorskip("dagster")
    from gutengraph_assets.instance import open_instance
    from gutengraph_assets.runs import run_job

    monkeypatch.setenv("GUTENGRAPH_HOME", str(tmp_path))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    library = Settings(home=tmp_path).library
    story.write_book(library, 7)
    library.graph_dir.mkdir()
    (library.graph_dir / "CURRENT").write_bytes(written)
    with open_instance(library) as instance:
        run = run_job(instance, "finish_library", verbose=False)
    assert run.success, run.error
    assert set(versions.require(library).manifest().books) == {7}


def test_a_book_with_an_unreadable_record_can_be_removed(tmp_path: Path) -> None:
    dg = pytest.importorskip("dagster")
    from gutengraph_assets.registry import unregister

    settings = Settings(home=tmp_path)
    library = settings.library
    library.book_dir(7).mkdir(parents=True)
    library.path(7, "book.json").write_text('{"id": 7')
    with pytest.raises(NotBuilt, match="gutengraph remove 7"):
        library.record(7)
    with dg.DagsterInstance.ephemeral() as instance:
        unregister(7, settings, instance)
    assert not library.book_dir(7).exists()
