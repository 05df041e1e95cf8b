"""Names of a book: code proposes, the model types them, code verifies. Which strategy does it depends on the
backend."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Protocol

import pyarrow as pa

from gutengraph_assets.extraction.grounding import mentions_table
from gutengraph_assets.extraction.ledger import Entry, Ledger, StepRun
from gutengraph_assets.extraction.named import Named
from gutengraph_core import names
from gutengraph_core.errors import GutenGraphError, ModelRefused
from gutengraph_core.llm.compiled import load_compiled
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings

STEP = "names"

RULES = 2
"""Raised when a rule of this package changes what is found: the ledger's entries of older rules then count
for nothing."""

Progress = Callable[[int, int], object]
"""Called with (done, of how many) after every item."""


@dataclass(frozen=True)
class BookText:
    """What a strategy works on."""

    body: str
    windows: pa.Table
    """A WINDOWS table of `body`."""


class NamingStrategy(Protocol):
    """One way of finding a book's names."""

    @property
    def options(self) -> dict[str, object]:
        """All that its result depends on beside the text and the model: its name, its prompt, its limits."""
        ...

    def find(self, text: BookText, run: StepRun, progress: Progress) -> list[Named]:
        """Verified names, each once. Every item asked about is entered in `run`. Raises what the model
        raises."""
        ...


def choose_strategy(llm: LLM, settings: Settings) -> NamingStrategy:
    """The cloze wherever the backend gives log-probabilities, else the list; `settings.naming` overrides. A prompt
    that was compiled for this model's lists is as good as asking for the list.

    Raises ModelRefused where the cloze is asked for and cannot be had, and what `load_compiled` raises.
    """
    from gutengraph_assets.extraction.cloze import ClozeNaming
    from gutengraph_assets.extraction.labelling import LabelNaming
    from gutengraph_assets.extraction.listing import ListNaming

    compiled = settings.naming == "auto" and load_compiled(settings.compiled_prompts, "names", llm.identity)
    if settings.naming == "list" or compiled:
        return ListNaming(llm, settings)
    if settings.naming == "label":
        return LabelNaming(llm, settings)
    if llm.gives_logprobs:
        return ClozeNaming(llm, settings)
    if settings.naming == "cloze":
        raise ModelRefused(
            f"The cloze needs log-probabilities, which {llm.identity} does not give.",
            remedy="Set GUTENGRAPH_NAMING=list, or use the embedded model or Ollama.",
        )
    return ListNaming(llm, settings)


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
    `settings.naming` asks for the cloze and the backend gives no log-probabilities, and what the model
    raises, naming the book.
    """
    try:
        strategy = choose_strategy(llm, settings)
        basis = basis_of(body, windows, llm, strategy)
        with ledger.run(STEP, basis=basis) as run:
            text = BookText(body, windows)
            named = _with_beings(text, strategy.find(text, run, progress or _quiet), run)
            named = _with_speakers(text, named)
    except GutenGraphError as error:
        if error.book is None and book is not None:
            raise type(error)(error.what, remedy=error.remedy, book=book) from error
        raise
    return mentions_table(named)


def basis_of(body: str, windows: pa.Table, llm: LLM, strategy: NamingStrategy) -> str:
    """A digest of all that the names of these windows depend on, for the ledger."""
    return _digest(
        {
            "model": asdict(llm.identity),
            "rules": RULES,
            "options": strategy.options,
            "body": hashlib.sha256(body.encode("utf-8")).hexdigest(),
            "windows": windows.select(["start", "end"]).to_pydict(),
        }
    )


def _with_beings(text: BookText, named: list[Named], run: StepRun) -> list[Named]:
    """The names and the beings without one, which are then no places or things ('the White Rabbit', 'White
    Rabbit')."""
    from gutengraph_assets.extraction.beings import find_beings

    beings = find_beings(text, named)
    kept, dropped = len(beings.named), sum(beings.dropped.values())
    run.record(
        Entry(
            step=run.step,
            item="(beings)",
            outcome="not_asked",
            proposed=kept + dropped,
            grounded=kept + dropped,
            kept=kept,
            dropped=beings.dropped,
        )
    )
    bare = {names.key(one.name).removeprefix("the ") for one in beings.named}
    return [one for one in named if names.key(one.name) not in bare] + beings.named


def _with_speakers(text: BookText, named: list[Named]) -> list[Named]:
    from gutengraph_assets.extraction.speakers import find_speakers

    return find_speakers(text, named)


def _digest(document: object) -> str:
    return hashlib.sha256(
        json.dumps(document, ensure_ascii=False, sort_keys=True).encode("utf-8")
    ).hexdigest()[:16]


def _quiet(done: int, total: int) -> None:
    pass
