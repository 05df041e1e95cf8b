"""Names of a book: code proposes, the model types them, code verifies."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings

STEP = "names"

Progress = Callable[[int, int], None]
"""Called with (done, of how many) after every item."""


def name_book(
    body: str,
    windows: pa.Table,
    llm: LLM,
    settings: Settings,
    ledger: Ledger,
    *,
    progress: Progress | None = None,
    book: int | None = None,
) -> pa.Table:
    """A MENTIONS table of `body`: verified mentions only, in reading order.

    `windows` is a WINDOWS table. Every attempt is entered under the step `names`. Raises ModelRefused where
    `settings.naming` asks for the cloze and the backend gives no log-probabilities.
    """
    raise NotImplementedError
