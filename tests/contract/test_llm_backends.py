"""The same contract for all three backends: the embedded model, Ollama (recorded), an OpenAI-compatible
server.

All run the same model, Gemma 3 270M base; the OpenAI-compatible server is llama.cpp's own, serving it over
HTTP.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_server import API_KEY, LlamaServer, llama_server
from ollama_standin import ollama_standin, recorded_prompt, recording

from gutengraph_core.errors import ModelRefused
from gutengraph_core.files import sha256
from gutengraph_core.llm import LLM, open_llm
from gutengraph_core.llm.cache import CachedLLM
from gutengraph_core.llm.llamacpp import EmbeddedLLM, model_file
from gutengraph_core.llm.lock import model_lock
from gutengraph_core.settings import Settings

CLOZE = recorded_prompt("generate-raw-logprobs")
BACKENDS = ["embedded", "ollama", "openai"]


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedLLM]:
    llm = EmbeddedLLM(Settings(home=tmp_path_factory.mktemp("home")))
    yield llm
    llm.close()


@pytest.fixture(scope="module")
def server() -> Iterator[LlamaServer]:
    with llama_server() as served:
        yield served


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, settings: Settings) -> Iterator[tuple[str, Settings]]:
    """A specification and the settings that go with it."""
    if request.param == "embedded":
        yield "embedded", settings
    elif request.param == "ollama":
        with ollama_standin(instruct=True) as standin:
            yield "ollama:gemma3-270m", settings.model_copy(update={"ollama_host": standin.url})
    else:
        served: LlamaServer = request.getfixturevalue("server")
        # The server runs in this process but outside the lock that an embedded model's calls take.
        with model_lock(timeout_s=300):
            yield (
                f"openai:{served.model}@{served.url}",
                settings.model_copy(update={"openai_api_key": API_KEY}),
            )


@pytest.fixture
def llm(backend: tuple[str, Settings], request: pytest.FixtureRequest) -> LLM:
    spec, settings = backend
    if spec == "embedded":
        loaded: LLM = request.getfixturevalue("embedded")
        return loaded
    return open_llm(spec, settings, cache=False)


def test_identity_is_what_is_served(llm: LLM, backend: tuple[str, Settings]) -> None:
    spec, _ = backend
    assert llm.identity == llm.identity
    assert llm.identity.backend == spec.partition(":")[0]
    expected = {
        "embedded": ("gemma-3-270m-q4_k_m", sha256(model_file()), False),
        "ollama": ("gemma3-270m:latest", recording("tags")["response"]["body"]["models"][0]["digest"], True),
        "openai": ("gemma-served", "", False),
    }
    identity = llm.identity
    assert (identity.name, identity.digest, identity.instruct) == expected[identity.backend]
    assert identity.base_url == ("" if spec == "embedded" else identity.base_url)
    assert bool(identity.base_url) == (spec != "embedded")
    assert llm.context_tokens >= 2048


def test_a_raw_prompt_is_continued_up_to_the_stop(llm: LLM) -> None:
    reply = llm.complete(CLOZE, max_tokens=20, stop=("\n",), raw=True)
    assert reply.text == " person."
    assert reply.finish_reason == "stop"
    assert reply.prompt_tokens in (82, 83)  # Ollama does not count the first, empty token
    assert 3 <= reply.completion_tokens <= 4
    assert reply.seconds > 0
    assert not reply.cached


def test_a_reply_that_hits_its_cap_says_so(llm: LLM) -> None:
    reply = llm.complete("Tell the story of the white whale.", max_tokens=8)
    assert reply.finish_reason == "length"
    assert reply.completion_tokens == 8
    assert reply.text


def test_a_schema_shapes_the_reply(llm: LLM) -> None:
    body = recording("chat-schema-enum")["request"]["body"]
    reply = llm.complete(body["messages"][0]["content"], max_tokens=64, schema=body["format"])
    assert reply.finish_reason == "stop"
    document = json.loads(reply.text)
    assert list(document) == ["Ahab", "Nantucket", "Pequod"]
    assert set(document.values()) <= {"person", "place", "thing"}


def test_a_cut_schema_reply_is_no_json_and_says_length(llm: LLM) -> None:
    body = recording("chat-schema-cut")["request"]["body"]
    reply = llm.complete(body["messages"][0]["content"], max_tokens=9, schema=body["format"])
    assert reply.finish_reason == "length"
    assert reply.text.startswith("{")
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(reply.text)


def test_log_probabilities_of_the_next_token(llm: LLM) -> None:
    assert llm.gives_logprobs
    found = llm.next_token_logprobs(CLOZE, top=20)
    assert len(found) == 20
    assert list(found)[:3] == [" person", " place", " man"]
    values = list(found.values())
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(-0.38, abs=0.1)
    assert all(value <= 0 for value in values)


def test_a_prompt_that_does_not_fit_is_refused_and_not_cut(llm: LLM) -> None:
    with pytest.raises(ModelRefused, match=r"\d{4} tokens"):
        llm.complete(recorded_prompt("overflow-generate"), max_tokens=4, raw=True)


def test_accepted_replies_come_from_the_cache(backend: tuple[str, Settings]) -> None:
    spec, settings = backend
    llm = open_llm(spec, settings)
    assert isinstance(llm, CachedLLM)
    first = llm.complete(CLOZE, max_tokens=20, stop=("\n",), raw=True)
    llm.accept(first)
    again = llm.complete(CLOZE, max_tokens=20, stop=("\n",), raw=True)
    assert again.cached
    assert (again.text, again.prompt_tokens) == (first.text, first.prompt_tokens)
    llm.close()


def test_logs_stay_quiet(
    llm: LLM, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        llm.complete("Tell the story of the white whale.", max_tokens=8)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_the_folder_of_recordings_is_small() -> None:
    """They are test data of the repository."""
    folder = Path(recording.__code__.co_filename).parent / "data" / "ollama"
    assert sum(path.stat().st_size for path in folder.glob("*.json")) < 150_000
