"""Language models: one protocol, three backends, a reply cache, structured replies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gutengraph_core.errors import SettingsError
from gutengraph_core.llm.protocol import LLM, FinishReason, ModelIdentity, Reply

if TYPE_CHECKING:
    from gutengraph_core.settings import Settings

__all__ = ["LLM", "FinishReason", "ModelIdentity", "Reply", "open_llm"]

_FORMS = "`embedded`, `ollama:<model>` or `openai:<model>@<base_url>`"


def open_llm(spec: str, settings: Settings, *, cache: bool = True) -> LLM:
    """The model that `spec` names: `embedded` | `ollama:<model>` | `openai:<model>@<base_url>`.

    With `cache`, behind the reply cache of the data folder (`cache/replies.sqlite`). Opens nothing yet: the
    first use of `identity` asks the server, the first call loads the embedded model. Only the chosen backend
    is imported. Raises SettingsError for a specification of another form or a malformed address.
    """
    llm = _open_backend(spec, settings)
    if not cache:
        return llm
    from gutengraph_core.llm.cache import CachedLLM, ReplyCache

    return CachedLLM(llm, ReplyCache(settings.library.cache_dir / "replies.sqlite"))


def _open_backend(spec: str, settings: Settings) -> LLM:
    if spec == "embedded":
        from gutengraph_core.llm.llamacpp import EmbeddedLLM

        return EmbeddedLLM(settings)
    if match := re.fullmatch(r"ollama:(\S+)", spec):
        from gutengraph_core.llm.ollama import OllamaLLM

        return OllamaLLM(match[1], settings)
    if match := re.fullmatch(r"openai:(\S+?)@(https?://\S+)", spec):
        from gutengraph_core.llm.openai import OpenAILLM

        return OpenAILLM(match[1], match[2], settings)
    raise SettingsError(f"'{spec}' names no language model.", remedy=f"Set GUTENGRAPH_LLM to {_FORMS}.")
