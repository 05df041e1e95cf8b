"""The HTTP API over real stores: answers, events, refusals, and what it does while things change under it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harbour_story as story
import httpx
import pytest
import web_library
from fakes import FakeLLM
from waiting import LONG_S, until
from web_server import brains_of, serving

from gutengraph_core.errors import ModelUnreachable
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.llm.lock import model_lock
from gutengraph_core.settings import Settings

BOOK = web_library.STORY
CAPTAIN = "Who is the captain of the Kittiwake?"


def settings_of(home: Path, **more: Any) -> Settings:
    return Settings(home=home, path_threshold=0.2, passage_threshold=0.2, **more)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api")
    web_library.build(Library(folder))
    return folder


@pytest.fixture(scope="module")
def api(built: Path) -> Iterator[httpx.Client]:
    with serving(brains_of(settings_of(built))) as url, httpx.Client(base_url=url, timeout=LONG_S) as client:
        yield client


def events_of(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    blocks = [b for b in response.text.split("\n\n") if b.startswith("event: ")]
    return [(b.split("\n")[0][7:], json.loads(b.split("\n")[1][6:])) for b in blocks]


# --- answers ---
def test_an_answer_cites_places_that_can_be_opened(api: httpx.Client) -> None:
    answer = (
        api.post("/ask", json={"question": CAPTAIN, "mode": "graph", "book": BOOK}).raise_for_status().json()
    )
    assert "Captain Tobias Wren" in answer["answer"]
    cited = answer["citations"][0]
    assert "[1]" in answer["answer"]
    assert cited["line"] == "Captain Tobias Wren -[CAPTAIN_OF]-> Kittiwake"
    assert (cited["title"], cited["chapter_title"]) == ("The Lamp at Harrow Quay", "I. The Quay")
    place = api.get(f"/passages/{cited['book']}/{cited['start']}", params={"end": cited["end"]}).json()
    marked = "".join(x["text"] for p in place["paragraphs"] for x in p["pieces"] if x["marked"])
    assert marked == cited["text"]


def test_what_the_books_do_not_say_comes_with_the_nearest_passages(api: httpx.Client) -> None:
    question = {"question": "Who is the emperor of Brazil?", "mode": "hybrid", "book": BOOK}
    answer = api.post("/ask", json=question).json()
    assert not answer["known"]
    assert answer["citations"] == []
    assert answer["nearest"][0]["title"] == "The Lamp at Harrow Quay"


def test_an_answer_is_followed_node_by_node(api: httpx.Client) -> None:
    with api.stream(
        "POST",
        "/ask",
        json={"question": CAPTAIN, "mode": "hybrid", "book": BOOK},
        headers={"Accept": "text/event-stream"},
    ) as r:
        assert r.headers["content-type"].startswith("text/event-stream")
        r.read()
    kinds = [(kind, data.get("node")) for kind, data in events_of(r)]
    nodes = ["supervisor", "vector_agent", "graph_agent", "merge"]
    assert kinds == [*(("step", n) for n in nodes), ("answer", None), ("done", None)]
    assert events_of(r)[2][1]["paths"]


def test_three_modes_are_compared(api: httpx.Client) -> None:
    found = api.post("/compare", json={"question": CAPTAIN, "book": BOOK}).raise_for_status().json()
    assert list(found["answers"]) == ["vector", "graph", "hybrid"]
    assert all(a["timings"]["total"] > 0 for a in found["answers"].values())


def test_one_mode_fails_and_the_others_stand(built: Path) -> None:
    down = ModelUnreachable("The model server does not answer.", remedy="Start it.")

    def gone(prompt: str) -> Any:
        raise down

    here = brains_of(settings_of(built), FakeLLM(gone, logprobs=gone))
    with serving(here) as url, httpx.Client(base_url=url, timeout=LONG_S) as api:
        found = api.post("/compare", json={"question": CAPTAIN, "book": BOOK}).raise_for_status().json()
        assert found["answers"]["vector"] == {"error": down.what, "remedy": "Start it."}
        assert "Wren" in found["answers"]["graph"]["answer"]
        alone = api.post("/ask", json={"question": CAPTAIN, "mode": "vector", "book": BOOK})
        assert (alone.status_code, alone.json()["error"]) == (503, down.what)
        assert int(alone.headers["Retry-After"]) > 0
        assert api.get("/books").status_code == 200


def test_reading_goes_on_while_the_model_is_at_work(built: Path) -> None:
    at_work, go_on = threading.Event(), threading.Event()

    def slow(prompt: str) -> dict[str, float]:
        at_work.set()
        go_on.wait(LONG_S)
        return {" Silas": -1.0}

    with (
        serving(brains_of(settings_of(built), FakeLLM(logprobs=slow))) as url,
        httpx.Client(base_url=url, timeout=LONG_S) as api,
    ):
        asked: list[httpx.Response] = []
        question = {"question": CAPTAIN, "mode": "vector", "book": BOOK}
        asking = threading.Thread(
            target=lambda: asked.append(httpx.post(f"{url}/ask", json=question, timeout=LONG_S))
        )
        asking.start()
        assert at_work.wait(LONG_S)
        assert api.get(f"/books/{BOOK}/graph").status_code == 200
        assert api.post("/ask", json={"question": CAPTAIN, "mode": "graph"}).json()["known"]
        assert not asked  # the model is still at work: nothing of this waited for it
        go_on.set()
        asking.join(LONG_S)
        assert asked[0].status_code == 200


def test_a_question_that_waits_is_told_what_for(built: Path, tmp_path: Path) -> None:
    def slow(prompt: str) -> dict[str, float]:
        with model_lock(timeout_s=LONG_S, folder=tmp_path):
            return {" Silas": -1.0}

    with (
        model_lock(timeout_s=LONG_S, folder=tmp_path),
        serving(brains_of(settings_of(built), FakeLLM(logprobs=slow))) as url,
    ):
        question = {"question": CAPTAIN, "mode": "vector", "book": BOOK}
        with httpx.stream(
            "POST", f"{url}/ask", json=question, headers={"Accept": "text/event-stream"}, timeout=LONG_S
        ) as answer:
            said = next(line for line in answer.iter_lines() if "is using it" in line)
    assert json.loads(said.removeprefix("data: "))["mode"] == "vector"


def test_an_answer_that_takes_too_long_says_so(built: Path) -> None:
    go_on = threading.Event()

    def slow(prompt: str) -> dict[str, float]:
        go_on.wait(LONG_S)
        return {" Silas": -1.0}

    here = brains_of(settings_of(built, answer_timeout_s=0.5), FakeLLM(logprobs=slow))
    with serving(here) as url:
        late = httpx.post(f"{url}/ask", json={"question": CAPTAIN, "mode": "vector"}, timeout=LONG_S)
        go_on.set()
    assert late.status_code == 504
    assert "GUTENGRAPH_ANSWER_TIMEOUT_S" in late.json()["remedy"]


def test_more_questions_than_may_wait_are_told_to_come_back(built: Path) -> None:
    go_on = threading.Event()

    def slow(prompt: str) -> dict[str, float]:
        go_on.wait(LONG_S)
        return {" Silas": -1.0}

    here = brains_of(settings_of(built, answers_at_once=1, answers_waiting=1), FakeLLM(logprobs=slow))
    with serving(here) as url:
        question = {"question": CAPTAIN, "mode": "vector"}
        codes: list[int] = []
        asking = [
            threading.Thread(
                target=lambda: codes.append(
                    httpx.post(f"{url}/ask", json=question, timeout=LONG_S).status_code
                )
            )
            for _ in range(3)
        ]
        for thread in asking:
            thread.start()
        asking[-1].join(0.1)
        until(lambda: codes, "the third is turned away")
        assert codes == [503]
        go_on.set()
        for thread in asking:
            thread.join(20)
    assert sorted(codes) == [200, 200, 503]


def test_a_chapter_of_no_book_is_the_askers_mistake(api: httpx.Client) -> None:
    refused = api.post("/ask", json={"question": "Who laughed?", "up_to": 2})
    assert (refused.status_code, refused.json()["error"]) == (422, "Up to which chapter of which book?")
    refused = api.post("/ask", json={"question": "Who laughed?", "book": BOOK, "up_to": 99})
    assert refused.status_code == 422


# --- while things change ---
def test_a_newer_graph_is_followed_and_a_book_that_goes_is_missed(tmp_path: Path) -> None:
    library = Library(tmp_path / "home")
    story.build_library(library, 7)
    with (
        serving(brains_of(settings_of(library.home))) as url,
        httpx.Client(base_url=url, timeout=LONG_S) as api,
    ):
        first = api.get("/books/7/graph")
        assert (first.json()["version"], first.headers["X-Graph-Version"]) == (1, "1")
        story.build_library(library, 7, 8)
        newer = api.get("/books/8/graph")
        assert (newer.json()["version"], newer.headers["X-Graph-Version"]) == (2, "2")
        assert api.post("/ask", json={"question": CAPTAIN, "mode": "graph", "book": 8}).json()["known"]
        library.path(8, "book.json").unlink()
        build_merged(library)
        assert api.get("/books/8/graph").status_code == 404
        assert api.post("/ask", json={"question": CAPTAIN, "mode": "graph", "book": 8}).status_code == 404
        assert api.post("/ask", json={"question": CAPTAIN, "mode": "graph", "book": 7}).json()["known"]


def test_an_empty_library_says_how_to_begin(tmp_path: Path) -> None:
    with serving(brains_of(settings_of(tmp_path))) as url, httpx.Client(base_url=url, timeout=LONG_S) as api:
        assert api.get("/books").json() == []
        assert api.get("/health").json()["status"] == "empty"
        refused = api.post("/ask", json={"question": CAPTAIN, "mode": "graph"})
        assert refused.status_code == 409
        assert "gutengraph build" in refused.json()["remedy"]


# --- refusals ---
@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/books/99", 404, "not in the library"),
        ("/books/99/graph", 404, "not in the library"),
        (f"/books/{web_library.PARKED}/characters", 409, "not in the published graph"),
        (f"/books/{web_library.FAILED}/characters", 409, "has not been built"),
        (f"/books/{web_library.HOSTILE}/arc", 409, "not there yet"),
        (f"/passages/{BOOK}/9999999", 404, "beyond the end"),
        (f"/passages/{BOOK}/400?up_to=1", 404, "that you have read to"),
        ("/books/-1/graph", 422, "malformed"),
        ("/books/x", 422, "malformed"),
        ("/nothing", 404, "nothing at this address"),
        ("/assets/../../../pyproject.toml", 404, "nothing at this address"),
        ("/assets/%2e%2e/server.py", 404, "nothing at this address"),
        ("/assets/..%2fserver.py", 404, "nothing at this address"),
    ],
)
def test_refusals_say_what_and_what_to_do(api: httpx.Client, path: str, status: int, words: str) -> None:
    refused = api.get(path)
    assert refused.status_code == status
    assert words in refused.json()["error"]
    assert set(refused.json()) == {"error", "remedy", "code", "fields"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": "  \n"},
        {"question": "x" * 1001},
        {"question": "Who?", "mode": "sideways"},
        {"question": "Who?", "book": -1},
        {"question": "Who?", "up_to": -1},
        {"question": "Who?", "settings": {"llm": "openai:x@http://169.254.169.254/"}},
    ],
)
def test_a_malformed_question_names_the_field(api: httpx.Client, body: dict[str, Any]) -> None:
    refused = api.post("/ask", json=body)
    assert refused.status_code == 422
    assert refused.json()["fields"]


def test_a_huge_request_is_not_read(api: httpx.Client) -> None:
    refused = api.post(
        "/ask",
        content=b'{"question": "' + b"x" * 100_000 + b'"}',
        headers={"Content-Type": "application/json"},
    )
    assert refused.status_code == 413
    assert refused.json()["remedy"]
    parts = (b"x" * 1000 for _ in range(100))  # sent in chunks, its length untold
    refused = api.post("/ask", content=parts, headers={"Content-Type": "application/json"})
    assert refused.status_code == 413
    assert refused.json()["remedy"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""])
def test_a_name_that_is_not_ours_is_refused(api: httpx.Client, host: str) -> None:
    assert api.get("/books", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:8000", "LOCALHOST", "127.0.0.1", "[::1]:8000"])
def test_our_own_names_are_taken(api: httpx.Client, host: str) -> None:
    assert api.get("/books", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "header", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}]
)
def test_another_sites_page_cannot_ask(api: httpx.Client, header: dict[str, str]) -> None:
    assert api.post("/ask", json={"question": CAPTAIN, "mode": "graph"}, headers=header).status_code == 403


def test_a_body_that_is_not_called_json_is_not_read_as_such(api: httpx.Client) -> None:
    body = json.dumps({"question": CAPTAIN, "mode": "graph"})
    assert api.post("/ask", content=body, headers={"Content-Type": "text/plain"}).status_code == 422


def test_the_token_is_asked_of_data_and_not_of_the_page(built: Path) -> None:
    here = brains_of(settings_of(built, api_token="tar and apricots"))
    with serving(here) as url, httpx.Client(base_url=url) as api:
        for path in ("/books", "/health", f"/books/{BOOK}/graph", "/openapi.json"):
            assert api.get(path).status_code == 401
            assert api.get(path, headers={"Authorization": "Bearer tar"}).status_code == 401
            assert api.get(path, headers={"Authorization": "Bearer tar and apricots"}).status_code == 200
        assert api.post("/ask", json={"question": CAPTAIN}).status_code == 401
        assert api.get("/").status_code == 200
        assert api.get("/assets/js/main.js").status_code == 200


def test_too_many_requests_are_told_to_wait(built: Path) -> None:
    with (
        serving(brains_of(settings_of(built, requests_per_minute=60))) as url,
        httpx.Client(base_url=url) as api,
    ):
        codes = [api.get("/health").status_code for _ in range(70)]
        last = api.get("/health")
    assert codes[:60] == [200] * 60
    assert codes[-1] == 429
    assert int(last.headers["Retry-After"]) >= 1


# --- the page ---
@pytest.mark.parametrize(
    "path", ["/", "/ask", "/compare?q=x", f"/books/{BOOK}", f"/passages/{BOOK}/3", "/health-page", "/books"]
)
def test_a_browser_gets_the_page_and_a_program_the_data(api: httpx.Client, path: str) -> None:
    page = api.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert page.headers["content-type"].startswith("text/html")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    if path.startswith(("/books", "/passages")):
        assert api.get(path).headers["content-type"] == "application/json"


def test_the_page_asks_nothing_of_other_sites(api: httpx.Client) -> None:
    from gutengraph_query.api.pages import WEB

    own = [p for p in WEB.rglob("*") if p.suffix in (".html", ".js", ".css", ".svg")]
    assert len(own) > 10
    for path in own:
        text = (
            path.read_text().replace("http://www.w3.org/2000/svg", "").replace("http://127.0.0.1:3000/", "")
        )
        assert "http" not in text.replace("https", "http"), path
        assert "innerHTML" not in text
        assert "insertAdjacentHTML" not in text


def test_what_is_vendored_is_what_it_says(api: httpx.Client) -> None:
    from gutengraph_core.files import sha256
    from gutengraph_query.api.pages import WEB

    told = json.loads((WEB / "vendor" / "VENDOR.json").read_text())
    files = {name: digest for entry in told.values() for name, digest in entry["files"].items()}
    assert {name: sha256(WEB / "vendor" / name) for name in files} == files
    there = {str(p.relative_to(WEB / "vendor")) for p in (WEB / "vendor").rglob("*") if p.is_file()}
    assert there == {*files, "VENDOR.json"}
    scripts = [p for p in WEB.rglob("*") if p.suffix in (".js", ".mjs")]
    assert sum(p.stat().st_size for p in scripts) < 600_000
