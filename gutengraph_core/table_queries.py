"""The queries that are put to the table of chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gutengraph_core.index_size import REFINE_FACTOR, partitions_for, probes_for
from gutengraph_core.kinds import KINDS

if TYPE_CHECKING:
    from lancedb.query import LanceFtsQueryBuilder, LanceVectorQueryBuilder
    from lancedb.table import LanceTable

    from gutengraph_core.embedding.protocol import Matrix

VECTOR = "embedding"

NAME_WEIGHT = 0.5
"""What a name in a question counts for in the full-text score, where any other word counts 1: the passage that
answers mostly says 'he'. Measured by `python -m experiments.retrieval`: all from .25 to .75 find more than 0 or 1."""


def nearest(
    lance: LanceTable, query: Matrix, *, k: int, rows: int, where: str = "", exact: bool = False
) -> LanceVectorQueryBuilder:
    """The `k` rows nearest to `query` (float32 [dimension]) by cosine, of those that `where` lets through.

    `rows`: how many the table has, by which the index was sized; `exact`: compare all, past the index.
    """
    search: LanceVectorQueryBuilder = lance.search(query, vector_column_name=VECTOR, query_type="vector")
    search = search.distance_type("cosine").limit(k)
    if where:
        search = search.where(where, prefilter=True)
    if exact:
        return search.bypass_vector_index()
    return search.nprobes(probes_for(partitions_for(rows))).refine_factor(REFINE_FACTOR)


def matching(lance: LanceTable, words: str, *, names: str, k: int, where: str = "") -> LanceFtsQueryBuilder:
    """The `k` best rows by BM25 over stems without stop words: `words` in full, `names` at NAME_WEIGHT."""
    from lancedb.query import BooleanQuery, MatchQuery, Occur

    query: str | BooleanQuery = words
    if names:
        # LanceDB's dataclasses have defaults that its type hints do not tell of.
        parts = [
            MatchQuery(words, "text"),  # type: ignore[call-arg]
            MatchQuery(names, "text", boost=NAME_WEIGHT),  # type: ignore[call-arg]
        ]
        query = BooleanQuery([(Occur.SHOULD, part) for part in parts])
    search: LanceFtsQueryBuilder = lance.search(query, query_type="fts", fts_columns="text").limit(k)
    return search.where(where, prefilter=True) if where else search


def of_book(book: int) -> str:
    """The filter for a book's rows: filters are raw SQL, and a number is all that gets in."""
    return f"gutenberg_id = {int(book)}"


def _of_authors(names: Sequence[str]) -> str:
    quoted = ["'" + name.replace("'", "''") + "'" for name in names]
    return "(" + " OR ".join(f"array_has(authors, {name})" for name in quoted) + ")"


@dataclass(frozen=True)
class Within:
    """Which rows a search is about: of a book, of an author (as the catalogue names them), of a kind of text.

    Raises ValueError if `kind` is none.
    """

    book: int | None = None
    authors: tuple[str, ...] = ()
    """By any of these."""
    kind: str = ""
    last_chapter: int | None = None
    """The last that has been read: nothing later is seen."""

    def __post_init__(self) -> None:
        if self.kind and self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is no kind of text; one of {', '.join(KINDS)}")

    @property
    def where(self) -> str:
        """The filter, '' for all rows."""
        parts = [of_book(self.book)] if self.book is not None else []
        parts += [_of_authors(self.authors)] if self.authors else []
        parts += [f"kind = '{self.kind}'"] if self.kind else []  # one of the five
        parts += [f"chapter <= {int(self.last_chapter)}"] if self.last_chapter is not None else []
        return " AND ".join(parts)

    @property
    def few(self) -> bool:
        return self.book is not None or bool(self.authors)
