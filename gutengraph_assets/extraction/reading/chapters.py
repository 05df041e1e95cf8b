"""Events, themes and atmospheres of a book by an instruct model: one call a chapter, a long chapter in parts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from gutengraph_assets.extraction.book_text import BookText, Span
from gutengraph_assets.extraction.canon import is_negated
from gutengraph_assets.extraction.entities import Entity, Person
from gutengraph_assets.extraction.grounding import NOT_IN_TEXT
from gutengraph_assets.extraction.ledger import StepRun
from gutengraph_assets.extraction.notions.vocabulary import VOCABULARY
from gutengraph_assets.extraction.prompts.chapter import CAP, ChapterReading, ToldNotion, chapter_prompt
from gutengraph_assets.extraction.reading.items import Judged, Question, answer
from gutengraph_assets.extraction.reading.quotes import place_of_quote
from gutengraph_core.graph.schema import EVENT_KINDS, NotionLabel
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.names import key, split_title, squeeze

STEP = "chapters"
PART_WINDOWS = 12
"""A longer chapter is read in parts, so that what happens at its end is not lost."""
SHOWN_WINDOWS = 3
"""Of each part the windows with most of the cast: about 2,000 tokens, which leaves room in a context of 4,096."""


@dataclass(frozen=True)
class Told:
    """An event as a chapter tells it. `people` and `place` are ids of the graph's nodes."""

    name: str
    kind: str
    raw_kind: str
    start: int
    end: int
    people: tuple[str, ...]
    place: str | None


@dataclass(frozen=True)
class Shown:
    """A theme or an atmosphere at one place."""

    label: NotionLabel
    name: str
    raw: str
    start: int
    end: int


@dataclass
class Read:
    """What the chapters say, in the book's order."""

    events: list[Told] = field(default_factory=list)
    notions: list[Shown] = field(default_factory=list)
    normalised: int = 0
    """Answers whose words were brought to the vocabulary."""


class _Known:
    """Names of the graph's nodes."""

    def __init__(self, people: Sequence[Person], others: Sequence[Entity]) -> None:
        self._people = self._owners(people)
        self._places = self._owners([e for e in others if e.label == "Location"])

    @staticmethod
    def _owners(entities: Sequence[Entity]) -> dict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for entity in entities:
            for alias in entity.aliases:
                found[key(alias)].add(entity.id)
                found[key(split_title(alias)[1])].add(entity.id)
        return found

    def person(self, name: str) -> str | None:
        return self._one(self._people, name)

    def place(self, name: str) -> str | None:
        return self._one(self._places, name)

    @staticmethod
    def _one(owners: dict[str, set[str]], name: str) -> str | None:
        found = owners.get(key(name), set()) or owners.get(key(split_title(name)[1]), set())
        return next(iter(found)) if len(found) == 1 else None


def read_chapters(
    text: BookText,
    people: Sequence[Person],
    others: Sequence[Entity],
    llm: LLM,
    run: StepRun,
    *,
    repair: bool,
) -> Read:
    """All that the replies say and the text bears out."""
    known = _Known(people, others)
    cast = _cast_by_window(text, people)
    read = Read()
    for item, windows in parts(text):
        best = sorted(sorted(windows, key=lambda w: (-len(cast[w]), w))[:SHOWN_WINDOWS])
        spans = [text.windows[w] for w in best]

        def judge(reply: ChapterReading, spans: list[Span] = spans) -> Judged[Read]:
            return _judge(reply, text, spans, known)

        def prompt(half: bool, spans: list[Span] = spans) -> str:
            chosen = spans[: max(1, len(spans) // 2)] if half else spans
            return chapter_prompt("\n\n".join(squeeze(text.body[start:end]) for start, end in chosen))

        words = sum(len(text.body[start:end].split()) for start, end in spans)
        found = answer(Question(item, prompt, ChapterReading, judge, CAP, words), llm, run, repair=repair)
        if found is not None:
            read.events += found.events
            read.notions += found.notions
            read.normalised += found.normalised
    return read


def parts(text: BookText) -> list[tuple[str, list[int]]]:
    """(item, windows) of each chapter, or of each part of a long one."""
    found = []
    for chapter, group in groupby(
        range(len(text.windows)), key=lambda w: text.chapter_of(text.windows[w][0])
    ):
        windows = list(group)
        for n, first in enumerate(range(0, len(windows), PART_WINDOWS)):
            found.append((f"{chapter}/{n}", windows[first : first + PART_WINDOWS]))
    return found


def _cast_by_window(text: BookText, people: Sequence[Person]) -> dict[int, set[str]]:
    found: defaultdict[int, set[str]] = defaultdict(set)
    for person in people:
        if person.standing == "cast":
            for mention in person.mentions:
                found[text.window_of(mention.start)].add(person.id)
    return found


def _judge(reply: ChapterReading, text: BookText, spans: Sequence[Span], known: _Known) -> Judged[Read]:
    judged = Judged(Read())
    for told in reply.events:
        judged.proposed += 1
        place = place_of_quote(text.body, told.quote, spans)
        if place is None:
            judged.dropped[NOT_IN_TEXT] += 1
            continue
        judged.grounded += 1
        who = [id_ for name in told.people if (id_ := known.person(name))]
        where = known.place(told.place) if squeeze(told.place) else None
        kind, name = event_kind(told.kind), squeeze(told.name)
        if not name or not (who or where):
            judged.dropped["an event of nobody in the book"] += 1
        elif kind is None:
            judged.dropped["no kind of event of the enum"] += 1
        else:
            judged.kept += 1
            judged.value.normalised += squeeze(told.kind) != kind
            judged.value.events.append(
                Told(name, kind, squeeze(told.kind), *place, tuple(dict.fromkeys(who)), where)
            )
    labelled: tuple[tuple[NotionLabel, list[ToldNotion]], ...] = (
        ("Theme", reply.themes),
        ("Atmosphere", reply.atmospheres),
    )
    for label, notions in labelled:
        for notion in notions:
            judged.proposed += 1
            place = place_of_quote(text.body, notion.quote, spans)
            if place is None:
                judged.dropped[NOT_IN_TEXT] += 1
                continue
            judged.grounded += 1
            canonical = notion_name(label, notion.name)
            if canonical is None:
                judged.dropped[f"no {label.lower()} of the vocabulary"] += 1
                continue
            judged.kept += 1
            judged.value.normalised += squeeze(notion.name) != canonical
            judged.value.notions.append(Shown(label, canonical, squeeze(notion.name), *place))
    return judged


def event_kind(answer: str) -> str | None:
    """The canonical kind for a model's word: one of them, or one whose words it holds."""
    from gutengraph_assets.extraction.events.lexicon import KIND_OF_NOUN

    said = key(answer).split(" ")
    kinds = Counter(
        kind for word in said if (kind := word if word in EVENT_KINDS else KIND_OF_NOUN.get(word))
    )
    return next(iter(kinds)) if len(kinds) == 1 and not is_negated(answer) else None


def notion_name(label: NotionLabel, answer: str) -> str | None:
    """The vocabulary's name for a model's words: the same, or the only one that shares a telling word."""
    said = key(answer)
    names = {key(name): name for name in VOCABULARY[label]}
    if said in names:
        return names[said]
    telling = set(said.split(" ")) - _SMALL
    found = {name for known, name in names.items() if telling & (set(known.split(" ")) - _SMALL)}
    return found.pop() if len(found) == 1 and not is_negated(answer) else None


_SMALL = frozenset("the and of a an in".split())
