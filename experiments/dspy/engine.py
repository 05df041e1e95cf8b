"""Our LLM protocol as an engine of DSPy's, so that whatever GUTENGRAPH_LLM names can be compiled for.

DSPy's own LM stands over it (cache and retries off: the reply cache and the step's own retries serve). Replies are at
temperature 0, whatever DSPy asks for: the same prompt has the same reply, and only another prompt brings another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

import dspy
from dspy import lm15
from gutengraph_core.errors import GutenGraphError, ModelRefused
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.cache import accept
from gutengraph_core.llm.protocol import LLM, Reply

FREE_TOKENS = 700
"""Reply cap of what is not bound to a schema: the instructions that a proposer writes."""


class ProtocolEngine:
    """One request, one reply. With `model`, replies are constrained to its schema.

    A failure of the server is kept in `broken` and raised at once by every later request: an optimiser counts errors
    as bad examples and would go on without a model.
    """

    def __init__(self, llm: LLM, model: type[BaseModel] | None = None, *, cap: int = FREE_TOKENS) -> None:
        self._llm = llm
        self._model = model
        self._cap = cap
        self.broken: GutenGraphError | None = None
        self.calls = 0

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Raises lm15.ContextLengthError for a prompt that does not fit, lm15.ServerError for any other failure."""
        if self.broken is not None:
            raise lm15.ServerError(str(self.broken))
        system = _text(request.system) or None
        turns = [message.text or "" for message in request.messages]
        self.calls += 1
        try:
            reply = self._ask("\n\n".join(turns), system)
        except ModelRefused as error:
            raise lm15.ContextLengthError(str(error)) from error
        except GutenGraphError as error:
            self.broken = error
            raise lm15.ServerError(str(error)) from error
        return lm15.Response(
            id=None,
            model=str(self._llm.identity),
            message=lm15.Message.assistant([lm15.TextPart(reply.text)]),
            finish_reason=reply.finish_reason,
            usage=lm15.Usage(
                input_tokens=reply.prompt_tokens,
                output_tokens=reply.completion_tokens,
                total_tokens=reply.prompt_tokens + reply.completion_tokens,
            ),
        )

    def _ask(self, prompt: str, system: str | None) -> Reply:
        if self._model is not None:
            return ask(self._llm, prompt, self._model, max_tokens=self._cap, system=system).reply
        reply = self._llm.complete(prompt, max_tokens=self._cap, system=system)
        if reply.finish_reason == "stop" and reply.text.strip():
            accept(self._llm, reply)
        return reply

    def stream(self, request: lm15.Request) -> Iterator[Any]:
        """The whole reply as DSPy's events."""
        return iter(lm15.response_to_events(self.complete(request)))

    def close(self) -> None:
        """The model is whoever opened it's to close."""


def _text(system: Any) -> str:
    if system is None or isinstance(system, str):
        return system or ""
    return "".join(part.text for part in system)


def open_lm(engine: ProtocolEngine, name: str) -> dspy.LM:
    """A DSPy language model over an engine of ours."""
    return dspy.LM(name.replace("/", ":"), engine=engine, cache=False, num_retries=0)
