"""The prompt after which a base model's next token is looked at: nothing is generated.

Measured on 75 questions with Gemma 3 270M: this bare form has the right name among the first three for .44 of
them, the same behind three worked examples for .37.
"""

from __future__ import annotations

from gutengraph_core import names


def choose_prompt(question: str, passage: str) -> str:
    """Passage (none if ''), question and `Answer:` on a line each."""
    told = f"{names.squeeze(passage)}\n" if passage else ""
    return f"{told}Question: {names.squeeze(question)}\nAnswer:"
