"""The merged graph on the real Kuzu: what is published is whole, what breaks leaves it so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import harbour_story as story
import kuzu
import pyarrow as pa
import pytest

from gutengraph_core import tables
from gutengraph_core.errors import EmbedderMismatch, NotBuilt, StoreError
from gutengraph_core.files import read_table, write_table
from gutengraph_core.graph import build, versions
from gutengraph_core.graph.build import build_merged
from gutengraph_core.graph.published import PublishedGraph
from gutengraph_core.graph.read import Graph
from gutengraph_core.library import Library


def _change(library: Library, book: int, name: str, change) -> None:  # type: ignore[no-untyped-def]
    """Rewrite one of a book's graph files, hash and all, as a careless tool would."""
    path = library.path(book, f"graph/{name}.parquet")
    table = read_table(path)
    write_table(path, pa.Table.from_pylist(change(table.to_pylist()), schema=table.schema))
    story.record_hashes(library, book)


def test_two_books_add_up(library: Library) -> None:
    story.write_book(library, 7)
    story.write_book(library, 8, title="The Lamp again")
    merged = build_merged(library)

    assert merged.books == [7, 8]
    assert merged.left_out == []
    one = {"Book": 1, "Character": 5, "Location": 2, "Passage": 3, "RELATED_TO": 4, "INTERACTS_WITH": 3}
    for table, rows in one.items():
        assert merged.counts[table] == 2 * rows, table
    graph = PublishedGraph(library).current()
    assert graph.rows(
        "MATCH (b:Book)-[:SET_IN]->(l:Location) RETURN b.id AS book, l.name AS place ORDER BY book, place"
    ) == [
        {"book": "7", "place": "Harrow Quay"},
        {"book": "7", "place": "Kittiwake"},
        {"book": "8", "place": "Harrow Quay"},
        {"book": "8", "place": "Kittiwake"},
    ]
    mentions = read_table(library.path(7, "graph/evidence.parquet")).num_rows
    (row,) = graph.rows("MATCH ()-[m:MENTIONED_IN]->() RETURN sum(m.`count`) AS n")
    assert row["n"] == 2 * mentions


def test_schema_holds_every_table_of_the_design(library: Library) -> None:
    story.write_book(library, 7)
    build_merged(library)
    graph = PublishedGraph(library).current()
    found = {row["name"]: row["type"] for row in graph.rows("CALL show_tables() RETURN *")}
    nodes = {name for name, kind in found.items() if kind == "NODE"}
    rels = {name for name, kind in found.items() if kind == "REL"}
    assert nodes == {
        "Book", "Character", "Location", "Object", "Event", "Theme", "Atmosphere", "Passage",
    }  # fmt: skip
    assert {
        "APPEARS_IN", "SET_IN", "FEATURES", "HAPPENS_IN", "HAS_THEME", "HAS_ATMOSPHERE", "RELATED_TO",
        "INTERACTS_WITH", "MENTIONED_IN",
    } == rels  # fmt: skip


def test_removed_book_is_gone_after_the_next_build(library: Library) -> None:
    import shutil

    story.write_book(library, 7)
    story.write_book(library, 8)
    build_merged(library)
    shutil.rmtree(library.book_dir(8))
    merged = build_merged(library)
    assert merged.books == [7]
    graph = PublishedGraph(library).current()
    assert graph.rows("MATCH (n) WHERE n.id = '8' OR starts_with(n.id, '8:') RETURN n.id") == []

    shutil.rmtree(library.book_dir(7))
    assert build_merged(library).counts["Character"] == 0


def test_reader_keeps_its_version_while_others_see_the_new_one(library: Library) -> None:
    story.write_book(library, 7)
    build_merged(library)
    follower = PublishedGraph(library)
    old = follower.current()
    assert follower.current() is old

    story.write_book(library, 8)
    build_merged(library)
    build_merged(library)
    build_merged(library)
    assert [v.number for v in versions.all_versions(library)] == [1, 3, 4]  # 2 was nobody's
    assert old.books == [7]
    assert len(old.characters(7)) == 5
    assert follower.current().version == 4
    assert follower.current().books == [7, 8]

    old.close()
    build_merged(library)
    assert [v.number for v in versions.all_versions(library)] == [4, 5]


def test_a_reader_in_another_process_keeps_its_version(library: Library) -> None:
    story.write_book(library, 7)
    build_merged(library)
    code = (
        "import sys; from pathlib import Path; from gutengraph_core.library import Library;"
        "from gutengraph_core.graph.published import PublishedGraph;"
        "g = PublishedGraph(Library(Path(sys.argv[1]))).current(); print('open', flush=True);"
        "sys.stdin.readline(); print(len(g.characters(7)), flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(library.home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline().strip() == "open"
        for _ in range(3):
            build_merged(library)
        answer, _ = reader.communicate("\n", timeout=60)
    assert answer.strip() == "5"


@pytest.mark.parametrize("moment", ["stage", "copy", "before publish", "before the pointer"])
def test_kill_leaves_the_published_graph_whole(library: Library, moment: str) -> None:
    story.write_book(library, 7)
    build_merged(library)
    story.write_book(library, 8)
    where = {
        "stage": "gutengraph_core.graph.build._Stage.close",
        "copy": "gutengraph_core.graph.build.check_counts",
        "before publish": "gutengraph_core.graph.versions.publish",
        "before the pointer": "gutengraph_core.graph.versions.write_text",
    }[moment]
    code = (
        "import sys, time; from pathlib import Path; from unittest import mock;"
        "from gutengraph_core.library import Library; import gutengraph_core.graph.build as build\n"
        "def wait(*a, **k):\n    print('there', flush=True)\n    time.sleep(60)\n"
        f"with mock.patch({where!r}, wait):\n    build.build_merged(Library(Path(sys.argv[1])))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(library.home)], stdout=subprocess.PIPE, text=True
    ) as builder:
        assert builder.stdout is not None
        assert builder.stdout.readline().strip() == "there"
        os.kill(builder.pid, signal.SIGKILL)
    graph = PublishedGraph(library).current()
    assert (graph.version, graph.books, len(graph.characters(7))) == (1, [7], 5)

    merged = build_merged(library, lock_timeout=1)  # a dead builder's lock is not waited for
    assert merged.books == [7, 8]
    assert sorted(p.name for p in library.graph_dir.iterdir()) == ["CURRENT", "v1", f"v{merged.version}"]
    assert not (merged.path / "stage").exists()


def test_book_without_complete_files_is_left_out_and_reported(library: Library) -> None:
    story.write_book(library, 7)
    library.update(9, title="Not yet")
    story.write_book(library, 8)
    library.update(8, graph_sha256={})
    merged = build_merged(library)
    assert merged.books == [7]
    assert [(left.book, left.damaged) for left in merged.left_out] == [(8, False), (9, False)]
    assert "registered" in merged.left_out[1].reason


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("edges", lambda rows: [{**rows[0], "target": "7:nobody"}, *rows[1:]], "7:nobody is no node"),
        ("edges", lambda rows: [{**rows[0], "type": "owes_money_to"}, *rows[1:]], "not in the schema"),
        ("edges", lambda rows: [{**rows[0], "rel": "RELATED_TO"}, *rows[1:]], "no RELATED_TO from Character"),
        ("nodes", lambda rows: [*rows, rows[0]], "given twice"),
        ("nodes", lambda rows: [{**rows[0], "label": "Ghost"}, *rows[1:]], "unknown label"),
        ("nodes", lambda rows: [{**rows[0], "embedding": [1.0]}, *rows[1:]], "dimensions"),
        ("nodes", lambda rows: [{**rows[0], "embedding": None}, *rows[1:]], "no vector"),
        ("nodes", lambda rows: rows[1:], "is no node"),
        ("evidence", lambda rows: [{**rows[0], "chunk_id": "7:999999"}, *rows[1:]], "chunks.parquet lacks"),
        ("evidence", lambda rows: [{**rows[0], "entity": "7:nobody"}, *rows[1:]], "no nodes of this book"),
    ],
)
def test_damaged_book_is_left_out_with_the_fault_and_the_remedy(  # type: ignore[no-untyped-def]
    library: Library, name, change, says
) -> None:
    story.write_book(library, 7)
    story.write_book(library, 8)
    _change(library, 7, name, change)
    merged = build_merged(library)
    assert merged.books == [8]
    (left,) = merged.left_out
    assert left.damaged
    assert says in left.reason
    assert "gutengraph build 7 --force" in left.reason


def test_file_that_is_not_the_recorded_one_is_damage(library: Library) -> None:
    story.write_book(library, 7)
    story.write_book(library, 8)
    path = library.path(7, "graph/edges.parquet")
    write_table(path, read_table(path).slice(1))
    library.path(8, "graph/nodes.parquet").unlink()
    with pytest.raises(StoreError, match=r"No book's graph can be used"):
        build_merged(library)
    with pytest.raises(NotBuilt):
        PublishedGraph(library).current()

    story.write_book(library, 8)
    merged = build_merged(library)
    assert merged.books == [8]
    assert "not the file that its build recorded" in merged.left_out[0].reason


@pytest.mark.parametrize("damage", [b"", b"PAR1 rubbish PAR1"])
def test_unreadable_file_is_damage(library: Library, damage: bytes) -> None:
    story.write_book(library, 7)
    story.write_book(library, 8)
    library.path(7, "chunks.parquet").write_bytes(damage)
    merged = build_merged(library)
    assert merged.books == [8]
    assert "chunks.parquet cannot be read" in merged.left_out[0].reason


def test_missing_column_is_damage(library: Library) -> None:
    story.write_book(library, 7)
    path = library.path(7, "graph/edges.parquet")
    write_table(path, read_table(path).drop_columns(["quote"]))
    story.record_hashes(library, 7)
    with pytest.raises(StoreError, match="lacks the columns quote"):
        build_merged(library)


def test_a_book_of_an_earlier_version_lacks_what_came_later(library: Library) -> None:
    story.write_book(library, 7)
    path = library.path(7, "graph/nodes.parquet")
    write_table(path, read_table(path).drop_columns(["raw"]))
    story.record_hashes(library, 7)
    build_merged(library)
    assert versions.require(library).manifest().books.keys() == {7}


def test_rows_that_got_lost_on_the_way_are_noticed(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    story.write_book(library, 7)
    build_merged(library)
    real = build._copy

    def half(key, path: Path):  # type: ignore[no-untyped-def]
        if key[0] == "RELATED_TO":
            table = read_table(path)
            write_table(path, table.slice(1))
        return real(key, path)

    monkeypatch.setattr(build, "_copy", half)
    with pytest.raises(StoreError, match="would hold 3 rows of RELATED_TO"):
        build_merged(library)
    assert PublishedGraph(library).current().version == 1
    assert sorted(p.name for p in library.graph_dir.iterdir()) == ["CURRENT", "v1"]


def test_refused_statement_is_a_store_error(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    story.write_book(library, 7)
    monkeypatch.setattr(build, "_copy", lambda key, path: "COPY Nothing FROM 'nowhere.parquet'")
    with pytest.raises(StoreError, match="Kuzu refused"):
        build_merged(library)
    assert versions.current(library) is None


def test_books_of_two_embedders_do_not_mix(library: Library) -> None:
    story.write_book(library, 7)
    story.write_book(library, 8, identity="other@2/256/none")
    with pytest.raises(EmbedderMismatch, match=r"other@2/256/none.*toy-words") as raised:
        build_merged(library)
    assert raised.value.book == 8


def test_parked_book_without_nodes_has_its_place(library: Library) -> None:
    story.write_book(library, 7)
    story.write_book(library, 8, title="En français", identity="")
    for name, schema in (("nodes", tables.NODES), ("edges", tables.EDGES), ("evidence", tables.EVIDENCE)):
        write_table(library.path(8, f"graph/{name}.parquet"), pa.Table.from_pylist([], schema=schema))
    story.record_hashes(library, 8)
    merged = build_merged(library)
    assert merged.books == [7, 8]
    assert (merged.counts["Book"], merged.counts["Character"], merged.counts["Passage"]) == (2, 5, 6)


def test_lock_of_another_build_is_named(library: Library) -> None:
    story.write_book(library, 7)
    with library.lock("graph"), pytest.raises(StoreError, match="Another build"):
        build_merged(library, lock_timeout=0.1)


def test_broken_pointer_is_named_and_the_next_build_mends_it(library: Library) -> None:
    story.write_book(library, 7)
    build_merged(library)
    (library.graph_dir / "CURRENT").write_text("v77\n")
    with pytest.raises(StoreError, match="v77"):
        PublishedGraph(library).current()
    build_merged(library)
    assert PublishedGraph(library).current().version == 2


def test_damaged_database_is_named(library: Library) -> None:
    story.write_book(library, 7)
    merged = build_merged(library)
    (merged.path / versions.DATABASE).write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match="cannot be opened"):
        PublishedGraph(library).current()
    (merged.path / versions.MANIFEST).write_text("{}")
    with pytest.raises(StoreError, match=r"manifest\.json cannot be read"):
        PublishedGraph(library).current()


def test_published_graph_is_opened_read_only(library: Library) -> None:
    story.write_book(library, 7)
    build_merged(library)
    graph = PublishedGraph(library).current()
    with pytest.raises(StoreError, match="read-only"):
        graph.rows("CREATE (:Book {id: '99'})")


def test_version_that_vanished_while_opening(library: Library) -> None:
    story.write_book(library, 7)
    merged = build_merged(library)
    version = versions.require(library)
    (merged.path / versions.DATABASE).unlink()
    with pytest.raises(FileNotFoundError):
        Graph(version)


def test_index_of_the_vectors_matches_kuzus_own_cosine(library: Library) -> None:
    story.write_book(library, 7)
    build_merged(library)
    graph = PublishedGraph(library).current()
    query = story.ToyEmbedder().embed_query("Kittiwake captain")
    cosines = graph.vectors.cosines(query)
    theirs = graph.rows(
        "MATCH (n:Character:Location) RETURN n.id AS id, array_cosine_similarity(n.embedding, "
        f"CAST($q AS FLOAT[{len(query)}])) AS c",
        {"q": query.tolist()},
    )
    for row in theirs:
        assert cosines[graph.vectors.row[row["id"]]] == pytest.approx(row["c"], abs=1e-5)
    assert kuzu.version  # the real store, not a stand-in
