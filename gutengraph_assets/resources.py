"""What the assets share: the settings, and the models, opened once in a process and closed at its end."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import dagster as dg
from pydantic import Field, PrivateAttr

from gutengraph_assets.ownership import BookLock
from gutengraph_assets.status import settle
from gutengraph_core.embedding import Embedder, Tokenizer, open_embedder, open_tokenizer
from gutengraph_core.library import Library
from gutengraph_core.llm import LLM, open_llm
from gutengraph_core.llm.profile import fitted
from gutengraph_core.processes import this_process
from gutengraph_core.settings import Settings, load_settings


class Models:
    """The models that some settings name, each opened when it is first asked for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def llm(self) -> LLM:
        """The model that builds the graph."""
        return open_llm(self._settings.llm, self._settings)

    @cached_property
    def embedder(self) -> Embedder:
        return open_embedder(self._settings)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The embedder's own, without its weights."""
        return open_tokenizer(self._settings)

    def leave_card(self) -> None:
        """Give the card's memory back: what is opened next loads its model anew. The identity stays the same."""
        self.close()
        for name in ("llm", "embedder"):
            self.__dict__.pop(name, None)
        gc.collect()
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            torch.cuda.empty_cache()

    def close(self) -> None:
        """Free what was opened."""
        if "llm" in self.__dict__:
            self.llm.close()


class _OpenModels:
    """The models of this process, closed when nobody holds them any more."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._models: dict[Settings, Models] = {}
        self._holders = 0

    def of(self, settings: Settings) -> Models:
        with self._guard:
            return self._models.setdefault(settings, Models(settings))

    @contextmanager
    def held(self) -> Iterator[None]:
        self.hold()
        try:
            yield
        finally:
            self.release()

    def hold(self) -> None:
        with self._guard:
            self._holders += 1

    def release(self) -> None:
        with self._guard:
            self._holders -= 1
            if self._holders == 0:
                for models in self._models.values():
                    models.close()
                self._models.clear()


_open = _OpenModels()


@contextmanager
def models_kept_open(settings: Settings) -> Iterator[Models]:
    """Runs inside share their models: a model is loaded once for many books."""
    with _open.held():
        yield _open.of(settings)


class GutenGraph(dg.ConfigurableResource[Any]):
    """The settings of the environment and the models they name, for one run."""

    force: bool = Field(
        default=False,
        description="Make everything again, changed or not. Model replies still come from the cache.",
    )
    _settings: Settings = PrivateAttr()
    _held: dict[int, BookLock] = PrivateAttr(default_factory=dict)

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Reads the environment. Raises SettingsError."""
        self._settings = load_settings()
        self.__dict__.pop("settings_for_names", None)
        self._held = {}
        _open.hold()

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Gives every book that this run worked on its lasting status, and frees it for others."""
        try:
            for book in sorted(self._held):
                if self.library.has(book):
                    settle(self.library, book, pid=os.getpid())
        finally:
            for lock in self._held.values():
                lock.release()
            self._held = {}
            _open.release()

    @property
    def settings(self) -> Settings:
        return self._settings

    @cached_property
    def settings_for_names(self) -> Settings:
        """The settings with what the studies found to serve the model that names, read once a run.

        Asks the model for its identity. Raises what that raises, and SettingsError for a profile that cannot be used.
        """
        return fitted(self._settings, self.models.llm.identity)

    @property
    def library(self) -> Library:
        return self._settings.library

    @property
    def models(self) -> Models:
        return _open.of(self._settings)

    def touch(self, book: int, *, run: str, say: Callable[[str], object] = lambda text: None) -> None:
        """`book` is being built by this process until the run ends, unless it has already failed in this run.

        Waits for another run that builds it, telling `say`. Raises BookBusy after `book_wait_s`.
        """
        if book not in self._held:
            lock = BookLock(self.library, book, run=run)
            lock.take(wait_s=self._settings.book_wait_s, say=say)
            self._held[book] = lock
        if self.library.has(book):
            record = self.library.record(book)
            if record.status == "failed" and record.run == run:
                return
        self.library.update(
            book, status="building", pid=os.getpid(), owner=this_process(), reason="", run=run
        )
