"""Asset checks: each can be made to fail, says the numbers, and marks the book where it blocks."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import numpy as np
import pyarrow as pa
import pytest
from fakes import FakeLLM

from gutengraph_assets import checks, library_checks
from gutengraph_assets.assets.graph import themes_by
from gutengraph_assets.extraction.ledger import Entry, Ledger, Summary
from gutengraph_assets.extraction.naming import STEP
from gutengraph_assets.resources import GutenGraph, models_kept_open
from gutengraph_core.embedding import EmbeddingIdentity
from gutengraph_core.files import read_table, write_table, write_text
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.settings import load_settings
from gutengraph_core.tables import CHUNKS, EDGES, EVIDENCE, MERGES, NODES
from gutengraph_core.vectors import ChunkTable

BOOK = 7
BODY = "Captain Rook met Ada. Ada was the\nsister of Captain Rook."


class FakeTokenizer:
    limit = 254


class FakeEmbedder:
    identity = EmbeddingIdentity("fake", "1" * 12, 4, "none")
    tokenizer = FakeTokenizer()


@pytest.fixture
def gutengraph(library: Library) -> Iterator[GutenGraph]:
    """The resource of a run, with stand-ins for the models, and a book in the library."""
    resource = GutenGraph()
    with models_kept_open(load_settings()) as models:
        models.__dict__ |= {"llm": FakeLLM(), "embedder": FakeEmbedder(), "tokenizer": FakeTokenizer()}
        resource.setup_for_execution(dg.build_init_resource_context())
        library.update(BOOK, title="Ada", language="en", kind="fiction", status="building")
        yield resource
        resource.teardown_after_execution(dg.build_init_resource_context())


def outcome(check: dg.AssetChecksDefinition, gutengraph: GutenGraph) -> dg.AssetCheckResult:
    """A check of the book, as a run would call it."""
    result = check(dg.build_op_context(partition_key=str(BOOK)), gutengraph=gutengraph)
    assert isinstance(result, dg.AssetCheckResult)
    return result


def chunk_rows(*token_counts: int) -> pa.Table:
    rows = [
        {
            "id": f"{BOOK}:{i:06d}",
            "gutenberg_id": BOOK,
            "chunk_index": i,
            "chapter": 0,
            "start": i,
            "end": i + 1,
            "text": BODY[i],
            "title": "Ada",
            "authors": [],
            "subjects": [],
            "kind": "fiction",
            "token_count": count,
        }
        for i, count in enumerate(token_counts)
    ]
    return pa.Table.from_pylist(rows, schema=CHUNKS)


def entered(library: Library, *entries: Entry, step: str = STEP) -> None:
    ledger = Ledger(library.path(BOOK, "ledger.jsonl"), book=BOOK)
    with ledger.run(step, basis="b") as run:
        for entry in entries:
            run.record(entry)


# --- passages and vectors ---


@pytest.mark.parametrize(("counts", "passed"), [((254, 12), True), ((255, 12), False), ((), False)])
def test_chunk_limit(gutengraph: GutenGraph, library: Library, counts: tuple[int, ...], passed: bool) -> None:
    write_table(library.path(BOOK, "chunks.parquet"), chunk_rows(*counts))
    result = outcome(checks.chunk_limit, gutengraph)
    assert result.passed is passed
    assert "limit of 254" in (result.description or "")
    record = library.record(BOOK)
    assert (record.status == "failed") is not passed
    if not passed:
        assert record.reason.startswith("chunk_limit: ")


def stored(library: Library, vectors: np.ndarray) -> None:
    table = ChunkTable.open(library, FakeEmbedder.identity, create=True)
    table.replace_book(BOOK, chunk_rows(*[5] * len(vectors)), vectors.astype(np.float32))


def test_vectors(gutengraph: GutenGraph, library: Library) -> None:
    stored(library, np.eye(4)[:2])
    library.update(BOOK, counts={"chunks": 2})
    assert outcome(checks.vectors, gutengraph).passed
    library.update(BOOK, counts={"chunks": 3})
    missing = outcome(checks.vectors, gutengraph)
    assert not missing.passed
    assert "2 vectors for 3 passages" in (missing.description or "")


def test_vectors_not_of_length_one(gutengraph: GutenGraph, library: Library) -> None:
    stored(library, np.eye(4)[:2] * 1.0009)  # the table itself lets a thousandth pass
    library.update(BOOK, counts={"chunks": 2})
    result = outcome(checks.vectors, gutengraph)
    assert not result.passed
    assert "9.0e-04 from 1" in (result.description or "")


@pytest.mark.parametrize(("made", "passed"), [(str(FakeEmbedder.identity), True), ("other@1/4/none", False)])
def test_embedder_identity(gutengraph: GutenGraph, library: Library, made: str, passed: bool) -> None:
    stored(library, np.eye(4)[:1])
    library.update(BOOK, embedder=made)
    result = outcome(checks.embedder_identity, gutengraph)
    assert result.passed is passed
    assert made in (result.description or "")
    assert (library.record(BOOK).status == "failed") is not passed


# --- extraction ---


@pytest.mark.parametrize("same", [True, False])
def test_llm_identity(gutengraph: GutenGraph, library: Library, same: bool) -> None:
    library.update(BOOK, llm=str(FakeLLM().identity) if same else "ollama:another")
    assert outcome(checks.llm_identity, gutengraph).passed is same
    assert (library.record(BOOK).status == "failed") is not same


@pytest.mark.parametrize(("language", "passed"), [("en", True), ("fr", False)])
def test_language(gutengraph: GutenGraph, library: Library, language: str, passed: bool) -> None:
    library.update(BOOK, language=language)
    result = outcome(checks.language, gutengraph)
    assert result.passed is passed
    assert result.severity is dg.AssetCheckSeverity.WARN
    assert library.record(BOOK).status == "building"


def test_parse_fail_rate(gutengraph: GutenGraph, library: Library) -> None:
    good = [Entry(step=STEP, item=str(i)) for i in range(8)]
    bad = Entry(step=STEP, item="8", outcome="no_json", raw="Once | upon <b>a time</b>")
    entered(library, *good, bad, Entry(step=STEP, item="9", outcome="other_shape", raw="[1]"))
    result = outcome(checks.parse_fail_rate, gutengraph)
    assert not result.passed
    assert "2 of 10 replies could not be read (20.0%, 10% allowed)" in (result.description or "")
    replies = result.metadata["replies"].value
    assert "Once \\| upon &lt;b&gt;a time" in str(replies)  # untrusted: neither a column nor markup
    assert library.record(BOOK).status == "building"


def test_rates_within_what_is_allowed(gutengraph: GutenGraph, library: Library) -> None:
    entered(library, *[Entry(step=STEP, item=str(i), proposed=4, grounded=3, kept=3) for i in range(20)])
    for check in (checks.parse_fail_rate, checks.truncation_rate, checks.name_grounding):
        assert outcome(check, gutengraph).passed


def test_truncation_rate(gutengraph: GutenGraph, library: Library) -> None:
    entered(library, Entry(step=STEP, item="0"), Entry(step=STEP, item="1", truncated=True, raw='["Ada",'))
    result = outcome(checks.truncation_rate, gutengraph)
    assert not result.passed
    assert "1 of 2 replies were cut" in (result.description or "")


def test_name_grounding(gutengraph: GutenGraph, library: Library) -> None:
    entered(library, Entry(step=STEP, item="0", proposed=10, grounded=4, kept=4, leaks=5))
    result = outcome(checks.name_grounding, gutengraph)
    assert not result.passed
    assert "4 of 10 names" in (result.description or "")
    assert "5 were the prompt's own examples" in (result.description or "")


@pytest.mark.parametrize(
    ("counts", "kind", "passed"),
    [
        ({"persons": 10, "cast": 4, "dropped": 3}, "fiction", True),
        ({"persons": 10, "cast": 0, "dropped": 3}, "fiction", False),
        ({"persons": 10, "cast": 0, "dropped": 3}, "non-fiction", True),
        ({"persons": 100, "cast": 2, "dropped": 98}, "fiction", False),
        ({"persons": 100, "cast": 0, "dropped": 98}, "non-fiction", False),
        ({"persons": 20, "cast": 0, "dropped": 20}, "non-fiction", False),
        ({"persons": 1, "cast": 0, "dropped": 1}, "non-fiction", True),
        ({"persons": 19, "cast": 0, "dropped": 19}, "non-fiction", True),
        ({"persons": 1, "cast": 0, "dropped": 1}, "fiction", False),
        ({}, "fiction", False),
    ],
)
def test_filter_yield(
    gutengraph: GutenGraph, library: Library, counts: dict[str, int], kind: str, passed: bool
) -> None:
    library.update(BOOK, kind=kind, counts=counts)
    assert outcome(checks.filter_yield, gutengraph).passed is passed


def test_a_parked_book_is_asked_nothing(gutengraph: GutenGraph, library: Library) -> None:
    library.update(BOOK, language="fr")
    for check in (
        checks.llm_identity,
        checks.parse_fail_rate,
        checks.truncation_rate,
        checks.name_grounding,
        checks.filter_yield,
    ):
        result = outcome(check, gutengraph)
        assert result.passed
        assert "parked" in (result.description or "")


# --- the reading by an instruct model ---

READING = (checks.reading_parse_fail_rate, checks.reading_truncation_rate, checks.reading_grounding)


def read_badly(library: Library) -> None:
    """The cast was drawn well; of the chapters none could be read, one was cut, and what one quoted is not there."""
    entered(library, Entry(step="enrichment", item="ada", proposed=2, grounded=2, kept=2), step="enrichment")
    entered(
        library,
        Entry(step="chapters", item="1/0", outcome="no_json", raw="Dear <reader>"),
        Entry(step="chapters", item="2/0", outcome="other_shape", raw="[1]", truncated=True),
        Entry(step="chapters", item="3/0", proposed=8, grounded=1, kept=1),
        step="chapters",
    )


def test_the_reading_is_checked_step_by_step(gutengraph: GutenGraph, library: Library) -> None:
    gutengraph.models.__dict__["llm"] = FakeLLM(instruct=True)
    read_badly(library)
    fails, cuts, quotes = (outcome(check, gutengraph) for check in READING)
    assert not fails.passed
    assert not cuts.passed
    assert not quotes.passed
    assert "enrichment: 0 of 1 replies could not be read" in (fails.description or "")
    assert "chapters: 2 of 3 replies could not be read (66.7%" in (fails.description or "")
    assert "Dear &lt;reader&gt;" in str(fails.metadata["replies"].value)
    assert "1 of 8 quotes stand in the text" in (quotes.description or "")
    assert library.record(BOOK).status == "building"


def test_whom_nobody_reads_is_not_judged_by_what_an_earlier_model_left(
    gutengraph: GutenGraph, library: Library
) -> None:
    read_badly(library)
    for check in READING:  # the model follows no instructions
        assert outcome(check, gutengraph).passed
    gutengraph.models.__dict__["llm"] = FakeLLM(instruct=True)
    library.update(BOOK, kind="non-fiction")
    for check in READING:
        result = outcome(check, gutengraph)
        assert result.passed
        assert "No instruct model reads the book" in (result.description or "")


def test_that_vectors_stand_in_for_the_models_reading_is_said() -> None:
    failed = Summary(step="chapters", asked=12, failed=12)
    assert themes_by({"themes": 3, "atmospheres": 1}, failed) == (
        "The passages' vectors, as that reading gave none with support: themes and atmospheres "
        "(12 of 12 replies on the chapters could not be read)."
    )
    assert themes_by(
        {"themes": 3, "themes_told": 3, "atmospheres": 1}, Summary(step="chapters", asked=9)
    ) == (
        "The model's reading of the chapters: themes. The passages' vectors, as that reading gave none with support: "
        "atmospheres (0 of 9 replies on the chapters could not be read)."
    )
    assert themes_by({"themes": 3}, None) == "The passages' vectors."


# --- graphs ---


def written(
    library: Library, *, quote: str | None = None, surface: str = "Ada", mentioned: bool = True
) -> None:
    """The graph of BODY: Ada is the sister of Captain Rook."""
    start = BODY.index("Ada was")
    node = {"gutenberg_id": BOOK, "label": "Character", "aliases": [], "standing": "cast", "kind": ""}
    nodes = [
        node | {"id": "7:ada", "name": "Ada", "embedding": [1.0, 0, 0, 0]},
        node | {"id": "7:rook", "name": "Captain Rook", "embedding": [0, 1.0, 0, 0]},
    ]
    edge = {
        "source": "7:ada",
        "target": "7:rook",
        "rel": "RELATED_TO",
        "type": "sibling_of",
        "quote": "Ada was the sister of Captain Rook." if quote is None else quote,
        "start": start,
        "end": len(BODY),
        "chapter": 0,
        "how": "pattern:kin_of",
        "confidence": 0.9,
    }
    mention = {"window": 0, "chapter": 0, "chunk_id": "7:000000"}
    evidence = [
        mention | {"entity": "7:ada", "surface": surface, "start": start, "end": start + 3},
        mention | {"entity": "7:rook", "surface": "Captain Rook", "start": 0, "end": 12},
    ]
    write_text(library.path(BOOK, "body.txt"), BODY)
    tables = {
        "nodes": pa.Table.from_pylist(nodes, schema=NODES),
        "edges": pa.Table.from_pylist([edge], schema=EDGES),
        "evidence": pa.Table.from_pylist(evidence if mentioned else evidence[1:], schema=EVIDENCE),
        "merges": MERGES.empty_table(),
    }
    for name, table in tables.items():
        write_table(library.path(BOOK, f"graph/{name}.parquet"), table)


def test_grounding_holds_across_a_line_wrap(gutengraph: GutenGraph, library: Library) -> None:
    written(library)
    assert outcome(checks.grounding, gutengraph).passed


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ({"quote": "Ada was the aunt of Captain Rook."}, "1 whose quote is not in the text"),
        ({"quote": ""}, "1 whose quote is not in the text"),
        ({"surface": "Eve"}, "1 not in place"),
        ({"mentioned": False}, "1 without a mention"),
    ],
)
def test_grounding_blocks(
    gutengraph: GutenGraph, library: Library, damage: dict[str, object], says: str
) -> None:
    written(library, **damage)  # type: ignore[arg-type]
    result = outcome(checks.grounding, gutengraph)
    assert not result.passed
    assert says in (result.description or "")
    assert library.record(BOOK).status == "failed"


@pytest.mark.parametrize(("twins", "passed"), [(0, True), (1, False)])
def test_orphans(gutengraph: GutenGraph, library: Library, twins: int, passed: bool) -> None:
    library.update(BOOK, counts={"orphans": 12, "orphan_twins": twins})
    result = outcome(checks.orphans, gutengraph)
    assert result.passed is passed
    assert "12 stand alone" in (result.description or "")


def test_merged_counts(gutengraph: GutenGraph, library: Library) -> None:
    from gutengraph_core.files import sha256

    written(library)
    write_table(library.path(BOOK, "chunks.parquet"), chunk_rows(5))
    names = ("nodes", "edges", "evidence", "merges")
    files = {f"{name}.parquet": library.path(BOOK, f"graph/{name}.parquet") for name in names}
    library.update(BOOK, graph_sha256={name: sha256(path) for name, path in files.items()})
    build_merged(library)
    whole = library_checks.merged_counts(gutengraph=gutengraph)
    assert whole.passed
    assert "1 books, 2 nodes, 1 relations" in whole.description
    # Published from other files than those that lie there now.
    write_table(files["nodes.parquet"], NODES.empty_table())
    stale = library_checks.merged_counts(gutengraph=gutengraph)
    assert not stale.passed
    assert "hold 0 and 1" in stale.description


def test_file_system(gutengraph: GutenGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    from gutengraph_core.errors import DataFolderError

    assert library_checks.file_system(gutengraph=gutengraph).passed

    def refuse(home: object) -> None:
        raise DataFolderError("It lies on a drive of Windows.", remedy="Set GUTENGRAPH_HOME.")

    monkeypatch.setattr(library_checks, "check_data_folder", refuse)
    refused = library_checks.file_system(gutengraph=gutengraph)
    assert not refused.passed
    assert "Set GUTENGRAPH_HOME" in refused.description


@pytest.mark.parametrize(("end", "passed"), [(None, True), (3, False)])
def test_a_theme_rests_on_whole_passages(
    gutengraph: GutenGraph, library: Library, end: int | None, passed: bool
) -> None:
    from gutengraph_core.tables import EVIDENCE

    written(library)
    chunks = chunk_rows(1)
    write_table(library.path(BOOK, "chunks.parquet"), chunks)
    (chunk,) = chunks.to_pylist()
    paths = {name: library.path(BOOK, f"graph/{name}.parquet") for name in ("nodes", "evidence")}
    nodes = [
        *read_table(paths["nodes"]).to_pylist(),
        {"id": f"{BOOK}:theme-sea", "label": "Theme", "name": "sea"},
    ]
    place = {"start": chunk["start"], "end": end or chunk["end"], "window": 0, "chapter": 1}
    rows = read_table(paths["evidence"]).to_pylist()
    rows.append({"entity": f"{BOOK}:theme-sea", "surface": "", "chunk_id": chunk["id"], **place})
    write_table(paths["nodes"], pa.Table.from_pylist(nodes, schema=NODES))
    write_table(paths["evidence"], pa.Table.from_pylist(rows, schema=EVIDENCE))
    result = outcome(checks.grounding, gutengraph)
    assert result.passed is passed
    if not passed:
        assert "1 not in place" in (result.description or "")
