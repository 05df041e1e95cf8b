"""One pinned sample for all studies: twenty passages of the gold novels, so that their figures compare.

`sample.json` names book, offsets into our reader's body, and the passage's hash. A reader that cuts a book
otherwise, or another edition of it, is noticed and refused: its figures would not be the sample's.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_assets.text.windows import make_windows
from gutengraph_core import names
from gutengraph_core.errors import BadText, SettingsError
from gutengraph_core.library import Chapter

SAMPLE = Path(__file__).with_name("sample.json")
PER_BOOK = 4
WORDS = 350
"""Words of a pinned passage, paragraphs whole; studies cut their windows around its middle."""
LEAST_NAMES = 2
"""Gold characters that a passage must name at least, or there is little to find in it."""

Named = dict[str, tuple[str, ...]]
"""Every name that a character or place goes by, by its gold name."""


@dataclass(frozen=True)
class Passage:
    """`body[start:end]` of a book; `sha256` is of that text in UTF-8."""

    book: int
    start: int
    end: int
    sha256: str


@dataclass(frozen=True)
class Novel:
    """A gold novel's text, and whom and what its windows may name."""

    book: int
    body: str
    chapters: tuple[Chapter, ...]
    people: Named
    places: Named

    @cached_property
    def words(self) -> list[tuple[int, int]]:
        """Offsets of every word of the body."""
        return [match.span() for match in re.finditer(r"\S+", self.body)]

    def around(self, passage: Passage, words: int) -> tuple[int, int]:
        """Offsets of `words` words around the passage's middle, or of all there are; cut between words."""
        middle = bisect_left(self.words, ((passage.start + passage.end) // 2, 0))
        first = max(0, min(middle - words // 2, len(self.words) - words))
        last = min(first + words, len(self.words)) - 1
        return self.words[first][0], self.words[last][1]


def load_novel(book: int, *, gold: Path, mirror: Path) -> Novel:
    """One gold novel from a mirror. Raises SettingsError if gold or mirror lack it, and what the reader raises."""
    text = mirror / "cache" / "epub" / str(book) / f"pg{book}.txt"
    answers = gold / "novels" / f"{book}.json"
    for path, what in ((text, "mirror"), (answers, "gold")):
        if not path.exists():
            raise SettingsError(
                f"The {what} has no {path.name}.",
                book=book,
                remedy=f"Name a {what} folder that holds the gold novels: --{what} FOLDER.",
            )
    read = read_book(text.read_bytes(), book=book)
    document = json.loads(answers.read_text(encoding="utf-8"))
    return Novel(
        book=book,
        body=read.body,
        chapters=tuple(read.chapters),
        people=_named(document["characters"]),
        places=_named(document["places"]),
    )


def _named(entries: list[dict[str, object]]) -> Named:
    return {
        str(entry["name"]): (str(entry["name"]), *_strings(entry, "aliases"), *_strings(entry, "also_accept"))
        for entry in entries
    }


def _strings(entry: dict[str, object], field: str) -> list[str]:
    found = entry.get(field, [])
    return [str(name) for name in found] if isinstance(found, list) else []


def standing_in(named: Named, text: str) -> dict[str, frozenset[str]]:
    """Of characters or places those that `text` names, each with the keys of all its names."""
    words = f" {names.key(text)} "
    keys = {one: frozenset(names.key(name) for name in goes_by) for one, goes_by in named.items()}
    return {one: of_one for one, of_one in keys.items() if any(f" {key} " in words for key in of_one)}


def load_sample(path: Path = SAMPLE) -> list[Passage]:
    """The pinned passages, by book and place."""
    return [Passage(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def spread(sample: list[Passage], count: int) -> list[Passage]:
    """`count` passages, each book's first before any book's second."""
    by_book: defaultdict[int, list[Passage]] = defaultdict(list)
    for passage in sample:
        by_book[passage.book].append(passage)
    turns = [
        passages[turn] for turn in range(len(sample)) for passages in by_book.values() if turn < len(passages)
    ]
    return turns[:count]


def check(passage: Passage, novel: Novel) -> None:
    """Raise BadText if the novel's text is not what was pinned."""
    if sha(novel.body[passage.start : passage.end]) != passage.sha256:
        raise BadText(
            f"The passage at {passage.start} is not the pinned one: another edition, or a reader that cuts otherwise.",
            book=novel.book,
            remedy="Use the mirror that the sample was pinned on, or pin anew: `python -m experiments.lab pin`.",
        )


def pin(novel: Novel) -> list[Passage]:
    """PER_BOOK passages spread evenly over a novel: in each part the window nearest its middle that names enough."""
    windows = make_windows(novel.body, list(novel.chapters), words=WORDS)
    pinned = []
    for part in range(PER_BOOK):
        middle = len(novel.body) * (2 * part + 1) // (2 * PER_BOOK)
        telling = [w for w in windows if len(standing_in(novel.people, w["text"])) >= LEAST_NAMES]
        best = min(telling, key=lambda w: abs((w["start"] + w["end"]) // 2 - middle))
        pinned.append(Passage(novel.book, best["start"], best["end"], sha(best["text"])))
    return pinned


def save_sample(passages: list[Passage], path: Path = SAMPLE) -> None:
    """Write the pinned passages, one a line."""
    rows = ",\n".join(json.dumps(asdict(passage)) for passage in passages)
    path.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


def sha(text: str) -> str:
    """sha256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
