"""What the server backends share: the schema in the prompt, and never a prompt cut in silence."""

from __future__ import annotations

import json
from typing import Any

from gutengraph_core.errors import ModelRefused

CHARS_PER_TOKEN = 3
"""English prose has 4.1 to 4.5 characters a token in today's vocabularies; 3 leaves room for names and
accents."""


def estimate_tokens(text: str) -> int:
    """More tokens than an English text has."""
    return len(text) // CHARS_PER_TOKEN + 1


def with_schema(prompt: str, schema: dict[str, Any] | None) -> str:
    """The prompt with the reply's JSON schema behind it, as Ollama advises even where it is enforced."""
    if schema is None:
        return prompt
    return (
        f"{prompt}\n\nReply with JSON that conforms to this schema:\n{json.dumps(schema, ensure_ascii=False)}"
    )


def check_whole(text: str, evaluated: int | None, *, server: str) -> None:
    """Raise ModelRefused if the server evaluated fewer tokens than the text has words: it cut the prompt.

    Every word takes a token at least. Servers that refuse an overlong prompt by themselves never come here.
    """
    words = len(text.split())
    if evaluated is not None and evaluated < words:
        raise ModelRefused(
            f"{server} cut a prompt of {words} words to {evaluated} tokens.",
            remedy="Give it a larger context, or set GUTENGRAPH_TOP_K or GUTENGRAPH_WINDOW_WORDS lower.",
        )
