"""One question, one checked answer: ask, parse, count, and let the cache keep what is good."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Generic

from gutengraph_core.llm.cache import accept
from gutengraph_core.llm.protocol import LLM, Reply
from gutengraph_core.llm.structured import ECHOED, M, Parsed, parse, reply_schema

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked(Generic[M]):
    """The raw reply and what became of it."""

    reply: Reply
    parsed: Parsed[M]


def ask(
    llm: LLM,
    prompt: str,
    model: type[M],
    *,
    max_tokens: int,
    system: str | None = None,
    schema: dict[str, Any] | None = None,
    stop: tuple[str, ...] = (),
    repair: bool = True,
) -> Asked[M]:
    """Ask for a reply of the shape of `model`; `schema` where it is to be narrower than the model's own.

    A complete valid reply goes into the cache of a CachedLLM. A cut one does not, though what is complete
    of it has been saved: it is to be asked again with a higher cap. Nothing is retried here: at temperature
    0 the same question has the same answer. Raises what `LLM.complete` raises.
    """
    reply = llm.complete(
        prompt, max_tokens=max_tokens, system=system, schema=schema or reply_schema(model), stop=stop
    )
    parsed = parse(reply.text, model, repair=repair)
    if parsed.value is None and parsed.counts.get(ECHOED):
        _log.warning(
            "%s repeated the schema instead of filling it. "
            "Use a server that enforces reply schemas, or another model.",
            llm.identity,
        )
    if parsed.value is not None and not parsed.cut:
        accept(llm, reply)
    return Asked(reply, parsed)
