"""What every language model backend offers, whichever server is behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True)
class ModelIdentity:
    """What is really served, as the server itself says."""

    backend: str  # embedded | ollama | openai
    name: str
    digest: str  # Ollama's digest, the GGUF's sha256; '' where the server has none to give
    base_url: str  # '' for the embedded model
    instruct: bool  # follows instructions (has a chat template); False for a base model

    def __str__(self) -> str:
        digest = f"@{self.digest[:12]}" if self.digest else ""
        return f"{self.backend}:{self.name}{digest}"


@dataclass(frozen=True)
class Reply:
    """One reply. `finish_reason` 'length' means that the cap or the context cut it."""

    text: str
    finish_reason: FinishReason
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    cached: bool = False
    key: str = field(default="", repr=False, compare=False)
    """Under which the reply cache would keep it; '' where there is no cache."""


class LLM(Protocol):
    """One model. Methods raise ModelUnreachable, WrongModel or ModelRefused and nothing else of the network.

    Calls take the machine-wide model lock one at a time where the model runs in this process, so that two
    processes never spin on the same cores, and release it between calls.
    """

    @property
    def identity(self) -> ModelIdentity:
        """Asked of the server once, then remembered. Raises WrongModel if it serves another model."""
        ...

    @property
    def gives_logprobs(self) -> bool:
        """Whether `next_token_logprobs` works."""
        ...

    @property
    def context_tokens(self) -> int: ...

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
        """One reply at temperature 0, at most `max_tokens` long, constrained to `schema` if given.

        Instruct models get `prompt` as a user's turn unless `raw`; base models always continue it as it
        stands. Raises ModelRefused if the prompt does not fit the context: it is never cut in silence.
        """
        ...

    def next_token_logprobs(self, prompt: str, *, top: int) -> dict[str, float]:
        """The `top` likeliest next tokens of the raw prompt with their log-probabilities, likeliest first.

        Where many prompts share worked examples, end those with a blank line and put none after it: the
        embedded model keeps what comes before the last blank line evaluated. Ollama gives 20 at most, and a
        server may give fewer than asked for; a token that is missing is less likely than the last one
        given. Raises ModelRefused where the backend gives none.
        """
        ...

    def close(self) -> None:
        """Free the model's memory."""
        ...
