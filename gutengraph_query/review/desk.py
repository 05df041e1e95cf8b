"""A review at work: the sample of a book, its marks, its precision, and the gold that they make."""

from __future__ import annotations

import threading

from gutengraph_core.errors import ReviewError
from gutengraph_core.files import read_text
from gutengraph_query.brains import Brains
from gutengraph_query.evaluate.gold import Importance
from gutengraph_query.review.gold import BookWords, gold_path, write_gold
from gutengraph_query.review.marks import Marks, MarksFile, Missed, Verdict
from gutengraph_query.review.precision import Tally, tallies
from gutengraph_query.review.sample import KINDS, Sample, draw


class ReviewDesk:
    """One book's review. Safe to use from several threads."""

    def __init__(self, here: Brains, book: int) -> None:
        """The gold is written anew from what is marked. Raises UnknownBook, NotBuilt, DataFolderError."""
        self._here = here
        self.book = book
        self.title = here.title(book)
        self._file = MarksFile(here.settings.home, book, follow=self._write_gold)
        self._lock = threading.Lock()
        self._sample: tuple[tuple[int, int], Sample] | None = None
        self._text: BookWords | None = None
        self.sample()
        self._file.follow()

    @property
    def gold(self) -> str:
        """Where the gold is written."""
        return str(gold_path(self._here.settings.home, self.book))

    def marks(self) -> Marks:
        """Raises DataFolderError if they cannot be read."""
        return self._file.read()

    def sample(self) -> Sample:
        """Drawn anew when a newer graph is published or more was asked for. Raises NotBuilt, StoreError."""
        with self._lock:
            per_kind = self._file.read().per_kind
            made_of = (self._here.published().version, per_kind)
            if self._sample is None or self._sample[0] != made_of:
                self._sample = (made_of, draw(self._here, self.book, per_kind=per_kind))
            return self._sample[1]

    def said(self) -> str:
        """How the sample was drawn, in words."""
        sample = self.sample()
        parts = [
            f"{sum(item.kind == kind for item in sample.items)} of {sample.population[kind]} {_WORDS[kind]}"
            for kind in KINDS
        ]
        return f"{', '.join(parts)}: of each kind the first by SHA-256 of the book's number and the claim."

    def tallies(self) -> list[Tally]:
        """Precision of each kind and of all."""
        return tallies(self.sample(), self.marks())

    def mark(self, key: str, verdict: Verdict | None, importance: Importance) -> None:
        """Judge an item of the sample, or take a verdict back; the gold follows. Raises ReviewError, DataFolderError."""
        item = next((item for item in self.sample().items if item.key == key), None)
        if item is None:
            raise ReviewError(f"'{key}' is not in the sample.", remedy="Load the page again.", book=self.book)
        self._file.mark(item, verdict, importance)

    def miss(self, missed: Missed) -> None:
        """Add somebody whom the build lacks. Raises ReviewError for a name that the text does not have, or for too
        many people, and DataFolderError."""
        text = self._words()
        for name in (missed.name, *missed.aliases):
            if not text.count(name):
                raise ReviewError(
                    f"'{name}' does not stand in the text.",
                    remedy="Write it as the book does.",
                    book=self.book,
                )
        self._file.miss(missed)

    def unmiss(self, name: str) -> None:
        """Take out somebody who was added. Raises DataFolderError."""
        self._file.unmiss(name)

    def resize(self, per_kind: int) -> None:
        """Draw so many of each kind from now on."""
        self._file.resize(per_kind)

    def _write_gold(self, marks: Marks) -> None:
        home = self._here.settings.home
        if marks.marks or marks.missed or gold_path(home, self.book).exists():
            write_gold(home, marks, title=self.title, text=self._words())

    def _words(self) -> BookWords:
        with self._lock:
            if self._text is None:
                self._text = BookWords(read_text(self._here.library.path(self.book, "body.txt")))
            return self._text


_WORDS = {"person": "of the cast", "place": "places", "merge": "joins of names", "relation": "relations"}
