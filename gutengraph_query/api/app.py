"""The FastAPI application."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from gutengraph_core.errors import GutenGraphError, SettingsError
from gutengraph_core.graph import versions
from gutengraph_query.api import asking, reading, reviewing
from gutengraph_query.api.asking import Desk
from gutengraph_query.api.guard import Guard, check_address
from gutengraph_query.api.pages import Pages, assets, is_page
from gutengraph_query.api.problems import add_handlers
from gutengraph_query.brains import Brains

_log = logging.getLogger(__name__)


def create_app(here: Brains, *, warm: bool = True, review: bool = False) -> FastAPI:
    """The API and the page over `here`. With `warm`, the models are loaded in the background at the start. With
    `review`, books may be reviewed: only then does anything here write, and never without a token.

    Raises SettingsError if the settings would open it to others without a token.
    """
    check_address(here.settings)
    if review and not here.settings.api_token:
        raise SettingsError("A review writes, and no token is set.", remedy="Set GUTENGRAPH_API_TOKEN.")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if warm:
            threading.Thread(target=_warm, args=(here, app.state.warm), daemon=True).start()
        yield
        app.state.desk.close()
        here.close()

    app = FastAPI(
        title="GutenGraph",
        version=version("gutengraph"),
        description="Ask a library of novels, from its passages, from its graph, and from both.",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.brains = here
    app.state.desk = Desk(here)
    app.state.warm = {"done": not warm, "failure": None}
    app.state.checks = {"lock": threading.Lock(), "found": None, "at": 0.0}
    add_handlers(app)
    app.include_router(asking.router)
    app.include_router(reading.router)
    if review:
        app.state.reviews = {}
        app.state.reviews_lock = threading.Lock()
        app.include_router(reviewing.router)
    app.mount("/assets", assets(), name="assets")
    app.add_middleware(Pages)
    app.add_middleware(Guard, settings=here.settings, is_page=is_page, version=lambda: _version(here))
    return app


def _warm(here: Brains, state: dict[str, object]) -> None:
    """Load what the first question would wait for. A failure is told by /health; each question tries again."""
    try:
        here.warm("What is it about?")
    except GutenGraphError as error:
        _log.warning("%s", error)
        state["failure"] = error
    finally:
        state["done"] = True


def _version(here: Brains) -> int:
    """Of the graph that is published now; 0 where there is none, or where asking would mean asking a bucket."""
    if here.settings.store == "s3":
        return 0
    try:
        found = versions.current(here.library)
    except GutenGraphError:
        return 0
    return found.number if found else 0
