"""Jobs, sensors and automation conditions, evaluated as Dagster's daemon does."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from small_mirror import put_story, rdf_of

from gutengraph_assets import intake, summaries
from gutengraph_assets.automation import BOOK_ASSETS, LIBRARY_ASSETS
from gutengraph_assets.definitions import defs
from gutengraph_assets.instance import open_instance
from gutengraph_core.errors import BadText, SettingsError, WebhookError
from gutengraph_core.library import Library
from gutengraph_core.settings import load_settings

BOOKS = (7, 8, 9)


@pytest.fixture
def instance(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[dg.DagsterInstance]:
    for book in BOOKS:
        put_story(tmp_path / "mirror", book, f"The Heron, Part {book}")
    monkeypatch.setenv("GUTENGRAPH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("GUTENGRAPH_INBOX_SETTLE_S", "0")
    monkeypatch.setenv("DAGSTER_HOME", "")
    with open_instance(library) as opened:
        yield opened


def run(instance: dg.DagsterInstance, job: str, op: str, **config: object) -> dg.ExecuteInProcessResult:
    return defs.resolve_job_def(job).execute_in_process(
        run_config={"ops": {op: {"config": config}}}, instance=instance, raise_on_error=False
    )


def follow(instance: dg.DagsterInstance, run_id: str) -> list[dg.RunRequest]:
    """What the follow-up sensor asks for after a run."""
    done = instance.get_run_by_id(run_id)
    assert done is not None
    event = next(
        e.dagster_event
        for e in instance.all_logs(run_id)
        if e.dagster_event and e.dagster_event.event_type_value in ("PIPELINE_SUCCESS", "PIPELINE_FAILURE")
    )
    context = dg.build_run_status_sensor_context(
        sensor_name="follow_up", dagster_event=event, dagster_instance=instance, dagster_run=done
    )
    return [r for r in intake._follow_up(context) if isinstance(r, dg.RunRequest)]


# --- jobs ---


def test_ids_of_the_launchpad_become_books_and_runs(instance: dg.DagsterInstance, library: Library) -> None:
    done = run(instance, "add_books", "take_in", ids=[7, 8, 7, 12345])
    assert done.success
    assert library.ids() == [7, 8]
    assert set(instance.get_dynamic_partitions("books")) == {"7", "8"}
    asked = follow(instance, done.run_id)
    assert [(r.job_name, r.partition_key) for r in asked] == [("build_book", "7"), ("build_book", "8")]
    assert len({r.run_key for r in asked}) == 2
    metadata = done.get_step_success_events()
    assert metadata
    later = run(instance, "add_books", "take_in", ids=[9], build=False)
    assert later.success
    assert follow(instance, later.run_id) == []


@pytest.mark.parametrize(("ids", "says"), [([12345], "Book 12345"), ([], "No id was given")])
def test_adding_nothing_fails_with_the_reason(
    instance: dg.DagsterInstance, ids: list[int], says: str
) -> None:
    done = run(instance, "add_books", "take_in", ids=ids)
    assert not done.success
    (failure,) = [e for e in done.all_events if e.is_step_failure]
    assert says in (failure.step_failure_data.user_failure_data.description or "")  # type: ignore[union-attr]


def test_refused_ids_of_an_inbox_file_are_noted_beside_it(
    instance: dg.DagsterInstance, library: Library
) -> None:
    assert run(instance, "add_books", "take_in", ids=[7, 12345], origin="wishes.txt").success
    reason = (library.home / "inbox/rejected/wishes.txt.reason.txt").read_text()
    assert reason.startswith("wishes.txt: Book 12345: ")


def test_the_most_read_books_of_the_catalogue(
    instance: dg.DagsterInstance, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "rdf"
    folder.mkdir()
    for book, downloads in ((7, 10), (8, 500), (9, 90)):
        rdf = rdf_of(book, f"Part {book}").replace(
            "</dcterms:title>",
            f"</dcterms:title>\n    <pgterms:downloads>{downloads}</pgterms:downloads>",
        )
        (folder / f"pg{book}.rdf").write_text(rdf)
    assert not run(instance, "add_top_books", "take_in_top", n=2).success  # no catalogue is set
    monkeypatch.setenv("GUTENGRAPH_CATALOGUE", str(folder))
    done = run(instance, "add_top_books", "take_in_top", n=2)
    assert done.success
    assert library.ids() == [8, 9]
    assert [r.partition_key for r in follow(instance, done.run_id)] == ["8", "9"]


def test_removing_from_the_ui(instance: dg.DagsterInstance, library: Library) -> None:
    run(instance, "add_books", "take_in", ids=[7, 8], build=False)
    done = run(instance, "remove_books", "take_out", ids=[7, 12345])
    assert not done.success  # one of them is not there; the other went all the same
    assert library.ids() == [8]
    assert set(instance.get_dynamic_partitions("books")) == {"8"}
    assert [r.job_name for r in follow(instance, done.run_id)] == ["finish_library"]
    nothing = run(instance, "remove_books", "take_out", ids=[12345])
    assert follow(instance, nothing.run_id) == []


def test_maintenance(instance: dg.DagsterInstance) -> None:
    done = defs.resolve_job_def("maintain_table").execute_in_process(instance=instance)
    assert done.success  # no table yet is no failure


# --- sensors ---


def test_the_inbox(instance: dg.DagsterInstance, library: Library) -> None:
    folder = library.home / "inbox"
    folder.mkdir()
    (folder / "wishes.txt").write_text("7, 8\n")
    (folder / "letter.txt").write_text("Dear library\n")
    first = intake.inbox_files(dg.build_sensor_context(instance))
    (request,) = first.run_requests
    assert request.run_config["ops"]["take_in"]["config"] == {"ids": [7, 8], "origin": "wishes.txt"}
    assert (folder / "rejected/letter.txt").exists()
    assert (folder / "wishes.txt").exists()  # a tick that dies now loses nothing
    second = intake.inbox_files(dg.build_sensor_context(instance, cursor=first.cursor))
    assert not second.run_requests
    assert (folder / "accepted/wishes.txt").exists()
    third = intake.inbox_files(dg.build_sensor_context(instance, cursor=second.cursor))
    assert not third.run_requests
    # A tick whose cursor was lost asks under the same key, which Dagster runs once.
    (folder / "accepted/wishes.txt").rename(folder / "wishes.txt")
    again = intake.inbox_files(dg.build_sensor_context(instance))
    assert again.run_requests[0].run_key == request.run_key


def test_the_watched_list(
    instance: dg.DagsterInstance, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(intake.watched_list(dg.build_sensor_context(instance)), dg.SkipReason)
    path = tmp_path / "watched.txt"
    monkeypatch.setenv("GUTENGRAPH_WATCH_LIST", str(path))
    with pytest.raises(SettingsError, match=r"watched\.txt cannot be read"):
        intake.watched_list(dg.build_sensor_context(instance))
    library.update(7, status="built")
    path.write_text("7\n8\n")
    first = intake.watched_list(dg.build_sensor_context(instance))
    assert first.run_requests[0].run_config["ops"]["take_in"]["config"]["ids"] == [8]
    second = intake.watched_list(dg.build_sensor_context(instance, cursor=first.cursor))
    assert isinstance(second, dg.SkipReason)
    path.write_text("7\n8\nnine\n")
    with pytest.raises(BadText, match=r"watched\.txt, line 3: 'nine'"):
        intake.watched_list(dg.build_sensor_context(instance, cursor=first.cursor))


class Hook:
    """A webhook that keeps what it is sent."""

    def __init__(self, status: int = 200) -> None:
        self.got: list[dict[str, Any]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                hook.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(status)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None: ...

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def summarised(instance: dg.DagsterInstance, run_id: str, sensor: dg.SensorDefinition) -> None:
    done = instance.get_run_by_id(run_id)
    assert done is not None
    event = next(
        e.dagster_event
        for e in reversed(instance.all_logs(run_id))
        if e.dagster_event and e.dagster_event.event_type_value in ("PIPELINE_SUCCESS", "PIPELINE_FAILURE")
    )
    context = dg.build_run_status_sensor_context(
        sensor_name=sensor.name, dagster_event=event, dagster_instance=instance, dagster_run=done
    )
    sensor(context)


def test_a_run_that_ends_is_summed_up_and_told(
    instance: dg.DagsterInstance, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(instance, "add_books", "take_in", ids=[12345])
    by_name = {sensor.name: sensor for sensor in summaries.sensors}
    failure = by_name["summary_of_failure"]
    hook = Hook()
    try:
        summarised(instance, done.run_id, failure)
        assert hook.got == []  # none is set
        text = (library.home / "summaries" / f"{done.run_id}.txt").read_text()
        assert text.startswith("add_books: failure after ")
        monkeypatch.setenv("GUTENGRAPH_WEBHOOK", hook.url)
        summarised(instance, done.run_id, failure)
    finally:
        hook.close()
    (sent,) = hook.got
    assert (sent["job"], sent["result"], sent["run"]) == ("add_books", "failure", done.run_id)
    assert sent["text"].splitlines()[0] == text.splitlines()[0]
    monkeypatch.setenv("GUTENGRAPH_WEBHOOK", "http://127.0.0.1:9/secret-path")
    with pytest.raises(WebhookError) as caught:
        summarised(instance, done.run_id, failure)
    assert "secret-path" not in str(caught.value)


def test_a_books_summary_says_what_became_of_it(library: Library) -> None:
    library.update(7, title="The Heron", status="failed", reason="Book 7: The mirror is asleep.")
    book_run = dg.DagsterRun(
        job_name="build_book", tags={"dagster/partition": "7"}, status=dg.DagsterRunStatus.FAILURE
    )
    found = summaries.summary(book_run, "Steps failed", library, started=10.0, ended=72.4)
    text = summaries.as_text(found)
    assert text.startswith("build_book, book 7 (The Heron): failure after 62 s.")
    assert "The mirror is asleep" in text


# --- automation ---


class Night:
    """Books being built, as the daemon's condition sensor sees them from tick to tick."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.cursor: Any = None
        instance.add_dynamic_partitions("books", [str(book) for book in BOOKS])
        self.tick()

    def start(self, book: int) -> dg.DagsterRun:
        return self.instance.create_run_for_job(
            defs.resolve_job_def("build_book"),
            tags={"dagster/partition": str(book)},
            status=dg.DagsterRunStatus.STARTED,
        )

    def made(self, run: dg.DagsterRun) -> None:
        """The run makes its assets and ends."""
        book = run.tags["dagster/partition"]
        for name in BOOK_ASSETS:
            event = dg.AssetMaterialization(name, partition=book)
            self.instance.report_dagster_event(
                dg.DagsterEvent(
                    event_type_value=dg.DagsterEventType.ASSET_MATERIALIZATION.value,
                    job_name=run.job_name,
                    event_specific_data=dg._core.events.StepMaterializationData(event),  # type: ignore[attr-defined]
                    step_key=name,
                ),
                run.run_id,
            )
        self.instance.handle_new_event  # noqa: B018
        self.instance.report_dagster_event(
            dg.DagsterEvent(
                event_type_value=dg.DagsterEventType.PIPELINE_SUCCESS.value, job_name=run.job_name
            ),
            run.run_id,
        )

    def failed(self, run: dg.DagsterRun) -> None:
        self.instance.report_run_failed(run, "It is poisoned.")

    def tick(self) -> set[str]:
        """Which of the library's assets are asked for now. They are then made at once."""
        result = dg.evaluate_automation_conditions(
            defs=defs,
            instance=self.instance,
            asset_selection=dg.AssetSelection.assets(*LIBRARY_ASSETS),
            cursor=self.cursor,
        )
        self.cursor = result.cursor
        asked = {name for name in LIBRARY_ASSETS if result.get_num_requested(dg.AssetKey(name))}
        for name in asked:
            self.instance.report_runless_asset_event(dg.AssetMaterialization(name))
        return asked


def test_the_library_follows_the_last_book_once(instance: dg.DagsterInstance) -> None:
    night = Night(instance)
    runs = [night.start(book) for book in BOOKS]
    assert night.tick() == set()
    night.made(runs[0])
    assert night.tick() == set()  # others are on their way
    night.made(runs[1])
    night.made(runs[2])
    assert night.tick() == set(LIBRARY_ASSETS)
    assert night.tick() == set()


def test_the_library_follows_even_if_the_last_book_fails(instance: dg.DagsterInstance) -> None:
    night = Night(instance)
    good, poisoned = night.start(7), night.start(8)
    night.made(good)
    assert night.tick() == set()
    assert night.tick() == set()
    night.failed(poisoned)  # and changes nothing
    assert night.tick() == set(LIBRARY_ASSETS)
    assert night.tick() == set()


def test_nothing_new_asks_for_nothing(instance: dg.DagsterInstance) -> None:
    night = Night(instance)
    night.failed(night.start(7))
    assert night.tick() == set()
    assert os.environ["DAGSTER_HOME"]


def test_what_runs_by_itself_and_what_ships_stopped() -> None:
    repository = defs.get_repository_def()
    running = {s.name for s in repository.sensor_defs if s.default_status is dg.DefaultSensorStatus.RUNNING}
    assert {s.name for s in repository.sensor_defs} == running
    assert running == {
        "after_the_last_book",
        "follow_up",
        "follow_up_removal",
        "inbox_files",
        "watched_list",
        "summary_of_success",
        "summary_of_failure",
        "summary_of_canceled",
    }
    assert {s.name: s.default_status for s in repository.schedule_defs} == {
        "hourly_sync": dg.DefaultScheduleStatus.STOPPED,
        "daily_maintenance": dg.DefaultScheduleStatus.STOPPED,
    }
    # Evaluated: a tick asks for one run of its job.
    for schedule in repository.schedule_defs:
        with dg.build_schedule_context() as context:
            found = schedule.evaluate_tick(context)
        assert len(found.run_requests or []) == 1


def test_settings_of_the_sensors_are_read_at_each_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUTENGRAPH_WEBHOOK", "http://127.0.0.1:9/hook-secret")
    assert load_settings().webhook.endswith("hook-secret")
    assert "hook-secret" not in repr(load_settings())
