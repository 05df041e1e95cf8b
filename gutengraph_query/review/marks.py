"""What a person has judged of a book, kept so that a review that was stopped goes on: `review/<id>.json`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from gutengraph_core import names
from gutengraph_core.errors import DataFolderError, ReviewError
from gutengraph_core.files import write_json
from gutengraph_core.library import Library, now
from gutengraph_query.evaluate.gold import Importance
from gutengraph_query.review.sample import PER_KIND, Item

Verdict = Literal["right", "wrong", "unsure"]
Name = Annotated[str, Field(min_length=1, max_length=100)]
MOST_MISSED = 100
"""People that one review may add."""


class Mark(BaseModel):
    """A verdict on one item, with the item: what it says stays true when the book is built again."""

    item: Item
    verdict: Verdict
    importance: Importance = "minor"
    at: str = ""


class Missed(BaseModel):
    """A person of the book whom the build did not find, or did not count to the cast."""

    name: Name
    aliases: list[Name] = Field(default=[], max_length=20)
    importance: Importance = "minor"


class Marks(BaseModel):
    """All of a book's."""

    book: int
    per_kind: int = PER_KIND
    marks: dict[str, Mark] = {}
    missed: list[Missed] = []


class MarksFile:
    """The marks of one book on disk. Every change is on disk before it is answered; two servers take turns.

    `follow` gets the marks while nobody else may change them: what it writes is never older than what stands.
    """

    def __init__(self, home: Path, book: int, *, follow: Callable[[Marks], None]) -> None:
        self._book = book
        self._follow = follow
        self.path = home / "review" / f"{book}.json"
        self._library = Library(home)

    def read(self) -> Marks:
        """Empty where nothing was marked yet. Raises DataFolderError if the file cannot be read."""
        if not self.path.exists():
            return Marks(book=self._book)
        try:
            return Marks.model_validate_json(self.path.read_bytes())
        except ValidationError as error:
            raise DataFolderError(
                f"The marks in {self.path} cannot be read ({error.errors()[0]['msg']}).",
                remedy="Mend the file, or move it away to begin anew.",
                book=self._book,
            ) from error

    def mark(self, item: Item, verdict: Verdict | None, importance: Importance) -> Marks:
        """Put a verdict on an item; None takes it back. Raises DataFolderError."""
        with self._locked():
            kept = self.read()
            if verdict is None:
                kept.marks.pop(item.key, None)
            else:
                kept.marks[item.key] = Mark(item=item, verdict=verdict, importance=importance, at=now())
            return self._write(kept)

    def miss(self, missed: Missed) -> Marks:
        """Add somebody whom the build lacks, in place of an entry of that name. Raises DataFolderError, and
        ReviewError for one too many."""
        with self._locked():
            kept = self.read()
            others = _without(kept.missed, missed.name)
            if len(others) >= MOST_MISSED:
                raise ReviewError(
                    f"{MOST_MISSED} people are added already.",
                    remedy="Take one out first.",
                    book=self._book,
                )
            return self._write(kept.model_copy(update={"missed": [*others, missed]}))

    def unmiss(self, name: str) -> Marks:
        """Take out whom `miss` added; nothing happens where there is none. Raises DataFolderError."""
        with self._locked():
            kept = self.read()
            return self._write(kept.model_copy(update={"missed": _without(kept.missed, name)}))

    def follow(self) -> None:
        """Let what follows from the marks be written again: a kill may have come between. Raises DataFolderError."""
        if self.path.exists():
            with self._locked():
                self._follow(self.read())

    def resize(self, per_kind: int) -> Marks:
        """Ask for so many of each kind from now on. Raises DataFolderError."""
        with self._locked():
            return self._write(self.read().model_copy(update={"per_kind": per_kind}))

    def _locked(self) -> AbstractContextManager[object]:
        return self._library.lock(f"review-{self._book}")

    def _write(self, kept: Marks) -> Marks:
        write_json(self.path, kept.model_dump(), book=self._book)
        self._follow(kept)
        return kept


def _without(missed: list[Missed], name: str) -> list[Missed]:
    return [one for one in missed if names.key(one.name) != names.key(name)]
