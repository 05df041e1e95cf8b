"""Books in and out for those who never leave the UI: jobs whose launchpad takes ids, the inbox, a watched list.

A job only adds (or removes) books; what is to be built is then asked for by `follow_up`, one run a book, so that a
hundred new books are a hundred runs in the queue and not one run that holds a slot all night.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from gutengraph_assets import inbox
from gutengraph_assets.automation import build_book, finish_library
from gutengraph_assets.gutenberg import catalogue
from gutengraph_assets.registry import add_partitions, register, unregister
from gutengraph_assets.resources import GutenGraph
from gutengraph_core.errors import GutenGraphError, SettingsError
from gutengraph_core.files import read_text
from gutengraph_core.settings import Settings, load_settings

BUILD_TAG = "gutengraph/build"
"""On a run that added books: which of them are to be built now."""
MERGE_TAG = "gutengraph/merge"
"""On a run after which the merged graph has to be made anew."""
EVERY_S = 30


class AddConfig(dg.Config):
    """Books to take in."""

    ids: list[int] = Field(description="Gutenberg ids, for instance [2701, 84].")
    build: bool = Field(default=True, description="Build them at once: one run a book, through the queue.")
    origin: str = Field(default="", description="The inbox's file that asked for them; set by the sensor.")


class TopConfig(dg.Config):
    """How many of the most read books to take in."""

    n: int = Field(
        default=10, ge=1, le=1000, description="As many, by the downloads in GUTENGRAPH_CATALOGUE."
    )
    build: bool = Field(default=True, description="Build them at once: one run a book, through the queue.")


class RemoveConfig(dg.Config):
    """Books to take out."""

    ids: list[int] = Field(description="Gutenberg ids of books in the library.")


@dg.op
def take_in(context: dg.OpExecutionContext, config: AddConfig, gutengraph: GutenGraph) -> None:
    """Look each id up at the source, and register what is there and may be built."""
    _take_in(context, gutengraph.settings, config.ids, build=config.build, origin=config.origin)


@dg.op
def take_in_top(context: dg.OpExecutionContext, config: TopConfig, gutengraph: GutenGraph) -> None:
    """Register the books with the most downloads."""
    try:
        ids = [entry.id for entry in catalogue.top(config.n, gutengraph.settings)]
    except GutenGraphError as error:
        raise _failure(str(error)) from error
    _take_in(context, gutengraph.settings, ids, build=config.build, origin="")


@dg.op
def take_out(context: dg.OpExecutionContext, config: RemoveConfig, gutengraph: GutenGraph) -> None:
    """Delete each book's passages, partition and files. What cannot be removed does not keep the others."""
    refused = []
    for book in dict.fromkeys(config.ids):
        try:
            unregister(book, gutengraph.settings, context.instance)
            context.log.info("Book %d is removed.", book)
        except GutenGraphError as error:
            refused.append(str(error))
    if len(refused) < len(set(config.ids)):
        context.instance.add_run_tags(context.run_id, {MERGE_TAG: "true"})
    if refused:
        raise _failure(" ".join(refused))


def _take_in(
    context: dg.OpExecutionContext, settings: Settings, ids: Sequence[int], *, build: bool, origin: str
) -> None:
    try:
        if not ids:
            raise SettingsError("No id was given.", remedy="Write some under `ids`.")
        added, refused = register(list(dict.fromkeys(ids)), settings)
    except GutenGraphError as error:
        if origin:
            inbox.note_reason(settings.library, origin, f"{origin}: {error}")
        raise _failure(str(error)) from error
    taken = [one.record.id for one in added]
    add_partitions(taken, context.instance)
    if build and taken:
        context.instance.add_run_tags(context.run_id, {BUILD_TAG: ",".join(map(str, taken))})
    for one in added:
        context.log.info("Book %d: %s. %s", one.record.id, one.record.title or "title unknown", one.warning)
    reasons = [str(error) for error in refused]
    context.add_output_metadata({"added": taken, "refused": reasons})
    if reasons and origin:
        inbox.note_reason(settings.library, origin, "\n".join(f"{origin}: {reason}" for reason in reasons))
    if reasons:
        context.log.error("Refused: %s", " ".join(reasons))
    if reasons and not taken:
        raise _failure(" ".join(reasons))


def _failure(text: str) -> dg.Failure:
    return dg.Failure(description=text, allow_retries=False)


@dg.job(
    description="Take books in by their Gutenberg ids (launchpad: `ids`), and build them unless told otherwise."
)
def add_books() -> None:
    take_in()


@dg.job(description="Take in the `n` most read books of the catalogue, and build them unless told otherwise.")
def add_top_books() -> None:
    take_in_top()


@dg.job(
    description="Take books out: both stores, the files, the partition; then the merged graph without them."
)
def remove_books() -> None:
    take_out()


def _follow_up(context: dg.RunStatusSensorContext) -> Iterator[dg.RunRequest]:
    run = context.dagster_run
    # The tags that the run gave itself are in the storage, not in the event.
    standing = context.instance.get_run_by_id(run.run_id) or run
    for book in filter(None, standing.tags.get(BUILD_TAG, "").split(",")):
        yield dg.RunRequest(
            job_name="build_book",
            partition_key=book,
            run_key=f"{run.run_id}:{book}",
            tags={"gutengraph/by": run.job_name},
        )
    if standing.tags.get(MERGE_TAG):
        yield dg.RunRequest(job_name="finish_library", run_key=f"{run.run_id}:merge")


def _follow(status: dg.DagsterRunStatus, name: str, jobs: list[Any]) -> dg.SensorDefinition:
    @dg.run_status_sensor(
        name=name,
        run_status=status,
        monitored_jobs=jobs,
        request_jobs=[build_book, finish_library],
        minimum_interval_seconds=EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="After books were added or removed: asks for their builds, or for the merged graph.",
    )
    def follow(context: dg.RunStatusSensorContext) -> Iterator[dg.RunRequest]:
        yield from _follow_up(context)

    return follow


follow_up = _follow(dg.DagsterRunStatus.SUCCESS, "follow_up", [add_books, add_top_books, remove_books])
# A removal of which one book was refused has removed the others.
follow_up_removal = _follow(dg.DagsterRunStatus.FAILURE, "follow_up_removal", [remove_books])


def _request(key: str, ids: Sequence[int], origin: str) -> dg.RunRequest:
    config = {"ops": {"take_in": {"config": {"ids": list(ids), "origin": origin}}}}
    return dg.RunRequest(run_key=key, run_config=config, tags={"gutengraph/by": origin})


@dg.sensor(
    job=add_books,
    minimum_interval_seconds=EVERY_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Files in `inbox/` of the data folder: lists of Gutenberg ids, or texts each with its RDF.",
)
def inbox_files(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """A delivery is asked for in one tick and moved away in the next: a tick that dies loses nothing."""
    settings = load_settings()
    library = settings.library
    before = set(json.loads(context.cursor or "[]"))
    requests, asked, said = [], [], []
    for found in inbox.look(library, settle_s=settings.inbox_settle_s, at=time.time()):
        if isinstance(found, inbox.Refused):
            inbox.reject(library, found)
            context.log.error("%s", found.reason)
            said.append(found.reason)
        elif found.key in before:
            inbox.accept(library, found.files)
        else:
            inbox.shelve(library, found)
            requests.append(_request(f"inbox:{found.key}", found.ids, found.name))
            asked.append(found.key)
    return dg.SensorResult(
        run_requests=requests,
        cursor=json.dumps(asked),
        skip_reason=None if requests else " ".join(said) or "Nothing new in the inbox.",
    )


@dg.sensor(
    job=add_books,
    minimum_interval_seconds=EVERY_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="The list of GUTENGRAPH_WATCH_LIST: ids that are new in it are added and built.",
)
def watched_list(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Raises BadText naming file and line: the tick is shown as failed until the list is mended."""
    settings = load_settings()
    path = settings.watch_list
    if path is None:
        return dg.SkipReason("GUTENGRAPH_WATCH_LIST is not set.")
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"GUTENGRAPH_WATCH_LIST={path} cannot be read ({error}).", remedy="Correct or unset it."
        ) from error
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    if context.cursor == digest:
        return dg.SkipReason(f"{path} is as it was.")
    fresh = [book for book in inbox.parse_ids(text, str(path)) if not settings.library.has(book)]
    if not fresh:
        return dg.SensorResult(cursor=digest, skip_reason=f"{path} has nothing that the library lacks.")
    return dg.SensorResult(run_requests=[_request(f"watched:{digest}", fresh, "")], cursor=digest)


jobs: list[Any] = [add_books, add_top_books, remove_books]
sensors: list[dg.SensorDefinition] = [follow_up, follow_up_removal, inbox_files, watched_list]
