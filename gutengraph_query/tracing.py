"""LangSmith, by environment variables only; and never slower for it where it cannot be reached.

An unreachable LangSmith does not slow a call but holds the process's exit for 20 to 90 s. So it is asked once
whether it is there, with a short limit; where it is not, tracing is off and one line says why.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import httpx
from dotenv import dotenv_values

from gutengraph_core.llm.protocol import LLM, ModelIdentity, Reply

_log = logging.getLogger(__name__)

PREFLIGHT_S = 0.3
"""Longest wait for `GET /info`."""
PROJECT = "gutengraph"
"""LangSmith's project where the environment names none."""
_ENDPOINT = "https://api.smith.langchain.com"


@lru_cache(maxsize=1)
def _read_env_file() -> None:
    """The lines of `.env` for LangSmith become variables, as LangGraph's own server does it; set ones stay."""
    for name, value in dotenv_values(".env").items():
        if name.startswith(("LANGSMITH_", "LANGCHAIN_")) and value is not None:
            os.environ.setdefault(name, value)


def _variable(name: str) -> str:
    """A LangSmith variable by its new name, else by its old one; '' if neither is set."""
    _read_env_file()
    for prefix in ("LANGSMITH", "LANGCHAIN"):
        value = os.environ.get(f"{prefix}_{name}", "").strip()
        if value:
            return value
    return ""


def wanted() -> bool:
    """Whether the environment asks for tracing, by the new name or one of the old ones."""
    return any(_variable(name).lower() == "true" for name in ("TRACING_V2", "TRACING"))


@lru_cache(maxsize=1)
def enabled() -> bool:
    """Whether to trace: it is wanted, there is a key, and LangSmith answers. Asked once a process.

    Says why not in one warning.
    """
    if not wanted():
        return False
    endpoint = _variable("ENDPOINT") or _ENDPOINT
    if not _variable("API_KEY"):
        _log.warning("LangSmith tracing is off: no LANGSMITH_API_KEY is set.")
        return False
    try:
        answer = httpx.get(f"{endpoint.rstrip('/')}/info", timeout=PREFLIGHT_S)
        answer.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        _log.warning(
            "LangSmith tracing is off: %s does not answer (%s).", endpoint, error or type(error).__name__
        )
        return False
    return True


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Everything below is traced where that is wanted and possible, and nothing is where it is not."""
    if not wanted():
        yield
        return
    from langsmith.run_helpers import tracing_context

    on = enabled()
    with tracing_context(enabled=on, project_name=(_variable("PROJECT") or PROJECT) if on else None):
        yield


class TracedLLM:
    """A model each of whose calls is a span of type `llm` below the node that made it. See `LLM`."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def identity(self) -> ModelIdentity:
        return self._llm.identity

    @property
    def gives_logprobs(self) -> bool:
        return self._llm.gives_logprobs

    @property
    def context_tokens(self) -> int:
        return self._llm.context_tokens

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
        with self._span({"prompt": prompt, "system": system}) as run:
            reply = self._llm.complete(
                prompt, max_tokens=max_tokens, system=system, schema=schema, stop=stop, raw=raw
            )
            run.end(outputs={"text": reply.text, "usage_metadata": _usage(reply)})
            return reply

    def next_token_logprobs(self, prompt: str, *, top: int) -> dict[str, float]:
        with self._span({"prompt": prompt, "top": top}) as run:
            found = self._llm.next_token_logprobs(prompt, top=top)
            run.end(outputs={"likeliest": list(found)[:5]})
            return found

    def close(self) -> None:
        self._llm.close()

    def _span(self, inputs: dict[str, Any]) -> Any:
        from langsmith.run_helpers import trace

        return trace(str(self.identity), run_type="llm", inputs=inputs)


def _usage(reply: Reply) -> dict[str, int]:
    return {
        "input_tokens": reply.prompt_tokens,
        "output_tokens": reply.completion_tokens,
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
    }
