"""Relations with the passage that is to bear them out: read by hand, or of the built library."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from experiments.relations.calibrate import load
from gutengraph_assets.gutenberg.reader import read_book
from gutengraph_core import names
from gutengraph_core.errors import BadText, NotBuilt, SettingsError, UnknownBook
from gutengraph_query.brains import Brains
from gutengraph_query.listing import relations

HAND_READ = Path(__file__).parents[1] / "relations" / "judged.jsonl"
"""Relations of 29 novels, each with the verdict of somebody who read it (`experiments/relations`)."""
AROUND = 700
"""Characters of text shown on either side of the sentence: about 120 words, as whoever read by hand had them."""

Verdict = Literal["right", "wrong"]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Claim:
    """Read: a is TYPE b. `passage[start:end]` is the sentence it rests on."""

    book: int
    chapter: int
    a: str
    type: str
    b: str
    passage: str
    start: int
    end: int
    by_hand: Verdict | None = None
    confidence: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.book} {self.start} {self.a} {self.type} {self.b}"


def around(body: str, start: int, end: int) -> tuple[str, int, int]:
    """The text around `body[start:end]`, cut between words, and where in it the piece stands."""
    left = body.rfind(" ", 0, max(0, start - AROUND)) + 1
    right = body.find(" ", min(len(body), end + AROUND))
    right = len(body) if right < 0 else right
    return body[left:right], start - left, end - left


def hand_read(mirror: Path, each: int, path: Path = HAND_READ) -> list[Claim]:
    """`each` of the relations read as right and as many read as wrong, spread over the books of the mirror.

    Raises SettingsError if the mirror has none of the books, BadText if too many passages name neither person:
    another edition, or a reader that cuts otherwise.
    """
    bodies: dict[int, str] = {}
    by_verdict: defaultdict[str, list[Claim]] = defaultdict(list)
    rows = [row for row in load(path) if row["verdict"] in ("right", "wrong")]
    have = {book for book in {row["book"] for row in rows} if _file(mirror, book).exists()}
    if not have:
        raise SettingsError(
            f"The mirror {mirror} has none of the novels whose relations were read by hand.",
            remedy="Name a folder that has them: --mirror FOLDER.",
        )
    chosen = {
        verdict: _evenly([row for row in rows if row["verdict"] == verdict and row["book"] in have], each)
        for verdict in ("right", "wrong")
    }
    for verdict, of_verdict in chosen.items():
        for row in of_verdict:
            book = row["book"]
            if book not in bodies:
                bodies[book] = read_book(_file(mirror, book).read_bytes(), book=book).body
            passage, start, end = around(bodies[book], row["start"], row["end"])
            claim = Claim(
                book=book,
                chapter=row["chapter"],
                a=row["a"],
                type=row["type"],
                b=row["b"],
                passage=passage,
                start=start,
                end=end,
                by_hand="right" if verdict == "right" else "wrong",
                confidence=row["confidence"],
            )
            by_verdict[verdict].append(claim)
    found = [*by_verdict["right"], *by_verdict["wrong"]]
    _check(found)
    return found


def _file(mirror: Path, book: int) -> Path:
    return mirror / "cache" / "epub" / str(book) / f"pg{book}.txt"


NAMED_IN = 0.8
"""Of the hand-read passages at least so many name one of the two persons; in the others pronouns stand for both."""


def _check(claims: Sequence[Claim]) -> None:
    named = sum(_names_one(claim) for claim in claims)
    if named < NAMED_IN * len(claims):
        raise BadText(
            f"Only {named} of {len(claims)} passages name a person of their relation: they are not those that were read.",
            remedy="Use the mirror that was read, with the reader of this version.",
        )


def _names_one(claim: Claim) -> bool:
    told = set(names.words(claim.passage))
    return any(set(re.findall(r"[a-z]{3,}", names.key(end))) & told for end in (claim.a, claim.b))


def of_library(here: Brains, books: Sequence[int], each: int) -> list[Claim]:
    """Up to `each` relations of each built book, spread over it. Raises NotBuilt if none of the books is built."""
    found: list[Claim] = []
    built = 0
    for book in books:
        try:
            rows = relations(here, book)
        except (NotBuilt, UnknownBook):
            continue
        built += 1
        body = here.library.body(book)
        for row in _evenly(sorted(rows, key=lambda r: r["start"]), each):
            passage, start, end = around(body, row["start"], row["end"])
            found.append(
                Claim(
                    book=book,
                    chapter=row["chapter"],
                    a=row["a"],
                    type=row["type"],
                    b=row["b"],
                    passage=passage,
                    start=start,
                    end=end,
                    confidence=row["confidence"],
                )
            )
    if not built:
        raise NotBuilt(
            "None of the gold's books is built in this data folder.",
            remedy="Build them first: `gutengraph add 84 1342 && gutengraph build 84 1342`.",
        )
    return found


def _evenly(items: Sequence[_T], count: int) -> list[_T]:
    """`count` of the items, evenly spread; all if there are no more."""
    if len(items) <= count:
        return list(items)
    return [items[len(items) * (2 * part + 1) // (2 * count)] for part in range(count)]
