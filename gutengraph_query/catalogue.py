"""The catalogue and the statistics of the library as tables for SQL: in memory, reading only, with limits."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gutengraph_core.errors import MissingExtra, SqlRefused
from gutengraph_core.graph.read import Graph
from gutengraph_core.library import Library

if TYPE_CHECKING:
    import duckdb

MAX_ROWS = 50
MAX_BYTES = 4096
"""Longest statement, as for Cypher."""
TIMEOUT_S = 3.0
MEMORY = "256MB"
_CELL = 200
"""Characters of one value that a model reads."""

SCHEMA = (
    "books(id, title, authors, subjects, language, kind, status, chapters, passages, people, relations)",
    "characters(book, name, standing, role, gender, mentions, degree)",
    "relations(book, a, type, b, chapter, confidence)",
)

_FUNCTIONS = frozenset(
    "count count_star sum avg min max median mode stddev round abs floor ceil coalesce list array_agg string_agg "
    "group_concat first last any_value arg_max arg_min bool_and bool_or upper lower length len trim substring left "
    "right contains starts_with ends_with concat list_contains array_contains list_has list_count unnest array_length "
    "replace position strpos rank dense_rank row_number lag lead greatest least ifnull nullif regexp_matches "
    "regexp_full_match + - * / // % || ~~ ~~* !~~ !~~*".split()
)
_WORDS = pa.list_(pa.string())
_BOOKS = pa.schema(
    [("id", pa.int64()), ("title", pa.string()), ("authors", _WORDS), ("subjects", _WORDS)]
    + [(name, pa.string()) for name in ("language", "kind", "status")]
    + [(name, pa.int64()) for name in ("chapters", "passages", "people", "relations")]
)
_CHARACTERS = pa.schema(
    [("book", pa.int64())]
    + [(name, pa.string()) for name in ("name", "standing", "role", "gender")]
    + [(name, pa.int64()) for name in ("mentions", "degree")]
)
_RELATIONS = pa.schema(
    [
        *(("book", pa.int64()), ("a", pa.string()), ("type", pa.string()), ("b", pa.string())),
        *(("chapter", pa.int64()), ("confidence", pa.float64())),
    ]
)


@dataclass(frozen=True)
class Table:
    """Rows of a query, at most `MAX_ROWS`."""

    columns: list[str]
    rows: list[list[Any]]


class Catalogue:
    """Tables made from the library's records and the published graph.

    Nothing else is in reach: no file, no extension, no setting; DuckDB's own switches see to it, and only a
    single SELECT is run.
    """

    def __init__(
        self,
        library: Library,
        graph: Graph | None,
        *,
        books: Collection[int] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`graph` None: only the table of books, without counts of people (nothing published, or not to be told).
        `books`: of these books only.
        """
        try:
            import duckdb
        except ImportError:
            raise MissingExtra(
                "SQL over the catalogue needs DuckDB.", remedy="Install it: pip install 'gutengraph[query]'."
            ) from None
        self._timeout_s = timeout_s
        self._errors: type[Exception] = duckdb.Error
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "enable_external_access": "false",
                "autoload_known_extensions": "false",
                "autoinstall_known_extensions": "false",
                "python_enable_replacements": "false",
                "memory_limit": MEMORY,
                "max_temp_directory_size": "0B",
                "threads": "1",
            },
        )
        _fill(self._connection, library, graph, books)
        self._connection.execute("SET lock_configuration = true")

    def query(self, sql: str) -> Table:
        """Run one SELECT. Raises SqlRefused for anything else, for DuckDB's own errors and at the time limit."""
        self._check(sql)
        timer = threading.Timer(self._timeout_s, self._connection.interrupt)
        timer.start()
        try:
            result = self._connection.execute(sql)
            columns = [column[0] for column in result.description or ()]
            rows = result.fetchmany(MAX_ROWS)
        except self._errors as error:
            told = " ".join(str(error).split())
            if "INTERRUPT" in told.upper():
                told = f"it was stopped after {self._timeout_s:.0f} s"
            raise SqlRefused(f"The SQL failed: {told}.", remedy=_REMEDY) from error
        finally:
            timer.cancel()
        return Table(columns, [[_cell(value) for value in row] for row in rows])

    def close(self) -> None:
        """Free its memory."""
        self._connection.close()

    def _check(self, sql: str) -> None:
        import duckdb

        if len(sql.encode("utf-8", "surrogatepass")) > MAX_BYTES:
            raise SqlRefused(f"The SQL has more than {MAX_BYTES} bytes.", remedy=_REMEDY)
        try:
            statements = self._connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise SqlRefused("Only a single SELECT is run.", remedy=_REMEDY)
            row = self._connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
        except self._errors as error:
            raise SqlRefused(
                f"The SQL cannot be read: {' '.join(str(error).split())}.", remedy=_REMEDY
            ) from error
        tree = json.loads(row[0]) if row else {"error": True}
        if tree["error"]:
            raise SqlRefused("Only a SELECT that is written out is run.", remedy=_REMEDY)
        _check_tree(tree)


def _check_tree(tree: Any) -> None:
    """Functions are on the list; there is no table function and no recursion. Iterative: trees can be deep.

    Memory limits do not help here: `repeat('a', 2000000000)` runs for 45 s and takes 4 GB before they are noticed.
    """
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            name = node.get("function_name")
            if name and name not in _FUNCTIONS:
                raise SqlRefused(f"The function {name} is not allowed.", remedy=_REMEDY)
            if node.get("type") in ("TABLE_FUNCTION", "RECURSIVE_CTE_NODE"):
                raise SqlRefused("Table functions and recursion are not allowed.", remedy=_REMEDY)
            left += node.values()


_REMEDY = f"Write one SELECT over {'; '.join(SCHEMA)}."


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _CELL else f"{value[:_CELL]}…"
    if isinstance(value, list):
        return [_cell(item) for item in value[:20]]
    return value if isinstance(value, int | float | bool | None) else str(value)


def _fill(
    connection: duckdb.DuckDBPyConnection,
    library: Library,
    graph: Graph | None,
    only: Collection[int] | None,
) -> None:
    told = [] if graph is None else [book for book in graph.books if only is None or book in only]
    people = {book: graph.characters(book) for book in told} if graph is not None else {}
    edges = {book: graph.relations(book) for book in told} if graph is not None else {}
    books = [
        {
            "id": record.id,
            "title": record.title,
            "authors": list(record.authors),
            "subjects": list(record.subjects),
            "language": record.language,
            "kind": record.kind,
            "status": record.status,
            "chapters": len(record.chapters),
            "passages": record.counts.get("chunks"),
            "people": len(people[record.id]) if record.id in people else None,
            "relations": len(edges[record.id]) if record.id in edges else None,
        }
        for record in library.records()
        if only is None or record.id in only
    ]
    characters = [
        {
            "book": book,
            "name": node.name,
            "standing": node.standing,
            "role": node.role,
            "gender": node.gender,
            "mentions": node.mentions,
            "degree": node.degree,
        }
        for book, nodes in people.items()
        for node in nodes
    ]
    relations = [
        {
            "book": book,
            "a": edge.source_name,
            "type": edge.type,
            "b": edge.target_name,
            "chapter": edge.chapter,
            "confidence": edge.confidence,
        }
        for book, found in edges.items()
        for edge in found
    ]
    for name, rows, schema in (
        ("books", books, _BOOKS),
        ("characters", characters, _CHARACTERS),
        ("relations", relations, _RELATIONS),
    ):
        connection.register("staged", pa.Table.from_pylist(rows, schema=schema))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM staged")
        connection.unregister("staged")
