"""Asking, comparing and following a citation, with the pointer and with the keys."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import harbour_story as story
import pytest
import web_library
from fakes import FakeLLM
from web_server import NAMES, brains_of, serving

from gutengraph_core.errors import ModelUnreachable
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings

BOOK = web_library.STORY
CAPTAIN = "Who is the captain of the Kittiwake?"
DONE = ".column:not([data-state=running])"


def ask(page: Any, question: str = CAPTAIN, *, mode: str = "graph", more: str = f"&book={BOOK}") -> None:
    page.goto(f"/ask?q={quote_plus(question)}&mode={mode}{more}")
    page.wait_for_selector(DONE)


def test_a_question_is_asked_and_stands_in_the_address(page: Any) -> None:
    page.goto("/ask")
    page.get_by_label("Your question").fill(CAPTAIN)
    page.keyboard.press("Enter")
    page.wait_for_selector(".column[data-state=known]")
    assert "Captain Tobias Wren" in page.inner_text(".said")
    assert f"q={quote_plus(CAPTAIN)}" in page.url
    page.reload()
    page.wait_for_selector(".column[data-state=known]")
    assert page.get_by_label("Your question").input_value() == CAPTAIN


def test_an_authors_books_are_asked(page: Any) -> None:
    page.goto("/ask")
    page.get_by_label("Which books").select_option("A. Nonymous")
    assert page.get_by_label("Read up to chapter").is_hidden()
    page.get_by_label("Your question").fill(CAPTAIN)
    page.keyboard.press("Enter")
    page.wait_for_selector(".column[data-state=known]")
    assert "author=A.+Nonymous" in page.url
    page.reload()
    page.wait_for_selector(".column[data-state=known]")
    assert page.locator("select option:checked").first.inner_text() == "A. Nonymous"
    ask(page, more="&author=Anonymus&kind=fiction")
    assert "Did you mean A. Nonymous?" in page.inner_text(".column")
    assert page.locator("select option:checked").first.inner_text() == "Anonymus, fiction"


def test_an_example_is_one_click(page: Any) -> None:
    page.goto(f"/ask?book={BOOK}")
    page.get_by_role("button", name="Who is the captain of Kittiwake?").click()
    page.wait_for_selector(".column[data-state=known]")


def test_a_citation_shows_its_quote_and_opens_its_passage(page: Any) -> None:
    ask(page)
    number = page.locator(".said .fn").first
    number.hover()
    assert "Captain Tobias Wren commanded the Kittiwake" in page.inner_text("#tip")
    assert "Captain Tobias Wren -[CAPTAIN_OF]-> Kittiwake" in page.inner_text("#tip")
    number.click()
    page.wait_for_selector("#drawer mark")
    assert page.inner_text("#drawer mark") == "Captain Tobias Wren commanded the Kittiwake"
    assert "I. The Quay" in page.inner_text("#drawer")
    page.keyboard.press("Escape")
    assert page.locator("#drawer").is_hidden()
    assert page.evaluate("document.activeElement.className") == "fn"


def test_three_columns_each_with_route_time_and_evidence(page: Any) -> None:
    page.goto(f"/compare?q={quote_plus(CAPTAIN)}&book={BOOK}")
    page.locator(DONE).nth(2).wait_for()
    columns = page.locator(".column")
    assert columns.locator("h2").all_inner_texts() == ["Passages", "Graph", "Both"]
    for i in range(3):
        how = columns.nth(i).locator(".how .figures").inner_text()
        assert " s" in how
        assert "place" in how
    first, last = columns.nth(0).bounding_box(), columns.nth(2).bounding_box()
    assert first["y"] == last["y"]
    assert first["x"] < last["x"]


def test_a_column_is_filled_while_another_is_at_work(home: Path, chromium: Any) -> None:
    go_on = threading.Event()

    def slow(prompt: str) -> dict[str, float]:
        go_on.wait(120)
        return NAMES

    given = Settings(home=home, path_threshold=0.2, passage_threshold=0.2)
    with serving(brains_of(given, FakeLLM(logprobs=slow))) as url:
        page = chromium.new_page()
        page.goto(f"{url}/compare?q={quote_plus(CAPTAIN)}&book={BOOK}")
        page.wait_for_selector(".column[data-mode=graph][data-state=known]")
        waiting = page.locator(".column[data-mode=vector]")
        waiting.locator(".steps li", has_text="Passages").wait_for()
        assert waiting.get_attribute("data-state") == "running"
        assert waiting.locator(".found li").count() > 0
        go_on.set()
        page.locator(DONE).nth(2).wait_for()
        page.close()


def test_one_column_fails_and_the_others_stay(home: Path, chromium: Any) -> None:
    def gone(prompt: str) -> Any:
        raise ModelUnreachable("The model server does not answer.", remedy="Start it: `ollama serve`.")

    given = Settings(home=home, path_threshold=0.2, passage_threshold=0.2)
    with serving(brains_of(given, FakeLLM(gone, logprobs=gone))) as url:
        page = chromium.new_page()
        page.goto(f"{url}/compare?q={quote_plus(CAPTAIN)}&book={BOOK}")
        page.locator(DONE).nth(2).wait_for()
        failed = page.locator(".column[data-mode=vector]")
        assert "The model server does not answer." in failed.inner_text()
        assert failed.locator("code").inner_text() == "ollama serve"
        assert "Captain Tobias Wren" in page.locator(".column[data-mode=graph] .said").inner_text()
        page.close()


def test_what_the_books_do_not_say(page: Any) -> None:
    ask(page, "Who is the emperor of Brazil?", mode="hybrid")
    assert page.locator(".column").get_attribute("data-state") == "unknown"
    assert page.locator(".evidence li").count() > 0
    assert "The nearest passages" in page.inner_text(".column")


def test_nothing_later_than_what_was_read_is_near(page: Any) -> None:
    ask(page, "Who is the emperor of Brazil?", mode="vector", more=f"&book={BOOK}&up_to=1")
    assert "I. The Quay" in page.inner_text(".evidence")
    assert "Crossing" not in page.inner_text(".column")
    assert "Fever" not in page.inner_text(".column")


def test_the_keys(page: Any) -> None:
    ask(page, mode="hybrid")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.wait_for_url("**mode=graph**")
    page.wait_for_selector(DONE)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.evidence') !== null")
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawer mark")


def test_going_back_asks_nothing_again(page: Any) -> None:
    ask(page)
    page.get_by_label("Your question").fill("Who is the daughter of Agnes?")
    page.keyboard.press("Enter")
    page.locator(".said", has_text="Lucy").wait_for()
    asked = sum(u.endswith("/ask") for u in page.seen.asked)
    page.go_back()
    page.locator(".said", has_text="Wren").wait_for()
    assert sum(u.endswith("/ask") for u in page.seen.asked) == asked


def test_a_server_that_has_gone_is_told(home: Path, chromium: Any) -> None:
    with serving(brains_of(Settings(home=home, path_threshold=0.2))) as url:
        page = chromium.new_page()
        page.goto(f"{url}/ask")
        page.get_by_label("Your question").wait_for()
    page.get_by_label("Your question").fill(CAPTAIN)
    page.keyboard.press("Enter")
    page.wait_for_selector(".column[data-state=failed]")
    assert "gutengraph serve" in page.inner_text(".failure")
    page.close()


def test_a_newer_graph_is_told(tmp_path: Path, chromium: Any) -> None:
    library = Library(tmp_path)
    story.build_library(library, BOOK)
    with serving(brains_of(Settings(home=tmp_path, path_threshold=0.2))) as url:
        page = chromium.new_page()
        page.goto(f"{url}/books/{BOOK}")
        page.locator(".cast tbody tr").first.wait_for()
        build_merged(library)
        page.get_by_role("button", name="Lucy").first.click()
        page.locator("#notice", has_text="A newer graph was published").wait_for()
        page.close()


def test_the_token_is_asked_for_once(home: Path, chromium: Any) -> None:
    with serving(brains_of(Settings(home=home, api_token="tar and apricots"))) as url:
        page = chromium.new_page()
        page.goto(url)
        page.locator("#notice input").fill("tar and apricots")
        page.keyboard.press("Enter")
        page.locator(".card").first.wait_for()
        page.goto(f"{url}/books/{BOOK}")
        page.locator(".cast tbody tr").first.wait_for()
        page.close()


def test_the_policy_is_enforced(page: Any) -> None:
    """What the other tests rely on when they find no violation: one would be seen."""
    page.goto("/")
    page.evaluate(
        "() => { const s = document.createElement('style'); s.textContent = 'p {}'; document.head.append(s); }"
    )
    page.wait_for_timeout(100)
    assert any("Content Security Policy" in e for e in page.seen.errors)
    with pytest.raises(Exception, match="TrustedHTML"):
        page.evaluate("() => { document.body.innerHTML = '<b>x</b>'; }")
    page.seen.errors.clear()
