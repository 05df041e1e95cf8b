"""Portraits of the cast by an instruct model: one call a person, from the windows that name him or her most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gutengraph_assets.extraction.book_text import BookText, Span
from gutengraph_assets.extraction.canon import Field, Normaliser, says_nothing
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.grounding import NOT_IN_TEXT
from gutengraph_assets.extraction.ledger import StepRun
from gutengraph_assets.extraction.prompts.portrait import CAP, Portrait, portrait_prompt
from gutengraph_assets.extraction.reading.items import Judged, Question, answer
from gutengraph_assets.extraction.reading.quotes import place_of_quote
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.names import squeeze

STEP = "enrichment"
PASSAGES = 4
"""Windows given of a person. With the task about 2,900 tokens: it fits a context of 4,096."""
_ALSO = 4
_ENUMS: tuple[Field, ...] = ("role", "gender", "character_type", "social_class")


@dataclass
class Drawn:
    """What the model says of one person: enums as canonical words, free texts only with a quote that stands."""

    enums: dict[Field, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """motivation, arc"""
    quotes: dict[str, Span] = field(default_factory=dict)
    """Where each text's quote stands in the body."""


def draw(
    text: BookText, people: Sequence[Person], llm: LLM, run: StepRun, normaliser: Normaliser, *, repair: bool
) -> dict[str, Drawn]:
    """A portrait of each of the cast whose reply can be read, by id."""
    found = {}
    for person in people:
        windows = best_windows(text, person)
        if not windows:
            continue

        def judge(reply: Portrait, person: Person = person, windows: list[Span] = windows) -> Judged[Drawn]:
            return _judge(reply, person.id, text, windows, normaliser)

        def prompt(half: bool, person: Person = person, windows: list[Span] = windows) -> str:
            chosen = windows[: max(1, len(windows) // 2)] if half else windows
            also = [alias for alias in person.aliases if alias != person.name][:_ALSO]
            return portrait_prompt(
                person.name, also, [squeeze(text.body[start:end]) for start, end in chosen]
            )

        words = sum(len(text.body[start:end].split()) for start, end in windows)
        question = Question(person.id, prompt, Portrait, judge, CAP, words)
        drawn = answer(question, llm, run, repair=repair)
        if drawn is not None:
            found[person.id] = drawn
    return found


def best_windows(text: BookText, person: Person) -> list[Span]:
    """The windows that name a person most, of each fourth of his or her story one, in the book's order.

    The best four of all would be one scene, and show no change.
    """
    count = Counter(text.window_of(m.start) for m in person.mentions)
    order = sorted(count)
    parts = [order[len(order) * i // PASSAGES : len(order) * (i + 1) // PASSAGES] for i in range(PASSAGES)]
    chosen = sorted(max(part, key=lambda w: (count[w], -w)) for part in parts if part)
    return [text.windows[window] for window in chosen]


def _judge(
    reply: Portrait, person: str, text: BookText, windows: Sequence[Span], normaliser: Normaliser
) -> Judged[Drawn]:
    judged = Judged(Drawn())
    for name in _ENUMS:
        said = getattr(reply, name)
        if says_nothing(said):
            continue
        judged.choices += (
            1  # a judgement on the whole: it claims no words of the text, so it is none that stands in it
        )
        value = normaliser.take(person, name, said)
        if value is None:
            judged.choices_unfit[f"no {name.replace('_', ' ')} of the enum"] += 1
        else:
            judged.value.enums[name] = value
            judged.choices_kept += 1
    for told in ("motivation", "arc"):
        said, quote = squeeze(getattr(reply, told)), getattr(reply, f"{told}_quote")
        if says_nothing(said):
            continue
        judged.proposed += 1
        place = place_of_quote(text.body, quote, windows)
        if place is None:
            judged.dropped[NOT_IN_TEXT] += 1
            continue
        judged.grounded += 1
        judged.kept += 1
        judged.value.texts[told] = said
        judged.value.quotes[told] = place
    return judged
