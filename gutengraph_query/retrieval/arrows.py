"""The arrows of a statement, checked against the schema before it runs: Kuzu answers a wrong direction with nothing."""

from __future__ import annotations

from collections.abc import Sequence

from gutengraph_core.graph.lexer import Token, lex, refused
from gutengraph_core.graph.schema import REL_TABLES
from gutengraph_query.retrieval.patterns import ALL_LABELS, RelPattern, hops, identities, nodes, parts

_EXACT = ("=", "IN")


def check_arrows(statement: str) -> None:
    """Labels and relationships are the schema's, arrows point as the schema's do, titles are not matched exactly.

    Raises CypherRefused with the arrow that was meant.
    """
    tokens = lex(statement)
    _check_titles(tokens)
    for part in parts(tokens):
        names = identities(part)
        labels = {names[n.start]: n.own for n in nodes(part) if n.own}
        for left, rel, right in hops(part):
            # All labels where nothing is said.
            a, b = (node.own or labels.get(names[node.start], ALL_LABELS) for node in (left, right))
            _check(a, rel, b)


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


def _check(left: frozenset[str], rel: RelPattern, right: frozenset[str]) -> None:
    tables = rel.tables
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
    return "any label" if labels == ALL_LABELS else "|".join(sorted(labels))
