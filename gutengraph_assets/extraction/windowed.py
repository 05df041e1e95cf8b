"""What strategies that ask window by window share: one request a window, its entry in the ledger, and what
the next run tries.

The next run asks again for failed and cut windows only, and always with something changed: after a first cut
with the cap
doubled, then in halves, then never again. What failed in a run that was killed is not tried again before that
run has come
to its end, so that a killed run and an undisturbed one give the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic

from gutengraph_assets.extraction.candidates import Occurrence
from gutengraph_assets.extraction.contexts import usage
from gutengraph_assets.extraction.evidence import KINDS, Kind, is_vessel
from gutengraph_assets.extraction.ledger import Entry, Outcome, StepRun
from gutengraph_assets.extraction.named import How, Named
from gutengraph_assets.extraction.naming import BookText, Progress
from gutengraph_assets.text.sentences import sentence_starts
from gutengraph_core import names
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.llm.structured import DUPLICATE, M, Parsed, parse
from gutengraph_core.settings import Settings

_OUTCOMES: dict[str, Outcome] = {"valid": "valid", "no JSON": "no_json", "other shape": "other_shape"}


@dataclass(frozen=True)
class Part:
    """A window or half of one: `body[start:end]`."""

    item: str
    window: int
    chapter: int
    start: int
    end: int


@dataclass(frozen=True)
class Request(Generic[M]):
    """What to ask about a part."""

    prompt: str
    model: type[M]
    schema: dict[str, Any] | None
    cap: int


@dataclass
class Found:
    """What a reply's names came to."""

    kept: list[tuple[Kind, str, list[tuple[int, int]]]] = field(default_factory=list)
    """kind, name as written in the text, offsets in the body"""
    proposed: int = 0
    grounded: int = 0
    leaks: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class WindowedNaming(Generic[M]):
    """Asks about each window. Subclasses say what to ask and judge the answer."""

    how: How
    stop: tuple[str, ...] = ()

    def __init__(self, llm: LLM, settings: Settings) -> None:
        self._llm = llm
        self._repair = settings.structural_repair

    def request(self, part: Part, body: str) -> Request[M] | None:
        """What to ask about a part, its cap for a first attempt; None where there is nothing to ask."""
        raise NotImplementedError

    def judge(self, parsed: Parsed[M], part: Part, body: str) -> Found:
        """Each name of a reply kept or dropped, with the reason."""
        raise NotImplementedError

    def find(self, text: BookText, run: StepRun, progress: Progress) -> list[Named]:
        """See `gutengraph_assets.extraction.naming.NamingStrategy`."""
        parts = [
            Part(str(row["window"]), row["window"], row["chapter"], row["start"], row["end"])
            for row in text.windows.select(["window", "chapter", "start", "end"]).to_pylist()
        ]
        found: list[tuple[Part, Found]] = []
        for done, part in enumerate(parts, start=1):
            found += self._window(part, text.body, run)
            progress(done, len(parts))
        return self._gathered(text.body, found)

    def _window(self, part: Part, body: str, run: StepRun) -> list[tuple[Part, Found]]:
        last = run.last(part.item)
        retry = run.failed_before(part.item)
        if last is None:
            return [(part, self._ask(part, body, run, attempt=1))]
        if last.halved:
            return [(half, self._half(half, body, run, last)) for half in _halves(part, body)]
        if retry is None:
            return [(part, self._again(part, body, run, last))]
        if retry.truncated and retry.attempt == 1:
            return [(part, self._ask(part, body, run, attempt=2, cap=2 * retry.cap))]
        halved = Entry(
            step=run.step,
            item=part.item,
            outcome="not_asked",
            halved=True,
            attempt=retry.attempt + 1,
            cap=retry.cap,
        )
        run.record(halved)
        return [(half, self._half(half, body, run, halved)) for half in _halves(part, body)]

    def _half(self, part: Part, body: str, run: StepRun, whole: Entry) -> Found:
        last = run.last(part.item)
        if last is None:
            return self._ask(part, body, run, attempt=whole.attempt, cap=whole.cap, final=True)
        return self._again(part, body, run, last)

    def _again(self, part: Part, body: str, run: StepRun, last: Entry) -> Found:
        """The names of what was done before: a failed or cut reply from the ledger, a good one from the
        cache."""
        request = self.request(part, body)
        if request is not None and last.raw is not None and (last.failed or last.truncated):
            return self.judge(parse(last.raw, request.model, repair=self._repair), part, body)
        return self._ask(part, body, run, attempt=last.attempt, cap=last.cap, final=last.final)

    def _ask(
        self,
        part: Part,
        body: str,
        run: StepRun,
        *,
        attempt: int,
        cap: int | None = None,
        final: bool = False,
    ) -> Found:
        request = self.request(part, body)
        if request is None:
            run.record(Entry(step=run.step, item=part.item, outcome="not_asked", empty=True))
            return Found()
        cap = cap or request.cap
        asked = ask(
            self._llm,
            request.prompt,
            request.model,
            max_tokens=cap,
            schema=request.schema,
            stop=self.stop,
            repair=self._repair,
        )
        found = self.judge(asked.parsed, part, body)
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
                words=len(body[part.start : part.end].split()),
                tokens_in=asked.reply.prompt_tokens,
                tokens_out=asked.reply.completion_tokens,
                seconds=round(asked.reply.seconds, 3),
                raw=asked.reply.text if troubled else None,
            )
        )
        return found

    def _gathered(self, body: str, found: list[tuple[Part, Found]]) -> list[Named]:
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
            subkind = "vessel" if vessel else ""
            result.append(Named(name, "place" if vessel else kind, self.how, occurrences, subkind=subkind))
        return result


def _halves(part: Part, body: str) -> Iterator[Part]:
    """The part cut at the sentence nearest its middle."""
    middle = (part.start + part.end) // 2
    starts = sentence_starts(body, part.start, part.end)
    cut = min(starts, key=lambda at: abs(at - middle), default=middle)
    yield Part(f"{part.item}/0", part.window, part.chapter, part.start, cut)
    yield Part(f"{part.item}/1", part.window, part.chapter, cut, part.end)
