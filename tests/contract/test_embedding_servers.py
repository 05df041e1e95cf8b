"""The TEI and Ollama clients, over HTTP, against servers that answer as those do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from embedding_servers import Ollama, Refusal, Tei, served

from gutengraph_core.embedding import open_embedder
from gutengraph_core.embedding.protocol import Embedder
from gutengraph_core.errors import ModelRefused, ModelUnreachable, SettingsError, WrongModel
from gutengraph_core.settings import Settings

TEXTS = [
    "A whale — “très grand” — rose.",
    "She poured the tea.",
    "😀 at sea",
    *["wave " * n for n in range(1, 18)],
]


@pytest.fixture(scope="module")
def embedded() -> Embedder:
    return open_embedder(Settings())


@pytest.fixture
def tei(embedded: Embedder) -> Iterator[tuple[Tei, str]]:
    service = Tei(embedded)
    with served(service) as url:
        yield service, url


@pytest.fixture
def ollama(embedded: Embedder) -> Iterator[tuple[Ollama, str]]:
    service = Ollama(embedded)
    with served(service) as url:
        yield service, url


def through_tei(url: str) -> Embedder:
    return open_embedder(Settings(embedding=f"tei:{url}"))


def through_ollama(url: str, model: str = "all-minilm") -> Embedder:
    return open_embedder(Settings(embedding=f"ollama:{model}", ollama_host=url))


def test_tei_gives_the_model_s_vectors_and_tokens(tei: tuple[Tei, str], embedded: Embedder) -> None:
    service, url = tei
    client = through_tei(url)
    assert client.identity.name == Tei.model_id
    assert client.identity.revision.startswith("fca14538")
    assert client.identity.dimension == 384
    np.testing.assert_allclose(client.embed_documents(TEXTS), embedded.embed_documents(TEXTS), atol=1e-5)
    np.testing.assert_allclose(client.embed_query("tea"), embedded.embed_query("tea"), atol=1e-5)
    assert client.tokenizer.limit == embedded.tokenizer.limit
    assert client.tokenizer.counts(TEXTS) == embedded.tokenizer.counts(TEXTS)
    assert all(len(body["inputs"]) <= Tei.batch for body in service.sent("/embed"))
    assert all(body["truncate"] is False for body in service.sent("/embed"))
    assert client.embed_documents([]).shape == (0, 384)


def test_tei_offsets_are_characters_over_a_long_text(tei: tuple[Tei, str], embedded: Embedder) -> None:
    text = "“Señor” Müller said: 😀 ahoy. " * 4_000
    assert through_tei(tei[1]).tokenizer.offsets(text) == embedded.tokenizer.offsets(text)


def test_tei_never_cuts_in_silence(tei: tuple[Tei, str]) -> None:
    client = through_tei(tei[1])
    with pytest.raises(ModelRefused, match=r"must have less than 256 tokens.* 302"):
        client.embed_query("whale " * 300)


def test_nomic_behind_tei_gets_its_prefixes(tei: tuple[Tei, str]) -> None:
    service, url = tei
    service.model_id = "nomic-ai/nomic-embed-text-v1.5"
    client = through_tei(url)
    assert client.identity.dimension == 256
    assert client.embed_documents(["the whale"]).shape == (1, 256)
    client.embed_query("the whale")
    assert [body["inputs"] for body in service.sent("/embed")][-2:] == [
        ["search_document: the whale"],
        ["search_query: the whale"],
    ]
    assert client.tokenizer.limit == 254 - 4


@pytest.mark.parametrize(
    ("refusal", "raises", "words"),
    [
        (
            Refusal(429, {"error": "Model is overloaded", "error_type": "Overloaded"}),
            ModelUnreachable,
            "busy",
        ),
        (Refusal(503, {"error": "unhealthy", "error_type": "Unhealthy"}), ModelUnreachable, "not ready"),
        (
            Refusal(424, {"error": "Inference failed", "error_type": "Backend"}),
            ModelRefused,
            "Inference failed",
        ),
        (Refusal(422, {"error": "Tokenization error", "error_type": "Tokenizer"}), ModelRefused, "422"),
        (Refusal(200, "<html>a router's page</html>"), WrongModel, "gave no JSON"),
        (Refusal(200, "[[1.0, 2.0], [3.0]]"), WrongModel, "one vector for each text"),
        (Refusal(200, '[["a"]]'), WrongModel, "not numbers"),
        (Refusal(200, "[1.0]"), WrongModel, "one dimension"),
        (Refusal(500, ""), ModelRefused, "status 500"),
    ],
)
def test_tei_failures(tei: tuple[Tei, str], refusal: Refusal, raises: type[Exception], words: str) -> None:
    service, url = tei
    client = through_tei(url)
    service.fail_next = refusal
    with pytest.raises(raises, match=words):
        client.embed_query("tea")
    service.fail_next = Refusal(422, {"error": "Tokenization error", "error_type": "Tokenizer"})
    with pytest.raises(ModelRefused, match="Tokenization error"):
        client.tokenizer.counts(["tea"])


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (Refusal(404, ""), "has no /info"),
        (Refusal(200, "{}"), "does not name a model"),
        (
            Refusal(200, '{"model_id": "r", "max_input_length": 8, "model_type": {"reranker": {}}}'),
            "r is no embedding model",
        ),
    ],
)
def test_what_is_no_tei(tei: tuple[Tei, str], info: Refusal, words: str) -> None:
    service, url = tei
    service.fail_next = info
    with pytest.raises(WrongModel, match=words):
        through_tei(url)


def test_servers_that_are_not_there() -> None:
    with pytest.raises(ModelUnreachable, match=r"http://127.0.0.1:9 does not answer.*tei:<url>"):
        through_tei("http://127.0.0.1:9")
    with pytest.raises(ModelUnreachable, match="ollama serve"):
        through_ollama("http://127.0.0.1:9")
    with pytest.raises((ModelUnreachable, WrongModel, SettingsError)):
        through_tei("no address at all")
    with pytest.raises(WrongModel, match="address is not usable"):
        through_tei("http://[::1")


def test_ollama_gives_the_model_s_vectors_and_tokens(ollama: tuple[Ollama, str], embedded: Embedder) -> None:
    service, url = ollama
    client = through_ollama(url)
    assert client.identity.name == "ollama:all-minilm:latest"
    assert client.identity.revision == "1b226e2802dbb772"
    np.testing.assert_allclose(client.embed_documents(TEXTS), embedded.embed_documents(TEXTS), atol=1e-5)
    np.testing.assert_allclose(client.embed_query("tea"), embedded.embed_query("tea"), atol=1e-5)
    assert all(body["truncate"] is False for body in service.sent("/api/embed"))
    # The tokenizer is built from the token list that /api/show gives.
    assert client.tokenizer.limit == 254
    assert client.tokenizer.counts(TEXTS) == embedded.tokenizer.counts(TEXTS)
    assert client.tokenizer.offsets(TEXTS[0]) == embedded.tokenizer.offsets(TEXTS[0])
    assert client.embed_documents([]).shape == (0, 384)


def test_ollama_never_cuts_in_silence(ollama: tuple[Ollama, str]) -> None:
    client = through_ollama(ollama[1])
    with pytest.raises(ModelRefused, match=r"exceeds the context length.*CHUNK_TOKENS"):
        client.embed_documents(["whale " * 300])


def test_nomic_on_ollama_gets_its_prefixes(ollama: tuple[Ollama, str]) -> None:
    service, url = ollama
    service.model = "nomic-embed-text:latest"
    client = through_ollama(url, "nomic-embed-text")
    assert client.identity.dimension == 256
    client.embed_documents(["the whale"])
    client.embed_query("the whale")
    assert [body["input"] for body in service.sent("/api/embed")][-2:] == [
        ["search_document: the whale"],
        ["search_query: the whale"],
    ]


def test_ollama_s_own_words_for_an_overflow(ollama: tuple[Ollama, str]) -> None:
    """As recorded from a real one with `truncate: false`: an error inside a string."""
    inner = {
        "code": 400,
        "message": "request (5841 tokens) exceeds the available context size (512 tokens), try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 5841,
        "n_ctx": 512,
    }
    service, url = ollama
    client = through_ollama(url)
    service.fail_next = Refusal(400, {"error": json.dumps({"error": inner})})
    with pytest.raises(ModelRefused, match=r"does not fit all-minilm .*5841 tokens.*CHUNK_TOKENS"):
        client.embed_documents(["whale"])


def test_texts_of_a_length_share_a_request_and_come_back_in_order(
    ollama: tuple[Ollama, str], embedded: Embedder
) -> None:
    service, url = ollama
    texts = ["wave " * (1 + (n * 7) % 40) + str(n) for n in range(70)]
    vectors = through_ollama(url).embed_documents(texts)
    np.testing.assert_allclose(vectors, embedded.embed_documents(texts), atol=1e-5)
    sizes = [len(text) for body in service.sent("/api/embed")[1:] for text in body["input"]]
    assert sizes == sorted((len(text) for text in texts), reverse=True)


@pytest.mark.parametrize("kind", ["tei", "ollama"])
def test_a_server_s_client_needs_no_torch(embedded: Embedder, kind: str) -> None:
    with served(Tei(embedded) if kind == "tei" else Ollama(embedded)) as url:
        spec = {"embedding": f"tei:{url}"} if kind == "tei" else {}
        spec = spec or {"embedding": "ollama:all-minilm", "ollama_host": url}
        code = (
            "import sys\n"
            "from gutengraph_core.embedding import open_embedder, open_tokenizer\n"
            "from gutengraph_core.settings import Settings\n"
            f"settings = Settings(**{spec!r})\n"
            "assert open_tokenizer(settings).counts(['Call me Ishmael.']) == [6]\n"
            "assert open_embedder(settings).embed_documents(['whale', 'tea']).shape == (2, 384)\n"
            "assert open_embedder(settings).embed_query('whale').shape == (384,)\n"
            "heavy = {'torch', 'transformers', 'sentence_transformers'} & sys.modules.keys()\n"
            "assert not heavy, heavy\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_model_whose_tokens_ollama_does_not_give(ollama: tuple[Ollama, str], embedded: Embedder) -> None:
    service, url = ollama
    service.bert = False
    tokenizer = through_ollama(url).tokenizer
    text = "It was a large and handsome ship, 1851. Ünlike hers 😀!"
    assert tokenizer.counts([text])[0] >= embedded.tokenizer.counts([text])[0]
    assert all(text[a:b].strip() for a, b in tokenizer.offsets(text))


def test_a_model_that_ollama_lacks(ollama: tuple[Ollama, str]) -> None:
    with pytest.raises(WrongModel, match=r"has no model bge-m3.*ollama pull bge-m3"):
        through_ollama(ollama[1], "bge-m3")


@pytest.mark.parametrize(
    ("refusal", "raises", "words"),
    [
        # Recorded from a real Ollama.
        (
            Refusal(501, {"error": "This server does not support embeddings. Start it with `--embeddings`"}),
            WrongModel,
            "gives no embeddings.*nomic-embed-text",
        ),
        (Refusal(404, {"error": 'model "x" not found, try pulling it first'}), WrongModel, "ollama pull"),
        (Refusal(500, {"error": "unexpected EOF"}), ModelRefused, "unexpected EOF"),
        (Refusal(200, '{"embeddings": []}'), WrongModel, "one vector for each text"),
        (Refusal(200, "[]"), WrongModel, "another shape"),
        (Refusal(400, '["odd"]'), ModelRefused, "odd"),
    ],
)
def test_ollama_failures(
    ollama: tuple[Ollama, str], refusal: Refusal, raises: type[Exception], words: str
) -> None:
    service, url = ollama
    client = through_ollama(url)
    service.fail_next = refusal
    with pytest.raises(raises, match=words):
        client.embed_query("tea")


@pytest.mark.parametrize(
    ("tags", "raises", "words"),
    [
        (Refusal(200, "{}"), WrongModel, "lists no models"),
        (Refusal(401, {"error": "unauthorized"}), ModelRefused, "unauthorized"),
    ],
)
def test_what_is_no_ollama(
    ollama: tuple[Ollama, str], tags: Refusal, raises: type[Exception], words: str
) -> None:
    service, url = ollama
    service.fail_next = tags
    with pytest.raises(raises, match=words):
        through_ollama(url)


def test_a_model_that_does_not_say_what_it_takes(ollama: tuple[Ollama, str]) -> None:
    service, url = ollama
    service.context = 0
    with pytest.raises(WrongModel, match="how many tokens"):
        through_ollama(url)
