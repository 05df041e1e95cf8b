"""A backfill through the webserver, as the UI drives it: one poisoned book sinks no other, the library follows."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from dagster_dev import Dev
from small_mirror import STORY, put, rdf_of, text_of

from gutengraph_core.graph import versions
from gutengraph_core.vectors import ChunkTable

SOAK = bool(os.environ.get("GUTENGRAPH_TEST_SOAK"))
GOOD = tuple(range(1, 10)) if SOAK else (7, 8)
"""`make soak` takes nine, and with the poisoned one ten."""
POISONED = 90
INBOX_BOOK = 91
ADDED_MEANWHILE, REMOVED_MEANWHILE = 92, 93
PATIENCE_S = 1500 if SOAK else 500


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    dev = Dev(tmp_path_factory.mktemp("backfill"), inbox_settle_s=0)
    for book in (*GOOD, INBOX_BOOK, ADDED_MEANWHILE, REMOVED_MEANWHILE):
        title = f"The Heron, Part {book}"
        story = STORY.replace("Saltby", f"Saltby{chr(97 + book % 26)}")
        put(dev.mirror, book, text_of(book, title, story), rdf=rdf_of(book, title))
    put(dev.mirror, POISONED, bytes(range(256)) * 50, rdf=rdf_of(POISONED, "The Poisoned Book"))
    dev.start()
    try:
        yield dev
    finally:
        dev.close()


def test_one_poisoned_book_sinks_no_other_and_the_library_follows(dev: Dev) -> None:
    books = [*GOOD, POISONED]
    config = {"ops": {"take_in": {"config": {"ids": [*books, REMOVED_MEANWHILE], "build": False}}}}
    added = dev.launch("add_books", config)
    assert dev.until(lambda: dev.ended(added), 120, "adding did not end") == "SUCCESS", dev.tail()
    assert dev.partitions("raw_text", "unmaterialized") == {*books, REMOVED_MEANWHILE}

    backfill = dev.backfill(books)
    dev.until(lambda: dev.runs("__ASSET_JOB") or dev.runs("build_book"), 120, "the backfill asked for no run")
    # Books come and go while it runs, and it minds neither.
    dev.gutengraph("add", ADDED_MEANWHILE)
    dev.gutengraph("remove", REMOVED_MEANWHILE)
    status = dev.until(
        lambda: dev.backfill_status(backfill) if dev.backfill_status(backfill) != "REQUESTED" else "",
        PATIENCE_S,
        "the backfill did not end",
    )
    assert status in ("COMPLETED_FAILED", "FAILED")  # it says that not all went well
    assert dev.partitions("enriched_graph", "materialized") == set(GOOD)
    assert dev.partitions("raw_text", "failed") == {POISONED}
    assert {r.id: r.status for r in dev.library.records()} == {
        **dict.fromkeys(GOOD, "built"),
        POISONED: "failed",
        ADDED_MEANWHILE: "registered",
    }
    assert dev.partitions("raw_text", "unmaterialized") == {ADDED_MEANWHILE, POISONED}
    assert "What was fetched is binary" in dev.library.record(POISONED).reason

    # Nobody asked for the library: it follows once no book is on its way, and once only.
    def merged() -> bool:
        version = versions.current(dev.library)
        return version is not None and set(version.manifest().books) == set(GOOD)

    dev.until(merged, 180, "the merged graph did not follow")
    assert versions.require(dev.library).number == 1
    summaries = dev.until(
        lambda: [
            t for p in (dev.home / "summaries").glob("*.txt") if f"book {POISONED}" in (t := p.read_text())
        ],
        120,
        "no summary was written",
    )
    assert "failure" in summaries[0]
    assert "binary" in summaries[0]


def test_a_book_in_the_inbox_is_built_and_removed_by_jobs(dev: Dev) -> None:
    inbox = dev.home / "inbox"
    inbox.mkdir(exist_ok=True)
    (inbox / "wishes.txt").write_text(f"{INBOX_BOOK}  # the last part\n")
    (inbox / "letter.txt").write_text("Dear library, please get me something nice.\n")
    dev.until(
        lambda: dev.library.has(INBOX_BOOK) and dev.library.record(INBOX_BOOK).status == "built",
        400,
        "the book of the inbox was not built",
    )
    dev.until(lambda: (inbox / "accepted/wishes.txt").exists(), 90, "the list was not moved away")
    assert "'Dear'" in (inbox / "rejected/letter.txt.reason.txt").read_text()

    removed = dev.launch("remove_books", {"ops": {"take_out": {"config": {"ids": [INBOX_BOOK, 12345]}}}})
    assert dev.until(lambda: dev.ended(removed), 120, "removing did not end") == "FAILURE"  # 12345 is unknown
    assert not dev.library.has(INBOX_BOOK)
    assert set(ChunkTable.open(dev.library, None).books()) == set(GOOD)
    assert INBOX_BOOK not in dev.partitions("raw_text", "unmaterialized")
    dev.until(
        lambda: dev.runs("finish_library") and dev.ended(dev.runs("finish_library")[0]["runId"]),
        180,
        "the merged graph was not made anew",
    )
    assert set(versions.require(dev.library).manifest().books) == set(GOOD)
