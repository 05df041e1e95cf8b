"""What becomes of a book's status when a run has worked on it, and why a book may be parked."""

from __future__ import annotations

from gutengraph_core.library import BookRecord, Library, now

UPSTREAM: dict[str, tuple[str, ...]] = {
    "raw_text": (),
    "chunks": ("raw_text",),
    "embeddings_table": ("chunks",),
    "story_arcs": ("embeddings_table",),
    "window_names": ("raw_text",),
    "filtered_entities": ("window_names",),
    "enriched_graph": ("filtered_entities", "window_names", "chunks", "embeddings_table"),
}
"""A book's assets in the order in which they are made, each with those that it reads."""

ENGLISH = frozenset({"en", ""})
"""Languages whose names and relations can be found. '': neither text nor catalogue says, and most are
English."""


def parked_reason(record: BookRecord) -> str:
    """Why a book gets no graph; '' if it gets one."""
    if record.forced:
        return ""
    reason = language_reason(record) or record.gate
    return f"{reason} `gutengraph build {record.id} --force` tries all the same." if reason else ""


def language_reason(record: BookRecord) -> str:
    """Why a book's language keeps it from getting a graph; '' if it does not."""
    if record.language in ENGLISH:
        return ""
    return (
        f"Its language is '{record.language}'; names and relations are found in English only. "
        "Its text, passages and vectors are built."
    )


def unfinished(record: BookRecord) -> list[str]:
    """Assets that are missing, or were made from something that has changed since, in the order of making."""
    waiting: list[str] = []
    for name, upstream in UPSTREAM.items():
        step = record.steps.get(name)
        if (
            step is None
            or any(above in waiting for above in upstream)
            or any(step.upstream.get(above) != record.steps[above].version for above in upstream)
        ):
            waiting.append(name)
    return waiting


def settle(library: Library, book: int, *, pid: int) -> BookRecord:
    """Give a book that the process `pid` was building its lasting status: built, parked, or registered again.

    A status that somebody else has set meanwhile (a failure, another process) stays as it is.
    """
    record = library.record(book)
    if record.status != "building" or record.pid != pid:
        return record
    waiting = unfinished(record)
    if waiting:
        return library.update(
            book,
            status="registered",
            pid=None,
            reason=f"Not finished: {', '.join(waiting)}. Run `gutengraph build {book}`.",
        )
    reason = parked_reason(record)
    built_at = max(record.steps[name].at for name in UPSTREAM) or now()
    return library.update(
        book, status="parked" if reason else "built", reason=reason, pid=None, built_at=built_at
    )
