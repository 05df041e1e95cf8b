"""How a name is normalised and compared, once, for everybody."""

from __future__ import annotations

import re
import unicodedata

_QUOTES = str.maketrans(
    {"‘": "'", "’": "'", "‛": "'", "ʼ": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-"}
)
_SPACE = re.compile(r"\s+")
_POSSESSIVE = re.compile(r"(?<=\w)'s\b|(?<=s)'(?=\s|$)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")

TITLES: dict[str, str] = {
    # title, folded and without its stop -> what it says of gender: M, F, or '' for nothing
    **dict.fromkeys(
        (
            "mr mister master sir lord baron count duke earl viscount marquis prince king father "
            "brother uncle monsieur m signor herr don abbe esquire squire"
        ).split(),
        "M",
    ),
    **dict.fromkeys(
        (
            "mrs mistress miss ms lady dame baroness countess duchess princess queen mother sister "
            "aunt madame mme mademoiselle mlle signora signorina frau fraulein madam"
        ).split(),
        "F",
    ),
    **dict.fromkeys(
        (
            "dr doctor professor prof captain capt cap'n colonel col major general gen lieutenant "
            "lieut lt sergeant corporal admiral commodore reverend rev bishop inspector judge justice "
            "governor president saint"
        ).split(),
        "",
    ),
}
"""Titles in front of a name. 'St.' is not here: it is mostly part of a name."""


def squeeze(text: str) -> str:
    """One line, single spaces, no italics' underscores: how a name is shown. Keeps case and accents."""
    return _SPACE.sub(" ", text.replace("_", "")).strip()


def fold(text: str) -> str:
    """For comparing: accents, curly quotes, case and italics folded, whitespace single. Keeps punctuation."""
    if text.isascii():  # most words of most books: nothing to decompose
        return (text if text.isalpha() else squeeze(text)).casefold()
    decomposed = unicodedata.normalize("NFKD", text.translate(_QUOTES))
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return squeeze(plain).casefold()


def words(text: str) -> list[str]:
    """The letters-and-digits words of a folded text, a possessive 's dropped (the gold standard's rule)."""
    return _WORD.findall(_POSSESSIVE.sub("", fold(text)))


def key(name: str) -> str:
    """Two spellings of one name have one key."""
    return " ".join(words(name))


def slug(name: str) -> str:
    """The part of a node's id after the book's number: lower-case ASCII words joined by '-'."""
    plain = "-".join(w for w in words(name) if w.isascii())
    return plain or "x" + "".join(f"{ord(c):x}" for c in name)


def split_title(name: str) -> tuple[list[str], str]:
    """Leading titles (folded, without stops) and the rest.

    'Captain Sir John Ross' -> (['captain', 'sir'], 'John Ross').
    """
    rest = squeeze(name).split(" ")
    titles: list[str] = []
    while len(rest) > 1 and fold(rest[0]).rstrip(".") in TITLES:
        titles.append(fold(rest.pop(0)).rstrip("."))
    return titles, " ".join(rest)
