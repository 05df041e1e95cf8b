"""Shelf, book and passage as a reader sees them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import web_library

BOOK = web_library.STORY
TEXT = web_library.HOSTILE_TEXT


def positions(page: Any) -> dict[str, Any]:
    return page.evaluate("document.querySelector('.canvas').drawing.positions()")


def network_of(page: Any, book: int = BOOK) -> Any:
    page.goto(f"/books/{book}")
    page.locator("#network .canvas").scroll_into_view_if_needed()
    page.wait_for_selector(".canvas[data-ready]")
    return page.locator(".canvas")


def set_slider(page: Any, value: int) -> None:
    slider = page.locator("input[type=range]")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(value - 1):
        page.keyboard.press("ArrowRight")


def test_the_shelf_shows_every_book_and_how_it_stands(page: Any) -> None:
    page.goto("/")
    card = page.locator(".card", has_text="The Lamp at Harrow Quay")
    assert "5 in the cast" in card.inner_text()
    assert "A. Nonymous" in card.inner_text()
    assert "Built" in card.locator(".chip").inner_text()
    failed = page.locator(".card[data-status=failed]")
    assert "The model answered nothing." in failed.inner_text()
    assert failed.locator("code").inner_text() == "gutengraph build 21"
    assert page.locator(".card[data-status=building] progress").count() == 1
    page.get_by_label("Search the shelf").fill("wreck")
    assert page.locator(".card").count() == 1
    page.locator(".example").nth(2).wait_for()


def test_an_empty_shelf_says_how_to_begin(chromium: Any, tmp_path: Any) -> None:
    from web_server import brains_of, serving

    from gutengraph_core.settings import Settings

    with serving(brains_of(Settings(home=tmp_path))) as url:
        page = chromium.new_page()
        page.goto(url)
        page.wait_for_selector(".empty")
        assert "gutengraph add 84 && gutengraph build 84" in page.inner_text(".empty")
        page.close()


def test_the_cast_with_where_each_appears(page: Any) -> None:
    page.goto(f"/books/{BOOK}")
    row = page.locator(".cast tbody tr", has_text="Silas Crane")
    row.wait_for()
    assert row.locator("svg.spark rect").count() == 1
    assert "Silas" in row.locator(".aliases").inner_text()


def test_a_name_opens_its_relations_with_quotes_and_a_merge_its_evidence(page: Any) -> None:
    page.goto(f"/books/{BOOK}")
    page.get_by_role("button", name="Captain Tobias Wren").first.click()
    drawer = page.locator("#drawer")
    assert "captain of" in drawer.inner_text()
    assert "Captain Tobias Wren commanded the Kittiwake" in drawer.inner_text()
    drawer.get_by_text("Names taken for one").wait_for()
    assert "Captain Wren nailed a silver spoon" in drawer.locator(".merges").inner_text()
    page.keyboard.press("Escape")
    assert drawer.is_hidden()


def test_the_network_up_to_a_chapter_and_nothing_moves(page: Any) -> None:
    canvas = network_of(page)
    assert (canvas.get_attribute("data-nodes"), canvas.get_attribute("data-edges")) == ("7", "7")
    before = positions(page)
    set_slider(page, 1)
    assert (canvas.get_attribute("data-nodes"), canvas.get_attribute("data-edges")) == ("5", "4")
    assert positions(page) == before
    page.get_by_role("button", name="Play").click()
    page.wait_for_selector('.canvas[data-edges="7"]')
    assert positions(page) == before


def test_the_network_as_a_list_and_as_files(page: Any) -> None:
    network_of(page)
    page.get_by_text("The same as a list").click()
    page.locator("#network .relations li").nth(6).wait_for()
    listed = page.locator("#network .relations").inner_text()
    assert "Silas Crane boatswain of Kittiwake" in listed
    set_slider(page, 1)
    assert "Silas" not in page.locator("#network .relations").inner_text()
    with page.expect_download() as down:
        page.get_by_role("button", name="JSON").click()
    assert json.loads(down.value.path().read_text())["book"] == BOOK
    with page.expect_download() as down:
        page.get_by_role("button", name="PNG").click()
    assert down.value.path().read_bytes().startswith(b"\x89PNG")


def test_a_click_on_a_node_shows_who_it_is(page: Any) -> None:
    canvas = network_of(page)
    at = page.evaluate(
        "(() => { const c = document.querySelector('.canvas'); const n = c.drawing.cy.nodes().filter(n => n.data('name') === 'Silas Crane')[0];"
        " const p = n.renderedPosition(); return [p.x, p.y]; })()"
    )
    canvas.click(position={"x": at[0], "y": at[1]})
    assert page.locator("#drawer h2").inner_text() == "Silas Crane"


def test_a_search_brings_a_name_to_the_middle(page: Any) -> None:
    network_of(page)
    page.get_by_label("Find a name in the network").fill("Lucy")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.wait_for_timeout(1000)
    off = page.evaluate(
        "(() => { const d = document.querySelector('.canvas').drawing.cy; const p = d.$(':selected').renderedPosition();"
        " return Math.abs(p.x - d.width() / 2) + Math.abs(p.y - d.height() / 2); })()"
    )
    assert off < 20  # the name below it is centred with it


def test_the_arc_shows_the_passage_under_the_pointer(page: Any) -> None:
    page.goto(f"/books/{BOOK}")
    arc = page.locator("#arc svg").nth(1)
    arc.scroll_into_view_if_needed()
    assert page.locator("#arc polyline.feeling").count() == 2
    assert "irony" in page.locator("#arc").inner_text()
    box = arc.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 40)
    page.locator("#arc blockquote", has_text="THE FEVER").or_(
        page.locator("#arc .where", has_text="III. The Fever")
    ).first.wait_for()
    arc.focus()
    page.keyboard.press("PageUp")
    page.locator("#arc .where", has_text="I. The Quay").wait_for()


def test_an_arc_that_is_missing_says_how_to_get_it(page: Any) -> None:
    page.goto(f"/books/{web_library.HOSTILE}")
    page.locator("#arc .failure").wait_for()
    assert page.locator("#arc .failure code").inner_text() == f"gutengraph build {web_library.HOSTILE}"
    assert page.locator("#people table").count() == 1


def test_what_is_read_hides_what_comes_later(page: Any) -> None:
    page.goto(f"/books/{BOOK}")
    page.get_by_label("Read up to chapter").select_option("1")
    page.wait_for_url("**up_to=1")
    page.locator(".cast tbody tr").first.wait_for()
    page.locator("#arc svg").first.wait_for()
    assert "Silas" not in page.inner_text("main")
    assert "Marlow" not in page.inner_text("main")
    assert page.locator("input[type=range]").get_attribute("max") == "1"


def test_events_with_who_took_part_and_where_they_are_told(page: Any) -> None:
    page.goto(f"/books/{web_library.HOSTILE}")
    row = page.locator("#events li")
    row.first.wait_for()
    assert row.count() == 1
    assert web_library.EVENT in row.inner_text()
    assert "illness · Lucy" in row.inner_text()
    assert "III. The Fever" in row.inner_text()
    page.goto(f"/books/{web_library.HOSTILE}?up_to=2")
    page.get_by_text("Its text names no event").wait_for()
    assert page.locator('nav.parts a[href="#events"]').count() == 0


def test_the_ledger_is_told_in_words(page: Any) -> None:
    page.goto(f"/books/{BOOK}")
    page.locator("#built .ledger").wait_for()
    assert "3 windows, 3 asked of the model, 5 kept of 6 proposed, 1 cut short, 1 failed" in page.inner_text(
        "#built"
    )


def test_a_passage_with_its_mark_and_its_neighbours(page: Any) -> None:
    import harbour_story as story

    quote = "she taught it to say good morning"
    start = story.body().index(quote)
    page.goto(f"/passages/{BOOK}/{start}?end={start + len(quote)}")
    page.wait_for_selector("mark")
    assert page.inner_text("mark") == quote
    assert page.inner_text(".leaf-text").count("The Fever") == 0  # the heading stands above, once
    assert page.inner_text("h1") == "III. The Fever"
    assert "Lucy" in page.inner_text(".present")
    page.keyboard.press("ArrowLeft")
    page.locator("h1", has_text="II. The Crossing").wait_for()


def test_markup_in_a_books_title_and_text_is_text(page: Any) -> None:
    page.goto("/")
    page.locator(".card h3", has_text=web_library.HOSTILE_TITLE).wait_for()
    page.goto(f"/books/{web_library.HOSTILE}")
    page.locator(".cast tbody tr").first.wait_for()
    assert page.inner_text("h1") == web_library.HOSTILE_TITLE
    import harbour_story as story

    start = len(story.body()) + 2
    page.goto(f"/passages/{web_library.HOSTILE}/{start}?end={start + 20}")
    page.wait_for_selector("mark")
    assert TEXT in page.inner_text(".leaf-text")
    page.goto(f"/ask?q=What+did+the+sign+on+the+tower+say&mode=vector&book={web_library.HOSTILE}")
    page.wait_for_selector(".column:not([data-state=running])")
    assert page.locator("main script, main img").count() == 0
    assert page.evaluate("window.pwned") is None


def test_a_book_that_is_not_there_says_so(page: Any) -> None:
    page.goto("/books/999")
    page.wait_for_selector(".failure")
    assert "Book 999: It is not in the library." in page.inner_text(".failure")


def test_health_says_what_is_served(page: Any) -> None:
    page.goto("/health-page")
    page.locator(".check", has_text="Data folder").wait_for(timeout=30_000)
    assert "version 2, 2 books" in page.inner_text("main")
    assert "All is well" in page.inner_text("main")


@pytest.mark.parametrize("page", [{"viewport": {"width": 360, "height": 740}}], indirect=True)
def test_nothing_is_wider_than_a_phone(page: Any) -> None:
    for path in (
        "/",
        f"/books/{BOOK}",
        f"/passages/{BOOK}/300",
        "/ask?q=Who+is+Lucy&mode=graph",
        "/compare",
        "/health-page",
    ):
        page.goto(path)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
