"""Stand-ins for unit tests. Contract tests use the real thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gutengraph_core.errors import ModelRefused
from gutengraph_core.llm.protocol import FinishReason, ModelIdentity, Reply

Answer = str | tuple[str, FinishReason] | Exception


class FakeLLM:
    """A model that answers from a list, or by a function of the prompt, and remembers what it was asked.

    `replies`: texts in order, `(text, 'length')` for a cut one, an exception to raise it; or a function of
    the prompt. `logprobs`: a function of the prompt, or one table for all; None: the backend gives none.
    Counts a token as four characters.
    """

    def __init__(
        self,
        replies: Sequence[Answer] | Callable[[str], Answer] = (),
        *,
        logprobs: Callable[[str], Mapping[str, float]] | Mapping[str, float] | None = None,
        instruct: bool = False,
        name: str = "fake",
        digest: str = "0123456789abcdef",
        context_tokens: int = 4096,
    ) -> None:
        self._replies = replies if callable(replies) else list(replies)
        self._logprobs = logprobs
        self.identity = ModelIdentity("embedded", name, digest, base_url="", instruct=instruct)
        self.context_tokens = context_tokens
        self.calls: list[dict[str, Any]] = []
        """The arguments of every `complete`, in order."""
        self.logprob_calls: list[str] = []
        self.closed = False

    @property
    def gives_logprobs(self) -> bool:
        return self._logprobs is not None

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
        self.calls.append(
            {
                "prompt": prompt,
                "max_tokens": max_tokens,
                "system": system,
                "schema": schema,
                "stop": stop,
                "raw": raw,
            }
        )
        if callable(self._replies):
            answer = self._replies(prompt)
        elif self._replies:
            answer = self._replies.pop(0)
        else:
            raise AssertionError(f"The fake model has no reply left for: {prompt[-200:]}")
        if isinstance(answer, Exception):
            raise answer
        text, reason = (answer, "stop") if isinstance(answer, str) else answer
        return Reply(
            text, "length" if reason == "length" else "stop", len(prompt) // 4, len(text) // 4, 0.001
        )

    def next_token_logprobs(self, prompt: str, *, top: int) -> dict[str, float]:
        self.logprob_calls.append(prompt)
        if self._logprobs is None:
            raise ModelRefused("The fake model gives no log-probabilities.")
        table = self._logprobs(prompt) if callable(self._logprobs) else self._logprobs
        return dict(sorted(table.items(), key=lambda item: -item[1])[:top])

    def close(self) -> None:
        self.closed = True
