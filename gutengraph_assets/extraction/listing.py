"""The list: the model lists a window's names, and only what stands in the window is kept.

What was tried and how it went decides what the next run does with a window (see `_Listing._plan`): a failed
or cut one is asked again, with
the cap doubled once after a cut, then in halves, then never.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from gutengraph_assets.extraction.candidates import Occurrence
from gutengraph_assets.extraction.contexts import usage
from gutengraph_assets.extraction.evidence import KINDS, Kind, is_vessel
from gutengraph_assets.extraction.grounding import NOT_IN_TEXT, places_of
from gutengraph_assets.extraction.ledger import Entry, Outcome, StepRun
from gutengraph_assets.extraction.lexicon import FUNCTION_WORDS
from gutengraph_assets.extraction.named import Named
from gutengraph_assets.extraction.naming import BookText, Progress
from gutengraph_assets.extraction.prompts.name_list import EXAMPLE_KEYS, NameList, list_prompt
from gutengraph_assets.text.sentences import sentence_starts
from gutengraph_core import names
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.llm.structured import DUPLICATE, Parsed, parse
from gutengraph_core.settings import Settings

_OUTCOMES: dict[str, Outcome] = {"valid": "valid", "no JSON": "no_json", "other shape": "other_shape"}
_FIELDS: tuple[tuple[str, Kind], ...] = (("people", "person"), ("places", "place"), ("objects", "thing"))


@dataclass(frozen=True)
class _Part:
    """A window or half of one: `body[start:end]`."""

    item: str
    window: int
    chapter: int
    start: int
    end: int


@dataclass
class _Names:
    """What a reply's names came to."""

    kept: list[tuple[Kind, str, list[tuple[int, int]]]] = field(default_factory=list)
    """kind, name as written in the text, offsets in the body"""
    proposed: int = 0
    grounded: int = 0
    leaks: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class ListNaming:
    """Asks for the names of each window. See `gutengraph_assets.extraction.naming.NamingStrategy`."""

    def __init__(self, llm: LLM, settings: Settings) -> None:
        self._llm = llm
        self._cap = settings.list_reply_tokens
        self._repair = settings.structural_repair

    @property
    def options(self) -> dict[str, object]:
        prompt = list_prompt("", instruct=self._llm.identity.instruct)
        return {"strategy": "list", "prompt": prompt, "cap": self._cap, "repair": self._repair}

    def find(self, text: BookText, run: StepRun, progress: Progress) -> list[Named]:
        parts = [
            _Part(str(row["window"]), row["window"], row["chapter"], row["start"], row["end"])
            for row in text.windows.select(["window", "chapter", "start", "end"]).to_pylist()
        ]
        found: list[tuple[_Part, _Names]] = []
        for done, part in enumerate(parts, start=1):
            found += self._window(part, text.body, run)
            progress(done, len(parts))
        return _gathered(text.body, found)

    # --- one window ---
    def _window(self, part: _Part, body: str, run: StepRun) -> list[tuple[_Part, _Names]]:
        last = run.last(part.item)
        retry = run.failed_before(part.item)
        if last is None:
            return [(part, self._ask(part, body, run, cap=self._cap, attempt=1))]
        if last.halved:
            return [(half, self._again(half, body, run)) for half in _halves(part, body)]
        if retry is None:
            return [(part, self._again(part, body, run))]
        if retry.truncated and retry.attempt == 1:
            return [(part, self._ask(part, body, run, cap=2 * self._cap, attempt=2))]
        run.record(
            Entry(step=run.step, item=part.item, outcome="not_asked", halved=True, attempt=retry.attempt + 1)
        )
        return [
            (half, self._ask(half, body, run, cap=retry.cap, attempt=retry.attempt + 1, final=True))
            for half in _halves(part, body)
        ]

    def _again(self, part: _Part, body: str, run: StepRun) -> _Names:
        """The names of an item that was done before: a good reply from the cache, a failed or cut one from
        the ledger."""
        last = run.last(part.item)
        if last is None:  # killed between the halves
            return self._ask(part, body, run, cap=self._cap, attempt=1, final=True)
        if last.raw is not None and (last.failed or last.truncated):
            parsed = parse(last.raw, NameList, repair=self._repair)
            return self._judged(parsed, part, body)
        return self._ask(part, body, run, cap=last.cap, attempt=last.attempt, final=last.final)

    def _ask(
        self, part: _Part, body: str, run: StepRun, *, cap: int, attempt: int, final: bool = False
    ) -> _Names:
        text = names.squeeze(body[part.start : part.end])
        prompt = list_prompt(text, instruct=self._llm.identity.instruct)
        asked = ask(self._llm, prompt, NameList, max_tokens=cap, stop=_stop(self._llm), repair=self._repair)
        found = self._judged(asked.parsed, part, body)
        truncated = asked.reply.finish_reason == "length"
        outcome = _OUTCOMES[asked.parsed.outcome]
        troubled = outcome != "valid" or truncated or bool(asked.parsed.repairs)
        run.record(
            Entry(
                step=run.step,
                item=part.item,
                attempt=attempt,
                outcome=outcome,
                repaired=list(asked.parsed.repairs),
                truncated=truncated,
                empty=outcome == "valid" and not found.proposed,
                final=final and (outcome != "valid" or truncated),
                calls=1,
                proposed=found.proposed,
                grounded=found.grounded,
                kept=len(found.kept),
                dropped=dict(sorted(found.dropped.items())),
                leaks=found.leaks,
                duplicate_keys=asked.parsed.counts.get(DUPLICATE, 0),
                cap=cap,
                words=len(text.split()),
                tokens_in=asked.reply.prompt_tokens,
                tokens_out=asked.reply.completion_tokens,
                seconds=round(asked.reply.seconds, 3),
                raw=asked.reply.text if troubled else None,
            )
        )
        return found

    def _judged(self, parsed: Parsed[NameList], part: _Part, body: str) -> _Names:
        """Each name of a reply kept or dropped, with the reason."""
        found = _Names()
        if parsed.value is None:
            return found
        seen: set[str] = set()
        text = body[part.start : part.end]
        for field_name, kind in _FIELDS:
            for name in getattr(parsed.value, field_name):
                found.proposed += 1
                spans = places_of(name, text)
                key = names.key(name)
                if not spans:
                    leaked = key in EXAMPLE_KEYS
                    found.leaks += leaked
                    found.dropped["leak" if leaked else NOT_IN_TEXT] += 1
                    continue
                found.grounded += 1
                if reason := _no_name(name, key):
                    found.dropped[reason] += 1
                elif key in seen:
                    found.dropped["said twice"] += 1
                else:
                    seen.add(key)
                    found.kept.append((kind, name, [(part.start + s, part.start + e) for s, e in spans]))
        return found


def _no_name(name: str, key: str) -> str:
    words = key.split()
    if not any(c.isupper() for c in name):
        return "no capital"
    if all(word in FUNCTION_WORDS or word in names.TITLES for word in words):
        return "no name"
    return ""


def _stop(llm: LLM) -> tuple[str, ...]:
    """A base model that is not held to a schema would go on with another text."""
    return () if llm.identity.instruct else ("\n\nText:",)


def _halves(part: _Part, body: str) -> Iterator[_Part]:
    """The part cut at the sentence nearest its middle."""
    middle = (part.start + part.end) // 2
    starts = sentence_starts(body, part.start, part.end)
    cut = min(starts, key=lambda at: abs(at - middle), default=middle)
    yield _Part(f"{part.item}/0", part.window, part.chapter, part.start, cut)
    yield _Part(f"{part.item}/1", part.window, part.chapter, cut, part.end)


def _gathered(body: str, found: list[tuple[_Part, _Names]]) -> list[Named]:
    """One entry a name: the kind that most windows gave it, every place where a window that named it has
    it."""
    votes: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    places: defaultdict[str, dict[tuple[int, int], Occurrence]] = defaultdict(dict)
    for part, listed in found:
        for kind, name, spans in listed.kept:
            key = names.key(name)
            votes[key][kind] += 1
            spellings[key][names.squeeze(name)] += len(spans)
            for start, end in spans:
                places[key][start, end] = Occurrence(start, end, part.window, part.chapter)
    result = []
    for key, kinds in votes.items():
        kind = max(kinds, key=lambda k: (kinds[k], -KINDS.index(k)))
        name = max(spellings[key], key=lambda spelling: (spellings[key][spelling], spelling))
        occurrences = tuple(places[key][span] for span in sorted(places[key]))
        vessel = is_vessel(usage(body, places[key]))
        result.append(
            Named(name, "place" if vessel else kind, "list", occurrences, subkind="vessel" if vessel else "")
        )
    return result
