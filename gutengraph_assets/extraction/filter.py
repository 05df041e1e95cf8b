"""From mentions to entities: aliases merged first, then persons (not names) filtered by how often the text has them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pyarrow as pa

from gutengraph_assets.extraction.aliases.ladder import Person, merge_names
from gutengraph_assets.extraction.aliases.person_name import PersonName, parse
from gutengraph_assets.extraction.book_text import BookText, Span
from gutengraph_assets.extraction.occurrences import NameFinder
from gutengraph_assets.extraction.overrides import read_overrides
from gutengraph_assets.extraction.scene import part_of
from gutengraph_assets.extraction.speakers import SPEAKER
from gutengraph_assets.extraction.standing import Decision, is_of_family, judge_person, threshold
from gutengraph_core.library import BookRecord, Kind
from gutengraph_core.names import slug, squeeze, words
from gutengraph_core.settings import Settings
from gutengraph_core.tables import ENTITIES, MERGES

_ARTICLES = ("the ", "The ", "THE ")
_COURTESY = frozenset(("mr", "mrs", "miss", "master", "madame", "monsieur", "mademoiselle"))
PASSING_SHARE, PASSING_TIMES, PASSING_AMONG = 0.02, 3, 10
"""A form in a fiftieth of the usual form's mentions is not what the book calls somebody, unless it is a full name that
stands three times; nor is one that stands once beside a form that stands ten times."""
FORMAL_TIMES = 10
"""'Mr. Hart' is what the book calls somebody unless it calls him 'Freddy' ten times as often."""
_QUOTE_MOST = 300
"""Characters of a merge's quote."""


@dataclass(frozen=True)
class FilteredEntities:
    """What the filter step hands on."""

    entities: pa.Table
    """ENTITIES: kept, mentioned and dropped, each with its reason."""
    merges: pa.Table
    """MERGES: one row a pair of names that were joined, with the rule and, where there is one, the place."""
    counts: dict[str, int]
    """names, persons and of these cast, mentioned, dropped; locations, objects, others_dropped; merges,
    occurrences."""


def filter_entities(
    *, record: BookRecord, body: str, windows: pa.Table, mentions: pa.Table, settings: Settings
) -> FilteredEntities:
    """Merge the names of one person, count the windows in which the text has any of them, and decide who stays.

    `windows` is a WINDOWS table, `mentions` a MENTIONS table of `body`. Reads `overrides/<id>.toml` under
    `settings.home` if there is one. Raises SettingsError where that file is malformed.
    """
    text = book_text(record, body, windows)
    overrides = read_overrides(settings.home, record.id)
    kinds = _kinds(mentions)
    spans = NameFinder(kinds).find(text)
    needed = threshold(record.kind, windows.num_rows, min_windows=settings.min_windows)
    persons = merge_names(
        text,
        {name: spans[name] for name in spans if kinds[name][0] == "person"},
        joined=overrides.join,
        # Who has speeches under two labels has two parts: the King and the Player King.
        apart=[*overrides.split, *combinations(sorted(n for n in spans if kinds[n][1] == SPEAKER), 2)],
    )
    plays = record.kind == "drama" and any(subkind == SPEAKER for _, subkind in kinds.values())
    ids = _Ids(record.id)
    rows: list[dict[str, Any]] = []
    merges: list[dict[str, Any]] = []
    for person in persons:
        row = _person_row(person, text, spans, kinds, needed=needed, record=record, plays=plays)
        row["id"] = ids.give(row["name"])
        rows.append(row)
        merges += [
            _merge_row(row["id"], merge.a, merge.b, merge.rule, text, spans) for merge in person.merges
        ]
    _admit_families(rows, record.kind)
    for row in _other_rows(text, spans, kinds, needed=min(needed, settings.min_windows)):
        row["id"] = ids.give(row["name"])
        rows.append(row)
    rows.sort(key=lambda row: (row["first"], row["id"]))
    counts = _counts(rows, names=len(spans), merges=len(merges))
    return FilteredEntities(
        entities=pa.Table.from_pylist(rows, schema=ENTITIES),
        merges=pa.Table.from_pylist(merges, schema=MERGES),
        counts=counts,
    )


def book_text(record: BookRecord, body: str, windows: pa.Table) -> BookText:
    """The body with the cuts that a WINDOWS table and the record's chapters give."""
    spans = list(zip(windows["start"].to_pylist(), windows["end"].to_pylist(), strict=True))
    return BookText(body, windows=spans, chapters=record.chapters)


def _kinds(mentions: pa.Table) -> dict[str, tuple[str, str]]:
    """name -> (kind, subkind): the one that most of its mentions have."""
    votes: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    columns = (mentions[column].to_pylist() for column in ("name", "kind", "subkind"))
    for name, kind, subkind in zip(*columns, strict=True):
        votes[name][(kind, subkind or "")] += 1
    return {name: min(found, key=lambda kind: (-found[kind], kind)) for name, found in sorted(votes.items())}


def _person_row(
    person: Person,
    text: BookText,
    spans: Mapping[str, Sequence[Span]],
    kinds: Mapping[str, tuple[str, str]],
    *,
    needed: int,
    record: BookRecord,
    plays: bool,
) -> dict[str, Any]:
    """`plays`: the book is a play whose speeches say who speaks."""
    starts = sorted(start for name in person.names for start, _ in spans[name])
    windows = len({text.window_of(start) for start in starts})
    parsed = [parse(name) for name in person.names]
    decision = judge_person(
        parsed,
        windows=windows,
        mentions=len(starts),
        needed=needed,
        kind=record.kind,
        being=any(kinds[name][1] in ("being", SPEAKER) for name in person.names),
        silent=plays and not any(kinds[name][1] == SPEAKER for name in person.names),
        part=part_of(text, sorted(span for name in person.names for span in spans[name])),
    )
    return {
        "label": "Character",
        "name": display_name(parsed, {name: len(spans[name]) for name in person.names}),
        "aliases": list(person.names),
        "standing": decision.standing,
        "reason": decision.reason,
        "kind": "",
        "mentions": len(starts),
        "windows": windows,
        "first": starts[0],
    }


def _admit_families(rows: list[dict[str, Any]], kind: Kind) -> None:
    """The cast's relations by name are of the cast too, though the text has them once."""
    if kind == "non-fiction":
        return
    parsed = {row["id"]: [parse(name) for name in row["aliases"]] for row in rows}
    cast = [parsed[row["id"]] for row in rows if row["standing"] == "cast"]
    for row in rows:
        if row["standing"] == "mentioned" and is_of_family(parsed[row["id"]], row["reason"], cast):
            row.update(standing="cast", reason="")


def display_name(names: Sequence[PersonName], mentions: Mapping[str, int]) -> str:
    """The name to show: the fullest form that the text uses more than in passing, without a courtesy title
    where there is a given name ('Lucy Hart'), with its title where there is none ('Mr. Hart')."""
    most = max(mentions.values())

    def rank(name: PersonName) -> tuple[bool, int, int, str]:
        count = mentions[name.surface]
        # Said once beside many another mention, a fuller form may be a slip or somebody's joke.
        in_passing = count < most * PASSING_SHARE or (count == 1 and most >= PASSING_AMONG)
        if in_passing and not (count >= PASSING_TIMES and len(name.rest) > 1):
            form = 0
        elif name.given and len(name.rest) > 1:
            form = 3 if set(name.titles) & _COURTESY else 4
        elif name.titles and name.rest and name.titles[-1] != "miss" and count * FORMAL_TIMES >= most:
            form = 2
        else:
            form = 1
        return (name.surface.isupper(), -form, -count, name.surface)

    return min(names, key=rank).surface


def _other_rows(
    text: BookText, spans: Mapping[str, Sequence[Span]], kinds: Mapping[str, tuple[str, str]], *, needed: int
) -> list[dict[str, Any]]:
    """Places and things: one entity for the spellings that differ by an article or by case only."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in sorted(spans):
        kind, _ = kinds[name]
        if kind != "person":
            groups[(kind, " ".join(words(_bare(name))))].append(name)
    rows = []
    for (kind, _), names in groups.items():
        names.sort(key=lambda name: (-len(spans[name]), name))
        starts = sorted(start for name in names for start, _ in spans[name])
        windows = len({text.window_of(start) for start in starts})
        subkinds = Counter(kinds[name][1] for name in names if kinds[name][1])
        decision = _judge_other(kind, names[0], windows=windows, mentions=len(starts), needed=needed)
        rows.append(
            {
                "label": "Location" if kind == "place" else "Object",
                "name": _bare(names[0]),
                "aliases": names,
                "standing": decision.standing,
                "reason": decision.reason,
                "kind": min(subkinds, key=lambda s: (-subkinds[s], s)) if subkinds else "",
                "mentions": len(starts),
                "windows": windows,
                "first": starts[0],
            }
        )
    return rows


def _judge_other(kind: str, name: str, *, windows: int, mentions: int, needed: int) -> Decision:
    if len(name) < 3:
        return Decision("dropped", "fewer than 3 letters")
    # A place is more often named once and meant than a thing is: 'she was born at Bath'.
    enough = mentions >= 2 if kind == "place" else windows >= needed
    if enough:
        return Decision("kept", "")
    return Decision("dropped", f"in {windows} window{'s' if windows != 1 else ''} of the text")


def _bare(name: str) -> str:
    for article in _ARTICLES:
        if name.startswith(article):
            return name[len(article) :]
    return name


def _merge_row(
    entity: str, a: str, b: str, rule: str, text: BookText, spans: Mapping[str, Sequence[Span]]
) -> dict[str, Any]:
    """The sentence in which the rarer of two joined names is first read, as far as it is not too long."""
    rarer = min((a, b), key=lambda name: (len(spans[name]), name))
    at, after = spans[rarer][0]
    start, end = text.sentences[text.sentence_of(at)]
    if not start <= at < end or end - start > _QUOTE_MOST:
        start, end = at, after
    quote = squeeze(text.body[start:end])
    return {"entity": entity, "a": a, "b": b, "rule": rule, "quote": quote, "start": start, "end": end}


class _Ids:
    """Ids unique within a book: a second 'john-brown' is 'john-brown-2'."""

    def __init__(self, book: int) -> None:
        self._book = book
        self._given: Counter[str] = Counter()

    def give(self, name: str) -> str:
        plain = slug(name)
        self._given[plain] += 1
        number = self._given[plain]
        return f"{self._book}:{plain}" if number == 1 else f"{self._book}:{plain}-{number}"


def _counts(rows: Sequence[Mapping[str, Any]], *, names: int, merges: int) -> dict[str, int]:
    standing = Counter(row["standing"] for row in rows if row["label"] == "Character")
    kept = Counter(row["label"] for row in rows if row["standing"] == "kept")
    return {
        "names": names,
        "persons": sum(row["label"] == "Character" for row in rows),
        "cast": standing["cast"],
        "mentioned": standing["mentioned"],
        "dropped": standing["dropped"],
        "locations": kept["Location"],
        "objects": kept["Object"],
        "others_dropped": sum(row["standing"] == "dropped" for row in rows) - standing["dropped"],
        "merges": merges,
        "occurrences": sum(row["mentions"] for row in rows),
    }
