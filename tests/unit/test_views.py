"""What a reader is shown of a book, whole or up to a chapter."""

from __future__ import annotations

from pathlib import Path

import harbour_story as story
import pytest
import web_library

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_core.errors import NotBuilt, UnknownPlace
from gutengraph_core.graph.published import PublishedGraph
from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.records import Node
from gutengraph_core.library import Library
from gutengraph_query.views import people
from gutengraph_query.views.appearances import Appearances, Mention, Seen
from gutengraph_query.views.arc import arc
from gutengraph_query.views.ledger import ledger
from gutengraph_query.views.notions import merges
from gutengraph_query.views.passage import page
from gutengraph_query.views.people import network
from gutengraph_query.views.shelf import examples, shelf

BOOK = web_library.STORY


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Library:
    library = Library(tmp_path_factory.mktemp("views"))
    web_library.build(library)
    return library


@pytest.fixture(scope="module")
def graph(built: Library) -> Graph:
    return PublishedGraph(built).current()


def test_the_cast_says_where_in_the_book_each_is(graph: Graph, built: Library) -> None:
    silas = next(b for b in people.cast(network(graph, built, BOOK)) if b.name == "Silas Crane")
    assert silas.chapters == [(2, 1)]
    assert story.body()[slice(*silas.first)] == "Silas Crane"


def test_nothing_of_a_later_chapter_is_shown(graph: Graph, built: Library) -> None:
    whole, first = network(graph, built, BOOK), network(graph, built, BOOK, up_to=1)
    assert {"Silas Crane", "Dr. Marlow"} <= {n.name for n in whole.nodes}
    assert not {"Silas Crane", "Dr. Marlow"} & {n.name for n in first.nodes}
    assert {e.chapter for e in first.edges} == {1}
    assert all(n.role is None for n in first.nodes)
    assert all(chapter == 1 for n in first.nodes for chapter, _ in n.chapters)
    assert merges(built, BOOK) != []
    assert merges(built, BOOK, up_to=1) == []
    assert {p.chapter for p in arc(built, BOOK, up_to=1).chunks} == {1}
    assert {c.chapter for c in arc(built, BOOK).chapters} == {1, 2, 3}


def test_a_name_that_is_told_later_is_not_shown_before(built: Library) -> None:
    seen = Seen({1: 2, 9: 5}, {"Miss Pell": {1: 2}, "Mrs. Marlow": {9: 5}}, (0, 9))
    assert seen.shown_name("Mrs. Marlow", 3) == "Miss Pell"
    assert seen.shown_name("Mrs. Marlow", 9) == "Mrs. Marlow"
    assert seen.names(3) == ["Miss Pell"]
    loud = Seen({1: 6}, {"LUCY": {1: 1}, "Miss Pell": {1: 2}, "Lucy": {1: 3}}, (0, 4))
    assert loud.names(1) == ["Lucy", "Miss Pell"]


def test_what_an_event_turns_out_to_be_is_not_shown_before() -> None:
    death = Node(
        "7:event-x", "Event", "murder of Amos", ("murder of Amos",), "kept", None, None, "killing", 2, 2, 1
    )
    seen = Seen({1: 1, 9: 1}, {"Amos is dead": {1: 1}, "murder of Amos": {9: 1}}, (0, 12))
    places = Appearances({death.id: seen}, ())

    def shown(up_to: int | None) -> people.Being:
        name = seen.shown_name(death.name, up_to)
        return people._being(death, places, name, 1, up_to, {})

    assert (shown(3).name, shown(3).kind) == ("Amos is dead", "")
    assert (shown(9).name, shown(9).kind) == ("murder of Amos", "killing")
    assert shown(None).kind == "killing"


def test_degree_counts_the_relations_that_are_given(graph: Graph, built: Library) -> None:
    found = network(graph, built, BOOK)
    agnes = next(n for n in found.nodes if n.name == "Mrs. Agnes Pell")
    others = {e.a if e.b == agnes.name else e.b for e in found.edges if agnes.name in (e.a, e.b)}
    assert agnes.degree == len(others) == 4
    assert found.nodes[0].name == "Mrs. Agnes Pell"


def test_company_is_who_shares_two_passages_or_more(graph: Graph, built: Library) -> None:
    def met(entity: str, chapter: int, chunk: str) -> Mention:
        return Mention(entity, 0, 1, chapter, chunk)

    mentions = [met(e, c, k) for c, k in ((1, "a"), (1, "b"), (4, "c")) for e in ("ann", "bob")]
    seen = Appearances({}, (*mentions, met("cid", 1, "a"), met("ann", 1, "a")))
    assert seen.together({"ann", "bob", "cid"}, None)["ann", "bob"] == {1: 2, 4: 1}
    assert seen.together({"ann", "bob"}, 1) == {("ann", "bob"): {1: 2}}
    assert network(graph, built, BOOK).together == []  # in the story no two share more than one passage


def test_a_quote_is_marked_in_whole_paragraphs_of_its_chapter(graph: Graph, built: Library) -> None:
    quote = "Captain Wren nailed a silver spoon to the mast"
    start = story.body().index(quote)
    shown = page(built, graph, BOOK, start, start + len(quote))
    assert (shown.chapter, shown.chapter_title) == (2, "II. The Crossing")
    marked = "".join(p.text for para in shown.paragraphs for p in para.pieces if p.marked)
    assert marked == quote
    assert "marsh fever" not in str(shown.paragraphs)
    assert {who.name for who in shown.present} >= {"Silas Crane", "Kittiwake"}


def test_before_and_after_lead_through_the_whole_book(graph: Graph, built: Library) -> None:
    read, at = [], 0
    for _ in range(20):
        shown = page(built, graph, BOOK, at, around=0)
        read += [piece.text for para in shown.paragraphs for piece in para.pieces]
        if shown.next is None:
            break
        at = shown.next.start
    assert " ".join("".join(read).split()) == " ".join(story.body().replace("\n\n", "").split())


def test_a_reader_of_chapter_one_is_not_led_into_chapter_two(graph: Graph, built: Library) -> None:
    second = story.body().index("II. The Crossing")
    with pytest.raises(UnknownPlace, match="that you have read to"):
        page(built, graph, BOOK, second, up_to=1)
    shown = page(built, graph, BOOK, second - 3, up_to=1)
    assert shown.next is None
    with pytest.raises(UnknownPlace, match="beyond the end"):
        page(built, graph, BOOK, 10**6)


def test_the_ledger_in_words_counts_as_the_ledger_does(built: Library) -> None:
    [shown] = ledger(built, BOOK)
    true = Ledger(built.path(BOOK, "ledger.jsonl")).summary("names")
    fields = [
        "attempted",
        "asked",
        "failed",
        "truncated",
        "repaired",
        "empty",
        "proposed",
        "kept",
        "dropped",
        "calls",
    ]
    assert {f: getattr(shown, f) for f in fields} == {f: getattr(true, f) for f in fields}
    assert shown.words == "3 windows, 3 asked of the model, 5 kept of 6 proposed, 1 cut short, 1 failed"


def test_an_arc_that_is_not_there_says_how_to_get_it(built: Library, tmp_path: Path) -> None:
    with pytest.raises(NotBuilt, match="gutengraph build 13"):
        arc(built, web_library.HOSTILE)
    old = built.path(web_library.HOSTILE, "arcs.json")
    old.write_text('{"path": [], "chapters": [{"passage": 0}]}')
    with pytest.raises(NotBuilt, match="older version"):
        arc(built, web_library.HOSTILE)
    old.unlink()


def test_the_shelf_says_how_each_book_stands(graph: Graph, built: Library) -> None:
    found = {b.id: b for b in shelf(built, graph)}
    assert found[BOOK].published
    assert found[web_library.FAILED].reason == web_library.FAILURE
    assert found[web_library.BUILDING].percent == 0
    assert found[web_library.PARKED].status == "parked"


def test_examples_are_about_what_the_graph_holds(graph: Graph, built: Library) -> None:
    asked = examples(graph, built, BOOK)
    assert asked[0] == "Who is the captain of Kittiwake?"
    assert asked[1] == "Who is related to Mrs. Agnes Pell?"
    assert len(asked) == 3
    assert "Marlow" not in " ".join(examples(graph, built, BOOK, up_to=1))
