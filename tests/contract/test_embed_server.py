"""The embedding server over a real socket with the real embedded model: TEI's shapes, limits and errors, and our
own TEI client unchanged."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from embed_server import serving
from tiny_nomic import make_nomic
from waiting import until

from gutengraph_core.embed_server.served import ServedModel
from gutengraph_core.embedding import open_embedder
from gutengraph_core.embedding.folders import ModelFolder, embedded_folder
from gutengraph_core.embedding.protocol import Embedder
from gutengraph_core.errors import ModelRefused, ModelUnreachable
from gutengraph_core.settings import Settings

TEXTS = [
    "A whale — “très grand” — rose.",
    "She poured the tea.",
    "😀 at sea",
    *["wave " * n for n in range(1, 40)],
]
LONG = "whale " * 300


class Slow(ServedModel):
    """The real model, behind a gate; it remembers what it was given."""

    def __init__(self) -> None:
        super().__init__(embedded_folder())
        self.gate = threading.Event()
        self.gate.set()
        self.batches: list[list[str]] = []
        self.fail: Exception | None = None
        self.waiting: Callable[[], int] = lambda: 0
        encode = self.local.encode

        def gated(texts: list[str], counts: list[int]) -> Any:
            self.batches.append(texts)
            self.gate.wait(120)
            if self.fail is not None:
                raise self.fail
            return encode(texts, counts)

        self.local.encode = gated  # type: ignore[method-assign,assignment]


@pytest.fixture(scope="module")
def embedded() -> Embedder:
    return open_embedder(Settings())


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[Slow, str]]:
    model = Slow()
    with serving(model, queue=64) as running:
        model.waiting = lambda: running.batcher.waiting
        yield model, running.url


@pytest.fixture
def served(shared: tuple[Slow, str]) -> tuple[Slow, str]:
    model, _ = shared
    model.gate.set()
    model.batches.clear()
    model.fail = None
    return shared


def post(url: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{url}/embed", json=body, timeout=60)


def test_our_own_tei_client_works_unchanged(served: tuple[Slow, str], embedded: Embedder) -> None:
    client = open_embedder(Settings(embedding=f"tei:{served[1]}"))
    # A table that was embedded here may be asked through the server, and the other way round.
    assert client.identity == embedded.identity
    np.testing.assert_allclose(client.embed_documents(TEXTS), embedded.embed_documents(TEXTS), atol=1e-5)
    np.testing.assert_allclose(client.embed_query("tea"), embedded.embed_query("tea"), atol=1e-5)
    assert client.tokenizer.limit == embedded.tokenizer.limit
    assert client.tokenizer.counts(TEXTS) == embedded.tokenizer.counts(TEXTS)
    assert [client.tokenizer.offsets(text) for text in TEXTS] == [
        embedded.tokenizer.offsets(t) for t in TEXTS
    ]
    with pytest.raises(ModelRefused, match=r"must have less than 256 tokens. Given: 302"):
        client.embed_query(LONG)


def test_prefixes_and_the_cut_are_the_client_s_business(tmp_path: Path) -> None:
    path = make_nomic(tmp_path)
    local = open_embedder(Settings(embedding=str(path)))
    with serving(ServedModel(ModelFolder(path, path.name))) as running:
        client = open_embedder(Settings(embedding=f"tei:{running.url}"))
        assert client.identity == local.identity
        assert client.identity.dimension == 256
        texts = ["the whale", "tea", "whale " * 58]
        np.testing.assert_allclose(client.embed_documents(texts), local.embed_documents(texts), atol=1e-5)
        np.testing.assert_allclose(client.embed_query("whale"), local.embed_query("whale"), atol=1e-5)
        assert len(post(running.url, inputs="whale").json()[0]) == 320
        with pytest.raises(ModelRefused, match="less than 64 tokens"):
            client.embed_documents(["whale " * 59])


def test_info_and_health(served: tuple[Slow, str]) -> None:
    model, url = served
    info = httpx.get(f"{url}/info").json()
    assert info["model_id"] == "all-MiniLM-L6-v2"
    assert info["model_sha"] == model.folder.revision
    assert info["model_type"] == {"embedding": {"pooling": "mean"}}
    assert (info["max_input_length"], info["max_client_batch_size"]) == (256, 32)
    assert (info["max_concurrent_requests"], info["auto_truncate"]) == (64, False)
    health = httpx.get(f"{url}/health")
    assert (health.status_code, health.content) == (200, b"")
    model.fail = RuntimeError("out of memory")
    ill = httpx.get(f"{url}/health")
    assert ill.status_code == 503
    assert ill.json() == {"error": "Inference failed: out of memory", "error_type": "Unhealthy"}


@pytest.mark.parametrize(
    ("body", "status", "document"),
    [
        ({"inputs": []}, 400, {"error": "`inputs` cannot be empty", "error_type": "Empty"}),
        (
            {"inputs": ["a"] * 33},
            413,
            {
                "error": "Input validation error: batch size 33 > maximum allowed batch size 32",
                "error_type": "Validation",
            },
        ),
        (
            {"inputs": ["tea", LONG]},
            413,
            {
                "error": "Input validation error: `inputs` must have less than 256 tokens. Given: 302",
                "error_type": "Validation",
            },
        ),
        (
            {"inputs": ["tea", ""]},
            413,
            {"error": "Input validation error: `inputs` cannot be empty", "error_type": "Validation"},
        ),
        ({"inputs": "a", "prompt_name": "poem"}, 413, "`prompt_name` poem is not one of"),
        ({"inputs": "a", "dimensions": 385}, 413, "`dimensions` should be positive and at most 384"),
        (b'{"inputs": "\\ud83d"}', 422, "Tokenization error"),
        ({"inputs": 7}, 422, "another shape: inputs"),
        ({"texts": "a"}, 422, "another shape: inputs"),
        ({"inputs": "a", "truncate": "yes"}, 422, "another shape: truncate"),
        ({"inputs": "a", "truncation_direction": "up"}, 422, "another shape: truncation_direction"),
        (b"{not json", 400, "is no JSON"),
        (b'{"inputs": "' + b"a" * 2_000_001 + b'"}', 413, "length limit exceeded"),
    ],
)
def test_what_is_refused(served: tuple[Slow, str], body: Any, status: int, document: Any) -> None:
    model, url = served
    if isinstance(body, bytes):
        answer = httpx.post(f"{url}/embed", content=body, headers={"content-type": "application/json"})
    else:
        answer = post(url, **body)
    assert answer.status_code == status, answer.text
    if isinstance(document, dict):
        assert answer.json() == document
    else:
        assert document in answer.text
    assert model.batches == []


def test_other_requests(served: tuple[Slow, str]) -> None:
    _, url = served
    assert httpx.post(f"{url}/embed", content=b'{"inputs": "a"}').status_code == 415
    assert httpx.get(f"{url}/embed").status_code == 405
    assert httpx.get(f"{url}/nothing").status_code == 404


def test_cutting_is_asked_for(served: tuple[Slow, str], embedded: Embedder) -> None:
    _, url = served
    text = "tea " * 254 + "whale " * 254
    right = np.asarray(post(url, inputs=text, truncate=True).json())
    left = np.asarray(post(url, inputs=text, truncate=True, truncation_direction="Left").json())
    np.testing.assert_allclose(right[0], embedded.embed_query("tea " * 254), atol=1e-5)
    np.testing.assert_allclose(left[0], embedded.embed_query("whale " * 254), atol=1e-5)
    cut = np.asarray(post(url, inputs="tea", dimensions=8).json())
    np.testing.assert_allclose(np.linalg.norm(cut), 1, atol=1e-5)
    assert cut.shape == (1, 8)


def test_a_server_that_cuts_by_itself() -> None:
    model = ServedModel(embedded_folder())
    with serving(model, auto_truncate=True) as running:
        url = running.url
        assert httpx.get(f"{url}/info").json()["auto_truncate"] is True
        assert post(url, inputs=LONG).status_code == 200
        assert post(url, inputs=LONG, truncate=False).status_code == 413


def test_a_model_that_fails_answers_424_and_the_server_goes_on(served: tuple[Slow, str]) -> None:
    model, url = served
    client = open_embedder(Settings(embedding=f"tei:{url}"))
    model.fail = RuntimeError("out of memory")
    answer = post(url, inputs="tea")
    assert answer.status_code == 424
    assert answer.json() == {"error": "Inference failed: out of memory", "error_type": "Backend"}
    with pytest.raises(ModelRefused, match="out of memory"):
        client.embed_query("tea")
    model.fail = None
    assert post(url, inputs="tea").status_code == 200


def test_clients_share_batches_of_one_length(served: tuple[Slow, str], embedded: Embedder) -> None:
    model, url = served
    model.gate.clear()
    texts = ["tea " * (1 if n % 2 else 60) + str(n) for n in range(16)]
    with ThreadPoolExecutor(17) as pool:
        first = pool.submit(post, url, inputs="first")
        until(lambda: model.batches, "the texts have come")
        answers = [pool.submit(post, url, inputs=text) for text in texts]
        until(lambda: model.waiting() == 17, "the texts have come")
        model.gate.set()
        vectors = np.concatenate([np.asarray(answer.result().json()) for answer in answers])
        assert first.result().status_code == 200
    np.testing.assert_allclose(vectors, embedded.embed_documents(texts), atol=1e-5)
    # While the model was busy 16 clients queued up: they went through it together, alike in length first.
    assert len(model.batches) == 2
    lengths = [len(text.split()) for text in model.batches[1]]
    assert lengths in (sorted(lengths), sorted(lengths, reverse=True))


def test_a_full_queue_is_429(served: tuple[Slow, str]) -> None:
    model, url = served
    client = open_embedder(Settings(embedding=f"tei:{url}"))
    model.batches.clear()
    model.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        held = [pool.submit(post, url, inputs=["tea"] * 32) for _ in range(2)]
        until(lambda: model.waiting() == 64, "the texts have come")
        answer = post(url, inputs="tea")
        assert answer.status_code == 429
        assert answer.json() == {"error": "Model is overloaded", "error_type": "Overloaded"}
        with pytest.raises(ModelUnreachable, match="Model is overloaded") as caught:
            client.embed_query("tea")
        assert caught.value.retry
        # Busy is not ill.
        assert httpx.get(f"{url}/health").status_code == 200
        model.gate.set()
        assert [answer.result().status_code for answer in held] == [200, 200]
    assert post(url, inputs="tea").status_code == 200


def test_who_hangs_up_costs_nothing(served: tuple[Slow, str]) -> None:
    model, url = served
    model.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(post, url, inputs="first")
        until(lambda: model.batches, "the texts have come")
        host, port = url.removeprefix("http://").split(":")
        for _ in range(10):
            with socket.create_connection((host, int(port))) as client:
                body = b'{"inputs": ["gone", "gone"]}'
                head = f"POST /embed HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
                client.sendall(head.encode() + b"\r\n\r\n" + body)
                until(lambda: model.waiting() == 3, "the texts have come")
            until(lambda: model.waiting() == 1, "the texts have come")
        model.gate.set()
        assert first.result().status_code == 200
    assert post(url, inputs="after").status_code == 200
    assert not any("gone" in batch for batch in model.batches)


def test_the_command_starts_and_stops_it(tmp_path: Path) -> None:
    command = Path(sys.executable).parent / "gutengraph-embed"
    process = subprocess.Popen([command, "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        lines = []
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if "running on" in line:
                break
        url = next(word for word in lines[-1].split() if word.startswith("http://127.0.0.1:"))
        assert "all-MiniLM-L6-v2@" in lines[0]
        assert httpx.get(f"{url}/health").status_code == 200
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) in (0, -signal.SIGINT)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--model", "tei:http://x"], 1, "is a server already"),
        (["--model", "no model at all"], 1, "is no embedding model"),
        (["--max-concurrent-requests", "8"], 2, "must hold a whole"),
    ],
)
def test_the_command_refuses(arguments: list[str], code: int, says: str) -> None:
    command = Path(sys.executable).parent / "gutengraph-embed"
    run = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60)
    assert run.returncode == code
    assert says in run.stderr
    assert "Traceback" not in run.stderr
