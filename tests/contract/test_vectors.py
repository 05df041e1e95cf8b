"""The table of chunks in a real LanceDB: replaced in one commit, searched three ways, tied to a model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from gutengraph_core.chunk_store import store_failures
from gutengraph_core.embedding.protocol import EmbeddingIdentity, Matrix
from gutengraph_core.errors import DataFolderError, EmbedderMismatch, NotBuilt, StoreError
from gutengraph_core.index_size import partitions_for, sub_vectors_for
from gutengraph_core.library import Library
from gutengraph_core.tables import CHUNKS
from gutengraph_core.vectors import ChunkTable

D = 32
IDENTITY = EmbeddingIdentity("tiny", "r1", D, "none")
OTHER = EmbeddingIdentity("tiny", "r2", D, "none")

SENTENCES = [
    "The whale sounded beneath the keel.",
    "She poured the tea and said nothing.",
    "A lantern swung in the rigging all night.",
    "The lawyer's letters lay unread upon the desk.",
    "Rain ran down the mill race.",
]


def chunk_rows(book: int, texts: list[str], *, title: str = "The Ferry") -> pa.Table:
    rows = [
        {
            "id": f"{book}:{i:06d}",
            "gutenberg_id": book,
            "chunk_index": i,
            "chapter": 1 + i // 2,
            "start": 40 * i,
            "end": 40 * i + len(text),
            "text": text,
            "title": title,
            "authors": ["A. Penn"],
            "subjects": ["Rivers"],
            "kind": "fiction",
            "token_count": 7,
        }
        for i, text in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows, schema=CHUNKS)


def directions(n: int, *, seed: int = 0, d: int = D) -> Matrix:
    raw = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    unit: Matrix = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    return unit


@pytest.fixture
def table(library: Library) -> ChunkTable:
    return ChunkTable.open(library, IDENTITY, create=True)


def fill(table: ChunkTable, book: int, *, n: int = 5, seed: int = 0) -> npt.NDArray[np.float32]:
    vectors = directions(n, seed=seed)
    table.replace_book(book, chunk_rows(book, [SENTENCES[i % 5] for i in range(n)]), vectors)
    return vectors


def test_nothing_is_built_yet(library: Library) -> None:
    for identity in (IDENTITY, None):
        with pytest.raises(NotBuilt, match="gutengraph build"):
            ChunkTable.open(library, identity)
    assert not library.lancedb_dir.exists()
    # What a build killed at its first write leaves behind is no table.
    (library.lancedb_dir / "chunks.lance" / "data").mkdir(parents=True)
    with pytest.raises(NotBuilt):
        ChunkTable.open(library, IDENTITY)
    assert ChunkTable.open(library, IDENTITY, create=True).count() == 0


def test_the_schema_is_the_public_one(table: ChunkTable) -> None:
    schema = table.lance.schema
    assert schema.names == [*CHUNKS.names, "embedding"]
    assert schema.field("embedding").type == pa.list_(pa.float32(), D)


def test_a_book_comes_back_as_it_went_in(table: ChunkTable) -> None:
    vectors = fill(table, 7)
    fill(table, 8, n=3, seed=1)
    rows, stored = table.rows(7)
    assert rows.equals(chunk_rows(7, SENTENCES))
    np.testing.assert_array_equal(stored, vectors)
    assert (table.count(), table.count(7), table.count(9)) == (8, 5, 0)
    assert table.books() == {7: 5, 8: 3}


def test_replacing_a_book_is_one_commit_and_touches_no_other(table: ChunkTable) -> None:
    fill(table, 7)
    fill(table, 8, seed=1)
    before = table.lance.version
    done = table.replace_book(7, chunk_rows(7, ["Fog.", "Dawn."]), directions(2, seed=9))
    assert (done.rows, done.updated, done.inserted, done.deleted) == (2, 2, 0, 3)
    assert table.lance.version == before + 1
    assert table.rows(7)[0]["text"].to_pylist() == ["Fog.", "Dawn."]
    assert table.rows(8)[0].equals(chunk_rows(8, SENTENCES))


def test_rerunning_a_book_changes_nothing(table: ChunkTable) -> None:
    vectors = fill(table, 7)
    before = table.lance.version
    # Batches of another make-up round differently in the last digits.
    done = table.replace_book(7, chunk_rows(7, SENTENCES), vectors + np.float32(1e-7))
    assert not done.changed
    assert table.lance.version == before
    assert table.replace_book(7, chunk_rows(7, SENTENCES, title="Another"), vectors).changed
    assert table.replace_book(7, chunk_rows(7, SENTENCES, title="Another"), directions(5, seed=4)).changed


def test_deleting_a_book(table: ChunkTable) -> None:
    fill(table, 7)
    fill(table, 8)
    assert table.delete_book(7) == 5
    assert table.delete_book(7) == 0
    assert table.books() == {8: 5}
    # A book that has become empty goes too.
    assert table.replace_book(8, chunk_rows(8, []), directions(0)).deleted == 5
    assert table.books() == {}


@pytest.mark.parametrize(
    ("book", "n", "vectors", "words"),
    [
        (7, 5, directions(4), "shape"),
        (7, 5, directions(5, d=D + 1), "shape"),
        (7, 5, directions(5) * 2, "unit length"),
        (8, 5, directions(5), "another book"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    table: ChunkTable, book: int, n: int, vectors: Matrix, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        table.replace_book(book, chunk_rows(7, SENTENCES[:n]), vectors)
    assert table.count() == 0


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (OTHER, r"embedded by tiny@r1/32/none, but tiny@r2/32/none is in use"),
        (EmbeddingIdentity("tiny", "r1", 16, "none"), r"tiny@r1/32/none, but tiny@r1/16/none"),
        (EmbeddingIdentity("tiny", "r1", 32, "nomic"), r"tiny@r1/32/none, but tiny@r1/32/nomic"),
        (EmbeddingIdentity("vast", "r1", 32, "none"), r"tiny@r1/32/none, but vast@r1/32/none"),
    ],
    ids=["revision", "dimension", "prefixes", "name"],
)
def test_another_embedder_is_refused_on_write_and_on_search(
    library: Library, table: ChunkTable, other: EmbeddingIdentity, words: str
) -> None:
    fill(table, 7)
    for create in (True, False):  # how a build opens it, and how a question does
        with pytest.raises(EmbedderMismatch, match=words):
            ChunkTable.open(library, other, create=create)
    # Counting and removing need no embedder.
    assert ChunkTable.open(library, None).delete_book(7) == 5


@pytest.mark.parametrize("create", [True, False], ids=["write", "search"])
def test_a_table_that_does_not_say_who_embedded_it(library: Library, create: bool) -> None:
    import lancedb

    lancedb.connect(library.lancedb_dir).create_table("chunks", schema=CHUNKS)
    with pytest.raises(EmbedderMismatch, match=r"does not say.*unknown model.*but tiny@r1/32/none is in use"):
        ChunkTable.open(library, IDENTITY, create=create)


def test_vectors_of_another_size_than_the_table_says(library: Library) -> None:
    import lancedb

    from gutengraph_core.chunk_rows import table_schema

    says = table_schema(EmbeddingIdentity("tiny", "r1", 16, "none"))
    schema = says.with_metadata(table_schema(IDENTITY).metadata)
    lancedb.connect(library.lancedb_dir).create_table("chunks", schema=schema)
    with pytest.raises(StoreError, match="says tiny@r1/32/none, but its vectors have 16 dimensions"):
        ChunkTable.open(library, IDENTITY)


def test_vector_search(table: ChunkTable) -> None:
    vectors = fill(table, 7)
    fill(table, 8, seed=1)
    best = table.search(vectors[3], k=3)
    assert best[0].id == "7:000003"
    assert best[0].text == SENTENCES[3]
    assert best[0].authors == ("A. Penn",)
    assert best[0].score == pytest.approx(1.0, abs=1e-5)
    assert [p.score for p in best] == sorted((p.score for p in best), reverse=True)
    assert best[1].score == pytest.approx(
        max(float(v @ vectors[3]) for v in [*np.delete(vectors, 3, 0), *directions(5, seed=1)]), abs=1e-5
    )
    assert {p.gutenberg_id for p in table.search(vectors[3], k=3, book=8)} == {8}
    assert table.search(vectors[3], k=3, book=9) == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (np.zeros(D, dtype=np.float32), "direction"),
        (np.full(D, np.nan, dtype=np.float32), "direction"),
        (np.ones(D + 1, dtype=np.float32), "shape"),
    ],
)
def test_queries_that_would_find_nothing_in_silence(table: ChunkTable, query: Matrix, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        table.search(query, k=3)


def test_words_are_found_by_stem_before_and_after_indexing(table: ChunkTable) -> None:
    fill(table, 7)
    fill(table, 8, seed=1)
    for _ in ("scanned", "indexed"):
        assert {p.id for p in table.text_search("whales sounding", k=5)} == {"7:000000", "8:000000"}
        assert [p.id for p in table.text_search("the lanterns", k=5, book=8)] == ["8:000002"]
        assert table.text_search("and the of", k=5) == []
        # Whatever a user types is words, not syntax.
        for text in ('"unclosed', "letters AND (", "letter*:^~", "", "'; DROP TABLE chunks"):
            table.text_search(text, k=5)
        assert table.build_index(min_rows=1000).text_indexed_rows == 10


def test_hybrid_adds_what_both_find(table: ChunkTable) -> None:
    vectors = fill(table, 7)
    # The vector points at the tea, the words at the whale.
    best = table.hybrid_search(vectors[1], "whale", k=5)
    assert {best[0].id, best[1].id} == {"7:000000", "7:000001"}
    assert table.hybrid_search(vectors[0], "whale", k=5)[0].score == pytest.approx(2.0)
    # Words that occur nowhere leave the order of the vectors.
    assert [p.id for p in table.hybrid_search(vectors[1], "zebra", k=5)] == [
        p.id for p in table.search(vectors[1], k=5)
    ]
    assert table.hybrid_search(vectors[1], "whale", k=5, book=8) == []


def test_names_count_half(table: ChunkTable) -> None:
    texts = ["Ahab stood there.", "The leg was lost.", "Ahab lost his leg."]
    table.replace_book(7, chunk_rows(7, texts), directions(3))
    words = {p.id: p.score for p in table.text_search("lost leg", k=5)}
    named = {p.id: p.score for p in table.text_search("Ahab", k=5)}
    both = {p.id: p.score for p in table.text_search("lost leg", names="Ahab", k=5)}
    assert set(both) == {"7:000000", "7:000001", "7:000002"}
    for key, total in both.items():
        assert total == pytest.approx(words.get(key, 0) + 0.5 * named.get(key, 0), rel=1e-4)
    assert [p.id for p in table.text_search("", names="Ahab", k=1)] == ["7:000000"]


@pytest.mark.parametrize("author", ["A. Penn", 'O\'Hara, \\ "J"', "'; DROP TABLE chunks --", "Ẽ\u0000🜁"])
def test_searches_keep_to_an_author_and_a_kind(table: ChunkTable, author: str) -> None:
    vectors = directions(10)
    for book, kind in ((7, "fiction"), (8, "verse")):
        rows = chunk_rows(book, SENTENCES).to_pylist()
        for row in rows:
            row |= {"authors": ["Somebody Else", author] if book == 7 else ["A. Pennington"], "kind": kind}
        part = vectors[:5] if book == 7 else vectors[5:]
        table.replace_book(book, pa.Table.from_pylist(rows, schema=CHUNKS), part)
    for shown in (
        table.only(authors=[author]),
        table.only(authors=["Nobody", author]),
        table.only(kind="fiction"),
        table.only(authors=[author], kind="fiction").up_to(9),
    ):
        for found in (
            shown.search(vectors[8], k=9),
            shown.text_search("whale tea lantern letters rain", k=9),
            shown.hybrid_search(vectors[8], "whale", k=9),
            shown.passages([*(f"7:{n:06d}" for n in range(5)), "8:000001"]),
        ):
            assert len(found) == 5
            assert {p.gutenberg_id for p in found} == {7}
        assert shown.search(vectors[8], k=9, book=8) == []
    assert table.only(authors=[author], kind="verse").search(vectors[8], k=9) == []
    assert table.only(authors=["Somebody"]).search(vectors[8], k=9) == []
    with pytest.raises(ValueError, match="no kind of text"):
        table.only(kind="x' OR 1=1 --")


def test_passages_by_id_in_the_order_asked(table: ChunkTable) -> None:
    fill(table, 7)
    found = table.passages(["7:000004", "7:000000", "9:000000", "7:000004"])
    assert [p.id for p in found] == ["7:000004", "7:000000", "7:000004"]
    assert table.passages([]) == []
    with pytest.raises(ValueError, match="no id"):
        table.passages(["7:000001' OR '1'='1"])


def test_widening_stays_in_the_chapter_and_repeats_nothing(table: ChunkTable) -> None:
    body = "0123456789abcdefghij"
    spans = [(1, 0, 6), (1, 4, 10), (1, 9, 13), (2, 13, 20)]
    rows = [
        {**chunk_rows(7, [""]).to_pylist()[0], "id": f"7:{i:06d}", "chunk_index": i}
        | {"chapter": chapter, "start": a, "end": b, "text": body[a:b]}
        for i, (chapter, a, b) in enumerate(spans)
    ]
    table.replace_book(7, pa.Table.from_pylist(rows, schema=CHUNKS), directions(4))
    plain = table.passages([row["id"] for row in rows])
    for by, wanted in ((1, [(0, 10), (0, 13), (4, 13), (13, 20)]), (9, [(0, 13)] * 3 + [(13, 20)])):
        wide = table.widen(plain, by=by)
        assert [(p.start, p.end) for p in wide] == wanted
        assert [p.text for p in wide] == [body[a:b] for a, b in wanted]
        assert [p.id for p in wide] == [p.id for p in plain]
    assert table.widen([]) == []


def test_a_reader_sees_the_next_commit_of_another_process(library: Library, table: ChunkTable) -> None:
    fill(table, 7)
    reader = ChunkTable.open(library, IDENTITY)
    assert reader.count() == 5
    code = f"""
        import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        import test_vectors as t
        table = t.ChunkTable.open(t.Library(Path({str(library.home)!r})), t.IDENTITY)
        t.fill(table, 8, seed=1)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=120)
    assert reader.books() == {7: 5, 8: 5}
    assert reader.search(directions(5, seed=1)[2], k=1)[0].id == "8:000002"


def test_writers_of_two_processes_take_turns(library: Library, table: ChunkTable) -> None:
    code = f"""
        import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        import test_vectors as t
        table = t.ChunkTable.open(t.Library(Path({str(library.home)!r})), t.IDENTITY)
        for seed in range(6):
            t.fill(table, int(sys.argv[1]), seed=seed)
    """
    writers = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(book)]) for book in (7, 8, 9)
    ]
    assert [writer.wait(timeout=240) for writer in writers] == [0, 0, 0]
    assert table.books() == {7: 5, 8: 5, 9: 5}
    for book in (7, 8, 9):
        np.testing.assert_array_equal(table.rows(book)[1], directions(5, seed=5))


def test_killed_in_mid_write_the_old_rows_or_the_new(library: Library, table: ChunkTable) -> None:
    """A real child, kill -9, a moment after it began to write; several times, at other moments."""
    n = 3_000
    code = f"""
        import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        import test_vectors as t
        table = t.ChunkTable.open(t.Library(Path({str(library.home)!r})), t.IDENTITY)
        rows = [t.chunk_rows(7, [f"Generation {{g}}, row {{i}}." for i in range({n})]) for g in (0, 1)]
        vectors = [t.directions({n}, seed=g) for g in (0, 1)]
        print("ready", flush=True)
        turn = 0
        while True:
            table.replace_book(7, rows[turn % 2], vectors[turn % 2])
            turn += 1
    """
    fill(table, 8)
    table.replace_book(7, chunk_rows(7, [f"Generation 0, row {i}." for i in range(n)]), directions(n, seed=0))
    start = table.lance.version
    for pause in (0.03, 0.11, 0.2, 0.31):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(pause)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        survivor = ChunkTable.open(library, IDENTITY)
        rows, vectors = survivor.rows(7)
        assert survivor.count(8) == 5
        assert rows.num_rows == n
        generation = {text.split(",")[0] for text in rows["text"].to_pylist()}
        assert len(generation) == 1, "a mixture of old and new rows"
        seed = int(generation.pop().split()[1])
        np.testing.assert_array_equal(vectors, directions(n, seed=seed))
    assert survivor.lance.version > start, "no write was ever committed: the kills came too early"
    # The next run writes as if nothing had been.
    fill(survivor, 7)
    assert survivor.books() == {7: 5, 8: 5}


def test_killed_between_the_table_and_its_index(library: Library, table: ChunkTable) -> None:
    table.lance.drop_index("text_idx")
    again = ChunkTable.open(library, IDENTITY, create=True)
    fill(again, 7)
    assert again.text_search("whale", k=1)[0].id == "7:000000"


def test_few_rows_stay_flat_and_the_report_says_so(table: ChunkTable) -> None:
    fill(table, 7)
    report = table.build_index(min_rows=100_000)
    assert (report.kind, report.rows, report.indexed_rows, report.recall_at_10) == ("flat", 5, 0, 1.0)
    assert report.bytes_per_vector == 4 * D
    assert report.note == "Flat scan, exact: 5 rows, and an index pays from about 100,000."


def clustered(n: int, *, seed: int) -> Matrix:
    """Vectors that lie in clumps, as passages do."""
    rng = np.random.default_rng(seed)
    raw = directions(40, seed=99)[rng.integers(0, 40, n)] + 0.12 * rng.normal(size=(n, D))
    unit: Matrix = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_many_rows_get_an_index_that_covers_all_and_finds_them(table: ChunkTable) -> None:
    for book in (7, 8):
        texts = [f"{SENTENCES[i % 5]} {i}" for i in range(1_000)]
        table.replace_book(book, chunk_rows(book, texts), clustered(1_000, seed=book))
    report = table.build_index(min_rows=2_000)
    assert report.kind == "ivf_pq"
    assert report.indexed_rows == report.text_indexed_rows == report.rows == 2_000
    assert report.partitions == partitions_for(2_000) == 1
    assert report.sub_vectors == sub_vectors_for(D) == 8
    assert report.recall_at_10 > 0.8
    assert 4 <= report.bytes_per_vector < 4 * D
    # A second build finds nothing to do.
    version = table.lance.list_indices()[0].index_uuid
    assert table.build_index(min_rows=2_000).indexed_rows == 2_000
    assert table.lance.list_indices()[0].index_uuid == version
    # New rows are found before they are indexed, and indexed by the next build.
    fresh = clustered(500, seed=3)
    table.replace_book(9, chunk_rows(9, [f"Gull {i}." for i in range(500)]), fresh)
    assert table.search(fresh[17], k=1)[0].id == "9:000017"
    assert table.build_index(min_rows=2_000).indexed_rows == 2_500
    # A book replaced: its new rows are sorted into the cells that there are.
    changed = clustered(500, seed=4)
    table.replace_book(9, chunk_rows(9, [f"Tern {i}." for i in range(500)]), changed)
    asked: list[str] = []

    def embed_query(text: str) -> Matrix:
        asked.append(text)
        return changed[len(asked) % 500]

    report = table.build_index(min_rows=2_000, embed_query=embed_query)
    assert (report.indexed_rows, report.rows) == (2_500, 2_500)
    assert report.recall_at_10 > 0.8
    assert len(asked) == 100
    assert all(len(text.split()) <= 30 for text in asked)
    assert table.search(changed[17], k=1)[0].id == "9:000017"
    # Within a book the search is exact.
    query = directions(1, seed=55)[0]
    vectors = table.rows(9)[1]
    exact = [f"9:{i:06d}" for i in np.argsort(-(vectors @ query))[:10]]
    assert [p.id for p in table.search(query, k=10, book=9)] == exact
    # Fewer rows again: the index goes.
    table.delete_book(7)
    assert table.build_index(min_rows=2_000).kind == "flat"
    assert [index.name for index in table.lance.list_indices()] == ["text_idx"]


def test_an_index_over_nothing_is_no_success(table: ChunkTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """LanceDB builds an index of fewer than 256 rows without a word, and without a row."""
    fill(table, 7, n=100)
    with pytest.raises(StoreError, match=r"covers \d+ of 100 rows|cannot be indexed"):
        table.build_index(min_rows=10)


@pytest.mark.parametrize(("dimension", "sub_vectors"), [(384, 96), (256, 64), (768, 192), (100, 25), (7, 1)])
def test_sub_vectors_divide_the_dimension(dimension: int, sub_vectors: int) -> None:
    assert sub_vectors_for(dimension) == sub_vectors
    assert dimension % sub_vectors == 0


def test_cleaning_up_does_not_disturb_a_reader(library: Library, table: ChunkTable) -> None:
    fill(table, 7)
    reader = ChunkTable.open(library, IDENTITY)
    pinned = reader.lance
    pinned.checkout(pinned.version)
    fill(table, 7, n=4, seed=3)
    table.build_index(min_rows=100)
    assert pinned.search(directions(5)[1], vector_column_name="embedding").limit(9).to_arrow().num_rows == 5


def test_upkeep_merges_indexes_and_cleans_while_a_reader_reads(library: Library, table: ChunkTable) -> None:
    fill(table, 7)
    pinned = ChunkTable.open(library, IDENTITY).lance
    pinned.checkout(pinned.version)
    for seed in range(6):
        fill(table, 8, seed=seed)
    time.sleep(0.3)
    fill(table, 9, seed=1)
    # Within the time that versions are kept, whoever reads one goes on.
    first = ChunkTable.open(library, None).maintain()
    assert first.rows == 15
    assert first.fragments_after < first.fragments_before
    assert first.newly_indexed_rows == 15
    assert first.versions_after >= first.versions_before
    assert pinned.search(directions(5)[1], vector_column_name="embedding").limit(9).to_arrow().num_rows == 5
    again = table.maintain()
    assert (again.newly_indexed_rows, again.fragments_after) == (0, first.fragments_after)
    # Past it they go, and with them what they alone held.
    time.sleep(0.3)
    later = table.maintain(kept=timedelta(milliseconds=200))
    assert later.versions_after < later.versions_before
    assert later.bytes_after < later.bytes_before
    assert table.books() == {7: 5, 8: 5, 9: 5}
    assert table.search(directions(5, seed=5)[2], k=1)[0].id == "8:000002"
    with pytest.raises(ValueError, match="kept for a while"):
        table.maintain(kept=timedelta(0))


def test_upkeep_and_builders_of_other_processes_take_turns(library: Library, table: ChunkTable) -> None:
    code = f"""
        import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        import test_vectors as t
        table = t.ChunkTable.open(t.Library(Path({str(library.home)!r})), t.IDENTITY)
        for seed in range(8):
            t.fill(table, int(sys.argv[1]), seed=seed)
    """
    writers = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(book)]) for book in (7, 8)]
    rounds = 0
    while any(writer.poll() is None for writer in writers):
        table.maintain(kept=timedelta(seconds=5))
        assert set(table.books().values()) <= {5}
        rounds += 1
    assert [writer.wait(timeout=240) for writer in writers] == [0, 0]
    assert rounds > 1
    for book in (7, 8):
        np.testing.assert_array_equal(table.rows(book)[1], directions(5, seed=7))


def test_a_damaged_table_says_so(library: Library, table: ChunkTable) -> None:
    fill(table, 7)
    for path in (library.lancedb_dir / "chunks.lance" / "data").iterdir():
        path.write_bytes(b"rubbish")
    with pytest.raises(StoreError, match=r"cannot be searched .*build the books again"):
        ChunkTable.open(library, IDENTITY).search(directions(1)[0], k=1)
    for path in (library.lancedb_dir / "chunks.lance" / "_versions").iterdir():
        path.write_bytes(b"rubbish")
    with pytest.raises(StoreError, match="cannot be opened"):
        ChunkTable.open(library, IDENTITY)


def test_a_full_disk_is_named() -> None:
    with (
        pytest.raises(DataFolderError, match=r"Book 7: The disk is full.*the table is as it was"),
        store_failures("written", book=7),
    ):
        raise OSError("LanceError(IO): No space left on device (os error 28)")


def test_reading_needs_no_torch(library: Library, table: ChunkTable) -> None:
    fill(table, 7)
    code = f"""
        import sys, json; sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        import test_vectors as t
        table = t.ChunkTable.open(t.Library(Path({str(library.home)!r})), t.IDENTITY)
        table.hybrid_search(t.directions(1)[0], "whale", k=1)
        print(json.dumps(sorted({{"torch", "pandas", "sentence_transformers"}} & sys.modules.keys())))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=120, capture_output=True, text=True
    )
    assert json.loads(run.stdout) == []
