"""The routes of Text Embeddings Inference that a client of embeddings needs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Literal, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt, StrictStr, ValidationError, field_validator

from gutengraph_core.embed_server.batching import Batcher
from gutengraph_core.embed_server.errors import EmptyBatch, Invalid, ServedError, Unhealthy
from gutengraph_core.embed_server.served import ServedModel

T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)

GONE = 499
"""What is logged for a client that hung up; nobody reads it."""


class Limits(BaseModel):
    """What one server takes; the defaults are TEI's own, where it has them."""

    model_config = ConfigDict(frozen=True)

    client_batch: int = 32
    """Texts of one request."""
    batch_tokens: int = 16_384
    """Tokens of one batch, padding included."""
    queue: int = 512
    """Texts that wait or are in work; more are refused with 429."""
    payload: int = 2_000_000
    """Bytes of a request."""
    auto_truncate: bool = False
    """Cut what is too long, unless a request says otherwise."""


class EmbedRequest(BaseModel):
    """`POST /embed`."""

    inputs: StrictStr | list[StrictStr]
    truncate: StrictBool | None = None
    truncation_direction: Literal["left", "right"] = "right"
    prompt_name: StrictStr | None = None
    normalize: StrictBool = True
    dimensions: StrictInt | None = None

    @field_validator("truncation_direction", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return (
            value.lower() if isinstance(value, str) else value
        )  # TEI's schema writes 'Right', its users 'right'


class TokenizeRequest(BaseModel):
    """`POST /tokenize`."""

    inputs: StrictStr | list[StrictStr]
    add_special_tokens: StrictBool = True
    prompt_name: StrictStr | None = None


class _ClientGone(Exception):
    """Nobody waits for the answer any more."""


class _BadBody(Exception):
    """A request that is no JSON, or of another shape: answered in plain words, as TEI's router does."""

    def __init__(self, status: int, words: str) -> None:
        self.status = status
        super().__init__(words)


def make_app(model: ServedModel, limits: Limits) -> FastAPI:
    """The application; the model's weights are loaded when it starts."""
    batcher = Batcher(model.local.encode, batch_tokens=limits.batch_tokens, queue_limit=limits.queue)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(model.local.load)
        batcher.start()
        try:
            yield
        finally:
            await batcher.stop()

    app = FastAPI(
        title="gutengraph-embed", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None
    )
    app.state.batcher = batcher

    @app.get("/health")
    async def health() -> Response:
        """200 if the model works; idle, or after a failure, it is asked for a word to see."""
        if batcher.waiting and not batcher.failed:
            return Response()  # at work: the answer would only come after all that waits
        try:
            await batcher.embed(["a"], [3])
        except ServedError as error:
            raise Unhealthy(str(error)) from error
        return Response()

    @app.get("/info")
    async def info() -> dict[str, Any]:
        """What is served, and how much at once."""
        return _info(model, limits)

    @app.post("/embed")
    async def embed(request: Request) -> Response:
        """A vector for each text."""
        began = time.perf_counter()
        asked = await _body(request, EmbedRequest, limits)
        inputs = _inputs(asked.inputs, limits)
        model.check_dimensions(asked.dimensions)
        texts, counts = await asyncio.to_thread(
            model.fitted,
            model.prompted(inputs, asked.prompt_name),
            truncate=limits.auto_truncate if asked.truncate is None else asked.truncate,
            direction=asked.truncation_direction,
        )
        vectors = await _unless_gone(request, batcher.embed(texts, counts))
        matrix = model.finished(vectors, normalize=asked.normalize, dimensions=asked.dimensions)
        return JSONResponse(
            matrix.tolist(),
            headers={
                "x-compute-type": "python",
                "x-compute-characters": str(sum(map(len, inputs))),
                "x-compute-tokens": str(sum(counts)),
                "x-total-time": str(round(1000 * (time.perf_counter() - began))),
            },
        )

    @app.post("/tokenize")
    async def tokenize(request: Request) -> list[list[dict[str, Any]]]:
        """Each text's tokens with their offsets in bytes."""
        asked = await _body(request, TokenizeRequest, limits)
        texts = model.prompted(_inputs(asked.inputs, limits), asked.prompt_name)
        return await asyncio.to_thread(model.tokens, texts, special=asked.add_special_tokens)

    @app.exception_handler(ServedError)
    async def refused(request: Request, error: ServedError) -> Response:
        return JSONResponse(error.document, status_code=error.status)

    @app.exception_handler(_BadBody)
    async def misread(request: Request, error: _BadBody) -> Response:
        return PlainTextResponse(str(error), status_code=error.status)

    @app.exception_handler(_ClientGone)
    async def gone(request: Request, error: _ClientGone) -> Response:
        return Response(status_code=GONE)

    return app


def _info(model: ServedModel, limits: Limits) -> dict[str, Any]:
    return {
        "model_id": model.folder.name,
        "model_sha": model.folder.revision,
        "model_dtype": "float32",
        "model_type": {"embedding": {"pooling": model.pooling}},
        "max_concurrent_requests": limits.queue,
        "max_input_length": model.limit,
        "max_batch_tokens": limits.batch_tokens,
        "max_batch_requests": None,
        "max_client_batch_size": limits.client_batch,
        "auto_truncate": limits.auto_truncate,
        "tokenization_workers": 1,
        "version": version("gutengraph"),
        "sha": None,
        "docker_label": None,
    }


async def _body(request: Request, shape: type[B], limits: Limits) -> B:
    """The request's document. Raises _BadBody, _ClientGone."""
    size = 0
    parts = []
    async for part in request.stream():
        size += len(part)
        if size > limits.payload:
            raise _BadBody(413, "length limit exceeded")
        parts.append(part)
    if "json" not in request.headers.get("content-type", ""):
        raise _BadBody(415, "Expected request with `Content-Type: application/json`")
    try:
        document = json.loads(b"".join(parts))
    except (ValueError, RecursionError) as error:
        raise _BadBody(400, f"The request's body is no JSON: {error}") from error
    try:
        return shape.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _BadBody(422, f"The request's body has another shape: {place}: {first['msg']}") from error


def _inputs(given: str | list[str], limits: Limits) -> list[str]:
    """Raises EmptyBatch, Invalid."""
    inputs = [given] if isinstance(given, str) else given
    if not inputs:
        raise EmptyBatch("`inputs` cannot be empty")
    if len(inputs) > limits.client_batch:
        raise Invalid(f"batch size {len(inputs)} > maximum allowed batch size {limits.client_batch}")
    return inputs


async def _unless_gone(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`, which is cancelled if the client hangs up meanwhile. Raises _ClientGone."""
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_disconnect(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise _ClientGone
        return task.result()
    finally:
        for pending in (task, watch):
            pending.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
