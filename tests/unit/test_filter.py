"""Persons, not names, are filtered; everything dropped has its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stories import mentions_of, record_of, text_of, windows_of

from gutengraph_assets.extraction.aliases.person_name import parse
from gutengraph_assets.extraction.filter import FilteredEntities, display_name, filter_entities
from gutengraph_assets.extraction.overrides import read_overrides
from gutengraph_assets.extraction.scene import Part, part_of
from gutengraph_assets.extraction.standing import is_of_family, judge_person, threshold
from gutengraph_core.errors import SettingsError
from gutengraph_core.library import Kind
from gutengraph_core.settings import Settings

STORY = """Captain Amos Thorne kept the _Curlew_ at Saltby, and spoke to nobody.

Thorne had a mate. The mate was Will, and Will was never late.

Old Thorne sailed from Saltby in the _Curlew_ with Will at the wheel.

At Saltby they talked of Queen Bess, and of the Quern."""
NAMES = {
    "Captain Amos Thorne": "person",
    "Thorne": "person",
    "Will": "person",
    "Queen Bess": "person",
    "Captain": "person",
    "Curlew": "vessel",
    "Saltby": "place",
    "Quern": "thing",
}


def filtered(settings: Settings, *, kind: Kind = "fiction", body: str = STORY) -> FilteredEntities:
    return filter_entities(
        record=record_of(body, kind=kind),
        body=body,
        windows=windows_of(body, words=15),
        mentions=mentions_of(body, NAMES, words=15),
        settings=settings,
    )


SEEN = Part(mentions=9, told=4, acts=2, signs=3)
REFERRED_TO = Part(mentions=9, told=0, acts=0, signs=1)


def by_name(found: FilteredEntities) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in found.entities.to_pylist()}


def test_names_are_joined_before_they_are_counted(settings: Settings) -> None:
    found = filtered(settings)
    captain = by_name(found)["Captain Amos Thorne"]
    assert set(captain["aliases"]) == {"Captain Amos Thorne", "Thorne"}
    assert captain["mentions"] == 3
    assert captain["standing"] == "cast"
    assert captain["id"] == "7:captain-amos-thorne"
    (merge,) = found.merges.to_pylist()
    assert merge["entity"] == captain["id"]
    assert {merge["a"], merge["b"]} == {"Captain Amos Thorne", "Thorne"}
    assert STORY[merge["start"] : merge["end"]].replace("_", "") == merge["quote"]


def test_places_ships_and_things_are_kept_apart(settings: Settings) -> None:
    rows = by_name(filtered(settings))
    assert (rows["Saltby"]["label"], rows["Saltby"]["standing"]) == ("Location", "kept")
    assert (rows["Curlew"]["label"], rows["Curlew"]["kind"]) == ("Location", "vessel")
    assert rows["Quern"]["label"] == "Object"


def test_counts_add_up(settings: Settings) -> None:
    found = filtered(settings)
    counts = found.counts
    assert counts["persons"] == counts["cast"] + counts["mentioned"] + counts["dropped"]
    assert counts["occurrences"] == sum(row["mentions"] for row in found.entities.to_pylist())
    assert counts["merges"] == found.merges.num_rows


def test_the_same_input_gives_the_same_table(settings: Settings) -> None:
    assert filtered(settings).entities.equals(filtered(settings).entities)


def test_in_non_fiction_nobody_is_cast(settings: Settings) -> None:
    standings = {row["standing"] for row in by_name(filtered(settings, kind="non-fiction")).values()}
    assert "cast" not in standings


def test_an_override_splits_and_joins_and_a_rerun_keeps_it(settings: Settings) -> None:
    folder = settings.home / "overrides"
    folder.mkdir(parents=True)
    (folder / "7.toml").write_text(
        'join = [["Will", "Queen Bess"]]\nsplit = [["Thorne", "Captain Amos Thorne"]]\n'
    )
    for _ in range(2):
        rows = by_name(filtered(settings))
        assert rows["Thorne"]["aliases"] == ["Thorne"]
        assert any(set(row["aliases"]) == {"Will", "Queen Bess"} for row in rows.values())


@pytest.mark.parametrize("content", ["join = 3", 'join = [["one"]]', "joni = []", "join = [["])
def test_a_malformed_override_names_the_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "overrides").mkdir()
    (tmp_path / "overrides" / "7.toml").write_text(content)
    with pytest.raises(SettingsError, match=r"Book 7: .*overrides/7\.toml") as failure:
        read_overrides(tmp_path, 7)
    assert "join" in failure.value.remedy


@pytest.mark.parametrize(
    ("kind", "windows", "needed"),
    [("fiction", 300, 3), ("fiction", 40, 2), ("fiction", 10, 1), ("non-fiction", 300, 5)],
)
def test_the_threshold_follows_kind_and_length(kind: Kind, windows: int, needed: int) -> None:
    assert threshold(kind, windows, min_windows=3) == needed


@pytest.mark.parametrize(
    ("names", "windows", "mentions", "standing", "reason"),
    [
        (["Hale"], 3, 9, "cast", ""),
        (["Hale"], 2, 3, "dropped", "in 2 windows of the text; 3 needed"),
        (["Mrs. Hale"], 1, 2, "cast", ""),
        (["Ann Hale"], 1, 1, "mentioned", "a full name that the text has once"),
        (["Captain"], 9, 9, "dropped", "a bare role or title"),
        (["Jo"], 9, 9, "dropped", "fewer than 3 letters"),
        (["owl"], 9, 9, "dropped", "starts in lower case"),
        (["Colonel F"], 3, 3, "dropped", "a title and an initial"),
    ],
)
def test_who_stays_and_why_not(
    names: list[str], windows: int, mentions: int, standing: str, reason: str
) -> None:
    decision = judge_person(
        [parse(name) for name in names],
        windows=windows,
        mentions=mentions,
        needed=3,
        kind="fiction",
        being=False,
        part=SEEN,
    )
    assert (decision.standing, decision.reason) == (standing, reason)


def test_a_being_without_a_name_may_stay() -> None:
    decision = judge_person(
        [parse("the creature")],
        windows=5,
        mentions=5,
        needed=3,
        kind="fiction",
        being=True,
        part=SEEN,
    )
    assert decision.standing == "cast"


@pytest.mark.parametrize(("windows", "standing"), [(3, "mentioned"), (11, "mentioned"), (12, "cast")])
def test_who_is_only_referred_to_is_of_the_cast_only_if_often(windows: int, standing: str) -> None:
    decision = judge_person(
        [parse("Hale")],
        windows=windows,
        mentions=windows,
        needed=3,
        kind="fiction",
        being=False,
        part=REFERRED_TO,
    )
    assert decision.standing == standing


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("Hale, who wrote on whales, is no guide here.", False),
        ("The whale of Hale is not the whale of Dane.", False),
        ("In the days of Hale there were none.", False),
        ("“I know it,” said Hale.", True),
        ("Hale sprang to his feet.", True),
        ("Hale slowly opened the door.", True),
        ("My dear Hale, I write in haste.", True),
        ("“Come in, Hale, and shut the door,” she said.", True),
        ("“The whale that Hale killed,” said Dane, “was grey.”", True),
    ],
)
def test_who_takes_part_in_the_story(body: str, shown: bool) -> None:
    text = text_of(body)
    at = body.index("Hale")
    part = part_of(text, [(at, at + 4)])
    assert bool(part.signs or part.told) is shown


def test_one_sign_is_a_figure_of_speech_and_two_are_a_part() -> None:
    assert not Part(mentions=8, told=1, acts=1, signs=1).takes_part
    assert Part(mentions=8, told=1, acts=1, signs=2).takes_part
    assert Part(mentions=8, told=4, acts=0, signs=0).takes_part


def _standing(name: str, part: Part, *, windows: int = 3, being: bool = False) -> tuple[str, str]:
    decision = judge_person(
        [parse(name)],
        windows=windows,
        mentions=part.mentions,
        needed=3,
        kind="fiction",
        being=being,
        part=part,
    )
    return decision.standing, decision.reason


def test_whom_everybody_knows_is_cast_where_the_book_lets_them_act() -> None:
    told_of = Part(mentions=9, told=9, acts=0, signs=1)
    acting = Part(mentions=9, told=3, acts=4, signs=6)
    for name in ("Beethoven", "St. Francis", "King George", "Davy Jones"):
        assert _standing(name, told_of) == ("mentioned", "known from elsewhere, and only referred to")
        assert _standing(name, acting)[0] == "cast"
    assert _standing("Beethoven Hale", told_of)[0] == "cast"


def test_an_aunt_belongs_to_whoever_calls_her_so() -> None:
    assert _standing("Aunt Sophy", REFERRED_TO)[0] == "cast"


def test_who_acts_much_in_one_window_too_few_is_cast() -> None:
    assert _standing("Macey", Part(mentions=5, told=1, acts=2, signs=2), windows=2)[0] == "cast"
    assert _standing("Macey", Part(mentions=5, told=5, acts=0, signs=2), windows=2)[0] == "dropped"


@pytest.mark.parametrize(
    ("name", "reason", "admitted"),
    [
        ("Mrs. Hale", "a full name that the text has once", True),
        ("Mr. Charles Hale", "a full name that the text has once", True),
        ("Mrs. Dane", "a full name that the text has once", False),
        ("John Hale", "a full name that the text has once", False),
        ("Mr. W. Hale", "a full name that the text has once", False),
        ("Johnny Hale", "a full name that the text has once", False),
        ("Mrs. Hale", "referred to, and never seen to speak or act", False),
    ],
)
def test_the_family_of_the_cast_is_cast_but_not_a_second_john(name: str, reason: str, admitted: bool) -> None:
    cast = [[parse("Mr. John Hale"), parse("Hale")], [parse("Lucy Marsh")]]
    assert is_of_family([parse(name)], reason, cast) is admitted


@pytest.mark.parametrize(
    ("mentions", "shown"),
    [
        ({"Anne": 90, "Anne Hale": 10, "Miss Hale": 20}, "Anne Hale"),
        ({"Hale": 90, "Captain Hale": 30}, "Captain Hale"),
        ({"Thorn": 90, "Bartholomew Thorn": 1}, "Thorn"),
        ({"WILL": 90, "Will": 2}, "Will"),
        ({"Anne": 90, "Anne Hale": 3, "Miss Anne Hale": 9}, "Anne Hale"),
        ({"Emma": 850, "Miss Hale": 170, "Emma Hale": 5}, "Emma Hale"),
        ({"Jane": 290, "Miss Hale": 65, "Miss Jane Hale": 1}, "Jane"),
        ({"Thorn": 40, "Bartholomew Thorn": 1}, "Thorn"),
        ({"Thorn": 4, "Bartholomew Thorn": 1}, "Bartholomew Thorn"),
        ({"Freddy": 130, "Mr. Thorn": 4}, "Freddy"),
    ],
)
def test_the_name_that_is_shown(mentions: dict[str, int], shown: str) -> None:
    assert display_name([parse(name) for name in mentions], mentions) == shown
