"""A hub of 50,000 edges, and what a walk does with hubs: never through one, but out of one that is asked for."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import harbour_story as story
import pyarrow as pa
import pytest
from fakes import FakeLLM

from gutengraph_core import tables
from gutengraph_core.files import write_table
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query.ask import ask, run
from gutengraph_query.brains import Brains

EDGES = 50_000
BUDGET_S = 5.0
"""For the question that enters by the hub itself, on two busy cores; every other one takes a tenth of it."""


@pytest.fixture(scope="module")
def hub_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story, and a 'Pell Town' where 50,000 people live, Lucy and Silas among them."""
    library = Library(tmp_path_factory.mktemp("hub"))
    story.build_library(library, 7)
    import pyarrow.parquet as pq

    nodes = pq.read_table(library.path(7, "graph/nodes.parquet")).to_pylist()
    edges = pq.read_table(library.path(7, "graph/edges.parquet")).to_pylist()
    node, place = nodes[0], next(n for n in nodes if n["label"] == "Location")
    hub = {**place, "id": "7:pell-town", "name": "Pell Town", "aliases": ["Pell Town"], "kind": ""}
    crowd = [
        {**node, "id": f"7:c{n}", "name": f"Citizen {n}", "aliases": [f"Citizen {n}"], "embedding": vector}
        for n, vector in enumerate([node["embedding"]] * (EDGES - 2))
    ]
    lives = {**edges[0], "rel": "INTERACTS_WITH", "type": "lives_in", "target": "7:pell-town"}
    homes = [c["id"] for c in crowd] + ["7:lucy", "7:silas-crane"]
    write_table(
        library.path(7, "graph/nodes.parquet"),
        pa.Table.from_pylist([*nodes, hub, *crowd], schema=tables.NODES),
    )
    edges += [{**lives, "source": home} for home in homes]
    write_table(library.path(7, "graph/edges.parquet"), pa.Table.from_pylist(edges, schema=tables.EDGES))
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


def timed(here: Brains, question: str) -> tuple[dict[str, Any], float]:
    start = time.perf_counter()
    state = run(here, question, mode="graph", book=7)
    return dict(state), time.perf_counter() - start


def test_the_hub_has_its_edges(here: Brains) -> None:
    hub = next(n for n in here.graph().graph.vectors.nodes if n.id == "7:pell-town")
    assert hub.degree == EDGES


def test_a_walk_never_goes_through_the_hub(here: Brains) -> None:
    state, seconds = timed(here, "What did Lucy dream of at night?")
    assert seconds < BUDGET_S
    assert state["graph_results"]
    for hit in state["graph_results"]:
        inner = re.split(r" [<-]+\[[A-Z_]+\]-+>? ", hit["line"])[1:-1]
        assert "Pell Town" not in inner
        assert "Citizen" not in hit["line"]


def test_the_entry_node_is_walked_from_even_if_it_is_a_hub(here: Brains) -> None:
    state, seconds = timed(here, "What about Pell Town pleases Lucy so?")
    assert seconds < BUDGET_S
    assert 0 < len(state["graph_results"]) <= 10
    assert state["entry"]["node"] == "Pell Town"


def test_a_lookup_at_the_hub_is_bounded(here: Brains) -> None:
    start = time.perf_counter()
    answer = ask(here, "Who lives in Pell Town?", mode="graph", book=7)
    assert time.perf_counter() - start < BUDGET_S
    assert f"+{EDGES - 8} more" in answer["answer"]
    assert len(answer["paths"]) <= 10
    assert len(answer["citations"]) < 50


def test_a_query_over_the_hub_is_stopped_or_answered_in_time(here: Brains) -> None:
    start = time.perf_counter()
    rows = here.worker.run(
        "MATCH (l:Location)<-[r:INTERACTS_WITH]-(c:Character) WHERE l.name CONTAINS 'Pell' RETURN c.name"
    )
    assert len(rows.rows) == 50
    assert time.perf_counter() - start < BUDGET_S
    here.worker.close()
