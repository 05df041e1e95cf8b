"""Every failure a user can meet: one base class, one subclass each.

The message says what failed, for which book where there is one, and what to do about it.
The command line prints it as one line and exits 1; Dagster shows it as the failure's description.
"""

from __future__ import annotations

from typing import ClassVar


class GutenGraphError(Exception):
    """Base of all failures that are the world's fault and not a bug.

    `remedy` is a sentence in the imperative; `retry` says whether trying again later can help
    (the network, a busy server) or not (a wrong model, a book that does not exist).
    """

    retry: ClassVar[bool] = False

    def __init__(self, what: str, *, remedy: str = "", book: int | None = None) -> None:
        self.what = what
        self.remedy = remedy
        self.book = book
        super().__init__(what, remedy, book)

    def __str__(self) -> str:
        text = self.what if self.book is None else f"Book {self.book}: {self.what}"
        return f"{text} {self.remedy}".strip() if self.remedy else text

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (type(self), self.what, self.remedy, self.book)


def _revive(cls: type[GutenGraphError], what: str, remedy: str, book: int | None) -> GutenGraphError:
    return cls(what, remedy=remedy, book=book)


class SettingsError(GutenGraphError):
    """A setting is malformed or names something that does not exist."""


class MissingExtra(GutenGraphError):
    """An optional dependency is not installed; the remedy names the extra."""


class UnknownBook(GutenGraphError):
    """No such book at the source, or not in the library."""


class NoBookFits(UnknownBook):
    """No book of the library is by that author, or of that kind."""


class UnknownPlace(GutenGraphError):
    """A place that a book does not have, or that lies beyond what its reader has read."""


class SourceUnreachable(GutenGraphError):
    """The site or mirror does not answer, or answers with a server's error."""

    retry = True


class BadText(GutenGraphError):
    """What was fetched is no readable Gutenberg text: empty, binary, truncated, all licence."""


class TruncatedDownload(BadText):
    """Fewer bytes arrived than were announced, or the text breaks off."""

    retry = True


class RightsError(GutenGraphError):
    """The catalogue says that the book is not in the public domain."""


class DataFolderError(GutenGraphError):
    """The data folder cannot be written, is full, or lies on an unsuited file system."""


class ModelUnreachable(GutenGraphError):
    """The model server does not answer."""

    retry = True


class WrongModel(GutenGraphError):
    """The server serves another model than the configured one, or lacks it."""


class ModelRefused(GutenGraphError):
    """The server refused a request: a prompt too long, a bad schema, a capability it lacks."""


class QuestionTooLong(ModelRefused):
    """A question has more words than the embedder takes."""


class EmbedderMismatch(GutenGraphError):
    """A table or graph was built with another embedding model than the one in use."""


class StoreError(GutenGraphError):
    """A store is missing, damaged, or being written by somebody else."""


class CypherRefused(GutenGraphError):
    """A statement that nobody vouches for does more than read, or is not what the graph can answer."""


class CypherFailed(GutenGraphError):
    """An allowed statement that Kuzu could not run: its own error, or a limit of time or memory."""


class SqlRefused(GutenGraphError):
    """SQL over the catalogue that is no single SELECT, or that DuckDB could not run within its limits."""


class BookBusy(StoreError):
    """A book is being built, or removed, by somebody else."""


class NotBuilt(GutenGraphError):
    """A question or listing needs something that has not been built yet."""


class ReviewError(GutenGraphError):
    """A mark on something that the review does not ask, or a name that the text does not have."""


class S3Error(GutenGraphError):
    """The bucket cannot be reached, read or written, or does not hold what its manifest says."""

    retry = True


class WebhookError(GutenGraphError):
    """The address that summaries are sent to does not take one."""

    retry = True
