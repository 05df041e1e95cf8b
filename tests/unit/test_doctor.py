"""`gutengraph doctor`: a line a finding, the line to set, exit 1 only if the settings in force cannot run."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest
from click.testing import CliRunner
from ollama_standin import ollama_standin

from gutengraph_core import doctor as module
from gutengraph_core.doctor import Finding, doctor, examine, extras
from gutengraph_core.settings import Settings


@pytest.fixture
def nowhere() -> str:
    """An address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(autouse=True)
def _no_real_ollama(monkeypatch: pytest.MonkeyPatch, nowhere: str) -> None:
    monkeypatch.setenv("GUTENGRAPH_OLLAMA_HOST", nowhere)


def finding(settings: Settings, name: str) -> Finding:
    (found,) = [f for f in examine(settings) if f.name == name]
    return found


def test_a_machine_with_nothing_but_the_packages_is_well() -> None:
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 0, result.output
    assert "All is well." in result.output
    assert "embedded:gemma-3-270m-q4_k_m@" in result.output
    assert "all-MiniLM-L6-v2@" in result.output
    assert "GUTENGRAPH_EMBEDDING=nomic-ai/nomic-embed-text-v1.5" in result.output
    assert "ollama serve" in result.output


def test_json_is_one_document_and_nothing_else(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("GUTENGRAPH_OPENAI_API_KEY", "secret-key")
    result = CliRunner().invoke(doctor, ["--json"])
    document = json.loads(result.stdout)
    assert document["ok"] is True
    assert document["settings"]["home"] == str(home)
    assert document["settings"]["openai_api_key"] == "(set)"
    assert "secret-key" not in result.output
    assert {f["status"] for f in document["findings"]} <= {"ok", "note"}
    assert [f["name"] for f in document["findings"]][:1] == ["Python"]


def test_the_settings_that_somebody_set_are_listed(monkeypatch: pytest.MonkeyPatch, nowhere: str) -> None:
    monkeypatch.setenv("GUTENGRAPH_TOP_K", "7")
    result = CliRunner().invoke(doctor)
    assert "GUTENGRAPH_TOP_K=7" in result.output
    assert f"GUTENGRAPH_OLLAMA_HOST={nowhere}" in result.output
    assert "GUTENGRAPH_LLM=" not in result.output.split("from the environment")[1]


def test_a_configured_model_that_does_not_answer_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUTENGRAPH_LLM", "ollama:gemma4")
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 1
    assert "problem  Language model: Ollama does not answer" in result.output
    assert "Some settings cannot run here" in result.output


def test_the_same_server_unconfigured_is_a_note(settings: Settings, nowhere: str) -> None:
    found = finding(settings.model_copy(update={"ollama_host": nowhere}), "Ollama")
    assert found.status == "note"
    assert nowhere in found.found


def test_a_second_model_that_answers_is_looked_at_too(settings: Settings) -> None:
    found = finding(settings.model_copy(update={"query_llm": "gemma"}), "Language model that answers")
    assert found.status == "problem"
    assert "openai:<model>@<base_url>" in found.remedy


def test_ollama_s_models_come_with_the_line_that_uses_them(settings: Settings) -> None:
    with ollama_standin() as standin:
        at = settings.model_copy(update={"ollama_host": standin.url})
        found = finding(at, "Ollama")
        assert (found.status, "gemma3-270m:latest" in found.found) == ("ok", True)
        assert found.remedy == "To use: GUTENGRAPH_LLM=ollama:gemma3-270m"
        used = finding(at.model_copy(update={"llm": "ollama:gemma3-270m"}), "Language model")
        assert used.status == "ok"
        assert "26d1d19e3664" in used.found
        missing = finding(at.model_copy(update={"llm": "ollama:gemma4"}), "Language model")
        assert missing.remedy == "Run `ollama pull gemma4`."


def test_a_folder_that_cannot_be_written(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    found = finding(settings.model_copy(update={"home": tmp_path / "file" / "data"}), "Data folder")
    assert found.status == "problem"
    assert "GUTENGRAPH_HOME" in found.remedy


def test_a_full_disk(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(10**12, 10**12, 10**6))
    assert finding(settings, "Disk") == Finding(
        "Disk", "problem", "0.0 GB free", "Free some space, or set GUTENGRAPH_HOME to another disk."
    )


def test_the_source(settings: Settings, tmp_path: Path) -> None:
    assert finding(settings, "Source").status == "ok"
    assert finding(settings.model_copy(update={"mirror": f"file://{tmp_path}"}), "Source").status == "ok"
    gone = finding(settings.model_copy(update={"mirror": str(tmp_path / "gone")}), "Source")
    assert (gone.status, "GUTENGRAPH_MIRROR" in gone.remedy) == ("problem", True)


@pytest.mark.parametrize(
    ("change", "status"),
    [({}, "problem"), ({"llm": "ollama:x", "embedding": "tei:http://127.0.0.1:1"}, "note")],
)
def test_a_missing_extra_matters_only_where_it_is_needed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], status: str
) -> None:
    real = module._installed
    monkeypatch.setattr(module, "_installed", lambda name: name != "xllamacpp" and real(name))
    found = finding(settings.model_copy(update=change), "Extra 'embedded'")
    assert found.status == status
    assert found.found == "not installed: xllamacpp"
    assert "pip install 'gutengraph[embedded]'" in found.remedy


def test_extras_are_those_of_the_package() -> None:
    found = extras()
    assert set(found) == {"embedded", "assets", "query", "s3"}
    assert "xllamacpp" in found["embedded"]
    assert "dagster" in found["assets"]
    assert "langgraph" in found["query"]
    assert module._installed("click")
    assert not module._installed("no-such-package-at-all")


@pytest.mark.parametrize("embedding", ["tei:http://127.0.0.1:1", "what is this"])
def test_an_embedder_that_cannot_be_had(settings: Settings, embedding: str) -> None:
    found = finding(settings.model_copy(update={"embedding": embedding}), "Embedding model")
    assert found.status == "problem"
    assert found.remedy


def test_a_bucket(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert not [f for f in examine(settings) if f.name == "Bucket"]
    without = finding(settings.model_copy(update={"store": "s3"}), "Bucket")
    assert without.status == "problem"
    assert "Set it to s3://<bucket>/<prefix>" in without.remedy
    shelf = {"s3_uri": "s3://shelf/books", "s3_endpoint": "http://127.0.0.1:9"}
    given = finding(settings.model_copy(update=shelf), "Bucket")
    assert (given.status, given.found) == ("ok", "s3://shelf/books at http://127.0.0.1:9 (not asked)")
    # Where questions go there, it is asked.
    lost = finding(settings.model_copy(update={"store": "s3", **shelf}), "Bucket")
    assert lost.status == "problem"
    assert "s3://shelf/books cannot be used" in lost.found


@pytest.mark.parametrize(
    ("script", "status", "says"),
    [
        ("echo 'NVIDIA GeForce RTX 3060, 6144 MiB'", "ok", "NVIDIA GeForce RTX 3060, 6144 MiB"),
        ("echo failed >&2; exit 9", "note", "nvidia-smi fails"),
    ],
)
def test_a_gpu(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, status: str, says: str
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = finding(settings, "GPU")
    assert found.status == status
    assert says in found.found


def test_no_gpu(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert finding(settings, "GPU").status == "note"


def test_importing_it_is_light() -> None:
    code = (
        "import sys, gutengraph_core.doctor\n"
        "print([m for m in ('pydantic', 'httpx', 'ollama', 'psutil', 'torch') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.strip() == "[]"


def test_the_path_threshold_names_where_it_comes_from(home: Path) -> None:
    from gutengraph_core.embedding.folders import find_folder
    from gutengraph_core.embedding.thresholds import note_path_threshold

    settings = Settings(home=home)
    assert finding(settings, "Path threshold").found.startswith("0.43 (the default")
    identity = find_folder("embedded", tokenizer_only=True).identity
    note_path_threshold(settings, identity, 0.37, source="a study of this library")
    assert finding(settings, "Path threshold").found == "0.37 (a study of this library)"
