"""The cloze: what sort of thing a name names, by the log-probabilities of one word in a sentence about its
sentence.

A small model cannot list names without inventing some, but it knows what comes after 'is the name of a'. One
sentence
decides most names; a second and a third, far away in the book, are asked only while doubt remains.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.candidates import Candidate, Occurrence, survey
from gutengraph_assets.extraction.case_statistics import CaseStatistics
from gutengraph_assets.extraction.contexts import called_he
from gutengraph_assets.extraction.evidence import (
    Evidence,
    Kind,
    Surroundings,
    Verdict,
    of_one_family,
    of_one_place,
)
from gutengraph_assets.extraction.grounding import NOT_IN_TEXT, verified
from gutengraph_assets.extraction.ledger import Entry, StepRun
from gutengraph_assets.extraction.named import How, Named
from gutengraph_assets.extraction.naming import BookText, Progress
from gutengraph_assets.extraction.prompts.cloze import CLASSES, CONSTANTS, cloze_prompt
from gutengraph_assets.text.sentences import sentence_starts
from gutengraph_core import names
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings

TOP = 20
"""Alternatives asked for: Ollama's most. With a class word beyond them set to the last one's value minus 1,
109 of 109 names
were decided as by the full distribution."""
BEYOND = 1.0
SENTENCES = 3
"""More than three sentences change nothing (F1 .77, .86, .89, .89 for 1, 2, 3, 5 on one novel)."""
SURE = 1.5
"""A margin from which no further sentence is asked. On 490 names: 551, 640, 772, 940, 1,470 calls and F1
.958, .961, .963, .965, .965 at
.5, 1, 1.5, 2 and always three sentences."""
DOUBTFUL = 1.0
"""A name said in one window only is dropped below this margin if it has several words (it would join the
minor
cast, and nothing else will ever speak for it) or stands nowhere but at openings."""
MAX_WORDS = 30
"""Longest context shown; 60 % of the room goes before the name."""
_GOOD_CONTEXT = 8
"""A context of fewer words ('Chapter headings', 'Oh, Tom!') tells little: others are taken first."""

_HE_LEAST = 4
_HE_SHARE = 0.7
"""Of the pronouns after a name's mentions."""
_BARE = 0.1
"""Most articles before a name that needs none."""

_ONCE = 2
_WELL_KNOWN = 3
_WORD = re.compile(r"\S+")


def class_scores(logprobs: dict[str, float]) -> dict[Kind, float]:
    """Log-probability of each kind among the kinds, less its constant. `logprobs` holds the likeliest next
    tokens."""
    items = sorted(logprobs.items(), key=lambda item: -item[1])[:TOP]
    found: dict[str, float] = {}
    for token, value in items:
        found.setdefault(token.strip(), value)
    floor = items[-1][1] - BEYOND
    raw: dict[Kind, float] = {
        kind: math.log(sum(math.exp(found.get(word, floor)) for word in words))
        for kind, words in CLASSES.items()
    }
    total = math.log(sum(math.exp(value) for value in raw.values()))
    return {kind: value - total - CONSTANTS[kind] for kind, value in raw.items()}


def best(scores: Sequence[dict[Kind, float]], kinds: Sequence[Kind]) -> tuple[Kind, float]:
    """The kind with the highest mean among `kinds`, and by how much it leads the next."""
    means = {kind: sum(score[kind] for score in scores) / len(scores) for kind in kinds}
    ranked = sorted(means.items(), key=lambda item: (-item[1], item[0]))
    margin = ranked[0][1] - ranked[1][1] if len(ranked) > 1 else math.inf
    return ranked[0][0], margin


def prompt_for(body: str, occurrence: Occurrence) -> str:
    return cloze_prompt(
        context(body, occurrence.start, occurrence.end),
        names.squeeze(body[occurrence.start : occurrence.end]),
    )


def context(body: str, start: int, end: int) -> str:
    """The sentence that holds `body[start:end]`, at most MAX_WORDS of it around the name, on one line."""
    opening = body.rfind("\n\n", 0, start)
    opening = 0 if opening < 0 else opening + 2
    closing = body.find("\n\n", end)
    closing = len(body) if closing < 0 else closing
    borders = [opening, *sentence_starts(body, opening, closing), closing]
    first = max(border for border in borders if border <= start)
    last = min(border for border in borders if border >= end)
    before = [match.start() for match in _WORD.finditer(body, first, start)]
    after = [match.end() for match in _WORD.finditer(body, end, last)]
    room = MAX_WORDS - len(body[start:end].split())
    ahead = min(len(before), max(room - len(after), room * 3 // 5))
    behind = min(len(after), room - ahead)
    left = before[len(before) - ahead] if ahead else start
    right = after[behind - 1] if behind else end
    return names.squeeze(body[left:right])


def chosen(body: str, candidate: Candidate, count: int = SENTENCES) -> list[Occurrence]:
    """Occurrences to ask about, spread over the book: the middle one, then towards its ends.

    Those in telling sentences come first; a name shouted in a heading is asked about only if it stands
    nowhere else.
    """
    telling = [o for o in candidate.occurrences if _telling(body, o)] or list(candidate.occurrences)
    if len(telling) <= count:
        return telling
    last = len(telling) - 1
    order = [round(last * share) for share in (0.5, 0.1, 0.9, 0.3, 0.7)[:count]]
    return [telling[at] for at in dict.fromkeys(order)]


def _telling(body: str, occurrence: Occurrence) -> bool:
    words = context(body, occurrence.start, occurrence.end).split(" ")
    return len(words) >= _GOOD_CONTEXT and any(word[0].islower() for word in words)


class ClozeNaming:
    """Types the book's candidates one by one. See `gutengraph_assets.extraction.naming.NamingStrategy`."""

    def __init__(self, llm: LLM, settings: Settings) -> None:
        self._llm = llm
        self._most_calls = settings.naming_max_calls

    @property
    def options(self) -> dict[str, object]:
        return {
            "strategy": "cloze",
            "prompt": cloze_prompt("", ""),
            "sentences": SENTENCES,
            "calls": self._most_calls,
        }

    def find(self, text: BookText, run: StepRun, progress: Progress) -> list[Named]:
        found = survey(text.body, text.windows)
        run.record(Entry(step=run.step, item="(survey)", outcome="not_asked", set_aside=found.dropped))
        evidences = [Evidence.of(text.body, candidate) for candidate in found.candidates]
        # The frequent names first: what is left when the calls are spent is what the book hardly mentions.
        evidences.sort(key=lambda e: (-e.candidate.windows, e.candidate.occurrences[0].start))
        return _Typing(self._llm, self._most_calls, text.body, evidences, found.stats, run, progress).names()


@dataclass(frozen=True)
class _Typed:
    kind: Kind | None
    """None: dropped."""
    reason: str = ""
    subkind: str = ""
    how: How = "rule"
    margin: float | None = None
    calls: int = 0
    seconds: float = 0.0


class _Typing:
    """One book's names being typed."""

    def __init__(
        self,
        llm: LLM,
        most_calls: int,
        body: str,
        evidences: list[Evidence],
        stats: CaseStatistics,
        run: StepRun,
        progress: Progress,
    ) -> None:
        self._llm = llm
        self._most = self._left = most_calls
        self._body = body
        self._evidences = evidences
        self._stats = stats
        self._surroundings = Surroundings(evidences, stats)
        self._run = run
        self._progress = progress
        self._windows = {e.candidate.key: e.candidate.windows for e in evidences}
        self._persons: set[str] = set()
        self._places: set[str] = set()
        self._asked = 0

    def names(self) -> list[Named]:
        """Single words and what the text decides come first: they decide longer names that hold them. Single words
        of one window come after those longer names, when calls are left; what is said once after these, and single
        words of it at the very end."""
        verdicts = {e.candidate.key: self._surroundings.judge(e) for e in self._evidences}
        queues: list[list[Evidence]] = [[], [], [], [], []]
        for evidence in self._evidences:
            queues[self._turn(evidence, verdicts[evidence.candidate.key])].append(evidence)
        open_ = sum(len(verdict.kinds) > 1 for verdict in verdicts.values())
        found = []
        for queue in queues:
            for evidence in queue:
                typed = self._settle(evidence, verdicts[evidence.candidate.key])
                found += self._enter(evidence, typed)
                self._remember(evidence, typed)
                if typed.calls:
                    self._asked += 1
                    self._progress(self._asked, max(self._asked, self._to_ask(open_)))
        if self._asked:
            self._progress(self._asked, self._asked)
        return found

    def _to_ask(self, open_: int) -> int:
        """How many names the model will be asked about: all that are open, or as many as the calls last for."""
        return min(open_, round(self._asked * self._most / (self._most - self._left)))

    @staticmethod
    def _turn(evidence: Evidence, verdict: Verdict) -> int:
        if len(verdict.kinds) < 2:
            return 0
        single = len(evidence.tokens) == 1
        if evidence.usage.count == 1:
            return 4 if single else 3
        if single:
            return 0 if evidence.candidate.windows > 1 else 2
        return 1

    def _settle(self, evidence: Evidence, verdict: Verdict) -> _Typed:
        if not verdict.kinds:
            return _Typed(None, verdict.reason)
        if len(verdict.kinds) == 1:
            return _Typed(verdict.kinds[0], subkind=verdict.subkind)
        if len(evidence.tokens) > 1:
            return self._longer(evidence, verdict)
        return self._ask(evidence, verdict.kinds)

    def _longer(self, evidence: Evidence, verdict: Verdict) -> _Typed:
        if self._is_two_names(evidence):
            return _Typed(None, "two names in one")
        if "place" in verdict.kinds and of_one_place(evidence, self._places):
            return _Typed("place")
        if "person" in verdict.kinds and of_one_family(evidence, self._persons, self._places):
            return _Typed("person")
        return self._ask(evidence, verdict.kinds)

    def _is_two_names(self, evidence: Evidence) -> bool:
        """'London Mary', 'Tom Mr. Hale' run together by a missing comma: both well known, together said once
        or twice."""
        if evidence.candidate.windows > _ONCE:
            return False
        tokens = evidence.tokens
        if tokens[0] in self._places and any(t in self._persons for t in tokens[1:]):
            return True
        for cut in range(1, len(tokens)):
            head, tail = names.key(" ".join(tokens[:cut])), names.key(" ".join(tokens[cut:]))
            both = min(self._windows.get(head, 0), self._windows.get(tail, 0))
            if both >= _WELL_KNOWN and len(tokens) > 2 and tokens[0] not in names.TITLES:
                return True
        return False

    def _ask(self, evidence: Evidence, kinds: tuple[Kind, ...]) -> _Typed:
        """Ask about one sentence, and about further ones while the first leaves doubt."""
        if self._left <= 0:
            return _Typed(None, "calls spent")
        began = time.monotonic()
        leaning = self._surroundings.leaning(evidence)
        scores: list[dict[Kind, float]] = []
        kind, margin = kinds[0], 0.0
        for occurrence in chosen(self._body, evidence.candidate)[: self._left]:
            scores.append(
                class_scores(self._llm.next_token_logprobs(prompt_for(self._body, occurrence), top=TOP))
            )
            kind, margin = best([{k: s[k] + leaning[k] for k in kinds} for s in scores], kinds)
            if margin >= SURE:
                break
        self._left -= len(scores)
        seconds = time.monotonic() - began
        unsure = len(evidence.tokens) > 1 or not self._stats.inside[evidence.tokens[0]]
        if evidence.candidate.windows == 1 and unsure and margin < DOUBTFUL:
            return _Typed(None, "in doubt", calls=len(scores), seconds=seconds, how="cloze")
        if kind == "person" and margin < DOUBTFUL and self._may_be_plural(evidence):
            return _Typed(None, "in doubt", calls=len(scores), seconds=seconds, how="cloze")
        if kind == "thing" and "person" in kinds and margin < DOUBTFUL and self._is_he(evidence):
            kind, margin = "person", 0.0
        if kind == "thing" and (reason := self._idle_thing(evidence)):
            return _Typed(None, reason, calls=len(scores), seconds=seconds, how="cloze")
        return _Typed(kind, how="cloze", margin=round(margin, 1), calls=len(scores), seconds=seconds)

    def _may_be_plural(self, evidence: Evidence) -> bool:
        """'the Careys' without their article: a hesitant person whose singular the book has."""
        word = evidence.tokens[0]
        stem = word.removesuffix("s")
        known = self._stats.lower[stem] or self._stats.inside[stem]
        return len(evidence.tokens) == 1 and stem != word and not stem.endswith("s") and bool(known)

    def _is_he(self, evidence: Evidence) -> bool:
        """A whale or a horse with a name of its own, which the model hesitates over and the text calls 'he'."""
        he, others = called_he(self._body, [(o.start, o.end) for o in evidence.candidate.occurrences])
        return he >= _HE_LEAST and he >= _HE_SHARE * (he + others) and evidence.usage.determined <= _BARE

    def _idle_thing(self, evidence: Evidence) -> str:
        """Why a thing is nothing to keep: capitals put on a common noun, or said and never again."""
        if len(evidence.tokens) == 1 and self._stats.lower[evidence.tokens[0]]:
            return "a common noun with a capital"
        return "a thing said once" if evidence.candidate.windows == 1 else ""

    def _remember(self, evidence: Evidence, typed: _Typed) -> None:
        tokens = [t for t in evidence.tokens if t not in names.TITLES]
        if len(tokens) != 1 or typed.kind is None:
            return
        if typed.kind == "person":
            self._persons.add(tokens[0])
        elif typed.kind == "place" and len(evidence.tokens) == 1:
            self._places.add(tokens[0])

    def _enter(self, evidence: Evidence, typed: _Typed) -> list[Named]:
        candidate = evidence.candidate
        standing = verified(self._body, candidate.name, candidate.occurrences)
        dropped = {} if typed.kind else {typed.reason: 1}
        if not standing:
            dropped = {NOT_IN_TEXT: 1}
        self._run.record(
            Entry(
                step=self._run.step,
                item=candidate.key,
                outcome="valid" if typed.calls else "not_asked",
                calls=typed.calls,
                proposed=1,
                grounded=int(bool(standing)),
                kept=int(not dropped),
                dropped=dropped,
                seconds=round(typed.seconds, 3),
            )
        )
        if dropped or typed.kind is None:
            return []
        return [Named(candidate.name, typed.kind, typed.how, standing, typed.subkind, typed.margin)]
