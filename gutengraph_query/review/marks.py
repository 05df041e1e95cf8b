"""What a person has judged of a book, kept so that a review that was stopped goes on: `review/<id>.json`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from gutengraph_core.errors import DataFolderError
from gutengraph_core.files import write_json
from gutengraph_core.library import Library, now
from gutengraph_query.evaluate.gold import Importance
from gutengraph_query.review.sample import PER_KIND, Item

Verdict = Literal["right", "wrong", "unsure"]


class Mark(BaseModel):
    """A verdict on one item, with the item: what it says stays true when the book is built again."""

    item: Item
    verdict: Verdict
    importance: Importance = "minor"
    at: str = ""


class Missed(BaseModel):
    """A person of the book whom the build did not find, or did not count to the cast."""

    name: str = Field(min_length=1, max_length=100)
    aliases: list[str] = Field(default=[], max_length=20)
    importance: Importance = "minor"


class Marks(BaseModel):
    """All of a book's."""

    book: int
    per_kind: int = PER_KIND
    marks: dict[str, Mark] = {}
    missed: list[Missed] = []


class MarksFile:
    """The marks of one book on disk. Every change is on disk before it is answered; two servers take turns."""

    def __init__(self, home: Path, book: int) -> None:
        self._book = book
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

    def miss(self, missed: list[Missed]) -> Marks:
        """Replace the list of whom the build lacks. Raises DataFolderError."""
        with self._locked():
            return self._write(self.read().model_copy(update={"missed": missed}))

    def resize(self, per_kind: int) -> Marks:
        """Ask for so many of each kind from now on. Raises DataFolderError."""
        with self._locked():
            return self._write(self.read().model_copy(update={"per_kind": per_kind}))

    def _locked(self) -> AbstractContextManager[object]:
        return self._library.lock(f"review-{self._book}")

    def _write(self, kept: Marks) -> Marks:
        write_json(self.path, kept.model_dump(), book=self._book)
        return kept
