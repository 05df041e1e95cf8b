"""Models that Ollama serves, through its own Python client."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import httpx
import ollama

from gutengraph_core.errors import GutenGraphError, ModelRefused, ModelUnreachable, SettingsError, WrongModel
from gutengraph_core.llm.prompting import check_whole, estimate_tokens, with_schema
from gutengraph_core.llm.protocol import FinishReason, ModelIdentity, Reply

if TYPE_CHECKING:
    from gutengraph_core.settings import Settings

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

CONTEXT_SIZES = (4096, 8192)
"""The only values of num_ctx that are asked for: every change of it makes Ollama load the model again. The
first is Ollama's own default below 24 GB of GPU memory and holds any window; the second holds long
evidence."""
MAX_TOP = 20
"""Ollama refuses `top_logprobs` over 20."""
SEED = 1
"""At temperature 0 it decides ties at most."""


class OllamaLLM:
    """One model of an Ollama server. See `gutengraph_core.llm.protocol.LLM`.

    `name` is Ollama's, with or without a tag. Base models (a template without roles) continue the prompt as
    it stands. Calls may run side by side: the server queues them.
    """

    def __init__(self, name: str, settings: Settings) -> None:
        self._tagged = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
        self._host = settings.ollama_host
        self._timeout_s = settings.llm_timeout_s
        try:
            self._client = ollama.Client(self._host, timeout=self._timeout_s, transport=_NeverCut())
        except (ValueError, httpx.InvalidURL) as error:
            raise SettingsError(
                f"GUTENGRAPH_OLLAMA_HOST is no address: {self._host} ({error}).",
                remedy="Set it to something like http://127.0.0.1:11434.",
            ) from error

    @cached_property
    def identity(self) -> ModelIdentity:
        """The digest that /api/tags gives. Raises WrongModel with the line that fetches a missing model."""
        served = {str(model.model): model.digest for model in self._ask(lambda: self._client.list().models)}
        if self._tagged not in served:
            raise self._missing(served)
        return ModelIdentity(
            backend="ollama",
            name=self._tagged,
            digest=served[self._tagged] or "",
            base_url=self._host.rstrip("/"),
            instruct=follows_instructions(self._shown),
        )

    @cached_property
    def gives_logprobs(self) -> bool:
        """Found out by one call: a server that is too old ignores the option."""
        return bool(self._first_token("The capital of France is", top=1))

    @cached_property
    def context_tokens(self) -> int:
        """The larger of the two contexts used, or the model's own where that is smaller."""
        info = self._shown.modelinfo or {}
        trained = [int(value) for key, value in info.items() if key.endswith(".context_length")]
        return min([CONTEXT_SIZES[-1], *trained])

    def complete(
        self,
        prompt: str,
        *,
        max_tokens: int,
        system: str | None = None,
        schema: dict[str, Any] | None = None,
        stop: tuple[str, ...] = (),
        raw: bool = False,
    ) -> Reply:
        """See the protocol. An instruct model is told the schema in the prompt too: some builds ignore it
        else."""
        start = time.monotonic()
        answer: ollama.GenerateResponse | ollama.ChatResponse
        if raw or not self.identity.instruct:
            sent = prompt if system is None else f"{system}\n\n{prompt}"
            options = self._options(sent, max_tokens, stop)
            generated = answer = self._ask(
                lambda: self._client.generate(
                    self._tagged, sent, raw=True, think=False, format=schema, options=options
                )
            )
            text = generated.response
        else:
            messages = [{"role": "user", "content": with_schema(prompt, schema)}]
            if system is not None:
                messages.insert(0, {"role": "system", "content": system})
            sent = "\n".join(message["content"] for message in messages)
            options = self._options(sent, max_tokens, stop)
            chat = answer = self._ask(
                lambda: self._client.chat(self._tagged, messages, think=False, format=schema, options=options)
            )
            text = chat.message.content
        check_whole(sent, answer.prompt_eval_count, server=f"Ollama at {self._host}")
        return Reply(
            text=text or "",
            finish_reason=self._finish_reason(answer, max_tokens),
            prompt_tokens=answer.prompt_eval_count or 0,
            completion_tokens=answer.eval_count or 0,
            seconds=time.monotonic() - start,
        )

    def next_token_logprobs(self, prompt: str, *, top: int) -> dict[str, float]:
        """See the protocol. Gives 20 at most."""
        found = self._first_token(prompt, top=top)
        if not found:
            raise ModelRefused(
                f"Ollama at {self._host} gives no log-probabilities.",
                remedy="Update Ollama, or set GUTENGRAPH_NAMING=list.",
            )
        return found

    def close(self) -> None:
        """Have Ollama unload the model, so that its memory is free for others."""
        try:
            self._ask(lambda: self._client.generate(self._tagged, keep_alive=0))
        except GutenGraphError as error:
            _log.debug("Not unloaded: %s", error)  # a server that is gone holds no memory

    # --- asking ---
    @cached_property
    def _shown(self) -> ollama.ShowResponse:
        return self._ask(lambda: self._client.show(self._tagged))

    def _first_token(self, prompt: str, *, top: int) -> dict[str, float]:
        options = self._options(prompt, 1, ())
        answer = self._ask(
            lambda: self._client.generate(
                self._tagged,
                prompt,
                raw=True,
                think=False,
                logprobs=True,
                top_logprobs=min(top, MAX_TOP),
                options=options,
            )
        )
        check_whole(prompt, answer.prompt_eval_count, server=f"Ollama at {self._host}")
        found: dict[str, float] = {}
        for token in (answer.logprobs[0].top_logprobs or []) if answer.logprobs else []:
            found.setdefault(token.token, token.logprob)
        return found

    def _options(self, text: str, max_tokens: int, stop: tuple[str, ...]) -> dict[str, Any]:
        needed = estimate_tokens(text) + max_tokens
        sizes = [min(size, self.context_tokens) for size in CONTEXT_SIZES]
        options: dict[str, Any] = {
            "temperature": 0,
            "seed": SEED,
            "num_ctx": next((size for size in sizes if size >= needed), sizes[-1]),
            "num_predict": max_tokens,
        }
        if stop:
            options["stop"] = list(stop)
        return options

    def _finish_reason(
        self, answer: ollama.GenerateResponse | ollama.ChatResponse, max_tokens: int
    ) -> FinishReason:
        if not answer.done:
            raise ModelUnreachable(
                f"Ollama at {self._host} broke off its reply.", remedy="Look at its log and run again."
            )
        if answer.done_reason in ("stop", "length"):
            return cast(FinishReason, answer.done_reason)
        return "length" if (answer.eval_count or 0) >= max_tokens else "stop"

    def _ask(self, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except ollama.ResponseError as error:
            raise self._refused(error) from error
        except (ConnectionError, httpx.ConnectError) as error:
            raise ModelUnreachable(
                f"Ollama does not answer at {self._host}.",
                remedy="Start it with `ollama serve`, or set GUTENGRAPH_OLLAMA_HOST.",
            ) from error
        except httpx.TimeoutException as error:
            raise ModelUnreachable(
                f"Ollama at {self._host} took longer than {self._timeout_s:.0f} s.",
                remedy="Raise GUTENGRAPH_LLM_TIMEOUT_S, or set GUTENGRAPH_LLM to a smaller model.",
            ) from error
        except (httpx.TransportError, ValueError) as error:  # ValueError: no JSON, or not Ollama's
            raise ModelUnreachable(
                f"What answers at {self._host} breaks off or is no Ollama ({type(error).__name__}: {error}).",
                remedy="Check GUTENGRAPH_OLLAMA_HOST, and Ollama's log.",
            ) from error

    def _missing(self, served: dict[str, Any]) -> WrongModel:
        has = ", ".join(sorted(served)) or "none"
        return WrongModel(
            f"Ollama at {self._host} has no model '{self._tagged}' (it has: {has}).",
            remedy=f"Run `ollama pull {self._tagged.removesuffix(':latest')}`.",
        )

    def _refused(self, error: ollama.ResponseError) -> GutenGraphError:
        """Sort an error answer: Ollama answers a client's mistakes with 500 as well as its own failures."""
        said = innermost(error.error)
        if error.status_code == 404 and "model" in said:
            return WrongModel(
                f"Ollama at {self._host}: {said}.",
                remedy=f"Run `ollama pull {self._tagged.removesuffix(':latest')}`.",
            )
        if "exceeds the available context" in said or "exceeds maximum context" in said:
            return ModelRefused(
                f"Ollama at {self._host}: {said}.",
                remedy="Set GUTENGRAPH_TOP_K or GUTENGRAPH_WINDOW_WORDS lower.",
            )
        if "system memory" in said or "out of memory" in said:
            return ModelRefused(
                f"Ollama at {self._host}: {said}.",
                remedy="Free memory, or set GUTENGRAPH_LLM to a smaller model.",
            )
        if error.status_code >= 500 and not re.search(r"^option |invalid format", said):
            return ModelUnreachable(
                f"Ollama at {self._host} failed: {said}.", remedy="Look at its log and run again."
            )
        return ModelRefused(f"Ollama at {self._host} refused a request: {said}.")


class _NeverCut(httpx.HTTPTransport):
    """Adds to each generation what the client cannot send: refuse a prompt that does not fit instead of
    cutting it, and end a reply that outgrows the context instead of forgetting the prompt's start."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith(("/api/generate", "/api/chat")):
            body = json.loads(request.read()) | {"truncate": False, "shift": False}
            headers = {k: v for k, v in request.headers.items() if k.lower() != "content-length"}
            request = httpx.Request(
                request.method, request.url, headers=headers, json=body, extensions=request.extensions
            )
        return super().handle_request(request)


def follows_instructions(shown: ollama.ShowResponse) -> bool:
    """Whether a model has a chat template: one that writes more than the texts themselves.

    A base model's template holds variables only. Newer models name a built-in renderer instead of a
    template, and have capabilities (tools, thinking) that need one.
    """
    if {"tools", "thinking"} & set(shown.capabilities or []):
        return True
    if re.search(r"(?m)^RENDERER ", shown.modelfile or ""):
        return True
    return bool(re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", shown.template or "", flags=re.DOTALL).strip())


def innermost(said: str) -> str:
    """The message of an error, which Ollama passes on from its runner as JSON inside a string."""
    try:
        document = json.loads(said)
    except ValueError:
        return said.strip().rstrip(".")
    error = document.get("error", document) if isinstance(document, dict) else document
    message = error.get("message", error) if isinstance(error, dict) else error
    return innermost(message) if isinstance(message, str) and message != said else str(message)
