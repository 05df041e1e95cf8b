"""A book read by an instruct model, with every call in the ledger."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.canon import Normaliser
from gutengraph_assets.extraction.entities import Entity, Person
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.prompts.chapter import CAP as CHAPTER_CAP
from gutengraph_assets.extraction.prompts.chapter import chapter_prompt
from gutengraph_assets.extraction.prompts.portrait import CAP as PORTRAIT_CAP
from gutengraph_assets.extraction.prompts.portrait import portrait_prompt
from gutengraph_assets.extraction.reading import chapters, portraits
from gutengraph_assets.extraction.reading.chapters import Read, read_chapters
from gutengraph_assets.extraction.reading.portraits import Drawn, draw
from gutengraph_core.library import Kind
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings

STEPS = (portraits.STEP, chapters.STEP)
"""Of the ledger."""


@dataclass(frozen=True)
class Reader:
    """Who reads, and where it is entered."""

    llm: LLM
    ledger: Ledger
    settings: Settings


@dataclass
class BookReading:
    """Nothing, where no instruct model read the book."""

    portraits: dict[str, Drawn] = field(default_factory=dict)
    chapters: Read = field(default_factory=Read)


def reader_options(llm: LLM, settings: Settings) -> dict[str, object] | None:
    """All that a reading depends on beside the book; None where the model follows no instructions."""
    if not llm.identity.instruct:
        return None
    return {
        "model": asdict(llm.identity),
        "portrait": [portrait_prompt("", [], []), PORTRAIT_CAP, portraits.PASSAGES],
        "chapter": [chapter_prompt(""), CHAPTER_CAP, chapters.PART_WINDOWS, chapters.SHOWN_WINDOWS],
        "repair": settings.structural_repair,
    }


def steps_read(llm: LLM, settings: Settings, kind: Kind) -> tuple[str, ...]:
    """Steps of the ledger that tell how a book of `kind` is read now: none where nobody reads it, whatever a model that
    was configured before has left in its ledger."""
    return () if kind == "non-fiction" or reader_options(llm, settings) is None else STEPS


def read_book(
    text: BookText,
    people: Sequence[Person],
    others: Sequence[Entity],
    reader: Reader,
    normaliser: Normaliser,
) -> BookReading:
    """Portraits of the cast and the chapters' events, themes and atmospheres. Raises what the model raises.

    A model that follows no instructions is asked nothing.
    """
    options = reader_options(reader.llm, reader.settings)
    if options is None:
        return BookReading()
    repair = reader.settings.structural_repair
    cast = [person for person in people if person.standing == "cast"]
    about = {
        "body": hashlib.sha256(text.body.encode("utf-8")).hexdigest(),
        "cast": [[p.id, p.aliases, [m.start for m in p.mentions]] for p in cast],
        "options": options,
    }
    basis = hashlib.sha256(json.dumps(about, ensure_ascii=False, sort_keys=True).encode("utf-8"))
    with reader.ledger.run(portraits.STEP, basis=basis.hexdigest()[:16]) as run:
        drawn = draw(text, cast, reader.llm, run, normaliser, repair=repair)
    with reader.ledger.run(chapters.STEP, basis=basis.hexdigest()[:16]) as run:
        read = read_chapters(text, people, others, reader.llm, run, repair=repair)
    return BookReading(drawn, read)
