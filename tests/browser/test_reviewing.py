"""A review by hand: from the keyboard, with the passage beside it, stopped and gone on with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import web_library
from web_server import brains_of, serving

from gutengraph_core.settings import Settings

BOOK = web_library.STORY
TOKEN = "tar and apricots"


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(home, tmp_path / "library"))


@pytest.fixture
def desk(folder: Path) -> Iterator[str]:
    with serving(brains_of(Settings(home=folder, api_token=TOKEN)), review=True) as url:
        yield f"{url}/review/{BOOK}#token={TOKEN.replace(' ', '%20')}"


@pytest.fixture
def sheet(chromium: Any, desk: str) -> Iterator[Any]:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
    page.goto(desk)
    page.locator(".verdict.right").wait_for()
    yield page
    page.close()
    assert [e for e in errors if "responded with a status of 422" not in e] == []


def claim(page: Any) -> str:
    return str(page.inner_text(".claim h1"))


def press(page: Any, key: str) -> None:
    """A key that judges; the next claim is there once it is on disk."""
    before = page.inner_text(".turns span")
    page.keyboard.press(key)
    page.locator(".turns span", has_not_text=before).wait_for()


def tally(page: Any, kind: str) -> list[str]:
    return page.locator(f".tallies tr[data-kind={kind}] td").all_inner_texts()


def test_every_claim_is_judged_from_the_keyboard_beside_its_passage(sheet: Any, folder: Path) -> None:
    assert "token" not in sheet.url
    seen = []
    while "somebody in this book" in (asked := claim(sheet)):
        name = sheet.inner_text(".claim h1 em")
        sheet.locator(".review-leaf mark").wait_for()
        assert sheet.inner_text(".review-leaf mark").split()[-1] in name
        seen.append(asked)
        press(sheet, "1" if len(seen) == 1 else "n" if len(seen) == 2 else "y")
    assert len(set(seen)) == 5
    assert tally(sheet, "person") == ["0.80", "0.38 to 0.96", "4", "1", "0", "0"]
    press(sheet, "y")
    press(sheet, "y")
    assert "one person?" in claim(sheet)
    assert "Captain Wren nailed" in sheet.inner_text(".review-leaf mark")
    sheet.keyboard.press("m")
    sheet.locator('.spots button[aria-pressed=true]:has-text("Place 2")').wait_for()
    press(sheet, "u")
    while "All judged" not in claim(sheet):
        press(sheet, "y")
    assert sheet.inner_text(".claim code") == f"gutengraph evaluate {folder}/review/gold"
    assert tally(sheet, "all")[2:] == ["13", "1", "1", "0"]
    gold = json.loads((folder / "review" / "gold" / "novels" / f"{BOOK}.json").read_text())
    assert [c["importance"] for c in gold["characters"]].count("major") == 1
    assert len(gold["places"]) == 2


def test_a_stopped_review_goes_on_and_a_mark_can_be_taken_back(sheet: Any, desk: str) -> None:
    first = claim(sheet)
    press(sheet, "y")
    second = claim(sheet)
    sheet.get_by_role("link", name="Read on in the book").click()
    sheet.locator("article.reading mark").wait_for()  # in this tab, which has the token
    sheet.go_back()
    sheet.locator(".verdict.right").wait_for()
    assert claim(sheet) == second
    sheet.goto("about:blank")
    sheet.goto(desk)
    sheet.locator(".verdict.right").wait_for()
    assert claim(sheet) == second
    sheet.keyboard.press("ArrowLeft")
    assert claim(sheet) == first
    assert sheet.get_by_role("button", name="Right").get_attribute("aria-pressed") == "true"
    press(sheet, "Backspace")
    assert claim(sheet) == first
    assert tally(sheet, "person")[0] == "–"


def test_somebody_missing_is_added_if_the_text_has_the_name(sheet: Any, folder: Path) -> None:
    sheet.get_by_text("Is somebody missing").click()
    name = sheet.get_by_label("Name of somebody missed")
    name.fill("Napoleon")
    name.press("Enter")
    sheet.locator(".missed .failure", has_text="does not stand in the text").wait_for()
    name.fill("parrot")
    name.press("Enter")
    sheet.locator(".missed-list li", has_text="parrot").wait_for()
    gold = json.loads((folder / "review" / "gold" / "novels" / f"{BOOK}.json").read_text())
    assert [c["name"] for c in gold["characters"]] == ["parrot"]
    sheet.get_by_role("button", name="Take parrot out").click()
    sheet.locator(".missed-list li").wait_for(state="detached")


def test_a_verdict_on_its_way_marks_its_own_claim_and_skips_none(sheet: Any) -> None:
    held: list[Any] = []
    sheet.route("**/review/marks", lambda route: held.append(route))
    with sheet.expect_request("**/review/marks"):
        sheet.keyboard.press("y")
    sheet.keyboard.press("ArrowRight")
    second = claim(sheet)
    with sheet.expect_response("**/review/marks"):
        held.pop().continue_()
    sheet.locator(".tallies tr[data-kind=person]", has_text="1.00").wait_for()
    assert claim(sheet) == second
    with sheet.expect_request("**/review/marks"):
        sheet.keyboard.press("y")
    sheet.keyboard.press("ArrowRight")
    held.pop().fulfill(status=422, json={"error": "The disk is full.", "remedy": "Free some space."})
    sheet.locator(".claim .failure", has_text="The disk is full").wait_for()
    assert claim(sheet) == second


def test_an_address_that_was_mistyped_asks_for_the_token(chromium: Any, desk: str) -> None:
    page = chromium.new_page()
    page.goto(desk.partition("#")[0] + "#token=100%")
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.locator(".verdict.right").wait_for()
    page.close()


def test_it_fits_a_phone(chromium: Any, desk: str) -> None:
    page = chromium.new_page(viewport={"width": 360, "height": 740})
    page.goto(desk)
    page.locator(".review-leaf mark").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Wrong").click()
    page.locator(".tallies tr[data-kind=person]", has_text="0.00").wait_for()
    page.close()


def test_a_server_that_only_serves_has_no_review(page: Any) -> None:
    page.goto(f"/review/{BOOK}")
    page.locator(".failure", has_text="No review is open here").wait_for()
    assert page.inner_text(".failure code") == f"gutengraph review {BOOK}"
