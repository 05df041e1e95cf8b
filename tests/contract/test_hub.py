"""A hub of 50,000 edges, and what a walk does with hubs: never through one, but out of one that is asked for."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import harbour_story as story
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from fakes import FakeLLM

from gutengraph_core.files import read_table, write_table
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query.ask import ask, run
from gutengraph_query.brains import Brains

EDGES = 50_000
HUB = "7:pell-town"
READINGS = 5
"""What a question may take at most, in readings of all the hub's edges. It takes two at most; with every one of the
50,000 walks embedded and ranked it takes eleven."""


def many(table: pa.Table, **columns: list[Any]) -> pa.Table:
    """The table's first row over and over, with these columns instead of its own."""
    rows = table.take([0] * len(next(iter(columns.values()))))
    for name, values in columns.items():
        field = rows.schema.field(name)
        rows = rows.set_column(rows.schema.get_field_index(name), field, pa.array(values, field.type))
    return rows


@pytest.fixture(scope="module")
def hub_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story, and a 'Pell Town' where 50,000 people live, Lucy and Silas among them."""
    library = Library(tmp_path_factory.mktemp("hub"))
    story.build_library(library, 7)
    nodes = read_table(library.path(7, "graph/nodes.parquet"))
    edges = read_table(library.path(7, "graph/edges.parquet"))
    place = nodes.filter(pc.equal(nodes["label"], "Location"))
    names = [f"Citizen {n}" for n in range(EDGES - 2)]
    people = [f"7:c{n}" for n in range(EDGES - 2)]
    hub = many(place, id=[HUB], name=["Pell Town"], aliases=[["Pell Town"]], kind=[""])
    crowd = many(nodes, id=people, name=names, aliases=[[name] for name in names])
    homes = [*people, "7:lucy", "7:silas-crane"]
    lives = many(
        edges,
        rel=["INTERACTS_WITH"] * EDGES,
        type=["lives_in"] * EDGES,
        source=homes,
        target=[HUB] * EDGES,
    )
    write_table(library.path(7, "graph/nodes.parquet"), pa.concat_tables([nodes, hub, crowd]))
    write_table(library.path(7, "graph/edges.parquet"), pa.concat_tables([edges, lives]))
    story.record_hashes(library, 7)
    build_merged(library)
    return library.home


@pytest.fixture(scope="module")
def here(hub_home: Path) -> Brains:
    brains = Brains(
        Settings(home=hub_home, path_threshold=0.05, passage_threshold=0.05),
        embedder=story.ToyEmbedder(),
        llm=FakeLLM(logprobs={" x": -1.0}),
    )
    brains.graph()  # the node vectors are loaded once for all questions
    return brains


@pytest.fixture(scope="module")
def budget_s(here: Brains) -> float:
    """By this machine's own speed: reading the hub's edges once, many times over."""
    start = time.perf_counter()
    assert len(here.graph().graph.edges_of([HUB])) == EDGES
    return READINGS * (time.perf_counter() - start)


def timed(here: Brains, question: str) -> tuple[dict[str, Any], float]:
    start = time.perf_counter()
    state = run(here, question, mode="graph", book=7)
    return dict(state), time.perf_counter() - start


def test_the_hub_has_its_edges(here: Brains) -> None:
    hub = next(n for n in here.graph().graph.vectors.nodes if n.id == HUB)
    assert hub.degree == EDGES


def test_a_walk_never_goes_through_the_hub(here: Brains, budget_s: float) -> None:
    state, seconds = timed(here, "What did Lucy dream of at night?")
    assert seconds < budget_s
    assert state["graph_results"]
    for hit in state["graph_results"]:
        inner = re.split(r" [<-]+\[[A-Z_]+\]-+>? ", hit["line"])[1:-1]
        assert "Pell Town" not in inner
        assert "Citizen" not in hit["line"]


def test_the_entry_node_is_walked_from_even_if_it_is_a_hub(here: Brains, budget_s: float) -> None:
    state, seconds = timed(here, "What about Pell Town pleases Lucy so?")
    assert seconds < budget_s
    assert 0 < len(state["graph_results"]) <= 10
    assert state["entry"]["node"] == "Pell Town"


def test_a_lookup_at_the_hub_is_bounded(here: Brains, budget_s: float) -> None:
    start = time.perf_counter()
    answer = ask(here, "Who lives in Pell Town?", mode="graph", book=7)
    assert time.perf_counter() - start < budget_s
    assert f"+{EDGES - 8} more" in answer["answer"]
    assert len(answer["paths"]) <= 10
    assert len(answer["citations"]) < 50


def test_a_query_over_the_hub_is_stopped_or_answered_in_time(here: Brains, budget_s: float) -> None:
    start = time.perf_counter()
    rows = here.worker.run(
        "MATCH (l:Location)<-[r:INTERACTS_WITH]-(c:Character) WHERE l.name CONTAINS 'Pell' RETURN c.name"
    )
    assert len(rows.rows) == 50
    assert time.perf_counter() - start < budget_s
    here.worker.close()
