"""What the agents ask: the two stores and the two models, opened when they are first needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from gutengraph_core.errors import EmbedderMismatch, ModelRefused, NotBuilt, QuestionTooLong
from gutengraph_core.library import BookRecord
from gutengraph_core.settings import Settings, load_settings
from gutengraph_query.retrieval.any_graph import AnyGraph
from gutengraph_query.retrieval.entry import NameIndex
from gutengraph_query.retrieval.reading import ReadGraph
from gutengraph_query.retrieval.some_books import SomeBooks
from gutengraph_query.scope import Scope, can_be_asked

if TYPE_CHECKING:
    from gutengraph_core.embedding.protocol import Embedder, Matrix
    from gutengraph_core.graph.published import PublishedGraph
    from gutengraph_core.graph.read import Graph
    from gutengraph_core.graph.worker import CypherWorker
    from gutengraph_core.library import Library
    from gutengraph_core.llm.protocol import LLM
    from gutengraph_core.s3.remote import RemoteLibrary
    from gutengraph_core.vectors import ChunkTable


EVERYTHING = Scope()


@dataclass(frozen=True)
class GraphView:
    """One version of the graph, or of what a question may be answered from, and the index of its names."""

    graph: AnyGraph
    index: NameIndex


class Brains:
    """Everything a question needs. Cheap to construct; nothing is loaded before its first use."""

    def __init__(
        self,
        settings: Settings,
        *,
        embedder: Embedder | None = None,
        llm: LLM | None = None,
        cache: bool = False,
    ) -> None:
        """`cache`: answer from the reply cache what the model has answered before (for evaluations)."""
        self.settings = settings
        self._given = (embedder, llm)
        self._cache = cache
        self._lock = threading.RLock()
        self._view: GraphView | None = None
        self._part: tuple[tuple[int, Scope], GraphView] | None = None
        """What the last question that was not about everything was answered from."""
        self._vectors: dict[str, Matrix] = {}

    @cached_property
    def _remote(self) -> RemoteLibrary | None:
        if self.settings.store == "local":
            return None
        from gutengraph_core.s3.remote import RemoteLibrary

        return RemoteLibrary(self.settings)

    @property
    def library(self) -> Library:
        """Records and files; with STORE=s3 as the bucket has them. Raises S3Error, SettingsError then."""
        return self.settings.library if self._remote is None else self._remote.library

    @cached_property
    def embedder(self) -> Embedder:
        """Turns the question into a vector. Raises as `open_embedder` does."""
        if self._given[0] is not None:
            return self._given[0]
        from gutengraph_core.embedding import open_embedder

        return open_embedder(self.settings)

    @cached_property
    def llm(self) -> LLM:
        """What routes and merges, its calls traced where tracing is on. Raises as `open_llm` does."""
        from gutengraph_query.tracing import TracedLLM, wanted

        return TracedLLM(self._opened_llm()) if wanted() else self._opened_llm()

    def _opened_llm(self) -> LLM:
        if self._given[1] is not None:
            return self._given[1]
        from gutengraph_core.llm import open_llm

        # without the reply cache: an answer is timed as it comes, and a question is seldom asked twice
        return open_llm(self.settings.answering_llm, self.settings, cache=self._cache)

    @cached_property
    def path_threshold(self) -> float:
        """Cosine that a path must reach with this embedder. Raises as `open_embedder` does, and SettingsError."""
        from gutengraph_core.embedding.thresholds import path_threshold

        return path_threshold(self.settings, self.embedder.identity).value

    def with_embedder(self, embedder: Embedder) -> Brains:
        """The same brains with another embedder of the same identity."""
        return Brains(self.settings, embedder=embedder, llm=self.llm)

    def instructed(self) -> LLM | None:
        """The model, if it follows instructions; None for a base model, which is then not even opened."""
        if self._given[1] is None and self.settings.answering_llm == "embedded":
            return None
        return self.llm if self.llm.identity.instruct else None

    @cached_property
    def _published(self) -> PublishedGraph:
        from gutengraph_core.graph.published import PublishedGraph

        return PublishedGraph(self.library)

    @property
    def table(self) -> ChunkTable:
        """The passages. Raises NotBuilt, EmbedderMismatch; with STORE=s3 S3Error."""
        return self._local_table if self._remote is None else self._remote.table(self.embedder.identity)

    @cached_property
    def _local_table(self) -> ChunkTable:
        from gutengraph_core.vectors import ChunkTable

        return ChunkTable.open(self.settings.library, self.embedder.identity)

    def passages(self, scope: Scope = EVERYTHING) -> ChunkTable:
        """The passages, of which searches see what is in `scope`, but for its book, which they take themselves.
        Raises as `table`.
        """
        shown = self.table
        if scope.up_to is not None:
            shown = shown.up_to(scope.up_to)
        if scope.authors or scope.kind:
            shown = shown.only(authors=scope.authors, kind=scope.kind)
        return shown

    def query_vector(self, question: str) -> Matrix:
        """float32 [dimension]: embedded once however many agents ask. Raises QuestionTooLong."""
        with self._lock:
            if question not in self._vectors:
                self._vectors = {question: self._embedded(question)}
            return self._vectors[question]

    def _embedded(self, question: str) -> Matrix:
        try:
            return self.embedder.embed_query(question)
        except ModelRefused as refusal:
            tokens, most = self.embedder.tokenizer.counts([question])[0], self.embedder.tokenizer.limit
            if tokens <= most:
                raise
            raise QuestionTooLong(
                f"The question has {tokens} tokens; the embedder takes {most}.",
                remedy=f"Ask it in fewer words, {most // 2} at most.",
            ) from refusal

    def published(self) -> Graph:
        """The published graph, for what compares no vectors. Raises NotBuilt, StoreError."""
        if self._remote is not None:
            _ = self.library  # brings the graph's newest version here
        return self._published.current()

    def graph_gap(self, book: int | None) -> NotBuilt | None:
        """Why the graph brain knows nothing of `book` (None: of any book) yet; None if it can be asked.

        A backfill makes the books' passages as it goes, and the library's graph after the last of them. Raises
        StoreError.
        """
        try:
            graph = self.published()
        except NotBuilt as error:
            missing = error
        else:
            if book is None or book in graph.books:
                return None
            left = next((left for left in graph.manifest.left_out if left.book == book), None)
            why = left.reason if left else self.library.record(book).reason
            missing = NotBuilt(
                f"It is not in the published graph. {why}".strip(),
                remedy=f"Run `gutengraph build {book}`.",
                book=book,
            )
        records = {record.id: record for record in self.library.records()}
        building = [record for record in records.values() if record.status == "building"]
        parked = book is not None and records[book].status in ("parked", "failed")
        if parked or not building:
            return missing
        titles = f"{building[0].id} {building[0].title}" + (
            f" and {len(building) - 1} more" if len(building) > 1 else ""
        )
        return NotBuilt(
            f"The library's graph is made after the last book, and {titles} is being built.",
            remedy="Wait for it, or ask the passages meanwhile (mode vector).",
            book=book,
        )

    @cached_property
    def worker(self) -> CypherWorker:
        """Runs Cypher that nobody vouches for. Its process starts with the first statement."""
        from gutengraph_core.graph.worker import CypherWorker

        return CypherWorker(self.library)

    def graph(self, scope: Scope = EVERYTHING) -> GraphView:
        """The published graph and its names, of which `scope` may show only a part: what has been read of its book,
        or the books of an author or a kind. A whole book's view is everybody's: lookups take the book themselves.

        Raises NotBuilt, StoreError, EmbedderMismatch.
        """
        with self._lock:
            graph = self.published()
            if self._view is None or self._view.graph is not graph:
                self._check_embedder(graph)
                self._view = GraphView(graph, NameIndex(graph.vectors.nodes))
            if scope.up_to is None and (scope.books is None or scope.book is not None):
                return self._view
            if self._part is None or self._part[0] != (graph.version, scope):
                part = self._part_of(graph, scope)
                self._part = ((graph.version, scope), GraphView(part, NameIndex(part.vectors.nodes)))
            return self._part[1]

    def _part_of(self, graph: Graph, scope: Scope) -> AnyGraph:
        if scope.book is None or scope.up_to is None:
            return SomeBooks(graph, scope.books or frozenset())
        rows, _ = self.passages(scope).rows(scope.book)
        text = "\n".join(rows["text"].to_pylist())
        return ReadGraph(graph, book=scope.book, chapter=scope.up_to, text=text)

    def _check_embedder(self, graph: Graph) -> None:
        built, used = graph.manifest.embedder, str(self.embedder.identity)
        if built and built != used:
            raise EmbedderMismatch(
                f"The graph was built with the embedder {built}, but {used} is set.",
                remedy="Set GUTENGRAPH_EMBEDDING to the first, or build the books again with --force.",
            )

    def warm(self, question: str) -> None:
        """Load the embedder, the stores and, where it will be needed, the model."""
        self.query_vector(question)
        _ = self.table
        self.graph()
        if self.instructed() is None and self.llm.gives_logprobs:
            self.llm.next_token_logprobs("Question:", top=1)

    def check_book(self, book: int | None) -> BookRecord | None:
        """Raises UnknownBook if the library lacks it, NotBuilt if it cannot be asked yet."""
        if book is None:
            return None
        record = self.library.record(book)
        if not can_be_asked(record):
            reason = f" {record.reason}" if record.reason else ""
            raise NotBuilt(
                f"It has not been built yet (status {record.status}).{reason}",
                remedy=f"Run `gutengraph build {book}`.",
                book=book,
            )
        return record

    def title(self, book: int) -> str:
        """A book's title for people."""
        return self.library.record(book).title or f"book {book}"

    def close(self) -> None:
        """Free the model's memory and end the graph's worker."""
        if "llm" in self.__dict__:
            self.llm.close()
        if "worker" in self.__dict__:
            self.worker.close()


_CURRENT: ContextVar[Brains | None] = ContextVar("gutengraph_brains", default=None)


def brains() -> Brains:
    """The brains of this call (`using`), else those that the environment's settings describe."""
    return _CURRENT.get() or _default()


@lru_cache(maxsize=1)
def _default() -> Brains:
    return Brains(load_settings())


@contextmanager
def using(given: Brains) -> Iterator[Brains]:
    """Let everything below, in this thread and the graph's own, ask `given`."""
    token = _CURRENT.set(given)
    try:
        yield given
    finally:
        _CURRENT.reset(token)
