"""What a question may be answered from: a book as far as it has been read, an author's books, a kind of text."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gutengraph_core import names
from gutengraph_core.errors import NoBookFits, NotBuilt, SettingsError
from gutengraph_core.kinds import KINDS
from gutengraph_core.library import BookRecord, Library

if TYPE_CHECKING:
    from gutengraph_query.state import QueryState

_NEAR = 0.6
"""How alike two spellings must be for one to be offered for the other (`difflib`'s own default)."""
_OFFERED = 3


@dataclass(frozen=True)
class Scope:
    """By default everything. `authors`: one author, in every form in which the catalogue has the name."""

    book: int | None = None
    up_to: int | None = None
    """The last chapter that has been read."""
    authors: tuple[str, ...] = ()
    kind: str = ""
    books: frozenset[int] | None = None
    """Those that author and kind let through; None: all."""

    @classmethod
    def of(cls, state: QueryState) -> Scope:
        """As the supervisor has found it."""
        books = state.get("books")
        return cls(
            book=state.get("book"),
            up_to=state.get("up_to"),
            authors=tuple(state.get("authors", ())),
            kind=state.get("kind") or "",
            books=None if books is None else frozenset(books),
        )

    @property
    def words(self) -> str:
        """' in fiction by Austen, Jane', ' in book 84 up to chapter 3', '' for everything."""
        text = f" in book {self.book}" if self.book is not None else ""
        if self.book is None and self.books is not None:
            by = f" by {self.authors[0]}" if self.authors else ""
            text = f" in {self.kind or 'books'}{by}"
        return text + (f" up to chapter {self.up_to}" if self.up_to is not None else "")


def can_be_asked(record: BookRecord) -> bool:
    """Whether anything of the book has been built."""
    unfinished = record.status in ("registered", "building", "failed")
    return not unfinished or bool(record.counts.get("chunks"))


def filtered(library: Library, *, author: str, kind: str, book: int | None) -> Scope:
    """The books by `author` and of `kind` ('' for any) that can be asked; `book`: the one that was named.

    One book alone is named by that. Raises SettingsError if `kind` is none; NoBookFits with what there is instead,
    or if `book` is not among them; NotBuilt if all that fit have still to be built.
    """
    if kind and kind not in KINDS:
        raise SettingsError(f"'{kind}' is no kind of text.", remedy=f"Use one of {', '.join(KINDS)}.")
    records = list(library.records())
    found = _forms_of(author, records) if author else ()
    fitting = [
        r for r in records if (not author or set(found) & set(r.authors)) and (not kind or r.kind == kind)
    ]
    if not fitting:
        kinds = sorted({r.kind for r in records if not author or set(found) & set(r.authors)})
        by = f" by {found[0]}" if found else ""
        there = f"There is {', '.join(kinds)}." if kinds else "Run `gutengraph add` first."
        raise NoBookFits(f"No {kind}{by} is in the library.", remedy=there)
    if book is not None:
        if book not in [r.id for r in fitting]:
            what = " ".join(part for part in (kind or "a book", f"by {found[0]}" if found else "") if part)
            raise NoBookFits(f"It is not {what}.", remedy="Name the book alone, or leave it out.", book=book)
        return Scope(book=book, authors=found, kind=kind, books=frozenset([book]))
    asked = frozenset(r.id for r in fitting if can_be_asked(r))
    if not asked:
        ids = " ".join(str(r.id) for r in fitting[:_OFFERED])
        raise NotBuilt(
            "None of the books that fit has been built yet.", remedy=f"Run `gutengraph build {ids}`."
        )
    only = next(iter(asked)) if len(asked) == 1 else None
    return Scope(book=only, authors=found, kind=kind, books=asked)


def _forms_of(author: str, records: Sequence[BookRecord]) -> tuple[str, ...]:
    """The catalogue's names of one author: 'Jane Austen', 'austen' and 'Austen, Jane' are all hers."""
    asked = frozenset(names.words(author))
    known = {name: frozenset(names.words(name)) for r in records for name in r.authors}
    same = [name for name, words in known.items() if words == asked]
    having = same or [name for name, words in known.items() if asked and asked <= words]
    if not having:
        raise NoBookFits(f"No book here is by '{author}'.", remedy=_instead(author, list(known)))
    shortest = min((known[name] for name in having), key=len)
    others = [name for name in having if not shortest <= known[name]]
    if others:
        told = " or ".join([*{known[name]: name for name in sorted(having)}.values()][:_OFFERED])
        raise NoBookFits(f"'{author}' can be {told}.", remedy="Name one of them.")
    return tuple(sorted(having))


def _instead(author: str, known: Sequence[str]) -> str:
    """What was probably meant, or whom there is."""
    if not known:
        return "Run `gutengraph add` first."
    spellings: dict[str, str] = {}
    for name in known:
        for form in (" ".join(names.words(name)), " ".join(reversed(name.split(", "))), *names.words(name)):
            spellings.setdefault(" ".join(names.words(form)), name)
    tried = [" ".join(names.words(author)), *names.words(author)]
    near = [m for form in tried for m in difflib.get_close_matches(form, spellings, n=_OFFERED, cutoff=_NEAR)]
    meant = list(dict.fromkeys(spellings[m] for m in near))[:_OFFERED]
    if meant:
        return f"Did you mean {' or '.join(meant)}?"
    return f"There are {'; '.join(sorted(known)[:_OFFERED])}{' …' if len(known) > _OFFERED else ''}."
