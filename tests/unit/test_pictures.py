"""Pictures of a book's cast: who is on them, who stands beside whom, in which chapter."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from gutengraph_assets.pictures import (
    MOST_COLUMNS,
    MOST_PEOPLE,
    NEIGHBOURS,
    appearances,
    cast_network,
    draw_appearances,
    draw_network,
)
from gutengraph_core.library import Chapter
from gutengraph_core.tables import EDGES, EVIDENCE, NODES

PNG = b"\x89PNG\r\n"


def node(
    name: str, *, standing: str = "cast", windows: int = 5, label: str = "Character"
) -> dict[str, object]:
    return {"id": name.lower(), "label": label, "name": name, "standing": standing, "windows": windows}


def mention(name: str, window: int, start: int = 0) -> dict[str, object]:
    return {
        "entity": name.lower(),
        "surface": name,
        "window": window,
        "start": start,
        "end": start + len(name),
    }


def relation(a: str, kind: str, b: str, confidence: float) -> dict[str, object]:
    return {
        "source": a.lower(),
        "target": b.lower(),
        "rel": "RELATED_TO",
        "type": kind,
        "confidence": confidence,
        "start": 0,
    }


def nodes(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=NODES)


def edges(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=EDGES)


def evidence(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=EVIDENCE)


def chapters(count: int, length: int = 100) -> list[Chapter]:
    return [Chapter(index=i + 1, title="", start=i * length, end=(i + 1) * length) for i in range(count)]


HOUSE = nodes(
    node("Ada", windows=9),
    node("Ben", windows=8),
    node("Cyril", windows=3),
    node("Doris", standing="mentioned"),
    node("Exeter", label="Location", standing="kept"),
)
MET = evidence(
    mention("Ada", 1),
    mention("Ben", 1),
    mention("Ada", 2),
    mention("Ben", 2),
    mention("Cyril", 7),
    mention("Exeter", 1),
)


def test_the_cast_and_nobody_else() -> None:
    graph = cast_network(HOUSE, edges(), MET)
    assert {data["name"] for _, data in graph.nodes(data=True)} == {"Ada", "Ben", "Cyril"}
    assert graph.edges["ada", "ben"]["together"] == 2
    assert not list(graph.neighbors("cyril"))


def test_the_surer_of_two_relations_is_drawn() -> None:
    told = edges(relation("Ada", "sibling_of", "Cyril", 0.9), relation("Ada", "friend_of", "Cyril", 0.4))
    line = cast_network(HOUSE, told, MET).edges["ada", "cyril"]
    assert (line["type"], line["stated"]) == ("sibling_of", True)
    likely = edges(relation("Ada", "friend_of", "Cyril", 0.4), relation("Ada", "serves", "Doris", 0.9))
    graph = cast_network(HOUSE, likely, MET)
    assert graph.edges["ada", "cyril"]["stated"] is False
    assert "doris" not in graph


def test_a_crowd_is_cut_to_what_can_be_read() -> None:
    names = [f"P{i:02}" for i in range(40)]
    crowd = nodes(*(node(name, windows=100 - i) for i, name in enumerate(names)))
    all_in_one_room = evidence(*(mention(name, 1) for name in names))
    graph = cast_network(crowd, edges(), all_in_one_room)
    assert sorted(graph.nodes) == [name.lower() for name in names[:MOST_PEOPLE]]
    # Two of every pair may ask for the line: far fewer than the 276 pairs of 24.
    assert graph.number_of_edges() <= MOST_PEOPLE * NEIGHBOURS


def test_who_is_named_in_which_chapter() -> None:
    found = appearances(
        HOUSE,
        evidence(
            mention("Ada", 1, 10), mention("Ada", 2, 250), mention("Ada", 2, 260), mention("Cyril", 9, 499)
        ),
        chapters(5),
    )
    assert (found.names, found.columns) == (["Ada", "Ben", "Cyril"], list("12345"))
    assert found.counts.tolist() == [[1, 0, 2, 0, 0], [0] * 5, [0, 0, 0, 0, 1]]


@pytest.mark.parametrize(("of", "columns"), [(1, 10), (MOST_COLUMNS + 1, MOST_COLUMNS)])
def test_too_few_or_too_many_chapters_become_equal_stretches(of: int, columns: int) -> None:
    last = of * 100 - 1
    found = appearances(HOUSE, evidence(mention("Ada", 1, 0), mention("Ada", 1, last)), chapters(of))
    assert not found.by_chapter
    assert len(found.columns) == columns
    assert found.counts[0].tolist() == [1] + [0] * (columns - 2) + [1]


def test_the_same_book_gives_the_same_bytes(tmp_path: Path) -> None:
    told = edges(relation("Ada", "sibling_of", "Cyril", 0.9))
    for name in ("a.png", "b.png"):
        assert draw_network(HOUSE, told, MET, tmp_path / name, "A $house$ & <its> people")
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert draw_appearances(HOUSE, MET, chapters(5), tmp_path / "c.png", "A house")
    assert (tmp_path / "c.png").read_bytes().startswith(PNG)


def test_persons_who_never_meet_are_drawn_too(tmp_path: Path) -> None:
    strangers = evidence(mention("Ada", 1), mention("Ben", 2), mention("Cyril", 3))
    assert draw_network(HOUSE, edges(), strangers, tmp_path / "a.png", "Strangers")


def test_without_a_cast_there_is_no_picture_and_no_old_one_stays(tmp_path: Path) -> None:
    nobody = nodes(node("Doris", standing="mentioned"))
    for name in ("network.png", "appearances.png"):
        (tmp_path / name).write_bytes(PNG)
    assert not draw_network(nobody, edges(), evidence(), tmp_path / "network.png", "Nobody")
    assert not draw_appearances(nobody, evidence(), chapters(5), tmp_path / "appearances.png", "Nobody")
    assert not list(tmp_path.iterdir())
