"""The arrows of a statement, checked against the schema before it runs: Kuzu answers a wrong direction with nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_core.graph.lexer import Token, lex, refused
from gutengraph_core.graph.schema import NODE_TABLES, REL_TABLES, RelTable

_LABELS = {table.name.lower(): table.name for table in NODE_TABLES}
_RELS = {table.name.lower(): table for table in REL_TABLES}
_EXACT = ("=", "IN")


@dataclass(frozen=True)
class _Node:
    variable: str
    labels: frozenset[str]
    end: int
    """Index of the token behind it."""


@dataclass(frozen=True)
class _Rel:
    types: tuple[str, ...]
    points: str
    """'>' from left to right, '<' from right to left, '' either way."""
    several: bool
    """A variable length: what lies between the ends is not written out."""
    end: int


def check_arrows(statement: str) -> None:
    """Labels and relationships are the schema's, arrows point as the schema's do, titles are not matched exactly.

    Raises CypherRefused with the arrow that was meant.
    """
    tokens = lex(statement)
    _check_titles(tokens)
    labels = _labels(tokens)
    for i in range(len(tokens)):
        left = _node(tokens, i)
        while left is not None:
            rel = _rel(tokens, left.end)
            right = _node(tokens, rel.end) if rel is not None else None
            if rel is None or right is None:
                break
            _check(_known(left, labels), rel, _known(right, labels))
            left = right


def _check_titles(tokens: Sequence[Token]) -> None:
    for i, token in enumerate(tokens):
        if token.value.lower() != "title" or token.kind not in ("word", "name"):
            continue
        before = tokens[i - 1].text if i else ""
        after = tokens[i + 1].upper if i + 1 < len(tokens) else ""
        compared = before == "." and (after in _EXACT or (i > 3 and tokens[i - 3].text == "="))
        if compared or (before in ("{", ",") and after == ":" and _in_node(tokens, i)):
            raise refused(
                "it matches a title exactly, and titles are longer than one remembers",
                remedy="Write WHERE lower(b.title) CONTAINS 'words of it'.",
            )


def _in_node(tokens: Sequence[Token], i: int) -> bool:
    """Whether the map around i belongs to a node pattern."""
    while i and tokens[i].text != "{":
        i -= 1
    return i > 1 and tokens[i - 1].kind in ("word", "name") and tokens[i - 2].text in (":", "(")


def _labels(tokens: Sequence[Token]) -> dict[str, frozenset[str]]:
    """Variable -> the labels that it is given anywhere. Raises CypherRefused for a label that is none."""
    found: dict[str, frozenset[str]] = {}
    for i in range(len(tokens)):
        node = _node(tokens, i)
        if node is None or not node.labels:
            continue
        for label in node.labels:
            if label.lower() not in _LABELS:
                raise refused(
                    f"there is no label {label}", remedy=f"The labels are {', '.join(_LABELS.values())}."
                )
        if node.variable:
            found[node.variable] = frozenset(_LABELS[label.lower()] for label in node.labels)
    return found


def _known(node: _Node, labels: dict[str, frozenset[str]]) -> frozenset[str]:
    """The labels a node can have; all of them where nothing is said."""
    own = frozenset(_LABELS[label.lower()] for label in node.labels)
    return own or labels.get(node.variable, frozenset()) or frozenset(_LABELS.values())


def _node(tokens: Sequence[Token], i: int) -> _Node | None:
    """The node pattern that begins at i: `(a:Character {name: 'x'})`, `(a)`, `(:Book)`."""
    if i >= len(tokens) or tokens[i].text != "(" or tokens[i].kind != "symbol":
        return None
    i += 1
    variable = ""
    if i < len(tokens) and tokens[i].kind in ("word", "name"):
        variable, i = tokens[i].value.lower(), i + 1
    labels = []
    while i + 1 < len(tokens) and tokens[i].text == ":" and tokens[i + 1].kind in ("word", "name"):
        labels.append(tokens[i + 1].value)
        i += 2
    i = _past_map(tokens, i)
    if i < len(tokens) and tokens[i].text == ")":
        return _Node(variable, frozenset(labels), i + 1)
    return None


def _past_map(tokens: Sequence[Token], i: int) -> int:
    if i < len(tokens) and tokens[i].text == "{":
        depth = 0
        while i < len(tokens):
            depth += (tokens[i].upper == "{") - (tokens[i].upper == "}")
            i += 1
            if depth == 0:
                break
    return i


def _rel(tokens: Sequence[Token], i: int) -> _Rel | None:
    """The relationship pattern that begins at i, with or without brackets."""
    texts = [t.text if t.kind == "symbol" else "" for t in tokens]
    left = texts[i : i + 2] == ["<", "-"]
    i += 2 if left else 1
    if not left and texts[i - 1 : i] != ["-"]:
        return None
    types: list[str] = []
    several = False
    if texts[i : i + 1] == ["["]:
        while i < len(tokens) and texts[i] != "]":
            behind = texts[i] in (":", "|") and i + 1 < len(tokens) and tokens[i + 1].kind in ("word", "name")
            if behind:
                types.append(tokens[i + 1].value)
            several = several or texts[i] == "*"
            i = _past_map(tokens, i + 1)
        i += 1
    if texts[i : i + 1] != ["-"]:
        return None
    right = texts[i + 1 : i + 2] == [">"]
    points = "<" if left else ">" if right else ""
    return _Rel(tuple(types), points, several, i + 1 + right)


def _check(left: frozenset[str], rel: _Rel, right: frozenset[str]) -> None:
    tables: list[RelTable] = []
    for name in rel.types:
        if name.lower() not in _RELS:
            raise refused(
                f"there is no relationship {name}",
                remedy=f"They are {', '.join(t.name for t in REL_TABLES)}; other types stand in RELATED_TO.type.",
            )
        tables.append(_RELS[name.lower()])
    if rel.several:
        return  # the ends may be several steps apart
    pairs = [(t.name, pair) for t in tables or REL_TABLES for pair in t.pairs]
    forth = any(a in left and b in right for _, (a, b) in pairs)
    back = any(a in right and b in left for _, (a, b) in pairs)
    if (forth and rel.points != "<") or (back and rel.points != ">"):
        return
    meant = [f"({a})-[:{name}]->({b})" for name, (a, b) in pairs]
    if forth or back:
        why = "an arrow points the wrong way"
        meant = [f"({a})-[:{n}]->({b})" for n, (a, b) in pairs if {a, b} & left and {a, b} & right]
    else:
        why = f"nothing leads from {_said(left)} to {_said(right)} by {'|'.join(rel.types) or 'one arrow'}"
    raise refused(why, remedy=f"The schema has {', '.join(meant[:4])}.")


def _said(labels: frozenset[str]) -> str:
    return "any label" if len(labels) == len(_LABELS) else "|".join(sorted(labels))
