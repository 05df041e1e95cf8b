"""The errors of Text Embeddings Inference: their words, types and status codes, as its router gives them."""

from __future__ import annotations

from typing import ClassVar


class ServedError(Exception):
    """A refusal as TEI phrases it: `{"error": …, "error_type": …}` with `status`."""

    status: ClassVar[int]
    kind: ClassVar[str]

    @property
    def document(self) -> dict[str, str]:
        """What is sent."""
        return {"error": str(self), "error_type": self.kind}


class EmptyBatch(ServedError):
    """No texts at all."""

    status = 400
    kind = "Empty"


class Invalid(ServedError):
    """Too many texts, too many tokens, an empty text: TEI answers all of these with 413."""

    status = 413
    kind = "Validation"

    def __str__(self) -> str:
        return f"Input validation error: {self.args[0]}"


class Untokenizable(ServedError):
    """The tokenizer fails on a text."""

    status = 422
    kind = "Tokenizer"

    def __str__(self) -> str:
        return f"Tokenization error: {self.args[0]}"


class InferenceFailed(ServedError):
    """The model fails."""

    status = 424
    kind = "Backend"

    def __str__(self) -> str:
        return f"Inference failed: {self.args[0]}"


class Overloaded(ServedError):
    """The queue is full."""

    status = 429
    kind = "Overloaded"


class Unhealthy(ServedError):
    """The model does not work."""

    status = 503
    kind = "Unhealthy"
