"""Any server that speaks OpenAI's protocol: llama.cpp, vLLM, SGLang, LM Studio, TGI, Ollama's /v1."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from gutengraph_core.errors import GutenGraphError, ModelRefused, ModelUnreachable, SettingsError, WrongModel
from gutengraph_core.llm.prompting import check_whole, with_schema
from gutengraph_core.llm.protocol import FinishReason, ModelIdentity, Reply

if TYPE_CHECKING:
    from gutengraph_core.settings import Settings

DEFAULT_CONTEXT = 4096
"""Assumed where the server does not tell its context; a prompt that does not fit is then refused by the
server."""
MAX_TOP = 20
"""vLLM's default for --max-logprobs; servers that allow fewer (OpenAI itself: 5) say so."""
_NO_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}
"""vLLM's, SGLang's and llama.cpp's way of keeping a thinking model from spending the reply cap on its
thoughts."""

_LLAMA_CPP_FALLBACK = """
{%- for message in messages -%}
  {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""
"""The chat template that llama.cpp gives a model without one, white space aside."""


class OpenAILLM:
    """One model of an OpenAI-compatible server. See `gutengraph_core.llm.protocol.LLM`.

    `base_url` as OpenAI's own clients take it (`http://host:8000/v1`); a bare host gets `/v1`. Calls may
    run side by side.
    """

    def __init__(self, model: str, base_url: str, settings: Settings) -> None:
        url = base_url.rstrip("/")
        try:
            httpx.URL(url)
        except httpx.InvalidURL as error:
            raise SettingsError(
                f"'{base_url}' is no address ({error}).",
                remedy="Write GUTENGRAPH_LLM as openai:<model>@http://host:port/v1.",
            ) from error
        self._url = url if urlsplit(url).path else f"{url}/v1"
        self._model = model
        self._timeout_s = settings.llm_timeout_s
        key = settings.openai_api_key
        self._client = httpx.Client(
            timeout=settings.llm_timeout_s, headers={"Authorization": f"Bearer {key}"} if key else {}
        )
        self._chat_extra = _NO_THINKING

    @cached_property
    def identity(self) -> ModelIdentity:
        """What /v1/models lists; it has no digest. Raises WrongModel if the model is not there."""
        return ModelIdentity("openai", self._listed["id"], "", base_url=self._url, instruct=self._instruct)

    @cached_property
    def gives_logprobs(self) -> bool:
        """Found out by asking /v1/completions for some."""
        return self._logprob_limit > 0

    @cached_property
    def context_tokens(self) -> int:
        """What vLLM lists as `max_model_len` or llama.cpp gives as a slot's `n_ctx`; 4,096 where neither
        is."""
        told = self._listed.get("max_model_len") or self._props.get("default_generation_settings", {}).get(
            "n_ctx"
        )
        return int(told or DEFAULT_CONTEXT)

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
        """See the protocol. The schema is also told in the prompt: many servers ignore `response_format`."""
        start = time.monotonic()
        body: dict[str, Any] = {"model": self.identity.name, "temperature": 0, "max_tokens": max_tokens}
        if stop:
            body["stop"] = list(stop)
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": schema},
            }
        if raw or not self.identity.instruct:
            sent = prompt if system is None else f"{system}\n\n{prompt}"
            if schema is not None:
                body["json_schema"] = schema  # llama.cpp's name for it on this route
            answer = self._post("/completions", {**body, "prompt": sent})
            text = self._choice(answer).get("text")
        else:
            messages = [{"role": "user", "content": with_schema(prompt, schema)}]
            if system is not None:
                messages.insert(0, {"role": "system", "content": system})
            sent = "\n".join(message["content"] for message in messages)
            answer = self._chat({**body, "messages": messages})
            text = self._choice(answer).get("message", {}).get("content")
        usage = answer.get("usage") or {}
        check_whole(sent, usage.get("prompt_tokens"), server=self._url)
        return Reply(
            text=text or "",
            finish_reason=_finish_reason(self._choice(answer)),
            prompt_tokens=usage.get("prompt_tokens", 0),
            completion_tokens=usage.get("completion_tokens", 0),
            seconds=time.monotonic() - start,
        )

    def next_token_logprobs(self, prompt: str, *, top: int) -> dict[str, float]:
        """See the protocol. Gives as many as the server allows, 20 at most."""
        if not self.gives_logprobs:
            raise ModelRefused(
                f"{self._url} gives no log-probabilities on /completions.",
                remedy="Set GUTENGRAPH_NAMING=list, or use another server.",
            )
        answer = self._first_token(prompt, min(top, self._logprob_limit))
        check_whole(prompt, (answer.get("usage") or {}).get("prompt_tokens"), server=self._url)
        found = _top_logprobs(self._choice(answer))
        return dict(sorted(found.items(), key=lambda item: -item[1])[:top])

    def close(self) -> None:
        """Close the connections; the server keeps its model."""
        self._client.close()

    # --- what the server is ---
    @cached_property
    def _listed(self) -> dict[str, Any]:
        models = {str(m.get("id")): m for m in self._send("GET", "/models", None).get("data", [])}
        for name in (self._model, f"{self._model}:latest"):  # Ollama lists its names with their tag
            if name in models:
                return dict(models[name])
        serves = ", ".join(sorted(models)) or "nothing"
        raise WrongModel(
            f"{self._url} does not serve '{self._model}' (it serves: {serves}).",
            remedy="Start it with that model, or name one that it serves in GUTENGRAPH_LLM.",
        )

    @cached_property
    def _props(self) -> dict[str, Any]:
        """llama.cpp's own description of what it runs, beside /v1; {} from any other server."""
        try:
            answer = self._client.get(f"{self._url.removesuffix('/v1')}/props")
            document = answer.json() if answer.is_success else {}
        except (httpx.HTTPError, ValueError):
            document = {}
        return document if isinstance(document, dict) else {}

    @property
    def _instruct(self) -> bool:
        """llama.cpp runs base models too, and tells its template; others serve instruct models."""
        template = self._props.get("chat_template")
        return template is None or _letters(template) not in ("", _letters(_LLAMA_CPP_FALLBACK))

    @cached_property
    def _logprob_limit(self) -> int:
        for limit in (MAX_TOP, 5):
            try:
                answer = self._first_token("The capital of France is", limit)
            except ModelRefused:
                continue  # this many are not allowed, or the route does not exist
            return limit if _top_logprobs(self._choice(answer)) else 0
        return 0

    # --- asking ---
    def _first_token(self, prompt: str, top: int) -> dict[str, Any]:
        body = {
            "model": self.identity.name,
            "prompt": prompt,
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": top,
        }
        return self._post("/completions", body)

    def _chat(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._post("/chat/completions", {**body, **self._chat_extra})
        except ModelRefused as error:
            if not self._chat_extra or "chat_template_kwargs" not in error.what:
                raise
            self._chat_extra = {}  # OpenAI's own API refuses arguments that it does not know
            return self._post("/chat/completions", body)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._send("POST", path, body)

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        try:
            answer = self._client.request(method, self._url + path, json=body)
            document = answer.json() if answer.is_success else None
        except httpx.TimeoutException as error:
            raise ModelUnreachable(
                f"{self._url} took longer than {self._timeout_s:.0f} s.",
                remedy="Raise GUTENGRAPH_LLM_TIMEOUT_S, or use a faster server.",
            ) from error
        except httpx.TransportError as error:
            raise ModelUnreachable(
                f"{self._url} does not answer ({error}).",
                remedy="Start the server, or correct the address in GUTENGRAPH_LLM.",
            ) from error
        except ValueError as error:
            raise ModelUnreachable(
                f"{self._url}{path} answers no JSON.", remedy="Correct the address in GUTENGRAPH_LLM."
            ) from error
        if not answer.is_success:
            raise self._refused(answer, path)
        if not isinstance(document, dict):
            raise ModelUnreachable(
                f"{self._url}{path} is no OpenAI-compatible answer.",
                remedy="Correct the address in GUTENGRAPH_LLM.",
            )
        return document

    def _choice(self, answer: dict[str, Any]) -> dict[str, Any]:
        try:
            choice = answer["choices"][0]
        except (KeyError, IndexError, TypeError):
            choice = None
        if not isinstance(choice, dict):
            raise ModelUnreachable(f"{self._url} answers without a choice: {str(answer)[:200]}.")
        return choice

    def _refused(self, answer: httpx.Response, path: str) -> GutenGraphError:
        said = _error_text(answer)
        status = answer.status_code
        if status in (401, 403):
            return ModelRefused(
                f"{self._url} refuses the key: {said}.", remedy="Set GUTENGRAPH_OPENAI_API_KEY."
            )
        if status == 404 and "model" in said.lower():
            return WrongModel(
                f"{self._url}: {said}.", remedy="Name a model that it serves in GUTENGRAPH_LLM."
            )
        if status == 429 or (status >= 500 and status != 501):
            return ModelUnreachable(f"{self._url}{path} answers {status}: {said}.", remedy="Try again later.")
        return ModelRefused(f"{self._url}{path} refused a request ({status}): {said}.")


def _letters(template: str) -> str:
    return "".join(template.replace("\\n", "").split())


def _finish_reason(choice: dict[str, Any]) -> FinishReason:
    return "length" if choice.get("finish_reason") == "length" else "stop"


def _top_logprobs(choice: dict[str, Any]) -> dict[str, float]:
    """The first token's alternatives, in OpenAI's old shape ({token: value}) or its chat shape
    (llama.cpp)."""
    given = choice.get("logprobs") or {}
    found: dict[str, float] = {}
    if given.get("content"):
        for token in given["content"][0].get("top_logprobs") or []:
            found.setdefault(token["token"], float(token["logprob"]))
    elif given.get("top_logprobs"):
        found = {token: float(value) for token, value in given["top_logprobs"][0].items()}
    return found


def _error_text(answer: httpx.Response) -> str:
    try:
        document = answer.json()
    except ValueError:
        return (answer.text.strip() or answer.reason_phrase)[:300]
    error = document.get("error", document) if isinstance(document, dict) else document
    message = error.get("message", error) if isinstance(error, dict) else error
    return str(message).strip().rstrip(".")[:300]
