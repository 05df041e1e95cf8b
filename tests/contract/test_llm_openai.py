"""The OpenAI-compatible backend: what it sends, and servers of several kinds.

`test_llm_backends` runs it against a real llama.cpp server; here are the differences between servers that
no single one shows, each on a scripted loopback server.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from llama_server import API_KEY, llama_server
from ollama_standin import ollama_standin, recording

from gutengraph_core.errors import GutenGraphError, ModelRefused, ModelUnreachable, SettingsError, WrongModel
from gutengraph_core.llm import open_llm
from gutengraph_core.llm.openai import OpenAILLM
from gutengraph_core.settings import Settings

Answer = tuple[int, Any]
CHAT = {
    "choices": [{"message": {"role": "assistant", "content": "Aye."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 60, "completion_tokens": 2},
}
MODELS = {"data": [{"id": "m", "max_model_len": 16000}]}


class Scripted:
    """A server whose answers a test sets by path; remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer | Callable[[Any], Answer]] = {"/v1/models": (200, MODELS)}
        self.asked: list[dict[str, Any]] = []
        self.url = ""

    def bodies(self, path: str) -> list[Any]:
        return [a["body"] for a in self.asked if a["path"] == path]


@contextmanager
def _serve(scripted: Scripted) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(None)

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, body: Any) -> None:
            scripted.asked.append({"path": self.path, "body": body, "headers": dict(self.headers)})
            answer = scripted.answers.get(self.path, (404, {"detail": "Not Found"}))
            status, document = answer(body) if callable(answer) else answer
            data = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scripted.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    server = Scripted()
    with _serve(server):
        yield server


def llm_at(url: str, settings: Settings, name: str = "m", **more: Any) -> OpenAILLM:
    llm = open_llm(f"openai:{name}@{url}", settings.model_copy(update=more), cache=False)
    assert isinstance(llm, OpenAILLM)
    return llm


def test_a_chat_is_capped_shaped_and_authorised(scripted: Scripted, settings: Settings) -> None:
    scripted.answers["/v1/chat/completions"] = (200, CHAT)
    llm = llm_at(scripted.url, settings, openai_api_key="secret")
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    reply = llm.complete("Who?", max_tokens=17, system="Be brief.", schema=schema, stop=("\n",))
    assert (reply.text, reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == (
        "Aye.",
        "stop",
        60,
        2,
    )
    (body,) = scripted.bodies("/v1/chat/completions")
    assert body["model"] == "m"
    assert body["max_tokens"] == 17
    assert body["temperature"] == 0
    assert body["stop"] == ["\n"]
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert json.dumps(schema) in body["messages"][1]["content"]
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert all(a["headers"]["Authorization"] == "Bearer secret" for a in scripted.asked)


def test_no_key_no_header(scripted: Scripted, settings: Settings) -> None:
    assert llm_at(scripted.url, settings).identity.instruct
    assert not any("Authorization" in a["headers"] for a in scripted.asked)


def test_a_server_that_refuses_unknown_arguments_is_asked_without_them(
    scripted: Scripted, settings: Settings
) -> None:
    def strict(body: Any) -> Answer:
        if "chat_template_kwargs" in body:
            return 400, {"error": {"message": "Unrecognized request argument supplied: chat_template_kwargs"}}
        return 200, CHAT

    scripted.answers["/v1/chat/completions"] = strict
    llm = llm_at(scripted.url, settings)
    assert llm.complete("Who?", max_tokens=5).text == "Aye."
    assert llm.complete("Who?", max_tokens=5).text == "Aye."
    assert len(scripted.bodies("/v1/chat/completions")) == 3, "it is remembered"


def test_the_context_that_the_server_tells(scripted: Scripted, settings: Settings) -> None:
    assert llm_at(scripted.url, settings).context_tokens == 16000
    scripted.answers["/v1/models"] = (200, {"data": [{"id": "m"}]})
    assert llm_at(scripted.url, settings).context_tokens == 4096
    scripted.answers["/props"] = (200, {"default_generation_settings": {"n_ctx": 2048}, "chat_template": ""})
    llm = llm_at(scripted.url, settings)
    assert llm.context_tokens == 2048
    assert not llm.identity.instruct


def test_the_address_with_and_without_v1(scripted: Scripted, settings: Settings) -> None:
    for url in (scripted.url, f"{scripted.url}/", f"{scripted.url}/v1", f"{scripted.url}/v1/"):
        assert llm_at(url, settings).identity.base_url == f"{scripted.url}/v1"


def test_log_probabilities_in_the_old_shape(scripted: Scripted, settings: Settings) -> None:
    def completions(body: Any) -> Answer:
        if body["logprobs"] > 5:
            return 400, {"error": {"message": "logprobs must be at most 5"}}
        table = {" b": -2.0, " a": -0.5, " c": -3.0}
        choice = {"text": " a", "finish_reason": "length", "logprobs": {"top_logprobs": [table]}}
        return 200, {"choices": [choice], "usage": {"prompt_tokens": 5}}

    scripted.answers["/v1/completions"] = completions
    llm = llm_at(scripted.url, settings)
    assert llm.gives_logprobs
    assert llm.next_token_logprobs("One two", top=20) == {" a": -0.5, " b": -2.0, " c": -3.0}
    assert list(llm.next_token_logprobs("One two", top=1)) == [" a"]
    assert scripted.bodies("/v1/completions")[-1]["logprobs"] == 1


@pytest.mark.parametrize("answer", [(404, {"detail": "Not Found"}), (200, {"choices": [{"text": " a"}]})])
def test_a_server_without_log_probabilities(scripted: Scripted, settings: Settings, answer: Answer) -> None:
    scripted.answers["/v1/completions"] = answer
    llm = llm_at(scripted.url, settings)
    assert not llm.gives_logprobs
    with pytest.raises(ModelRefused, match="GUTENGRAPH_NAMING=list"):
        llm.next_token_logprobs("One two", top=5)


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        ((401, {"error": {"message": "bad key"}}), ModelRefused, "GUTENGRAPH_OPENAI_API_KEY"),
        ((404, {"error": {"message": "model 'm' not found"}}), WrongModel, "model 'm' not found"),
        ((400, {"error": {"message": "context too long."}}), ModelRefused, "context too long"),
        ((429, {"error": "slow down"}), ModelUnreachable, "slow down"),
        ((500, b"oops"), ModelUnreachable, "500: oops"),
        ((200, b"<html>"), ModelUnreachable, "no JSON"),
        ((200, []), ModelUnreachable, "no OpenAI-compatible answer"),
        ((200, {"choices": []}), ModelUnreachable, "without a choice"),
    ],
)
def test_errors_are_sorted(
    scripted: Scripted, settings: Settings, answer: Answer, kind: type[GutenGraphError], says: str
) -> None:
    scripted.answers["/v1/chat/completions"] = answer
    with pytest.raises(kind, match=says) as caught:
        llm_at(scripted.url, settings).complete("Who?", max_tokens=5)
    assert type(caught.value) is kind


def test_a_prompt_that_the_server_cuts_is_noticed(scripted: Scripted, settings: Settings) -> None:
    scripted.answers["/v1/chat/completions"] = (200, CHAT)
    with pytest.raises(ModelRefused, match="99 words to 60 tokens"):
        llm_at(scripted.url, settings).complete("word " * 99, max_tokens=5)


def test_a_dead_and_a_hanging_server(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(ModelUnreachable, match="GUTENGRAPH_LLM_TIMEOUT_S"):
            _ = llm_at(url, settings, llm_timeout_s=0.2).identity
    llm = llm_at(url, settings)
    with pytest.raises(ModelUnreachable, match="does not answer") as caught:
        _ = llm.identity
    assert caught.value.retry
    llm.close()


def test_a_bad_address_is_a_setting_to_correct(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="openai:<model>@http"):
        llm_at("http://127.0.0.1:port/v1", settings)


def test_a_real_server_with_another_model_and_another_key(settings: Settings) -> None:
    with llama_server() as server:
        with pytest.raises(WrongModel, match="serves: gemma-served"):
            _ = llm_at(server.url, settings, "llama-9", openai_api_key=API_KEY).identity
        with pytest.raises(ModelRefused, match="GUTENGRAPH_OPENAI_API_KEY"):
            _ = llm_at(server.url, settings, server.model, openai_api_key="wrong").identity


def test_ollama_by_its_openai_address(settings: Settings) -> None:
    body = recording("v1-chat-schema")["request"]["body"]
    with ollama_standin() as standin:
        llm = llm_at(f"{standin.url}/v1", settings, "gemma3-270m")
        assert llm.identity.name == "gemma3-270m:latest"
        standin.next_answer = "v1-completions-logprobs"
        assert not llm.gives_logprobs, "its /v1/completions has none"
        cut = llm.complete("Tell the story of the white whale.", max_tokens=4)
        assert (cut.text, cut.finish_reason) == ("\n\nThe story of", "length")
        standin.next_answer = "v1-chat-schema"
        reply = llm.complete("Which?", max_tokens=64, schema=body["response_format"]["json_schema"]["schema"])
        assert json.loads(reply.text)["Ahab"] == "thing"
        standin.next_answer = "v1-chat-missing-model"
        with pytest.raises(WrongModel, match="no-such-model"):
            llm.complete("Hello", max_tokens=4)
