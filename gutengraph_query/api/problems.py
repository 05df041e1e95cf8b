"""Failures as JSON: what failed, what to do about it, and the status that fits."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from gutengraph_core.errors import (
    EmbedderMismatch,
    GutenGraphError,
    MissingExtra,
    ModelRefused,
    ModelUnreachable,
    NotBuilt,
    QuestionTooLong,
    ReviewError,
    S3Error,
    SettingsError,
    StoreError,
    UnknownBook,
    UnknownPlace,
    WrongModel,
)

_log = logging.getLogger(__name__)

RETRY_AFTER_S = "5"


class Problem(BaseModel):
    """What every refusal looks like."""

    error: str = Field(description="What failed.", examples=["Book 99: It is not in the library."])
    remedy: str = Field(description="What to do, in the imperative; may be empty.")
    code: str = Field(default="", description="The kind of failure, such as UnknownBook; may be empty.")
    fields: list[str] = Field(
        default=[], description="Of a malformed request: what is wrong with each field."
    )


class Busy(GutenGraphError):
    """More questions wait than the server lets wait."""

    retry = True


class TooLate(GutenGraphError):
    """An answer took longer than the server lets it take."""

    retry = True


_STATUS: Mapping[type[GutenGraphError], int] = {
    UnknownBook: 404,
    UnknownPlace: 404,
    NotBuilt: 409,
    EmbedderMismatch: 409,
    SettingsError: 500,
    QuestionTooLong: 422,
    ReviewError: 422,
    ModelUnreachable: 503,
    WrongModel: 503,
    ModelRefused: 502,
    MissingExtra: 503,
    StoreError: 503,
    S3Error: 503,
    Busy: 503,
    TooLate: 504,
}
_WORDS = {
    401: ("This server wants a token.", "Send `Authorization: Bearer <token>`."),
    404: ("There is nothing at this address.", "The API's addresses are listed in /openapi.json."),
    405: ("This address does not take that method.", "See the header Allow."),
    413: ("The request is too large.", "Send less at once."),
}
UNEXPECTED = Problem(error="The server failed.", remedy="Its log says why; please report it.")


def status_of(error: GutenGraphError) -> int:
    """The HTTP status of a failure; 500 for one that no request can be blamed for."""
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def problem_of(error: GutenGraphError) -> Problem:
    """The failure in words."""
    what = error.what if error.book is None else f"Book {error.book}: {error.what}"
    return Problem(error=what, remedy=error.remedy, code=type(error).__name__)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: these refusals, and those that every address may give."""
    told = {
        400: "The Host header, or the request itself, cannot be accepted",
        401: "The token is missing or wrong",
        403: "Sent by another site's page",
        404: "No such book or place",
        409: "Not built yet, or built with another embedder",
        413: "The request is too large",
        422: "A field is malformed",
        429: "Too many requests from this address",
        502: "The model refused",
        503: "The model or a store cannot be reached, or too many wait",
        504: "It took too long",
    }
    wanted = sorted({*statuses, 400, 401, 403, 422, 429, 503})
    return {status: {"model": Problem, "description": told[status]} for status in wanted}


def add_handlers(app: FastAPI) -> None:
    """Let every failure leave as a `Problem`."""

    @app.exception_handler(GutenGraphError)
    async def known(request: Request, error: GutenGraphError) -> JSONResponse:
        status = status_of(error)
        if status >= 500:
            _log.warning("%s %s: %s", request.method, request.url.path, error)
        headers = {"Retry-After": RETRY_AFTER_S} if error.retry else None
        return JSONResponse(problem_of(error).model_dump(), status, headers)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        fields = [f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors()]
        found = Problem(
            error="The request is malformed.", remedy="Correct what is listed in `fields`.", fields=fields
        )
        return JSONResponse(found.model_dump(), 422)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        what, remedy = _WORDS.get(error.status_code, (str(error.detail), ""))
        found = Problem(error=what, remedy=remedy)
        return JSONResponse(found.model_dump(), error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        # Starlette logs the traceback; a stranger is not shown what is inside.
        return JSONResponse(UNEXPECTED.model_dump(), 500)
