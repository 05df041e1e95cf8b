"""Cypher as Kuzu's own lexer would cut it: strings, comments and backticks first, so that nothing hides in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gutengraph_core.errors import CypherRefused

Kind = Literal["word", "name", "string", "number", "parameter", "symbol"]

_PARTS = re.compile(
    r"""
      (?P<space>[ \t\r\n]+)
    | (?P<comment>/\*.*?\*/|//[^\r\n]*)
    | (?P<string>'(?:[^'\\]|\\['"\\bfnrtBFNRT])*'|"(?:[^"\\]|\\['"\\bfnrtBFNRT])*")
    | (?P<name>`[A-Za-z_][A-Za-z0-9_]*`)
    | (?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE]-?[0-9]+)?(?![A-Za-z0-9_]))
    | (?P<parameter>\$[A-Za-z_][A-Za-z0-9_]*)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<symbol>(?!/\*)(?:<=|>=|<>|=~|\.\.|[()\[\]{},.:|<>=+\-*/%^;]))
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """One token. `text` is as it stands; `upper` its upper case, '' for what is quoted."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind in ("word", "symbol") else ""

    @property
    def value(self) -> str:
        """A word's or name's own letters, a string's characters without the quotes (escapes as written)."""
        return self.text[1:-1] if self.kind in ("name", "string") else self.text


def lex(text: str) -> list[Token]:
    """The tokens of a statement, comments left out.

    Stricter than Kuzu: beyond ASCII only strings and comments may go, backticks hold plain names, and a string
    has no other escapes than those of a single letter or quote. Raises CypherRefused at the first character that
    fits nowhere.
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        match = _PARTS.match(text, at)
        if match is None:
            raise refused(_unreadable(text, at), remedy="Write it as plain Cypher.")
        kind = match.lastgroup
        if kind == "string" and any(ord(char) < 32 and char not in "\t\r\n" for char in match.group()):
            raise refused("a string holds a control character", remedy="Leave it out.")
        if kind not in ("space", "comment"):
            yield Token(kind, match.group(), match.start(), match.end())  # type: ignore[arg-type]
        at = match.end()


def without_comments(text: str) -> str:
    """The same statement with a space for each comment."""
    return _PARTS.sub(lambda m: " " if m.lastgroup == "comment" else m.group(), text)


def refused(why: str, *, remedy: str) -> CypherRefused:
    """The refusal of a statement for one reason."""
    return CypherRefused(f"The Cypher is refused: {why}.", remedy=remedy)


def _unreadable(text: str, at: int) -> str:
    char = text[at]
    if text.startswith("/*", at):
        return "a comment has no end"
    if char in "'\"":
        return (
            "a string has no end, or an escape that Kuzu does not know (a quote in a string is written \\')"
        )
    if char == "`":
        return "a backtick has no end, or holds more than a plain name"
    return f"the character {char!r} is not Cypher"
