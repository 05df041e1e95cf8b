"""`/ask` and `/compare`: questions answered in threads of their own, as JSON or followed event by event."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from gutengraph_core.errors import GutenGraphError, NotBuilt, SettingsError
from gutengraph_core.llm import lock
from gutengraph_query.api.models import (
    STREAM,
    AnswerOut,
    Asked,
    AskedOne,
    Cited,
    ComparisonOut,
    Near,
)
from gutengraph_query.api.problems import (
    RETRY_AFTER_S,
    UNEXPECTED,
    Busy,
    TooLate,
    problem_of,
    responses,
    status_of,
)
from gutengraph_query.ask import COMPARED
from gutengraph_query.brains import Brains
from gutengraph_query.scope import Scope
from gutengraph_query.state import Mode
from gutengraph_query.stream import Answered, Step, Stopped, follow

_log = logging.getLogger(__name__)

KEEP_ALIVE_S = 15.0
"""Proxies drop a connection that is silent for a minute, most of them."""
NEAREST = 3
"""Passages shown where the books do not say."""

router = APIRouter(tags=["asking"])


_waiting_for: ContextVar[Callable[[str], None] | None] = ContextVar("gutengraph_waiting", default=None)
"""Who is told what the question of this thread waits for; the query graph's own threads inherit it."""


class _Waits(logging.Handler):
    """Hands what the model's lock says while a question waits to whoever asked it."""

    def emit(self, record: logging.LogRecord) -> None:
        tell = _waiting_for.get()
        if tell is not None:
            tell(record.getMessage())


class Desk:
    """Takes questions in, so many at once, and hands their events out."""

    def __init__(self, here: Brains) -> None:
        self.here = here
        settings = here.settings
        self._threads = ThreadPoolExecutor(settings.answers_at_once, thread_name_prefix="answer")
        self._room = settings.answers_at_once + settings.answers_waiting
        self._pending = 0
        self._timeout_s = settings.answer_timeout_s
        self._waits = _Waits()
        lock.log.addHandler(self._waits)

    def close(self) -> None:
        lock.log.removeHandler(self._waits)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def events(self, asked: Asked, modes: Sequence[Mode]) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """`step`, `waiting`, `answer` and `failed` of each mode as they come; all modes at once.

        Whoever stops listening stops the questions, each at its next node. Raises Busy before the first event.
        """
        if self._pending + len(modes) > self._room:
            raise Busy(
                f"{self._pending} questions are being answered or wait.", remedy="Ask again in a few seconds."
            )
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()
        gone = threading.Event()

        def tell(event: tuple[str, dict[str, Any]] | None) -> None:
            try:
                loop.call_soon_threadsafe(queue.put_nowait, event)
            except RuntimeError:  # the server has stopped meanwhile: nobody is left to tell
                gone.set()

        def work(mode: Mode) -> None:
            _waiting_for.set(lambda said: tell(("waiting", {"mode": mode, "said": said})))
            try:
                for event in self._follow(asked, mode, gone):
                    tell(event)
            finally:
                _waiting_for.set(None)  # the thread is used again
                tell(None)

        def done(_: object) -> None:
            self._pending -= 1

        for mode in modes:
            self._pending += 1
            loop.run_in_executor(self._threads, work, mode).add_done_callback(done)
        until = loop.time() + self._timeout_s
        open_modes = len(modes)
        answered: set[str] = set()
        try:
            while open_modes:
                patience = min(KEEP_ALIVE_S, max(0.0, until - loop.time()))
                try:
                    event = await asyncio.wait_for(queue.get(), patience)
                except TimeoutError:
                    if loop.time() < until:
                        yield "", {}
                        continue
                    late = TooLate(
                        f"No answer within {self._timeout_s:.0f} s.",
                        remedy="Ask one mode alone, or raise GUTENGRAPH_ANSWER_TIMEOUT_S.",
                    )
                    for mode in modes:
                        if mode not in answered:
                            yield "failed", _failure(mode, late)
                    return
                if event is None:
                    open_modes -= 1
                    continue
                if event[0] in ("answer", "failed"):
                    answered.add(event[1]["mode"])
                yield event
        finally:
            gone.set()

    def _follow(
        self, asked: Asked, mode: Mode, gone: threading.Event
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        try:
            if gone.is_set():
                raise Stopped
            for event in follow(
                self.here,
                asked.question,
                mode=mode,
                book=asked.book,
                up_to=asked.up_to,
                author=asked.author,
                kind=asked.kind,
                stopped=gone.is_set,
            ):
                if isinstance(event, Step):
                    yield "step", {"mode": mode, **asdict(event)}
                else:
                    answer = answer_out(self.here, event)
                    yield "answer", {"mode": mode, "answer": answer.model_dump()}
        except Stopped:
            _log.info("Nobody waits for %r any more.", asked.question)
        except GutenGraphError as error:
            failure = _failure(mode, error)
            if isinstance(error, SettingsError) and asked.up_to is not None:
                failure["status"] = 422  # a chapter of no book, or one that the book lacks
            yield "failed", failure
        except Exception:  # noqa: BLE001 - one mode's bug must not silence the others; it is logged whole
            _log.exception("%r failed in mode %s", asked.question, mode)
            yield "failed", {"mode": mode, **UNEXPECTED.model_dump(exclude={"fields"}), "status": 500}


def _failure(mode: str, error: GutenGraphError) -> dict[str, Any]:
    found = problem_of(error)
    return {
        "mode": mode,
        "error": found.error,
        "remedy": found.remedy,
        "code": found.code,
        "status": status_of(error),
    }


def answer_out(here: Brains, found: Answered) -> AnswerOut:
    """The answer with the titles of what it cites, and what is near if it does not know."""
    state = found.state
    lines = {
        (edge["book"], edge["start"], edge["end"]): edge["line"]
        for hit in state.get("graph_results", [])
        for edge in hit["edges"]
    }
    titles = _Titles(here)
    cited = [
        Cited(
            n=c["n"],
            kind=c["kind"],
            book=c["book"],
            title=titles.book(c["book"]),
            chapter=c["chapter"],
            chapter_title=titles.chapter(c["book"], c["chapter"]),
            start=c["start"],
            end=c["end"],
            text=c["text"],
            line=lines.get((c["book"], c["start"], c["end"]), "") if c["kind"] == "edge" else "",
        )
        for c in found.answer["citations"]
    ]
    near = [] if found.answer["known"] else _nearest(here, found, titles)
    told: dict[str, Any] = {**found.answer, "citations": cited, "nearest": near, "why": state.get("why", "")}
    return AnswerOut(**told)


class _Titles:
    """Titles of books and chapters, each record read once."""

    def __init__(self, here: Brains) -> None:
        self._here = here
        self._records: dict[int, Any] = {}

    def record(self, book: int) -> Any:
        if book not in self._records:
            self._records[book] = self._here.library.record(book)
        return self._records[book]

    def book(self, book: int) -> str:
        return self.record(book).title or f"Book {book}"

    def chapter(self, book: int, index: int) -> str:
        titles = {c.index: c.title for c in self.record(book).chapters}
        return " ".join(titles.get(index, "").split()) or f"Chapter {index}"


def _nearest(here: Brains, found: Answered, titles: _Titles) -> list[Near]:
    scope = Scope.of(found.state)
    query = here.query_vector(found.answer["question"])
    try:
        passages = here.passages(scope).search(query, k=NEAREST, book=scope.book)
    except NotBuilt:
        return []
    return [
        Near(
            book=p.gutenberg_id,
            title=titles.book(p.gutenberg_id),
            chapter=p.chapter,
            chapter_title=titles.chapter(p.gutenberg_id, p.chapter),
            start=p.start,
            end=p.end,
            text=" ".join(p.text.split()),
            score=round(p.score, 4),
        )
        for p in passages
    ]


@router.post(
    "/ask",
    summary="Answer one question",
    response_model=AnswerOut,
    responses={200: {"content": STREAM}, **responses(404, 409, 413, 502, 504)},
)
async def ask(asked: AskedOne, request: Request) -> Response:
    """The answer with the places it rests on."""
    desk: Desk = request.app.state.desk
    if _wants_events(request):
        return await _stream(desk, asked, [asked.mode])
    async for kind, event in desk.events(asked, [asked.mode]):
        if kind == "answer":
            return JSONResponse(event["answer"])
        if kind == "failed":
            return _refusal(event)
    raise RuntimeError("a question ended without an answer")


@router.post(
    "/compare",
    summary="Answer one question from the passages, from the graph, and from both",
    response_model=ComparisonOut,
    responses={200: {"content": STREAM}, **responses(404, 409, 413, 502, 504)},
)
async def compare(asked: Asked, request: Request) -> Response:
    """Three modes at once, so that each one's time holds its waiting for the model. Where all fail, so does
    the request."""
    desk: Desk = request.app.state.desk
    if _wants_events(request):
        return await _stream(desk, asked, COMPARED)
    answers: dict[str, Any] = {}
    failures = []
    async for kind, event in desk.events(asked, COMPARED):
        if kind == "answer":
            answers[event["mode"]] = event["answer"]
        elif kind == "failed":
            failures.append(event)
            answers[event["mode"]] = {"error": event["error"], "remedy": event["remedy"]}
    if len(failures) == len(COMPARED):
        return _refusal(failures[0])
    return JSONResponse({"question": asked.question, "answers": {m: answers[m] for m in COMPARED}})


def _wants_events(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "")


def _refusal(event: dict[str, Any]) -> JSONResponse:
    body = {"error": event["error"], "remedy": event["remedy"], "code": event["code"], "fields": []}
    headers = {"Retry-After": RETRY_AFTER_S} if event["status"] in (503, 504) else None
    return JSONResponse(body, event["status"], headers)


async def _stream(desk: Desk, asked: Asked, modes: Sequence[Mode]) -> StreamingResponse:
    events = desk.events(asked, modes)
    first = await anext(events)  # what is refused outright is refused with its status

    async def lines() -> AsyncIterator[str]:
        yield _event(*first)
        async for kind, event in events:
            yield _event(kind, event)
        yield _event("done", {})

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def _event(kind: str, data: dict[str, Any]) -> str:
    if not kind:
        return ": still at work\n\n"
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
