"""What the assets share: the settings, and the models, opened once in a process and closed at its end."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import dagster as dg
from pydantic import Field, PrivateAttr

from gutengraph_assets.status import settle
from gutengraph_core.embedding import Embedder, Tokenizer, open_embedder, open_tokenizer
from gutengraph_core.library import Library
from gutengraph_core.llm import LLM, open_llm
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
    _touched: set[int] = PrivateAttr(default_factory=set)

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Reads the environment. Raises SettingsError."""
        self._settings = load_settings()
        self._touched = set()
        _open.hold()

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Gives every book that this run worked on its lasting status."""
        try:
            for book in sorted(self._touched):
                if self.library.has(book):
                    settle(self.library, book, pid=os.getpid())
        finally:
            _open.release()

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def library(self) -> Library:
        return self._settings.library

    @property
    def models(self) -> Models:
        return _open.of(self._settings)

    def touch(self, book: int, *, run: str) -> None:
        """`book` is being built by this process until the run ends, unless it has already failed in this run."""
        self._touched.add(book)
        if self.library.has(book):
            record = self.library.record(book)
            if record.status == "failed" and record.run == run:
                return
        self.library.update(book, status="building", pid=os.getpid(), reason="", run=run)
