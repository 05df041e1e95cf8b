"""Nodes that may be of several labels, refused where the statement asks for members of a list: Kuzu then answers wrongly in
silence.

Kuzu 0.11.3 gives rows twice, leaves rows out and misspells ids where nodes of several labels are filtered by IN or list_contains()
and the graph holds an Event. Of =, CONTAINS, STARTS WITH, =~, <> and > none did so, and no list did where each node had one label:
tests/contract/test_one_label_contract.py compares them.
"""

from __future__ import annotations

from collections.abc import Sequence

from gutengraph_core.graph.lexer import Token, lex, refused
from gutengraph_core.graph.schema import REL_TABLES
from gutengraph_query.retrieval.patterns import ALL_LABELS, RelPattern, hops, identities, nodes, parts

_MEMBERSHIP = frozenset(("IN", "LIST_CONTAINS"))


def check_labels(statement: str) -> None:
    """Beside IN or list_contains() each node can be of one label only, by what is written at it or by its arrows.

    Raises CypherRefused with the labels among which to choose.
    """
    for part in parts(lex(statement)):
        if not any(token.upper in _MEMBERSHIP for token in part):
            continue
        for name, labels in _possible(part).items():
            if len(labels) > 1:
                variable = name.partition("#")[0]
                node = f"({variable})" if variable else "a node without a name"
                choice = "any" if labels == ALL_LABELS else " or ".join(sorted(labels))
                raise refused(
                    f"{node} can be of several labels beside IN or list_contains(), and Kuzu then mixes the rows up",
                    remedy=f"Write one label ({choice}), as in (a:Character), or write '=' or CONTAINS joined by OR.",
                )


def _possible(part: Sequence[Token]) -> dict[str, frozenset[str]]:
    """Node -> the labels that it can have. A node is named by its variable, else by its place."""
    pairs = list(hops(part))
    names = identities(part)
    joined = {node.start for left, _, right in pairs for node in (left, right)}
    found: dict[str, frozenset[str]] = {}
    for node in nodes(part):
        if node.labels or node.start in joined or _begins_pattern(part, node.start):
            name = names[node.start]
            found[name] = found.get(name, ALL_LABELS) & (node.own or ALL_LABELS)
    for left, rel, right in pairs:
        a, b = _ends(rel)
        found[names[left.start]] &= a
        found[names[right.start]] &= b
    return found


def _ends(rel: RelPattern) -> tuple[frozenset[str], frozenset[str]]:
    """The labels that the tables of a relationship have at its left and its right. Kuzu looks no further: that a Character at
    one end leaves one of several tables does not spare it the nodes of the others."""
    pairs = {pair for table in rel.tables or REL_TABLES for pair in table.pairs}
    ways = {pair for pair in pairs if rel.points != "<"} | {(b, a) for a, b in pairs if rel.points != ">"}
    if rel.several:
        either = frozenset(label for way in ways for label in way)
        return either, either
    return frozenset(a for a, _ in ways), frozenset(b for _, b in ways)


def _begins_pattern(part: Sequence[Token], start: int) -> bool:
    """Whether a pattern can begin here: elsewhere `(a)` is an expression in brackets."""
    before = [token.upper for token in part[max(0, start - 4) : start]]
    if before[-1:] == ["="]:
        before = before[:-2]  # MATCH p = (a)
    return before[-1:] == ["MATCH"] or before[-2:] == [")", ","]
