"""The patterns of a Cypher statement, `(a:Character)-[r:RELATED_TO]->(b)`, as nodes and relationships."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gutengraph_core.graph.lexer import Token, refused
from gutengraph_core.graph.schema import NODE_TABLES, REL_TABLES, RelTable

_LABELS = {table.name.lower(): table.name for table in NODE_TABLES}
_RELS = {table.name.lower(): table for table in REL_TABLES}
ALL_LABELS = frozenset(_LABELS.values())


@dataclass(frozen=True)
class NodePattern:
    """`(a:Character {name: 'x'})`, `(a)` or `(:Book)`; the tokens from `start` until `end`."""

    variable: str
    labels: frozenset[str]
    """As they are written."""
    filtered: bool
    """It has a map of properties."""
    start: int
    end: int

    @property
    def own(self) -> frozenset[str]:
        """Its labels as the schema spells them. Raises CypherRefused for a label that is none."""
        for label in self.labels:
            if label.lower() not in _LABELS:
                raise refused(
                    f"there is no label {label}", remedy=f"The labels are {', '.join(_LABELS.values())}."
                )
        return frozenset(_LABELS[label.lower()] for label in self.labels)


@dataclass(frozen=True)
class RelPattern:
    """`-[r:RELATED_TO]->`, with or without brackets."""

    types: tuple[str, ...]
    """As they are written."""
    points: str
    """'>' from left to right, '<' from right to left, '' either way."""
    several: bool
    """A variable length: what lies between the ends is not written out."""
    filtered: bool
    """It has a map of properties."""
    end: int

    @property
    def tables(self) -> tuple[RelTable, ...]:
        """Those that it names, none where it names none. Raises CypherRefused for one that the schema lacks."""
        for name in self.types:
            if name.lower() not in _RELS:
                raise refused(
                    f"there is no relationship {name}",
                    remedy=f"They are {', '.join(t.name for t in REL_TABLES)}; other types stand in RELATED_TO.type.",
                )
        return tuple(_RELS[name.lower()] for name in self.types)


def nodes(tokens: Sequence[Token]) -> Iterator[NodePattern]:
    """Every node pattern, in order. `(a)` around a variable elsewhere counts as one too."""
    for i in range(len(tokens)):
        node = node_at(tokens, i)
        if node is not None:
            yield node


def hops(tokens: Sequence[Token]) -> Iterator[tuple[NodePattern, RelPattern, NodePattern]]:
    """Every relationship pattern between its two nodes, in order."""
    for node in nodes(tokens):
        rel = rel_at(tokens, node.end)
        right = node_at(tokens, rel.end) if rel is not None else None
        if rel is not None and right is not None:
            yield node, rel, right


def parts(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """What stands between UNIONs: each has variables of its own."""
    cuts = [i for i, token in enumerate(tokens) if token.kind == "word" and token.upper == "UNION"]
    for start, end in pairwise([-1, *cuts, len(tokens)]):
        yield tokens[start + 1 : end]


def node_at(tokens: Sequence[Token], start: int) -> NodePattern | None:
    """The node pattern that begins at `start`, if one does."""
    i = start
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
    behind = _past_map(tokens, i)
    if behind < len(tokens) and tokens[behind].text == ")":
        return NodePattern(variable, frozenset(labels), behind > i, start, behind + 1)
    return None


def rel_at(tokens: Sequence[Token], i: int) -> RelPattern | None:
    """The relationship pattern that begins at i, if one does."""
    texts = [t.text if t.kind == "symbol" else "" for t in tokens]
    left = texts[i : i + 2] == ["<", "-"]
    i += 2 if left else 1
    if not left and texts[i - 1 : i] != ["-"]:
        return None
    types: list[str] = []
    several = filtered = False
    if texts[i : i + 1] == ["["]:
        while i < len(tokens) and texts[i] != "]":
            behind = texts[i] in (":", "|") and i + 1 < len(tokens) and tokens[i + 1].kind in ("word", "name")
            if behind:
                types.append(tokens[i + 1].value)
            several = several or texts[i] == "*"
            past = _past_map(tokens, i + 1)
            filtered = filtered or past > i + 1
            i = past
        i += 1
    if texts[i : i + 1] != ["-"]:
        return None
    right = texts[i + 1 : i + 2] == [">"]
    points = "<" if left else ">" if right else ""
    return RelPattern(tuple(types), points, several, filtered, i + 1 + right)


def _past_map(tokens: Sequence[Token], i: int) -> int:
    if i < len(tokens) and tokens[i].text == "{":
        depth = 0
        while i < len(tokens):
            depth += (tokens[i].upper == "{") - (tokens[i].upper == "}")
            i += 1
            if depth == 0:
                break
    return i
