"""What a book's status becomes when a run has worked on it."""

from __future__ import annotations

import pytest

from gutengraph_assets.status import UPSTREAM, parked_reason, settle, unfinished
from gutengraph_core.library import BookRecord, Library, StepRecord

PID = 4_194_304  # beyond Linux's largest default pid: no process has it


def made(**versions: str) -> dict[str, StepRecord]:
    """Steps whose inputs are what stands: '<asset>'='<version>'; all others '1'."""
    all_versions = {name: versions.get(name, "1") for name in UPSTREAM}
    return {
        name: StepRecord(
            fingerprint="f",
            version=all_versions[name],
            upstream={above: all_versions[above] for above in upstream},
            at="2026-01-02T03:04:05+00:00",
        )
        for name, upstream in UPSTREAM.items()
    }


@pytest.mark.parametrize(("language", "parked"), [("en", False), ("", False), ("fr", True), ("de", True)])
def test_only_english_books_get_a_graph(language: str, parked: bool) -> None:
    reason = parked_reason(BookRecord(id=1, language=language))
    assert bool(reason) is parked
    assert (f"'{language}'" in reason) is parked


def test_a_changed_text_unfinishes_what_was_made_from_it() -> None:
    record = BookRecord(id=1, steps=made())
    assert unfinished(record) == []
    record.steps["chunks"] = record.steps["chunks"].model_copy(update={"version": "2"})
    assert unfinished(record) == ["embeddings_table", "story_arcs", "enriched_graph"]
    record.steps["raw_text"] = record.steps["raw_text"].model_copy(update={"version": "2"})
    assert unfinished(record) == [name for name in UPSTREAM if name != "raw_text"]
    del record.steps["raw_text"]
    assert unfinished(record) == list(UPSTREAM)


def test_settle_gives_what_the_files_say(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.pid_exists", lambda pid: True)
    library.update(7, status="building", pid=PID, steps=made())
    settled = settle(library, 7, pid=PID)
    assert (settled.status, settled.pid, settled.built_at) == ("built", None, "2026-01-02T03:04:05+00:00")

    library.update(8, status="building", pid=PID, language="fr", steps=made())
    parked = settle(library, 8, pid=PID)
    assert parked.status == "parked"
    assert "'fr'" in parked.reason

    library.update(9, status="building", pid=PID, steps={"raw_text": made()["raw_text"]})
    half = settle(library, 9, pid=PID)
    assert half.status == "registered"
    assert "window_names" in half.reason
    assert "gutengraph build 9" in half.reason


def test_settle_leaves_a_failure_and_other_processes_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psutil.pid_exists", lambda pid: True)
    library.update(7, status="failed", reason="No network.", steps=made())
    assert settle(library, 7, pid=PID).reason == "No network."
    library.update(7, status="building", pid=PID + 1, reason="")
    assert settle(library, 7, pid=PID).status == "building"
