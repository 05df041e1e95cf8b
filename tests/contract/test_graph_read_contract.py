"""Reading the published graph, and the searches over it, on the real Kuzu."""

from __future__ import annotations

from collections.abc import Sequence

import harbour_story as story
import numpy as np
import pyarrow.parquet as pq
import pytest

from gutengraph_core.errors import StoreError
from gutengraph_core.graph import versions
from gutengraph_core.graph.build import build_merged
from gutengraph_core.graph.published import PublishedGraph
from gutengraph_core.graph.read import Graph
from gutengraph_core.library import Library
from gutengraph_query.retrieval.ego import Walk, joining, keep_relevant, walk
from gutengraph_query.retrieval.entry import Entry, NameIndex, named, nearest
from gutengraph_query.retrieval.lookup import Lookup, Lookups
from gutengraph_query.understanding.question import read_question

TOY = story.ToyEmbedder()


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """The story twice: as books 7 and 8."""
    library = Library(tmp_path_factory.mktemp("home"))
    story.write_book(library, 7)
    story.write_book(library, 8)
    build_merged(library)
    return PublishedGraph(library).current()


@pytest.fixture(scope="module")
def index(graph: Graph) -> NameIndex:
    return NameIndex(graph.vectors.nodes)


def entry(graph: Graph, name: str, book: int = 7) -> Entry:
    return Entry(graph.vectors.nodes[graph.vectors.row[story.node_id(name, book)]], 1.0)


# --- the helpers of the store ---
def test_characters_are_of_one_book_most_mentioned_first(graph: Graph) -> None:
    found = graph.characters(7)
    assert {node.book for node in found} == {7}
    assert len(found) == 5
    assert [n.mentions for n in found] == sorted((n.mentions for n in found), reverse=True)
    wren = next(node for node in found if node.name == "Captain Tobias Wren")
    assert (wren.gender, wren.standing, wren.aliases[1]) == ("M", "cast", "Captain Wren")
    assert wren.degree == 2


def test_relations_are_surest_first_and_quote_the_text(graph: Graph) -> None:
    found = graph.relations(7)
    assert [e.confidence for e in found] == sorted((e.confidence for e in found), reverse=True)
    assert {e.book for e in found} == {7}
    assert all(story.body()[e.start : e.end] == e.quote for e in found)
    assert "Captain Tobias Wren -[CAPTAIN_OF]-> Kittiwake" in [e.line for e in found]


def test_edges_of_a_node_either_way_by_type_and_book(graph: Graph) -> None:
    agnes = story.node_id("Mrs. Agnes Pell", 7)
    statements: list[str] = []
    found = graph.edges_of([agnes], statements=statements)
    assert {e.type for e in found} == {"sibling_of", "parent_of", "engaged_to", "lives_in"}
    assert {e.other(agnes) for e in found} == {
        story.node_id(name, 7) for name in ("Captain Tobias Wren", "Lucy", "Dr. Marlow", "Harrow Quay")
    }
    assert [e.type for e in graph.edges_of([agnes], types=["parent_of"], book=7)] == ["parent_of"]
    assert graph.edges_of([agnes], book=8) == []
    for statement in statements:  # what is shown to people runs as it stands
        assert graph.rows(statement)


def test_mention_passages(graph: Graph) -> None:
    found = graph.mention_passages(story.node_id("Kittiwake", 7), limit=5)
    assert [(p.chunk_id, p.count) for p in found] == [("7:000000", 1), ("7:000001", 1)]
    assert len(graph.mention_passages(story.node_id("Kittiwake", 7), limit=1)) == 1


def test_a_query_of_another_dimension_is_refused(graph: Graph) -> None:
    with pytest.raises(StoreError, match="3 dimensions, the graph's nodes 256"):
        graph.vectors.cosines(np.ones(3, dtype=np.float32))


def test_an_empty_graph_answers_nothing(library: Library) -> None:
    library.home.mkdir(parents=True)
    build_merged(library)
    empty = PublishedGraph(library).current()
    assert empty.books == []
    assert empty.vectors.cosines(TOY.embed_query("anything")).shape == (0,)
    assert nearest(empty, TOY.embed_query("anything"), book=None, limit=3) == []


# --- entry ---
def test_exact_names_enter_first_whatever_their_title(graph: Graph, index: NameIndex) -> None:
    assert [e.node.id for e in named(index, ["Captain Wren", "Lucy"], 7)] == [
        story.node_id("Captain Tobias Wren", 7),
        story.node_id("Lucy", 7),
    ]
    assert [e.node.name for e in named(index, ["Tobias Wren"], 7)] == ["Captain Tobias Wren"]
    assert [e.node.book for e in named(index, ["Lucy"], None)] == [7, 8]
    assert named(index, ["Nemo"], None) == []


def test_vector_jump_finds_the_nearest_node(graph: Graph) -> None:
    (best,) = nearest(graph, TOY.embed_query("the boatswain Silas"), book=7, limit=1)
    assert best.node.name == "Silas Crane"
    assert 0 < best.score < 1
    assert {e.node.book for e in nearest(graph, TOY.embed_query("Silas"), book=8, limit=3)} == {8}


# --- lookups ---
@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who is the captain of the Kittiwake?", ["Captain Tobias Wren"]),
        ("Which ship does Captain Wren command?", ["Kittiwake"]),
        ("Who is Captain Wren's sister?", ["Mrs. Agnes Pell"]),
        ("Who is Captain Wren's brother?", []),
        ("Who is the brother of Agnes?", ["Captain Tobias Wren"]),
        ("Who is the mother of Lucy?", ["Mrs. Agnes Pell"]),
        ("Who is the father of Lucy?", []),
        ("Whose daughter is Lucy?", ["Mrs. Agnes Pell"]),
        ("Who is the daughter of the captain's sister?", []),
        ("Who is the daughter of Captain Wren's sister?", ["Lucy"]),
        ("Who is the mother of Lucy and sister of Captain Wren?", ["Mrs. Agnes Pell"]),
        ("Who is the boatswain of the ship that Captain Wren commands?", ["Silas Crane"]),
        ("Where does the sister of Captain Wren live?", ["Harrow Quay"]),
        ("Whom does Dr. Marlow marry?", ["Mrs. Agnes Pell"]),
        ("Who is the doctor of Lucy?", ["Dr. Marlow"]),
        ("Who is the patient of Dr. Marlow?", ["Lucy"]),
        ("Who is Silas?", ["Silas Crane"]),
        ("Who is Harrow Quay's captain?", []),
        ("What did Lucy eat?", []),
        ("How is Lucy related to Agnes?", ["Mrs. Agnes Pell"]),
    ],
)
def test_typed_lookups(graph: Graph, index: NameIndex, question: str, names: list[str]) -> None:
    assert [found.node.name for found in look_up(graph, index, question).found] == names


def look_up(graph: Graph, index: NameIndex, text: str, book: int | None = 7) -> Lookup:
    return Lookups(graph, index, book=book).answer(read_question(text, lambda w: index.knows(w, book)))


def test_lists_are_of_the_book(graph: Graph, index: NameIndex) -> None:
    listed = look_up(graph, index, "Who are the characters?")
    assert {found.node.book for found in listed.found} == {7}
    assert len(listed.found) == 5
    assert len(look_up(graph, index, "List the places.", None).found) == 4
    assert graph.rows(listed.statements[0])


def test_chains_keep_the_edges_of_every_step(graph: Graph, index: NameIndex) -> None:
    (found,) = look_up(graph, index, "Who is the daughter of Captain Wren's sister?").found
    assert [e.type for e in found.edges] == ["parent_of", "sibling_of"]


# --- the ego graph ---
def ego(graph: Graph, entries: Sequence[Entry], question: str, **options: int) -> list[Walk]:
    given = {"max_hops": 2, "hub_degree": 100, **options}
    return walk(graph, entries, TOY.embed_query(question), book=7, **given)


def lines(walks: Sequence[Walk]) -> set[str]:
    return {w.line for w in walks}


def test_walk_is_undirected_and_as_long_as_asked(graph: Graph) -> None:
    start = [entry(graph, "Kittiwake")]
    assert lines(ego(graph, start, "Kittiwake", max_hops=1)) == {
        "Kittiwake <-[CAPTAIN_OF]- Captain Tobias Wren",
        "Kittiwake <-[BOATSWAIN_OF]- Silas Crane",
    }
    two = lines(ego(graph, start, "Kittiwake"))
    assert "Kittiwake <-[CAPTAIN_OF]- Captain Tobias Wren -[SIBLING_OF]-> Mrs. Agnes Pell" in two
    assert not any("Lucy" in line for line in two)
    three = ego(graph, start, "Kittiwake", max_hops=3)
    assert any("Lucy" in w.line for w in three)
    for w in three:
        assert len({e.key for e in w.edges}) == len(w.edges)
        assert len(set(w.nodes)) == len(w.nodes)


def test_hubs_are_not_walked_through_but_an_entry_is(graph: Graph) -> None:
    through_agnes = "Captain Tobias Wren -[SIBLING_OF]-> Mrs. Agnes Pell -[PARENT_OF]-> Lucy"
    start = [entry(graph, "Captain Tobias Wren")]
    assert through_agnes in lines(ego(graph, start, "Lucy"))
    pruned = lines(ego(graph, start, "Lucy", hub_degree=4))
    assert through_agnes not in pruned
    assert "Captain Tobias Wren -[SIBLING_OF]-> Mrs. Agnes Pell" in pruned  # a hub may end a walk
    from_hub = lines(ego(graph, [entry(graph, "Mrs. Agnes Pell")], "Lucy", hub_degree=1))
    assert "Mrs. Agnes Pell -[PARENT_OF]-> Lucy" in from_hub


def test_filter_keeps_what_is_near_best_first_once_and_at_most_as_many(graph: Graph) -> None:
    question = TOY.embed_query("Wren captain of Kittiwake")
    found = ego(graph, [entry(graph, "Kittiwake"), entry(graph, "Captain Tobias Wren")], "captain Kittiwake")
    kept = keep_relevant(found, question, TOY.embed_documents, threshold=0.3, limit=3)
    assert kept[0].walk.line in (
        "Captain Tobias Wren -[CAPTAIN_OF]-> Kittiwake", "Kittiwake <-[CAPTAIN_OF]- Captain Tobias Wren",
    )  # fmt: skip
    assert len(kept) <= 3
    assert [s.score for s in kept] == sorted((s.score for s in kept), reverse=True)
    assert len({frozenset(e.key for e in s.walk.edges) for s in kept}) == len(kept)
    assert keep_relevant(found, question, TOY.embed_documents, threshold=1.01, limit=3) == []
    assert keep_relevant([], question, TOY.embed_documents, threshold=0.0, limit=3) == []


def test_joining_finds_the_way_from_one_to_the_other(graph: Graph) -> None:
    entries = [entry(graph, "Lucy"), entry(graph, "Captain Tobias Wren")]
    question = TOY.embed_query("Lucy Wren")
    kept = keep_relevant(
        ego(graph, entries, "Lucy Wren"), question, TOY.embed_documents, threshold=-1.0, limit=99
    )
    best, *rest = joining(kept, entries)
    assert {best.walk.nodes[0], best.walk.nodes[-1]} == {e.node.id for e in entries}
    assert rest == []


@pytest.mark.parametrize("threads", [1, 4])
def test_what_is_asked_of_several_labels_at_once_is_what_stands_there(
    library: Library, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    """Kuzu mixes rows up where nodes of several labels are filtered, once there is an event: ids came back misspelt."""
    from gutengraph_core.graph import read

    event = {"name": "marsh fever", "label": "Event", "kind": "illness"}
    told = ("Lucy", "takes_part_in", "marsh fever", "Lucy lay ill with the marsh fever", 0.7)
    story.write_book(library, 7)
    story.write_book(library, 8, extra_nodes=[event], extra_edges=[told])
    build_merged(library)
    graph = Graph(versions.require(library))
    connection = read.kuzu.Connection
    monkeypatch.setattr(read.kuzu, "Connection", lambda base: connection(base, num_threads=threads))
    written = {
        book: pq.read_table(library.path(book, "graph/edges.parquet"), columns=["source", "type", "target"])
        for book in (7, 8)
    }
    everything = {tuple(row.values()) for table in written.values() for row in table.to_pylist()}
    for book, table in written.items():
        assert sorted(e.key for e in graph.relations(book)) == sorted(
            tuple(r.values()) for r in table.to_pylist()
        )
    nodes = [node.id for node in graph.vectors.nodes]
    for some in (nodes, nodes[::2], nodes[1::3], *([node] for node in nodes)):
        expected = {key for key in everything if {key[0], key[2]} & set(some)}
        found = [edge.key for edge in graph.edges_of(some)]
        assert sorted(found) == sorted(expected)
        expected = {key for key in expected if key[1] == "takes_part_in" and key[0].startswith("8:")}
        assert {edge.key for edge in graph.edges_of(some, types=["takes_part_in"], book=8)} == expected
    for node in graph.vectors.nodes:
        assert sum(m.count for m in graph.mention_passages(node.id, limit=99)) == node.mentions
