"""What every asset of a book does around its one plain function: skip what is up to date, record what was
made from what, say how far it is, and turn an error into a status, a retry or a failure with a clear
description."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import dagster as dg

from gutengraph_assets.progress import Event, Meter, tell
from gutengraph_assets.resources import GutenGraph
from gutengraph_assets.status import UPSTREAM
from gutengraph_core.errors import BookBusy, DataFolderError, GutenGraphError, ModelUnreachable, NotBuilt
from gutengraph_core.files import read_table, sha256, write_table
from gutengraph_core.library import BookRecord, Library, StepRecord, now

if TYPE_CHECKING:
    import pyarrow as pa

UNCHANGED = "unchanged"
CODE_VERSION_TAG = "dagster/code_version"


@dataclass
class BookStep:
    """One asset of one book being made."""

    book: int
    name: str
    library: Library
    record: BookRecord
    fresh: bool
    """Nothing that it depends on has changed and its files are whole: it need not be made."""
    always: bool
    """Only its result tells whether anything has changed."""
    force: bool
    progress: Meter
    fingerprint: str
    code: str
    """Version of the code that makes it."""
    upstream: dict[str, str]
    outputs: Sequence[str]
    counts: dict[str, int] = field(default_factory=dict)
    """Put into the book's record when the step ends."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Other fields of the record to be set when the step ends."""
    text: str = ""
    """What came out, in a few words."""
    metadata: dict[str, Any] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    """Of an asset that is no file: name -> hash of what was put into a store."""
    _result: dg.MaterializeResult[None] | None = None

    def table(self, name: str) -> pa.Table:
        """A Parquet file of the book."""
        return read_table(self.library.path(self.book, name))

    def write(self, name: str, table: pa.Table) -> None:
        """Write a Parquet file of the book, atomically."""
        write_table(self.library.path(self.book, name), table, book=self.book)

    @property
    def same_code(self) -> bool:
        """Whether what stands there was made by the code that runs now, so that parts of it may be kept."""
        standing = self.record.steps.get(self.name)
        return standing is not None and bool(self.code) and standing.code == self.code

    def withdraw(self) -> None:
        """To be called before rows in a store are replaced: killed between the store's commit and the end of the step, the
        record would vouch for rows that are there no more, once code or settings are put back to what it says.
        """
        standing = self.record.steps.get(self.name)
        if standing is not None:
            changed = {"fingerprint": "", "code": standing.code if self.same_code else ""}
            self.library.update(self.book, steps={self.name: standing.model_copy(update=changed)})

    @property
    def result(self) -> dg.MaterializeResult[None]:
        """What the asset function returns, once the step has ended."""
        if self._result is None:
            raise RuntimeError(f"{self.name} has not ended")
        return self._result


@contextmanager
def book_step(
    context: dg.AssetExecutionContext,
    gutengraph: GutenGraph,
    *,
    depends: Callable[[BookRecord], Mapping[str, object]],
    outputs: Sequence[str] = (),
    always: bool = False,
) -> Iterator[BookStep]:
    """The frame of one asset of one book.

    `depends` gives whatever the result depends on besides the assets above: settings, model identities.
    `outputs`: the files under the book's folder. `always`: the plain function itself knows what is up to
    date. Raises `Failure` or `RetryRequested`.
    """
    book = int(context.partition_key)
    name = context.asset_key.path[-1]
    library = gutengraph.library
    tell(Event(book, name, "began"))
    began = time.monotonic()
    try:
        library.check_writable()
        gutengraph.touch(book, run=context.run_id, say=lambda text: _say(context, book, name, text))
        record = library.record(book)
        upstream = _upstream(library, record, name)
        version = context.assets_def.code_versions_by_key.get(context.asset_key) or ""
        fingerprint = digest({"code": version, "depends": depends(record), "upstream": upstream})
        step = BookStep(
            book=book,
            name=name,
            library=library,
            record=record,
            fresh=not always and not gutengraph.force and _is_fresh(library, record, name, fingerprint),
            always=always,
            force=gutengraph.force,
            progress=Meter(book, name, context.log),
            fingerprint=fingerprint,
            code=version,
            upstream=upstream,
            outputs=outputs,
        )
        yield step
        _finish(step, time.monotonic() - began)
    except BookBusy as error:
        # The book is somebody else's: its status is theirs to set.
        fail(context, gutengraph, error)
    except GutenGraphError as error:
        fail(context, gutengraph, error, book=book)
    except (dg.Failure, dg.RetryRequested):
        raise
    except Exception as error:
        _mark_failed(library, book, f"{name} broke: {type(error).__name__}: {error}")
        raise dg.Failure(
            description=f"{name} broke on book {book}: {type(error).__name__}: {error}", allow_retries=False
        ) from error
    finally:
        if gutengraph.settings.one_gpu:
            gutengraph.models.leave_card()
    tell(Event(book, name, "ended", text=f"{UNCHANGED}: {step.text}" if step.fresh else step.text))


@dataclass
class LibraryStep:
    """One asset of the whole library being made."""

    name: str
    progress: Meter
    fresh: bool = False
    version: str = ""
    """Data version of what was made."""
    text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    checks: list[dg.AssetCheckResult] = field(default_factory=list)
    """Checks that the step's own report decides."""
    _result: dg.MaterializeResult[None] | None = None

    @property
    def result(self) -> dg.MaterializeResult[None]:
        """What the asset function returns, once the step has ended."""
        if self._result is None:
            raise RuntimeError(f"{self.name} has not ended")
        return self._result


@contextmanager
def library_step(context: dg.AssetExecutionContext, gutengraph: GutenGraph) -> Iterator[LibraryStep]:
    """The frame of one asset of the whole library. Raises `Failure` or `RetryRequested`."""
    name = context.asset_key.path[-1]
    tell(Event(None, name, "began"))
    step = LibraryStep(name=name, progress=Meter(None, name, context.log))
    try:
        gutengraph.library.check_writable()
        yield step
    except GutenGraphError as error:
        fail(context, gutengraph, error)
    except (dg.Failure, dg.RetryRequested):
        raise
    except Exception as error:
        raise dg.Failure(
            description=f"{name} broke: {type(error).__name__}: {error}", allow_retries=False
        ) from error
    step._result = dg.MaterializeResult(
        data_version=dg.DataVersion(step.version),
        metadata={"status": UNCHANGED if step.fresh else "made", "in_short": step.text, **step.metadata},
        check_results=step.checks,
    )
    tell(Event(None, name, "ended", text=f"{UNCHANGED}: {step.text}" if step.fresh else step.text))


def _say(context: dg.AssetExecutionContext, book: int, name: str, text: str) -> None:
    context.log.warning("%s", text)
    tell(Event(book, name, "waits", text=text))


def made_by_this_code(context: dg.AssetExecutionContext) -> bool:
    """Whether the asset's latest materialisation came from the code that runs now."""
    event = context.instance.get_latest_materialization_event(context.asset_key)
    made = event.asset_materialization if event is not None else None
    now_code = context.assets_def.code_versions_by_key.get(context.asset_key)
    return made is not None and (made.tags or {}).get(CODE_VERSION_TAG) == now_code


def park(step: BookStep, reason: str, empty: Mapping[str, pa.Schema]) -> None:
    """Materialise nothing, and say why: the files are there and hold no rows."""
    for name, schema in empty.items():
        if not step.fresh:
            step.write(name, schema.empty_table())
    step.text = "parked"
    step.metadata = {"status": "parked", "reason": reason, "dagster/row_count": 0}


def fail(
    context: dg.AssetExecutionContext,
    gutengraph: GutenGraph,
    error: GutenGraphError,
    *,
    book: int | None = None,
) -> NoReturn:
    """Retry later what may pass by itself; else fail with the error's own words, and the book with it."""
    settings = gutengraph.settings
    retries = settings.model_retries if isinstance(error, ModelUnreachable) else settings.step_retries
    if error.retry and context.retry_number < retries:
        wait = settings.step_retry_delay_s * 2**context.retry_number
        again = f"{error} Trying again in {wait:.0f} s."
        context.log.warning("%s", again)
        tell(Event(book, context.asset_key.path[-1], "waits", text=again))
        raise dg.RetryRequested(max_retries=retries, seconds_to_wait=wait) from error
    if book is not None:
        _mark_failed(gutengraph.library, book, str(error))
    raise dg.Failure(
        description=str(error),
        metadata={"error": type(error).__name__, "remedy": error.remedy},
        allow_retries=False,
    ) from error


def _mark_failed(library: Library, book: int, reason: str) -> None:
    # Where the folder cannot be written no status can be kept; the failure under way says so already.
    with suppress(DataFolderError):
        library.update(book, status="failed", reason=reason, pid=None)


def _upstream(library: Library, record: BookRecord, name: str) -> dict[str, str]:
    versions: dict[str, str] = {}
    for above in UPSTREAM[name]:
        done = record.steps.get(above)
        if done is None or not _intact(library, record.id, done):
            what = "was never made" if done is None else "is missing or damaged"
            raise NotBuilt(
                f"{name} needs {above}, which {what}.",
                remedy=f"Run `gutengraph build {record.id}`, or materialise {above} first.",
                book=record.id,
            )
        versions[above] = done.version
    return versions


def _is_fresh(library: Library, record: BookRecord, name: str, fingerprint: str) -> bool:
    done = record.steps.get(name)
    return done is not None and done.fingerprint == fingerprint and _intact(library, record.id, done)


def _intact(library: Library, book: int, done: StepRecord) -> bool:
    return all(
        library.path(book, file).exists() and sha256(library.path(book, file)) == expected
        for file, expected in done.files.items()
    )


def _finish(step: BookStep, seconds: float) -> None:
    files = {file: sha256(step.library.path(step.book, file)) for file in step.outputs}
    version = digest({"files": files, "contents": step.contents})
    standing = step.library.record(step.book).steps.get(step.name)
    if step.always and not step.force and standing is not None:
        step.fresh = (standing.fingerprint, standing.version) == (step.fingerprint, version)
    if step.fresh and standing is not None:
        done = standing
    else:
        done = StepRecord(
            fingerprint=step.fingerprint,
            version=version,
            upstream=step.upstream,
            files=files,
            code=step.code,
            at=now(),
            seconds=round(seconds, 3),
        )
        step.library.update(step.book, steps={step.name: done}, counts=step.counts, **step.fields)
    metadata = {
        "status": UNCHANGED if step.fresh else "made",
        "in_short": step.text,
        **step.metadata,
        "made_at": done.at,
        "seconds": done.seconds,
    }
    step._result = dg.MaterializeResult(data_version=dg.DataVersion(done.version), metadata=metadata)


def digest(document: Mapping[str, object]) -> str:
    """sha256 of a document's canonical JSON."""
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()
