"""Names proposed by code: capitalised spans over the whole book, with what a sentence's start does to them
undone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import pyarrow as pa

from gutengraph_assets.extraction.case_statistics import CaseStatistics
from gutengraph_assets.extraction.lexicon import (
    COMPASS,
    DEMONYMS,
    DEMONYMS_BORNE,
    FUNCTION_WORDS,
    INTERJECTIONS,
    LEADING_PARTICLES,
    NAMES_TOO,
    PARTICLES,
    PLACE_HEADS,
    PLACE_LEADS,
    RANKS,
    ROMAN,
)
from gutengraph_assets.extraction.refusals import Refusals, plurals
from gutengraph_assets.extraction.scan import scan
from gutengraph_core import names

_CONTRACTION = re.compile(r"(n't|'(ll|ve|re|m|d|t|ud|em|ee|st|dst|lt))$|^([jcnstm]|qu)'")
_BEARINGS = frozenset("nsew")
_EPITHETS = frozenset(
    "first second third fourth fifth sixth seventh eighth great good bad bold bald conqueror terrible elder younger "
    "confessor fair wise pious magnificent".split()
)


@dataclass(frozen=True)
class Occurrence:
    """One place where a name stands: `body[start:end]`, possessive 's not included."""

    start: int
    end: int
    window: int
    chapter: int


@dataclass(frozen=True)
class Candidate:
    """A span that may be a name. Spellings with one `names.key` are one candidate."""

    name: str
    key: str
    occurrences: tuple[Occurrence, ...]

    @property
    def windows(self) -> int:
        """In how many windows it stands."""
        return len({o.window for o in self.occurrences})


@dataclass(frozen=True)
class Survey:
    """Candidates, and why other capitalised words are none: reason -> distinct words."""

    candidates: list[Candidate]
    dropped: dict[str, int]
    stats: CaseStatistics


def find_candidates(body: str, windows: pa.Table) -> list[Candidate]:
    """The book's candidates in order of first occurrence. `windows` is a WINDOWS table of `body`."""
    return survey(body, windows).candidates


def survey(body: str, windows: pa.Table) -> Survey:
    """`find_candidates` with the account of what was dropped."""
    hunt = _Hunt(body)
    found = hunt.spans()
    place = _Places(windows)
    by_key: defaultdict[str, list[_Span]] = defaultdict(list)
    for span in found.spans:
        by_key[span.key].append(span)
    candidates = []
    for key, spans in by_key.items():
        candidates.append(
            Candidate(
                name=_display(body, spans),
                key=key,
                occurrences=tuple(Occurrence(s.start, s.end, *place.of(s.start)) for s in spans),
            )
        )
    kept = set(by_key)
    reasons = Counter(reason for key, reason in found.dropped.items() if key not in kept)
    return Survey(candidates, dict(sorted(reasons.items())), hunt.stats)


class _Places:
    def __init__(self, windows: pa.Table) -> None:
        self._starts = windows["start"].to_pylist()
        self._windows = windows["window"].to_pylist()
        self._chapters = windows["chapter"].to_pylist()

    def of(self, offset: int) -> tuple[int, int]:
        at = max(0, bisect_right(self._starts, offset) - 1)
        return self._windows[at], self._chapters[at]


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    key: str
    plain: bool
    """Written with small letters too, and outside a heading."""


@dataclass
class _Found:
    spans: list[_Span] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)


def _display(body: str, spans: list[_Span]) -> str:
    """The most frequent spelling, one line; capitals for emphasis undone."""
    plain = Counter(names.squeeze(body[s.start : s.end]) for s in spans if s.plain)
    if plain:
        return max(plain.items(), key=lambda item: (item[1], item[0]))[0]
    shouted = Counter(names.squeeze(body[s.start : s.end]) for s in spans)
    name = max(shouted.items(), key=lambda item: (item[1], item[0]))[0]
    return name.title() if name.isupper() and len(name) > 3 and "." not in name else name


class _Hunt:
    """The capitalised spans of one body."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._tokens = scan(body)
        self.stats = CaseStatistics.of(self._tokens)
        self._dropped: dict[str, str] = {}

    def spans(self) -> _Found:
        runs = self._runs()
        settled: list[list[int]] = []
        opening: list[list[int]] = []
        for run in runs:
            (opening if self._tokens[run[0]].opens or self._tokens[run[0]].heading else settled).append(run)
        known = {self._key(run) for run in settled}
        for run in opening:
            trimmed = self._without_opening_words(run, known)
            if trimmed:
                settled.append(trimmed)
        refusals = Refusals(self.stats, [[self._tokens[at] for at in run] for run in settled])
        spans = []
        for run in sorted(settled):
            before = self._tokens[run[0] - 1].low if run[0] else ""
            reason = refusals.of([self._tokens[at] for at in run], before)
            if reason:
                self._dropped.setdefault(self._key(run), reason)
            else:
                spans.append(self._span(run))
        spans = self._without_heading_only(spans)
        plural = plurals(self._body, [(span.key, span.start) for span in spans])
        for key in plural:
            self._dropped.setdefault(key, "plural of a name")
        spans = [span for span in spans if span.key not in plural]
        return _Found(spans, self._dropped)

    # --- runs of words that may be one name ---
    def _runs(self) -> list[list[int]]:
        runs: list[list[int]] = []
        run: list[int] = []
        at = 0
        while at < len(self._tokens):
            step = self._extends(run, at) if run else (1 if self._may_be_name(at) else 0)
            if step:
                run.extend(range(at, at + step))
                at += step
                continue
            if run:
                runs.extend(self._split(run))
                run = []
                continue  # the word that ended a run may begin the next
            at += 1
        if run:
            runs.extend(self._split(run))
        return runs

    def _extends(self, run: list[int], at: int) -> int:
        """How many words from `at` on belong to the run."""
        token = self._tokens[at]
        if not token.joined or (token.opens and not self._goes_on(at)):
            return 0
        if self._may_be_name(at):
            # 'the Admiral Benbow CHAPTER', 'Benbow MR. DUNN': what begins to shout begins anew.
            shouts = token.shape == "capitals" and self._tokens[at - 1].shape == "capital"
            return 0 if shouts and self._tokens[at - 1].low not in names.TITLES else 1
        if token.shape in ("capitals", "letter") and ROMAN.match(token.low) and token.low != "i":
            # 'Louis XIV', not 'said Mary I': one numeral after a name
            return 1 if self.stats.is_name(self._tokens[at - 1].low) else 0
        if token.shape != "lower":
            return 0
        return self._bound(run, at)

    def _goes_on(self, at: int) -> bool:
        """What follows an initial, a title or 'St.' on the next line is the same name still."""
        before = self._tokens[at - 1]
        return before.shape == "letter" or before.low in names.TITLES or before.low in ("st", "ste")

    def _bound(self, run: list[int], at: int) -> int:
        """Small words that bind two halves of a name: 'de', 'van', 'of', 'of the', 'the Great'."""
        tokens = self._tokens
        ahead = at
        small: list[str] = []
        while (
            ahead < len(tokens) and len(small) < 2 and tokens[ahead].shape == "lower" and tokens[ahead].joined
        ):
            small.append(tokens[ahead].low)
            ahead += 1
        if ahead >= len(tokens) or not tokens[ahead].joined or not self._may_be_name(ahead):
            return 0
        if all(word in PARTICLES for word in small):
            return len(small) + 1
        left = tokens[run[-1]]
        if small in (["of"], ["of", "the"]):
            heads = left.low in names.TITLES or left.low in PLACE_HEADS | PLACE_LEADS | RANKS
            return len(small) + 1 if heads or (self.stats.lower[left.low] and not left.opens) else 0
        if small == ["the"] and tokens[ahead].low in _EPITHETS and self.stats.is_name(left.low):
            return 2
        return 0

    def _may_be_name(self, at: int) -> bool:
        token = self._tokens[at]
        low = token.low
        if token.shape == "lower":
            return False
        if token.shape == "letter":
            return (
                low not in ("i", "o") and self._body[token.end : token.end + 1] == "." and self._near_name(at)
            )
        if low in NAMES_TOO and not token.opens:
            return True
        if low in FUNCTION_WORDS or low in INTERJECTIONS or _CONTRACTION.search(low.replace("’", "'")):
            if token.shape == "capital":
                self._drop(low, "function word" if low in FUNCTION_WORDS else "exclamation or contraction")
            return False
        if token.shape == "capitals":
            return self._is_name_in_capitals(at)
        return True

    def _near_name(self, at: int) -> bool:
        """An initial belongs to a name only beside another capital word."""
        after = self._tokens[at + 1] if at + 1 < len(self._tokens) else None
        before = self._tokens[at - 1] if at and self._tokens[at].joined else None
        return (after is not None and after.joined and after.shape in ("capital", "letter")) or (
            before is not None and before.shape == "capital"
        )

    def _is_name_in_capitals(self, at: int) -> bool:
        token = self._tokens[at]
        low = token.low
        if low in names.TITLES:
            after = self._tokens[at + 1] if at + 1 < len(self._tokens) else None
            return after is not None and after.joined and after.shape != "lower"
        if self.stats.is_name(low):
            return True
        if self.stats.looks_common(low) or ROMAN.match(low):
            return False
        # Known only in capitals: a name set in capitals for italics, unless the words around it shout too.
        neighbours = [self._tokens[n] for n in (at - 1, at + 1) if 0 <= n < len(self._tokens)]
        shouting = any(n.shape == "capitals" and not self.stats.is_name(n.low) for n in neighbours)
        return not token.heading and not shouting and len(low) > 2

    def _split(self, run: list[int]) -> list[list[int]]:
        """A title inside a run begins another name ('told Mary Mr. Hart'), unless titles are heaped."""
        parts = [[run[0]]]
        for position, at in enumerate(run[1:], start=1):
            low = self._tokens[at].low
            heaped = self._tokens[run[position - 1]].low in names.TITLES
            last = position == len(run) - 1
            bound = self._tokens[run[position - 1]].shape == "lower"
            if low in names.TITLES and not heaped and not last and not bound:
                parts.append([at])
            else:
                parts[-1].append(at)
        trimmed = [part for part in (self._trim_ends(p) for p in parts) if part]
        return [self._with_particles(part) for part in trimmed]

    def _with_particles(self, run: list[int]) -> list[int]:
        """'van der Berg' begins with its small words."""
        first = run[0]
        while (
            self._tokens[first].joined
            and self._tokens[first - 1].shape == "lower"
            and self._tokens[first - 1].low in LEADING_PARTICLES
        ):
            first -= 1
        return [*range(first, run[0]), *run]

    def _trim_ends(self, run: list[int]) -> list[int]:
        """Without small words at either end, without a last initial unless a title leads ('Mr. B.'), or
        heaped ones."""
        while len(run) > 2 and all(self._tokens[at].low in _BEARINGS for at in run[:2]):
            run = run[2:]
        while run and (
            self._tokens[run[-1]].shape == "lower"
            or (
                self._tokens[run[-1]].shape == "letter"
                and len(run) > 1
                and self._tokens[run[0]].low not in names.TITLES
                and not ROMAN.match(self._tokens[run[-1]].low)
            )
        ):
            run = run[:-1]
        while run and self._tokens[run[0]].shape == "lower":
            run = run[1:]
        if len(run) > 1 and self._tokens[run[-1]].low in DEMONYMS - DEMONYMS_BORNE:
            # 'taught Lucy Italian'; 'Mr. German' and 'South African' stay
            first = self._tokens[run[0]].low
            if first not in names.TITLES and first not in COMPASS and self.stats.is_name(first):
                run = run[:-1]
        return run

    # --- openings ---
    def _without_opening_words(self, run: list[int], known: set[str]) -> list[int]:
        """The run less the words that owe their capital to the opening ('Poor Jim' -> 'Jim')."""
        if len(run) > 1 and self._key(run) in known:
            return run
        rest = run
        while rest:
            token = self._tokens[rest[0]]
            if token.low in names.TITLES and len(rest) > 1:
                return rest
            if not token.opens and not token.heading and rest is not run:
                return rest
            if token.shape == "letter" and len(rest) > 1:
                return rest
            # 'Overhearing Starbuck': a participle before a name, even one that the book has nowhere else
            participle = token.low.endswith("ing") and len(rest) > 1 and not self.stats.inside[token.low]
            common = participle or self.stats.looks_common(token.low)
            if not common:
                return rest
            self._drop(token.low, "opens a sentence")
            rest = self._trim_ends(rest[1:])
            if rest and not token.heading:
                return rest
        return []

    def _without_heading_only(self, spans: list[_Span]) -> list[_Span]:
        plain = {span.key for span in spans if span.plain}
        shouted = Counter(span.key for span in spans if not span.plain)
        kept = []
        for span in spans:
            heading = span.start in self._heading_starts
            # 'To Mrs. Dunn, London' above each letter is a heading like any other, and its only mention.
            addressed = shouted[span.key] > 1 and span.key.partition(" ")[0] in names.TITLES
            if span.key in plain or not heading or addressed:
                kept.append(span)
            else:
                self._dropped.setdefault(span.key, "only in headings")
        return kept

    # --- small help ---
    def _key(self, run: list[int]) -> str:
        return names.key(self._body[self._tokens[run[0]].start : self._tokens[run[-1]].end])

    def _span(self, run: list[int]) -> _Span:
        first, last = self._tokens[run[0]], self._tokens[run[-1]]
        plain = not first.heading and any(self._tokens[at].shape == "capital" for at in run)
        return _Span(first.start, last.end, self._key(run), plain)

    @property
    def _heading_starts(self) -> set[int]:
        if not hasattr(self, "_headings"):
            self._headings = {t.start for t in self._tokens if t.heading}
        return self._headings

    def _drop(self, low: str, reason: str) -> None:
        self._dropped.setdefault(low, reason)
