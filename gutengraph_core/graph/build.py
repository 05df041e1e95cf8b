"""The merged graph: every book's files loaded by COPY into a fresh Kuzu database, checked, then published."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import Timeout

from gutengraph_core.errors import EmbedderMismatch, StoreError
from gutengraph_core.files import disk_errors
from gutengraph_core.graph import versions
from gutengraph_core.graph.engine import kuzu
from gutengraph_core.graph.schema import (
    LABELS,
    NODE_TABLES,
    REL_TABLES,
    VECTOR,
    Label,
    NodeTable,
    RelTable,
    ddl,
    node_table,
    rel_table,
)
from gutengraph_core.graph.stage import StagedBook, TableKey, is_complete, stage_book
from gutengraph_core.library import BookRecord, Library, now

BUFFER_POOL = 512 << 20
"""Bytes Kuzu may hold while building. Its own default is most of the machine's memory."""
MAX_DB = 1 << 34
"""Bytes of address space for a database file: 100 novels take about 0.2 GB. Kuzu's own default is 8 TB."""

INDEX_MIN_NODES = 100_000
"""Mentioned nodes from which their vectors get an HNSW index. Measured with 384 dimensions on two cores: 20,000 nodes take
minutes to index (.01 s each), and a question then 14 ms; a scan takes 19 ms without any, after 1.7 s of loading once. Five
novels have some 600 nodes, a hundred some 12,000: for them the scan is the better, and it is exact."""

_ARROW: dict[str, pa.DataType] = {
    "STRING": pa.string(),
    "STRING[]": pa.list_(pa.string()),
    "INT32": pa.int32(),
    "INT64": pa.int64(),
    "FLOAT": pa.float32(),
}


@dataclass(frozen=True)
class MergedGraph:
    """A graph that has been published."""

    version: int
    path: Path
    """The folder `graph/v<n>/`."""
    books: list[int]
    left_out: list[versions.LeftOut]
    counts: dict[str, int]
    """Rows of every node and relationship table."""


def build_merged(
    library: Library,
    *,
    lock_timeout: float = 600.0,
    progress: Callable[[int, int], None] | None = None,
    index_min_nodes: int = INDEX_MIN_NODES,
) -> MergedGraph:
    """Build the graph of all books whose four files are complete, and publish it.

    Books that are not built that far, and books whose files are damaged, are left out and reported. Readers
    of an earlier version go on undisturbed; a build that dies leaves the published version as it was.
    `progress` is called with (books read, books) while the files are read. From `index_min_nodes` mentioned
    nodes on, their vectors are indexed.

    Raises EmbedderMismatch if books carry vectors of different embedders. Raises StoreError if all books are
    damaged, if the database does not hold what the files hold, or if another build holds the lock for
    `lock_timeout` seconds.
    """
    try:
        with library.lock("graph", timeout=lock_timeout):
            return _build(library, progress or (lambda done, all_: None), index_min_nodes)
    except Timeout:
        raise StoreError(
            f"Another build of the merged graph has held the lock for {lock_timeout:.0f} seconds.",
            remedy="Wait for it, or end it, and run again.",
        ) from None


def _build(library: Library, progress: Callable[[int, int], None], index_min_nodes: int) -> MergedGraph:
    records = list(library.records())
    complete = [record for record in records if is_complete(record)]
    left_out = [_unbuilt(record) for record in records if not is_complete(record)]
    number, folder = versions.workshop(library)
    try:
        stage = _Stage(folder / "stage")
        for done, record in enumerate(complete, start=1):
            try:
                stage.add(stage_book(library, record), record.embedder)
            except StoreError as damage:
                left_out.append(versions.LeftOut(book=record.id, reason=str(damage), damaged=True))
            progress(done, len(complete))
        if complete and not stage.hashes:
            raise StoreError(
                f"No book's graph can be used. {left_out[-1].reason}",
                remedy="The published graph stays as it was.",
            )
        stage.close()
        counts = _load(folder / versions.DATABASE, stage)
        nodes = sum(counts[label] for label in LABELS)
        indexed = [label for label in LABELS if counts[label]] if nodes >= index_min_nodes else []
        _index(folder / versions.DATABASE, indexed)
        shutil.rmtree(stage.folder)
        left_out.sort(key=lambda left: left.book)
        manifest = versions.Manifest(
            version=number,
            built_at=now(),
            embedder=stage.embedder,
            dimension=stage.dimension,
            books=stage.hashes,
            counts=counts,
            left_out=left_out,
            vector_index=list(indexed),
        )
        published = versions.publish(library, folder, manifest)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # gone already unless something failed
    return MergedGraph(number, published.folder, sorted(stage.hashes), left_out, counts)


def _unbuilt(record: BookRecord) -> versions.LeftOut:
    why = f": {record.reason}" if record.reason else ""
    return versions.LeftOut(
        book=record.id, reason=f"Its graph has not been built (status {record.status}{why}).", damaged=False
    )


class _Stage:
    """One Parquet file for every table (and pair of ends), written book by book."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.embedder = ""
        self.dimension = 0
        self.hashes: dict[int, dict[str, str]] = {}
        self.expected: dict[TableKey, int] = {}
        self._writers: dict[TableKey, pq.ParquetWriter] = {}
        with disk_errors(folder):
            folder.mkdir()

    def add(self, book: StagedBook, embedder: str) -> None:
        """Raises EmbedderMismatch if the book's vectors are another embedder's than the others'."""
        if book.dimension:
            self._lock_dimension(book, embedder)
        for key, rows in book.rows.items():
            schema = _arrow_schema(key, book.dimension)
            with disk_errors(self.folder):
                if key not in self._writers:
                    self._writers[key] = pq.ParquetWriter(self.path(key), schema)
                self._writers[key].write_table(pa.Table.from_pylist(rows, schema=schema))
            self.expected[key] = self.expected.get(key, 0) + len(rows)
        self.hashes[book.book] = book.hashes

    def _lock_dimension(self, book: StagedBook, embedder: str) -> None:
        if self.dimension and (self.embedder, self.dimension) != (embedder, book.dimension):
            raise EmbedderMismatch(
                f"its nodes carry vectors of {embedder or 'an unnamed embedder'} ({book.dimension}), "
                f"the books before it of {self.embedder or 'an unnamed embedder'} ({self.dimension}).",
                remedy="Build the books of one of the two again with `gutengraph build ID --force`.",
                book=book.book,
            )
        self.embedder, self.dimension = embedder, book.dimension

    def path(self, key: TableKey) -> Path:
        return self.folder / ("-".join(part for part in key if part) + ".parquet")

    def close(self) -> None:
        for writer in self._writers.values():
            with disk_errors(self.folder):
                writer.close()


def _arrow_schema(key: TableKey, dimension: int) -> pa.Schema:
    table, source, _ = key
    columns = rel_table(table).properties if source else node_table(table).properties
    ends = [("source", pa.string()), ("target", pa.string())] if source else []
    return pa.schema(ends + [(name, _arrow(kind, dimension)) for name, kind in columns.items()])


def _arrow(kind: str, dimension: int) -> pa.DataType:
    return pa.list_(pa.float32(), dimension) if kind == VECTOR else _ARROW[kind]


def _load(path: Path, stage: _Stage) -> dict[str, int]:
    """Create the database at `path`, COPY every staged file, check. Returns the rows of every table."""
    with disk_errors(path):
        database = kuzu.Database(str(path), buffer_pool_size=BUFFER_POOL, max_db_size=MAX_DB)
    try:
        connection = kuzu.Connection(database)
        for statement in ddl(max(stage.dimension, 1)):
            _run(connection, statement)
        nodes_first = sorted(stage.expected, key=lambda key: key[1] != "")
        for key in nodes_first:
            _run(connection, _copy(key, stage.path(key)))
        counts = check_counts(connection, stage.expected)
        _run(connection, "CHECKPOINT")
        connection.close()
    finally:
        database.close()
    return counts


def index_name(label: str) -> str:
    """The name of a node table's vector index."""
    return f"{label.lower()}_vectors"


def _index(path: Path, labels: list[Label]) -> None:
    """Cosine HNSW indexes over the vectors of these node tables."""
    if not labels:
        return
    database = kuzu.Database(str(path), buffer_pool_size=BUFFER_POOL, max_db_size=MAX_DB)
    try:
        connection = kuzu.Connection(database)
        for label in labels:
            _run(
                connection,
                f"CALL CREATE_VECTOR_INDEX('{label}', '{index_name(label)}', 'embedding', metric := 'cosine')",
            )
        _run(connection, "CHECKPOINT")
        connection.close()
    finally:
        database.close()


def _copy(key: TableKey, path: Path) -> str:
    table, source, target = key
    shown = str(path).replace("\\", "\\\\").replace("'", "\\'")
    several = source and len(rel_table(table).pairs) > 1
    ends = f" (from='{source}', to='{target}')" if several else ""
    return f"COPY {table} FROM '{shown}'{ends}"


def check_counts(connection: kuzu.Connection, expected: dict[TableKey, int]) -> dict[str, int]:
    """Rows of every table as the database counts them.

    Raises StoreError unless each is the sum of the books' rows.
    """
    counts: dict[str, int] = {}
    for node in NODE_TABLES:
        counts[node.name] = _count(connection, node)
        _compare(node.name, counts[node.name], expected.get((node.name, "", ""), 0))
    for rel in REL_TABLES:
        counts[rel.name] = 0
        for source, target in rel.pairs:
            found = _count(connection, rel, source, target)
            _compare(f"{rel.name} ({source} to {target})", found, expected.get((rel.name, source, target), 0))
            counts[rel.name] += found
    return counts


def _count(
    connection: kuzu.Connection, table: NodeTable | RelTable, source: str = "", target: str = ""
) -> int:
    pattern = f"(a:{source})-[x:{table.name}]->(b:{target})" if source else f"(x:{table.name})"
    (row,) = _run(connection, f"MATCH {pattern} RETURN count(*)")
    return int(row[0])


def _compare(table: str, found: int, expected: int) -> None:
    if found != expected:
        raise StoreError(
            f"The merged graph would hold {found} rows of {table} where the books' files hold {expected}.",
            remedy="Nothing was published. Build again; if it stays so, build the books with --force.",
        )


def _run(connection: kuzu.Connection, statement: str) -> list[list[Any]]:
    try:
        result = connection.execute(statement)
    except RuntimeError as error:
        raise StoreError(
            f"Kuzu refused `{statement[:120]}` ({error}).",
            remedy="Nothing was published; the graph stays as it was.",
        ) from error
    if isinstance(result, list):
        raise TypeError("one statement gives one result")
    rows = result.get_all()
    result.close()
    return [list(row) for row in rows]
