"""Ollama's own client against recorded exchanges: what is sent, and what each kind of error becomes."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator

import ollama
import pytest
from ollama_standin import OllamaStandIn, ollama_standin, recorded_prompt, recording

from gutengraph_core.errors import GutenGraphError, ModelRefused, ModelUnreachable, SettingsError, WrongModel
from gutengraph_core.llm import open_llm
from gutengraph_core.llm.ollama import CONTEXT_SIZES, OllamaLLM, follows_instructions, innermost
from gutengraph_core.settings import Settings

CLOZE = recorded_prompt("generate-raw-logprobs")


@pytest.fixture
def standin() -> Iterator[OllamaStandIn]:
    with ollama_standin(instruct=True) as server:
        yield server


@pytest.fixture
def base() -> Iterator[OllamaStandIn]:
    with ollama_standin() as server:
        yield server


def llm_at(url: str, settings: Settings, name: str = "gemma3-270m") -> OllamaLLM:
    llm = open_llm(f"ollama:{name}", settings.model_copy(update={"ollama_host": url}), cache=False)
    assert isinstance(llm, OllamaLLM)
    return llm


def test_every_generation_is_capped_whole_and_without_thinking(
    standin: OllamaStandIn, settings: Settings
) -> None:
    llm = llm_at(standin.url, settings)
    llm.complete("Tell the story of the white whale.", max_tokens=8)
    llm.complete(CLOZE, max_tokens=20, stop=("\n",), raw=True)
    llm.next_token_logprobs(CLOZE, top=20)
    bodies = [a["body"] for a in standin.asked if a["path"] in ("/api/chat", "/api/generate")]
    assert [b["options"]["num_predict"] for b in bodies] == [8, 20, 1]
    for body in bodies:
        assert body["truncate"] is False
        assert body["shift"] is False
        assert body["think"] is False
        assert body["stream"] is False
        assert body["options"]["temperature"] == 0
        assert body["options"]["num_ctx"] in CONTEXT_SIZES


def test_the_context_is_one_of_two_sizes(standin: OllamaStandIn, settings: Settings) -> None:
    llm = llm_at(standin.url, settings)
    sizes = set()
    for words in (1, 100, 1000, 2500, 4000):
        with pytest.raises(GutenGraphError):  # nothing of the kind was recorded
            llm.complete("word " * words, max_tokens=200)
        sizes.add(standin.asked[-1]["body"]["options"]["num_ctx"])
    assert sizes == set(CONTEXT_SIZES)


def test_the_schema_is_enforced_and_told(standin: OllamaStandIn, settings: Settings) -> None:
    body = recording("chat-schema-enum")["request"]["body"]
    prompt = body["messages"][0]["content"]
    llm_at(standin.url, settings).complete(prompt, max_tokens=64, schema=body["format"])
    sent = standin.asked[-1]["body"]
    assert sent["format"] == body["format"]
    assert sent["messages"][0]["content"].startswith(prompt)
    assert '"enum": ["person", "place", "thing"]' in sent["messages"][0]["content"]


def test_a_base_model_continues_the_bare_prompt(base: OllamaStandIn, settings: Settings) -> None:
    llm = llm_at(base.url, settings)
    assert not llm.identity.instruct
    assert llm.complete(CLOZE, max_tokens=20, stop=("\n",)).text == " person."
    sent = base.asked[-1]
    assert (sent["path"], sent["body"]["raw"], sent["body"]["prompt"]) == ("/api/generate", True, CLOZE)


def test_more_than_twenty_log_probabilities_are_not_asked_for(
    base: OllamaStandIn, settings: Settings
) -> None:
    found = llm_at(base.url, settings).next_token_logprobs(CLOZE, top=200)
    assert len(found) == 20
    assert base.asked[-1]["body"]["top_logprobs"] == 20


def test_a_server_without_log_probabilities(base: OllamaStandIn, settings: Settings) -> None:
    base.next_answer = "generate-stop"  # an old server answers without them
    llm = llm_at(base.url, settings)
    assert not llm.gives_logprobs
    base.next_answer = "generate-stop"
    with pytest.raises(ModelRefused, match="GUTENGRAPH_NAMING=list"):
        llm.next_token_logprobs(CLOZE, top=20)


def test_a_missing_model_is_the_wrong_model_with_the_line_that_fetches_it(
    base: OllamaStandIn, settings: Settings
) -> None:
    llm = llm_at(base.url, settings, "no-such-model")
    with pytest.raises(WrongModel, match=r"gemma3-270m:latest.*Run `ollama pull no-such-model`"):
        _ = llm.identity
    with pytest.raises(WrongModel, match="ollama pull no-such-model"):
        llm.complete("Hello", max_tokens=2)


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("chat-missing-model", WrongModel, "ollama pull"),
        ("chat-bad-option", ModelRefused, 'option "num_ctx" must be of type integer'),
        ("chat-format-unknown", ModelRefused, "invalid format"),
        ("chat-schema-bad", ModelRefused, "JSON schema conversion failed"),
        ("chat-think-true", ModelRefused, "does not support thinking"),
        ("generate-top-logprobs-over", ModelRefused, "between 0 and 20"),
        ("overflow-chat-truncate-false", ModelRefused, "5841 tokens.*GUTENGRAPH_TOP_K"),
        ("model-process-killed", ModelUnreachable, "unexpected EOF"),
    ],
)
def test_errors_are_sorted(
    standin: OllamaStandIn, settings: Settings, name: str, kind: type[GutenGraphError], says: str
) -> None:
    llm = llm_at(standin.url, settings)
    assert llm.identity
    standin.next_answer = name
    with pytest.raises(kind, match=says) as caught:
        llm.complete("Hello", max_tokens=2)
    assert type(caught.value) is kind
    assert '{"error"' not in str(caught.value), "the runner's JSON is unpacked"


def test_a_prompt_that_an_old_server_cuts_is_noticed(standin: OllamaStandIn, settings: Settings) -> None:
    llm = llm_at(standin.url, settings)
    assert llm.identity
    standin.next_answer = "overflow-chat"  # 200, 259 of 5,841 tokens
    with pytest.raises(ModelRefused, match="to 259 tokens"):
        llm.complete(recorded_prompt("overflow-chat"), max_tokens=4)


def test_a_dead_server(settings: Settings) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    llm = llm_at(url, settings)
    with pytest.raises(ModelUnreachable, match=f"{url}.*ollama serve") as caught:
        _ = llm.identity
    assert caught.value.retry
    llm.close()


def test_a_server_that_hangs(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        llm = llm_at(url, settings.model_copy(update={"llm_timeout_s": 0.2}))
        with pytest.raises(ModelUnreachable, match="GUTENGRAPH_LLM_TIMEOUT_S"):
            _ = llm.identity


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhtml", b"HTTP/1.1 200 OK\r\n\r\n{}"]
)
def test_something_that_is_no_ollama(settings: Settings, answer: bytes) -> None:
    def once() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=once)
        thread.start()
        llm = llm_at(f"http://127.0.0.1:{listening.getsockname()[1]}", settings)
        with pytest.raises(ModelUnreachable, match="GUTENGRAPH_OLLAMA_HOST"):
            _ = llm.identity
        thread.join()


def test_closing_unloads_the_model_and_forgives_a_dead_server(
    base: OllamaStandIn, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    llm = llm_at(base.url, settings)
    with caplog.at_level(logging.DEBUG, logger="gutengraph_core.llm.ollama"):
        llm.close()
    assert base.asked[-1]["body"]["keep_alive"] == 0
    assert not caplog.records


def test_a_bad_address_is_a_setting_to_correct(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="GUTENGRAPH_OLLAMA_HOST"):
        llm_at("http://127.0.0.1:port", settings)


@pytest.mark.parametrize(
    ("shown", "instruct"),
    [
        ({"template": "{{ .Prompt }}"}, False),
        ({"template": "{{ if .System }}{{ .System }}\n\n{{ end }}{{ .Prompt }}"}, False),
        ({"template": "<|im_start|>user\n{{ .Prompt }}<|im_end|>"}, True),
        ({"template": "{% for m in messages %}[INST]{{ m.content }}{% endfor %}"}, True),
        ({"template": "{{ .Prompt }}", "capabilities": ["completion", "tools"]}, True),
        ({"template": "{{ .Prompt }}", "modelfile": "FROM x\nRENDERER some-instruct\n"}, True),
        ({}, False),
    ],
)
def test_what_makes_an_instruct_model(shown: dict[str, object], instruct: bool) -> None:
    assert follows_instructions(ollama.ShowResponse(**{"model_info": {}, **shown})) is instruct


def test_the_innermost_message() -> None:
    assert innermost('{"error":{"code":400,"message":"too long"}}') == "too long"
    assert innermost('{"error":"plain"}') == "plain"
    assert innermost("no JSON.") == "no JSON"
    assert innermost("[1]") == "[1]"
