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
_AFTER_WITH = frozenset("WHERE MATCH OPTIONAL UNWIND WITH RETURN ORDER SKIP LIMIT".split())


@dataclass(frozen=True)
class NodePattern:
    """`(a:Character {name: 'x'})`, `(a)` or `(:Book)`; the tokens from `start` until `end`."""

    variable: str
    labels: frozenset[str]
    """As they are written."""
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


def identities(tokens: Sequence[Token]) -> dict[int, str]:
    """Start of each node pattern -> which node it is, within what stands between UNIONs.

    Equal for two patterns of one variable, unless a WITH that does not hand it on, or the end of a subquery, lies between them:
    then it is a new node. `WITH a AS b` hands a on as b. A node without a variable is `#start`; of a later node of a
    variable that was used before, what stands before '#' is the variable.
    """
    scopes: list[dict[str, str]] = [{}]
    found: dict[int, str] = {}
    switch, after = -1, scopes[0]
    for i, token in enumerate(tokens):
        if i == switch:
            scopes[-1] = after
        if token.text == "{" and i + 1 < len(tokens) and tokens[i + 1].upper in ("MATCH", "OPTIONAL"):
            scopes.append(dict(scopes[-1]))
        elif token.text == "{":
            scopes.append(scopes[-1])  # a map has no variables of its own
        elif token.text == "}" and len(scopes) > 1:
            scopes.pop()
        elif token.upper == "WITH" and (i == 0 or tokens[i - 1].upper not in ("STARTS", "ENDS")):
            switch, after = _handed_on(tokens, i + 1, scopes[-1])
        node = node_at(tokens, i)
        if node is not None and not node.variable:
            found[i] = f"#{i}"
        elif node is not None:
            fresh = f"{node.variable}#{i}" if node.variable in found.values() else node.variable
            found[i] = scopes[-1].setdefault(node.variable, fresh)
    return found


def _handed_on(tokens: Sequence[Token], start: int, scope: dict[str, str]) -> tuple[int, dict[str, str]]:
    """Where the items of a WITH end, and the variables that stand for nodes behind it."""
    depth, end = 0, start
    items: list[list[str]] = [[]]
    while end < len(tokens) and not (depth == 0 and tokens[end].upper in _AFTER_WITH):
        token = tokens[end]
        if token.kind == "symbol":
            depth += (token.text in "([{") - (token.text in ")]}")
        if depth == 0 and token.text == ",":
            items.append([])
        elif token.upper != "DISTINCT":
            items[-1].append(token.value.lower())
        end += 1
    after: dict[str, str] = {}
    for item in items:
        if item == ["*"]:
            after |= scope
        elif item and item[0] in scope and (len(item) == 1 or item[1:-1] == ["as"]):
            after[item[-1]] = scope[item[0]]
    return end, after


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
    i = _past_map(tokens, i)
    if i < len(tokens) and tokens[i].text == ")":
        return NodePattern(variable, frozenset(labels), start, i + 1)
    return None


def rel_at(tokens: Sequence[Token], i: int) -> RelPattern | None:
    """The relationship pattern that begins at i, if one does."""
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
    return RelPattern(tuple(types), points, several, i + 1 + right)


def _past_map(tokens: Sequence[Token], i: int) -> int:
    if i < len(tokens) and tokens[i].text == "{":
        depth = 0
        while i < len(tokens):
            depth += (tokens[i].upper == "{") - (tokens[i].upper == "}")
            i += 1
            if depth == 0:
                break
    return i
