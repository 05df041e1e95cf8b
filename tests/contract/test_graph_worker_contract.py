"""Untrusted statements against real Kuzu: nothing outside is touched, no process lost, the next one answered."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harbour_story as story
import pytest
from cypher_attacks import ATTACKS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from waiting import LONG_S, within

from gutengraph_core.errors import CypherFailed, CypherRefused, NotBuilt
from gutengraph_core.graph.build import build_merged
from gutengraph_core.graph.guard import _FUNCTIONS
from gutengraph_core.graph.worker import CypherWorker
from gutengraph_core.library import Library

CAPTAIN = (
    "MATCH (a:Character)-[r:INTERACTS_WITH]->(b:Location) WHERE r.type = 'captain_of' RETURN a.name, b.name"
)
ANSWER = [["Captain Tobias Wren", "Kittiwake"]]
SLOW = (
    "MATCH (a:Character), (b:Character), (c:Character), (d:Character), (e:Character), (f:Character), (g:Character), "
    "(h:Character), (i:Character), (j:Character), (k:Character) "
    "WHERE a.mentions + b.mentions + c.mentions + d.mentions + e.mentions + f.mentions + g.mentions + h.mentions "
    "+ i.mentions + j.mentions + k.mentions < 0 RETURN count(*)"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Library:
    library = Library(tmp_path_factory.mktemp("built") / "home")
    story.build_library(library, 7)
    return library


@pytest.fixture(scope="module")
def worker(built: Library) -> Iterator[CypherWorker]:
    worker = CypherWorker(built)
    yield worker
    worker.close()


def everything_under(folder: Path) -> dict[str, bytes | None]:
    return {str(p): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def raw(worker: CypherWorker, statement: str) -> dict[str, Any] | None:
    """Past the guard: what the process itself allows."""
    request = {"statement": statement, "parameters": {}, "rows": 50, "timeout_ms": 500}
    process = worker._ready()
    assert process.begin(request)
    return process.finish(timeout_s=3.0)


def test_a_statement_is_answered_with_its_columns_and_version(worker: CypherWorker) -> None:
    found = worker.run(CAPTAIN)
    assert (found.columns, found.rows, found.version) == (["a.name", "b.name"], ANSWER, 1)
    assert found.statement.endswith("LIMIT 50")
    assert worker.run("MATCH (a:Character) RETURN a.name", limit=2).rows.__len__() == 2
    whole = worker.run("MATCH (a:Character {name: 'Lucy'}) RETURN a").rows[0][0]
    assert whole["name"] == "Lucy"
    assert "embedding" not in whole
    bound = worker.run("MATCH (a) WHERE a.name = $who RETURN a.gender", parameters={"who": "Lucy"})
    assert bound.rows == [["F"]]


@pytest.mark.parametrize(("name", "statement"), sorted(ATTACKS.items()))
def test_no_attack_runs(
    worker: CypherWorker, built: Library, tmp_path: Path, name: str, statement: str
) -> None:
    before = everything_under(built.home)
    pid = worker.pid
    with pytest.raises(CypherRefused):
        worker.run(statement.replace("{folder}", str(tmp_path)))
    assert worker.run(CAPTAIN).rows == ANSWER
    assert pid is None or worker.pid == pid
    assert list(tmp_path.iterdir()) == []
    assert everything_under(built.home) == before


def test_the_process_holds_even_without_the_guard(built: Library, tmp_path: Path) -> None:
    """The second wall: no file is read, written or opened, memory is bounded, and a crash costs a restart."""
    worker = CypherWorker(built)
    secret = tmp_path / "secret.csv"
    secret.write_text("the,sesame\n1,2\n")
    kept = tmp_path / "kept.csv"
    kept.write_text("precious")
    before = everything_under(built.home)
    assert "sesame" not in str(raw(worker, f"LOAD FROM '{secret}' (header=true) RETURN *"))
    for statement in (
        f"COPY (MATCH (a:Character) RETURN a.name) TO '{kept}'",
        f"COPY (MATCH (a:Character) RETURN a.name) TO '{tmp_path}/new.csv'",
        f"EXPORT DATABASE '{tmp_path}/exported'",
        "CHECKPOINT",
        "CREATE (b:Book {id: 'x'})",
        f"ATTACH '{tmp_path}/other' AS other (dbtype kuzu)",
        "UNWIND range(1, 300000000) AS x RETURN collect(x)",
        "RETURN repeat('a', 900000000)",
    ):
        reply = raw(worker, statement)
        assert reply is None or "error" in reply, statement
    assert raw(worker, "RETURN " + "(" * 5000 + "1" + ")" * 5000) is None  # the process is gone or was killed
    assert worker.run(CAPTAIN).rows == ANSWER
    files = {p.name for p in tmp_path.rglob("*") if p.is_file()}
    assert files == {"secret.csv", "kept.csv"}
    assert kept.read_text() == "precious"
    assert everything_under(built.home) == before
    worker.close()


def test_a_slow_statement_is_stopped_and_the_next_one_answered(built: Library) -> None:
    worker = CypherWorker(built, timeout_s=1.5)
    worker.warm()
    with pytest.raises(CypherFailed, match=r"stopped after|more memory"):
        within(lambda: worker.run(SLOW), "stopping it")
    assert worker.run(CAPTAIN).rows == ANSWER
    worker.close()


def test_a_killed_worker_is_replaced(built: Library) -> None:
    worker = CypherWorker(built)
    worker.warm()
    first = worker.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert worker.run(CAPTAIN).rows == ANSWER
    assert worker.pid != first
    # killed in the middle of a statement: said, and the next one is answered
    busy = CypherWorker(built, timeout_s=20)
    busy.warm()
    assert busy.pid is not None
    threading.Timer(0.3, os.kill, (busy.pid, signal.SIGKILL)).start()
    with pytest.raises(CypherFailed, match=r"ended the graph's worker"):
        busy.run(SLOW)
    assert busy.run(CAPTAIN).rows == ANSWER
    busy.close()
    worker.close()


def test_the_worker_ends_with_its_owner(built: Library) -> None:
    worker = CypherWorker(built)
    worker.warm()
    child = worker._process._child  # type: ignore[union-attr]
    child.stdin.close()  # type: ignore[union-attr]
    child.wait(timeout=LONG_S)
    worker.close()


def test_a_newer_version_is_followed(library: Library) -> None:
    story.build_library(library, 7)
    worker = CypherWorker(library)
    statement = "MATCH (b:Book) RETURN b.id ORDER BY b.id"
    assert worker.run(statement).rows == [["7"]]
    story.write_book(library, 8)
    build_merged(library)
    build_merged(library)
    assert worker.run(statement).rows == [["7"], ["8"]]
    assert worker.run(statement).version == 3
    worker.close()


def test_nothing_built_is_said(library: Library) -> None:
    with pytest.raises(NotBuilt, match="gutengraph build"):
        CypherWorker(library).run(CAPTAIN)


def test_kuzus_own_words_come_through(worker: CypherWorker) -> None:
    with pytest.raises(CypherFailed, match=r"Kuzu: Binder exception.*surname"):
        worker.run("MATCH (a:Character) RETURN a.surname")


def test_several_threads_take_turns(worker: CypherWorker) -> None:
    answers: list[Any] = []
    threads = [threading.Thread(target=lambda: answers.append(worker.run(CAPTAIN).rows)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=LONG_S)
    assert answers == [ANSWER] * 8


_SHAPES = (
    "MATCH (a:Character) RETURN {f}(a)",
    "MATCH (a:Character) RETURN {f}(a.name), {f}(a.aliases)",
    "OPTIONAL MATCH (a:Character) WHERE a.name = 'nobody' RETURN {f}(a)",
    "MATCH p=(a:Character)-[r:RELATED_TO]->(b:Character) RETURN {f}(p), {f}(r)",
    "UNWIND [] AS x RETURN {f}(x)",
    "WITH [1, 2][5] AS x RETURN {f}(x)",
    "MATCH (a:Character) WITH collect(a.role) AS x RETURN {f}(x)",
    "RETURN {f}([][1])",
    "RETURN {f}({{x: []}})",
    "MATCH (a:Character) RETURN {f}([a])",
    "RETURN {f}('abc', -5, -5)",
    "RETURN {f}('é', 1, 99999999)",
    "RETURN {f}('abc', '(a*)*')",
    "RETURN {f}([], [])",
    "RETURN {f}(CASE WHEN false THEN 1 END)",
    "RETURN {f}(NULL, NULL)",
    "RETURN {f}(x -> x)",
)


def test_no_allowed_function_ends_the_process(worker: CypherWorker) -> None:
    """Kuzu ends it over forty others, by an argument that they do not expect."""
    worker.warm()
    pid = worker.pid
    for function in sorted(_FUNCTIONS):
        for shape in _SHAPES:
            with contextlib.suppress(CypherRefused, CypherFailed):
                worker.run(shape.format(f=function))
            assert worker.pid == pid, shape.format(f=function)


# --- the fuzzer: a grammar of what models write, with what attackers write grafted into it ---
_labels = st.sampled_from(
    ["Character", "Location", "Book", "Theme", "`Event`", "Ghost", "Character:Location"]
)
_rels = st.sampled_from(
    ["RELATED_TO", "INTERACTS_WITH", "APPEARS_IN", "HAS_THEME", "RELATED_TO|INTERACTS_WITH"]
)
_vars = st.sampled_from(["a", "b", "r", "x", "`a`", "limit", "load", "copy"])
_strings = st.text(st.sampled_from("ab'\"\\`;/*-é\u2028\n$()"), max_size=6).flatmap(
    lambda s: st.sampled_from(
        ["'" + s + "'", '"' + s + '"', "'" + s.replace("\\", "").replace("'", "\\'") + "'"]
    )
)
_values = st.one_of(
    _strings, st.integers(-9, 10**9).map(str), _vars, st.sampled_from(["NULL", "true", "$p", "1.5e3"])
)
_lengths = st.sampled_from(["", "", "*1..2", "* TRAIL 1..2", "*", "*..9", "* SHORTEST 1..3"])
_node = st.builds("({}:{})".format, _vars, _labels)
_arrow = st.builds(
    lambda rel, length, form: form.format(rel + length), _rels, _lengths,
    st.sampled_from(["-[:{}]->", "<-[:{}]-", "-[:{}]-"]),
)  # fmt: skip
_path = st.builds("".join, st.tuples(_node, _arrow, _node))
_call = st.builds(
    "{}({})".format,
    st.sampled_from(
        "count collect lower size labels range repeat nodes label nextval list_sort file".split()
    ),
    _values,
)
_expression = st.recursive(
    st.one_of(_values, _call, st.builds("{}.name".format, _vars)),
    lambda inner: st.one_of(
        st.builds(
            "({} {} {})".format, inner, st.sampled_from(["=", "+", "AND", "CONTAINS", "<", "IN"]), inner
        ),
        st.builds("NOT {}".format, inner),
        st.builds("[{}]".format, inner),
        st.builds("CASE WHEN {} THEN {} END".format, inner, inner),
        st.builds("EXISTS {{ MATCH {} WHERE {} }}".format, _path, inner),
    ),
    max_leaves=6,
)
_reading = st.one_of(
    st.builds("MATCH {}".format, _path),
    st.builds("OPTIONAL MATCH {} WHERE {}".format, _path, _expression),
    st.builds("UNWIND {} AS x".format, _expression),
    st.builds("WITH {} AS a".format, _expression),
)
_ending = st.builds(
    "RETURN {}{}".format, _expression, st.sampled_from(["", " LIMIT 3", " LIMIT 99999", " ORDER BY a.name"])
)
_graft = st.sampled_from([*ATTACKS.values(), ";", "//", "/*", "*/", "UNION", "UNION ALL", "'", "`", "(", "}"])
_statement = st.builds(
    lambda clauses, end, graft, at: " ".join([*clauses[:at], *([graft] if graft else []), *clauses[at:], end]),
    st.lists(_reading, max_size=3), _ending, st.one_of(st.none(), _graft), st.integers(0, 3),
)  # fmt: skip


@settings(
    max_examples=int(os.environ.get("GUTENGRAPH_TEST_FUZZ", "250")),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(statement=_statement)
def test_whatever_is_written_nothing_is_touched_and_nobody_dies(
    worker: CypherWorker, built: Library, fuzz_folder: Path, statement: str
) -> None:
    pid = worker.pid
    told = ""
    try:
        found = worker.run(statement.replace("{folder}", str(fuzz_folder)))
        assert len(found.rows) <= 50
    except (CypherRefused, CypherFailed) as failure:
        told = str(failure)
    assert "ended the graph's worker" not in told
    assert pid is None or worker.pid == pid
    assert list(fuzz_folder.iterdir()) == []


@pytest.fixture(scope="module")
def fuzz_folder(built: Library, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("outside")
    before = everything_under(built.home)
    yield folder
    assert everything_under(built.home) == before
    assert list(folder.iterdir()) == []
