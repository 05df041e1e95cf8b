"""`gutengraph review`: who may write, what the gold holds, and that `gutengraph evaluate` reads it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import web_library
from click.testing import CliRunner
from web_server import brains_of, serving

from gutengraph_core.errors import SettingsError
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query.api.app import create_app
from gutengraph_query.evaluate.run import evaluate
from gutengraph_query.review import desk, marks
from gutengraph_query.review.cli import review
from gutengraph_query.review.desk import ReviewDesk
from gutengraph_query.review.gold import write_gold

BOOK = web_library.STORY
TOKEN = {"Authorization": "Bearer tar and apricots"}
MARKS = f"/books/{BOOK}/review/marks"
MISSED = f"/books/{BOOK}/review/missed"
RIGHT = {"key": "person:Lucy", "verdict": "right", "importance": "major"}
CODE = "import sys; from gutengraph_core.cli import main; sys.argv[0] = 'gutengraph'; main()"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("review")
    web_library.build(Library(folder))
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "library"))


@pytest.fixture
def api(folder: Path) -> Iterator[httpx.Client]:
    settings = Settings(home=folder, api_token="tar and apricots")
    with (
        serving(brains_of(settings), review=True) as url,
        httpx.Client(base_url=url, timeout=30, headers=TOKEN) as client,
    ):
        yield client


def mark(api: httpx.Client, key: str, verdict: str | None, importance: str = "minor") -> dict[str, Any]:
    body = {"key": key, "verdict": verdict, "importance": importance}
    return dict(api.put(MARKS, json=body).raise_for_status().json())


def mark_all(api: httpx.Client, **wrong: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in api.get(f"/books/{BOOK}/review").raise_for_status().json()["items"]:
        found = mark(api, item["key"], wrong.get(item["kind"], "right"))
    return found


def miss(api: httpx.Client, name: str, **more: Any) -> httpx.Response:
    return api.put(MISSED, json={"name": name, **more})


def gold_people(folder: Path) -> list[str]:
    document = json.loads((folder / "review" / "gold" / "novels" / f"{BOOK}.json").read_text())
    return [character["name"] for character in document["characters"]]


def scores(folder: Path) -> dict[str, Any]:
    here = brains_of(Settings(home=folder, path_threshold=0.2, passage_threshold=0.2))
    found = evaluate(here, folder / "review" / "gold", command="x", say=lambda line: None)
    return dict(found["per_book"][str(BOOK)]["scores"])


def test_only_who_has_the_token_on_this_page_may_write(api: httpx.Client, folder: Path) -> None:
    assert api.put(MARKS, json=RIGHT, headers={"Authorization": "Bearer guessed"}).status_code == 401
    assert api.put(MARKS, json=RIGHT, headers={"Origin": "http://elsewhere.example"}).status_code == 403
    assert api.put(MARKS, json=RIGHT, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert api.put(MARKS, json=RIGHT, headers={"Host": "elsewhere.example"}).status_code == 400
    plain = {"Content-Type": "text/plain"}
    assert api.put(MARKS, content=json.dumps(RIGHT), headers=plain).status_code == 422
    assert api.post(MARKS, json=RIGHT).status_code == 405
    assert not (folder / "review").exists()
    assert api.put(MARKS, json=RIGHT).status_code == 200


def test_a_server_that_only_serves_writes_nothing_and_a_review_wants_a_token(folder: Path) -> None:
    with serving(brains_of(Settings(home=folder))) as url:
        assert httpx.put(url + MARKS, json=RIGHT).status_code == 404
    with pytest.raises(SettingsError, match="no token"):
        create_app(brains_of(Settings(home=folder)), review=True)


def test_what_is_not_asked_is_refused(api: httpx.Client) -> None:
    refused = api.put(MARKS, json=RIGHT | {"key": "person:Napoleon"})
    assert refused.status_code == 422
    assert "not in the sample" in refused.json()["error"]
    assert api.put(MARKS, json=RIGHT | {"verdict": "perhaps"}).status_code == 422
    assert api.get("/books/999/review").status_code == 404
    assert api.get(f"/books/{web_library.PARKED}/review").status_code == 409


def test_evaluate_reads_the_gold_of_a_review(api: httpx.Client, folder: Path) -> None:
    found = mark_all(api)
    assert found["tallies"][-1] == {
        "kind": "all", "right": 15, "wrong": 0, "unsure": 0, "left": 0, "population": 15, "precision": None, "interval": None,
    }  # fmt: skip
    scored = scores(folder)
    assert scored["recall_all"] | {"interval": None} == {"value": 1.0, "hits": 5, "of": 5, "interval": None}
    assert scored["precision_in_gold"]["value"] == 1.0
    assert scored["alias_precision"]["value"] == 1.0
    assert scored["relation_recall_typed"]["hits"] == scored["relation_recall_typed"]["of"] == 7


def test_what_was_marked_wrong_counts_against_the_build(api: httpx.Client, folder: Path) -> None:
    mark_all(api, merge="wrong")
    mark(api, "person:Dr. Marlow", "wrong")
    gold = json.loads((folder / "review" / "gold" / "novels" / f"{BOOK}.json").read_text())
    names = [character["name"] for character in gold["characters"]]
    assert "Dr. Marlow" not in names
    assert {"Captain Wren", "Captain Tobias Wren"} <= set(names)
    assert not any("Dr. Marlow" in (r["a"], r["b"]) for r in gold["relations"])
    scored = scores(folder)
    # 'Wren' goes with 'Captain Wren', as the gold's rules have it; neither with 'Captain Tobias Wren'
    assert (scored["alias_precision"]["hits"], scored["alias_precision"]["of"]) == (1, 3)
    assert scored["precision_in_gold"]["hits"] == 4


def test_a_merge_gives_the_person_both_names_and_an_added_one_is_missed(
    api: httpx.Client, folder: Path
) -> None:
    mark(api, "person:Captain Tobias Wren", "right", "major")
    mark(api, "merge:Captain Tobias Wren|Captain Wren", "right")
    miss(api, "parrot", importance="intermediate").raise_for_status()
    (wren, parrot) = json.loads((folder / "review" / "gold" / "novels" / f"{BOOK}.json").read_text())[
        "characters"
    ]
    assert (wren["name"], wren["aliases"], wren["importance"]) == (
        "Captain Tobias Wren",
        ["Captain Wren"],
        "major",
    )
    assert parrot["mentions"] == 2
    assert scores(folder)["recall_main"]["hits"] == 1


def test_the_report_says_precision_with_its_interval(api: httpx.Client, folder: Path) -> None:
    for n, name in enumerate(("Lucy", "Silas Crane", "Dr. Marlow", "Mrs. Agnes Pell")):
        mark(api, f"person:{name}", "wrong" if n == 0 else "right")
    env = {"GUTENGRAPH_HOME": str(folder)}
    shown = CliRunner().invoke(review, [str(BOOK), "--report"], env=env, catch_exceptions=False)
    assert "person    0.75 (0.30 to 0.95), 3 right, 1 wrong, 1 left" in shown.stdout
    assert "relation  nothing judged yet, 7 left" in shown.stdout
    told = CliRunner().invoke(review, [str(BOOK), "--json"], env=env, catch_exceptions=False)
    (person, *_) = json.loads(told.stdout)["precision"]
    assert (person["precision"], person["interval"]) == (0.75, [0.3006, 0.9544])


def test_of_all_kinds_together_only_the_counts_are_told(api: httpx.Client, folder: Path) -> None:
    found = mark(api, "person:Lucy", "right")["tallies"][-1]
    assert (found["kind"], found["right"], found["precision"], found["interval"]) == ("all", 1, None, None)
    env = {"GUTENGRAPH_HOME": str(folder)}
    shown = CliRunner().invoke(review, [str(BOOK), "--report"], env=env, catch_exceptions=False)
    assert "all       1 right, 0 wrong, 14 left" in shown.stdout


def test_two_tabs_add_people_side_by_side_and_take_out_only_their_own(
    api: httpx.Client, folder: Path
) -> None:
    miss(api, "parrot").raise_for_status()
    miss(api, "apricots", importance="major").raise_for_status()
    miss(api, "Parrot", importance="major").raise_for_status()
    missed = api.delete(MISSED, params={"name": "Apricots"}).raise_for_status().json()["missed"]
    assert [(one["name"], one["importance"]) for one in missed] == [("Parrot", "major")]
    assert gold_people(folder) == ["Parrot"]
    assert miss(api, "parrot", aliases=["x" * 101]).status_code == 422


def test_a_list_of_any_length_is_added_to_and_one_too_many_is_refused(
    api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks, "MOST_MISSED", 1)
    miss(api, "parrot").raise_for_status()
    refused = miss(api, "apricots")
    assert (refused.status_code, refused.json()["remedy"]) == (422, "Take one out first.")
    large = miss(api, "parrot", aliases=["x" * 20_000])
    assert (large.status_code, large.json()["remedy"]) == (413, "Send less at once.")


def test_the_gold_has_the_newer_of_two_marks_made_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work = ReviewDesk(brains_of(Settings(home=folder)), BOOK)
    older_writes, newer_wrote = threading.Event(), threading.Event()

    def write(*args: Any, **more: Any) -> Path:
        if older_writes.is_set():
            path = write_gold(*args, **more)
            newer_wrote.set()
            return path
        older_writes.set()
        newer_wrote.wait(0.5)  # it overtakes, if it can
        return write_gold(*args, **more)

    monkeypatch.setattr(desk, "write_gold", write)
    older = threading.Thread(target=at_work.mark, args=("person:Lucy", "right", "minor"))
    older.start()
    assert older_writes.wait(10)
    at_work.mark("person:Silas Crane", "right", "minor")
    older.join(10)
    assert sorted(gold_people(folder)) == ["Lucy", "Silas Crane"]


def test_a_gold_that_was_not_written_is_made_good_when_the_desk_opens(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = brains_of(Settings(home=folder))
    with monkeypatch.context() as killed:
        killed.setattr(desk, "write_gold", lambda *args, **more: sys.exit("killed"))
        with pytest.raises(SystemExit):
            ReviewDesk(here, BOOK).mark("person:Lucy", "right", "minor")
    ReviewDesk(here, BOOK)
    assert gold_people(folder) == ["Lucy"]


def test_a_smaller_sample_is_part_of_a_larger_one(folder: Path) -> None:
    from gutengraph_query.review.sample import draw

    here = brains_of(Settings(home=folder))
    few, more = (draw(here, BOOK, per_kind=n) for n in (3, 6))
    assert few == draw(brains_of(Settings(home=folder)), BOOK, per_kind=3)
    assert len([i for i in few.items if i.kind == "relation"]) == 3
    assert {i.key for i in few.items} < {i.key for i in more.items}
    assert few.population["relation"] == 7
    assert all(i.spots for i in more.items)


def test_the_command_opens_the_page_behind_a_token_of_its_own(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "review", str(BOOK)],
        env={**os.environ, "GUTENGRAPH_HOME": str(folder), "GUTENGRAPH_API_TOKEN": "a secret of 100%"},
        stderr=subprocess.PIPE,
        text=True,
    )
    watch = threading.Timer(60, process.kill)
    watch.start()
    try:
        assert process.stderr is not None
        told = next(
            found for line in process.stderr if (found := re.search(r"(http://127\S+)#token=(\S+)", line))
        )
        page, token = told.groups()
        assert page.endswith(f"/review/{BOOK}")
        assert re.fullmatch(r"[\w-]{20,}", token)  # not the one that is set, which is nobody's to print
        assert "<main" in httpx.get(page).text
        asked = f"{page.rpartition('/review')[0]}/books/{BOOK}/review"
        assert httpx.get(asked).status_code == 401
        assert len(httpx.get(asked, headers={"Authorization": f"Bearer {token}"}).json()["items"]) == 15
    finally:
        watch.cancel()
        process.kill()
        process.wait(20)
