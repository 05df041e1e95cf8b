"""The graph that is published now: whoever asks follows the pointer."""

from __future__ import annotations

import threading

from gutengraph_core.errors import StoreError
from gutengraph_core.graph import versions
from gutengraph_core.graph.read import Graph
from gutengraph_core.library import Library

_ATTEMPTS = 3


class PublishedGraph:
    """Follows the pointer: `current()` is the newest published version, opened once and shared."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._open: Graph | None = None

    def current(self) -> Graph:
        """The published version. Whoever holds an older one may finish with it.

        Raises NotBuilt if nothing was ever published, StoreError if the graph cannot be opened.
        """
        with self._lock:
            for _ in range(_ATTEMPTS):
                version = versions.require(self._library)
                if self._open is not None and self._open.version == version.number:
                    return self._open
                try:
                    self._open = Graph(version)
                except FileNotFoundError:
                    continue  # two builds ended between reading the pointer and opening: read it again
                return self._open
        raise StoreError(
            f"The graph under {self._library.graph_dir} is gone whenever it is opened.",
            remedy="Run `gutengraph build` again to publish a fresh graph.",
        )
