"""Which brain a question is for, by its shape."""

from __future__ import annotations

import re

from gutengraph_core import names
from gutengraph_query.state import Route
from gutengraph_query.understanding.relation_words import IDENTITY_WORDS, NOUNS, VERBS

_LISTED = frozenset("characters people persons places locations figures cast".split())
_PLOT_VERBS = frozenset(
    "kill kills killed murder murders murdered slays slew pretended disguised posed".split()
)
"""Told by plot and not by a sentence: an edge may have them, the passages always do."""
_TELLING = re.compile(
    r"\b(describe[ds]?|description|quote[ds]?|mood|atmosphere|feels?|felt|happens?|happened|bec[ao]mes?|"
    r"looks? like|looked like|why|stand for)\b"
)
_SECOND = re.compile(r"(\band|,) (how|what|why|when|where|((from|to) )?which)\b")
_TITLES = re.compile(r"\b(?i:" + "|".join(sorted(names.TITLES, key=len, reverse=True)) + r")\.? (?=[A-Z])")
_WHO = frozenset("who whom whose".split())
_BE = frozenset("is was are were".split())
_SHORT = 5
"""Words of 'Who is the old Mr. Day?'"""


def route_by_rules(question: str) -> tuple[Route, str]:
    """The route for a question, and the reason in a few words.

    Who stands in which relation to whom, and lists, are for the graph; what happens, how it is told and what
    things are like, for the passages; a person found by what they did, or two questions in one, for both.
    """
    low = names.fold(_TITLES.sub("", question))
    words = [re.sub(r"['’]s?$", "", w) for w in re.findall(r"[\w'’-]+", low)]
    if not words:
        return "hybrid", "no words to go by"
    if _SECOND.search(low):
        return "hybrid", "two questions in one"
    if _related(low):
        return "graph", "asks how people are related"
    if _lists(words):
        return "graph", "asks for a list"
    owned = {i + 1 for i, w in enumerate(re.findall(r"[\w'’-]+", low)) if re.search(r"['’]s?$", w)}
    about = next((w for i, w in enumerate(words) if _asks(words, i)), "")
    who = words[0] in _WHO or bool(set(words[1:2]) & _WHO) or words[:2] == ["how", "many"]
    if about and (about in _PLOT_VERBS or _TELLING.search(low)):
        return "hybrid", f"asks for a relation ('{about}') and how it is told"
    relational = bool(about) and (_relational(words, about) or words.index(about) in owned)
    if about and (words[1:2] == [about] or (who and (relational or words[0] in ("whose", "how")))):
        return "graph", f"asks for a relation ('{about}')"
    if relational:
        return "hybrid", f"asks for something about a relation ('{about}')"
    if words[0] in _WHO or set(words[1:2]) & _WHO:
        if len(words) <= _SHORT and set(words[1:2]) & _BE:
            return "graph", "asks who somebody is"
        return "hybrid", "asks for a person by what happened"
    return "vector", "asks what the text tells"


def _asks(words: list[str], i: int) -> bool:
    pair = " ".join(words[i : i + 2])
    return pair in NOUNS or words[i] in NOUNS or words[i] in VERBS or words[i] in IDENTITY_WORDS


def _relational(words: list[str], about: str) -> bool:
    """'the mate of the ship', 'was born', not 'brought his creature to life'."""
    i = words.index(about)
    noun = about in NOUNS or " ".join(words[i : i + 2]) in NOUNS
    return not noun or "of" in words[i + 1 : i + 3]


def _related(low: str) -> bool:
    return bool(re.match(r"(how|in what way) (is|are|was|were) .+ (related|connected)", low)) or bool(
        re.search(r"\b(relation|relationship|connection) between\b", low)
    )


def _lists(words: list[str]) -> bool:
    opening = ("list", "name", "who", "which", "what", "how", "show")
    return words[0] in opening and bool(set(words[:6]) & _LISTED)
