"""Records of books: what is on disk is told as it is, and one broken record sinks nobody else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gutengraph_core.errors import DataFolderError, NotBuilt, SettingsError
from gutengraph_core.files import write_text
from gutengraph_core.library import Library
from gutengraph_core.processes import this_process
from gutengraph_core.settings import load_settings


def test_counts_are_merged_and_other_fields_replaced(library: Library) -> None:
    library.update(7, title="A Tale", counts={"chunks": 3})
    record = library.update(7, title="Another Tale", counts={"cast": 2})
    assert (record.title, record.counts) == ("Another Tale", {"chunks": 3, "cast": 2})
    assert library.record(7) == record


def test_a_book_whose_builder_is_gone_has_failed(library: Library) -> None:
    library.update(7, status="building", pid=2**22 + 1)
    record = library.record(7)
    assert record.status == "failed"
    assert "gutengraph build 7" in record.reason


def test_a_builders_number_given_to_another_process_is_no_builder(library: Library) -> None:
    """After a restart of the machine the number may be anybody's."""
    host, pid, started = this_process().rsplit(":", 2)
    library.update(7, status="building", pid=int(pid), owner=f"{host}:{pid}:{int(started) - 900}")
    assert library.record(7).status == "failed"
    library.update(7, status="building", owner=this_process())
    assert library.record(7).status == "building"
    # Another machine's process is not ours to judge.
    library.update(7, status="building", owner=f"another-host:{pid}:1")
    assert library.record(7).status == "building"


def test_a_book_whose_builder_lives_is_building(library: Library) -> None:
    library.update(7, status="building", pid=os.getpid())
    assert library.record(7).status == "building"


def test_one_broken_record_does_not_hide_the_others(library: Library) -> None:
    library.update(7, title="A Tale")
    library.update(8, title="Broken")
    library.path(8, "book.json").write_text('{"id": "no')
    whole, broken = library.records()
    assert whole.title == "A Tale"
    assert (broken.id, broken.status) == (8, "failed")
    assert "gutengraph remove 8" in broken.reason
    assert "\n" not in broken.reason
    with pytest.raises(NotBuilt, match=r"^Book 8: "):
        library.record(8)


def test_a_file_in_place_of_the_folder_is_told_as_such(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("")
    library = Library(home)
    for reading in (library.ids, lambda: library.record(7), lambda: library.has(7)):
        with pytest.raises(DataFolderError, match="GUTENGRAPH_HOME"):
            reading()
    with pytest.raises(DataFolderError, match="GUTENGRAPH_HOME"):
        library.update(7, title="A Tale")


def test_a_folder_that_cannot_be_made_is_told_as_such() -> None:
    with pytest.raises(DataFolderError, match="GUTENGRAPH_HOME"):
        write_text(Path("/proc/nowhere/file.txt"), "x")


@pytest.mark.parametrize("name", ["TOP_K", "MAX_HOPS", "MIN_WINDOWS", "WINDOW_WORDS"])
def test_a_setting_out_of_bounds_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"GUTENGRAPH_{name}", "-1")
    with pytest.raises(SettingsError, match=f"GUTENGRAPH_{name}"):
        load_settings()
