"""What an untrusted statement may be: reading, from a list of what is allowed, and bounded.

Kuzu's `read_only` keeps a database unchanged and nothing else: statements in it write and read other files, lift
limits and take all memory. So a statement is cut into tokens, everything that is not on a list is refused, and
its number of rows is capped. What passes runs in a process of its own (`worker`), which holds even without this.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from gutengraph_core.graph.lexer import Token, lex, refused, without_comments

MAX_BYTES = 4096
"""Longest statement; the longest useful one seen has 900 bytes."""
MAX_DEPTH = 50
"""Brackets and CASEs inside one another. 5,000 end Kuzu's process."""
MAX_ROWS = 50
"""Rows of an answer: more than anybody reads."""
MAX_HOPS = 4
"""Upper bound of a variable length; on a novel's graph 5 hops reach everybody."""

_FIRST = frozenset("MATCH OPTIONAL UNWIND WITH RETURN CALL".split())
_KEYWORDS = frozenset(
    "MATCH OPTIONAL UNWIND WITH RETURN WHERE AS AND OR XOR NOT IN IS NULL TRUE FALSE CONTAINS STARTS ENDS DISTINCT "
    "ORDER BY ASC DESC ASCENDING DESCENDING SKIP LIMIT UNION ALL ANY NONE SINGLE EXISTS COUNT CASE WHEN THEN ELSE "
    "END TRAIL ACYCLIC SHORTEST".split()
)
_VALUES = frozenset("NULL TRUE FALSE END".split())
"""Keywords that end an expression, as a variable does."""
_WALKS = frozenset("TRAIL ACYCLIC SHORTEST ALL".split())
_FUNCTIONS = frozenset(
    "abs avg ceil ceiling coalesce collect concat contains count ends_with floor label lcase left length "
    "list_contains lower ltrim max min regexp_matches right round rtrim size starts_with substring sum tolower "
    "toupper trim ucase upper".split()
)
"""Few: Kuzu 0.11.3 ends its process over `nodes(NULL)`, `list_sum(NULL)`, `label({x: 1})`, `lower(x -> x)` and some
forty others that were tried. What is here did not fall over any argument that passes the checks below."""
_INSTEAD = {
    "labels": "label(n), which is a string",
    "type": "label(r) for the table, r.type for the relation's own type",
    "shortestpath": "-[:REL* SHORTEST 1..4]-",
    "range": "a list that is written out",
    "toint": "the number itself",
    "exists": "EXISTS { MATCH … }",
}
_CALLS = frozenset(("show_tables", "table_info"))
_FORBIDDEN = frozenset(
    "CREATE MERGE SET DELETE DETACH REMOVE DROP ALTER COPY LOAD EXPORT IMPORT ATTACH USE INSTALL UNINSTALL UPDATE "
    "CHECKPOINT BEGIN COMMIT ROLLBACK PROFILE EXPLAIN FOREACH MACRO PROJECT_GRAPH TRANSACTION DATABASE EXTENSION "
    "FROM TO COMMENT RENAME ADD YIELD".split()
)
_OPEN, _CLOSE = "([{", ")]}"


def guard(statement: str, *, parameters: Collection[str] = (), limit: int = MAX_ROWS) -> str:
    """The statement that may be run in place of `statement`: without comments, and with its LIMIT.

    `parameters`: names that the caller will bind; any other `$name` would be NULL in silence. Raises
    CypherRefused, whose message says what was wrong and whose remedy what to write instead.
    """
    if len(statement.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise refused(f"it has more than {MAX_BYTES} bytes", remedy="Ask for less.")
    tokens = lex(statement)
    if not tokens or tokens[0].upper not in _FIRST:
        first = tokens[0].text if tokens else ""
        raise refused(
            f"it begins with '{first}'" if first else "it is empty",
            remedy="Begin with MATCH; only reading is allowed.",
        )
    _check_depth(tokens)
    for i, token in enumerate(tokens):
        _check_token(tokens, i, token, parameters)
    _check_lengths(tokens)
    return _limited(without_comments(statement), lex(without_comments(statement)), limit)


def _check_depth(tokens: Sequence[Token]) -> None:
    open_: list[str] = []
    for token in tokens:
        if token.upper in ("(", "[", "{", "CASE"):
            open_.append(token.upper)
            if len(open_) > MAX_DEPTH:
                raise refused(f"it is nested more than {MAX_DEPTH} deep", remedy="Write it flat.")
        elif token.kind == "symbol" and token.text in _CLOSE:
            if not open_ or open_.pop() != _OPEN[_CLOSE.index(token.text)]:
                raise refused(f"a '{token.text}' closes nothing", remedy="Balance the brackets.")
        elif token.upper == "END" and open_ and open_[-1] == "CASE":
            open_.pop()
    if open_:
        raise refused(f"'{open_[-1]}' is never closed", remedy="Balance the brackets.")


def _check_token(tokens: Sequence[Token], i: int, token: Token, parameters: Collection[str]) -> None:
    after = tokens[i + 1].text if i + 1 < len(tokens) else ""
    if token.text == ";":
        raise refused("it has a ';'", remedy="Write one statement, without ';'.")
    if token.kind == "parameter" and token.text[1:] not in parameters:
        raise refused(f"nothing is bound to {token.text}", remedy="Write the value itself.")
    if after == "-" and token.kind != "symbol" and [t.text for t in tokens[i + 2 : i + 3]] == [">"]:
        raise refused(
            "a lambda ends Kuzu's process in many functions", remedy="Use CONTAINS or list_contains."
        )
    if token.kind == "symbol":
        if token.text == "(" and i and _is_operand(tokens, i - 1) and tokens[i - 1].kind != "word":
            raise refused(f"'(' follows '{tokens[i - 1].text}'", remedy="Write an operator between them.")
        return
    if _is_property(tokens, i):
        return
    if token.kind == "word":
        _check_word(tokens, i, token, after)
    called = i == 1 and tokens[0].upper == "CALL"
    if i and not called and _is_operand(tokens, i - 1) and token.upper not in _KEYWORDS:
        raise refused(
            f"'{token.text}' follows '{tokens[i - 1].text}' without an operator",
            remedy="Only reading clauses are allowed.",
        )


def _check_word(tokens: Sequence[Token], i: int, token: Token, after: str) -> None:
    word = token.upper
    if word == "CALL":
        name = tokens[1].text.lower() if i == 0 and len(tokens) > 2 else ""
        if name not in _CALLS or tokens[2].text != "(":
            raise refused("CALL is not allowed", remedy=f"Only CALL {' and '.join(sorted(_CALLS))} are.")
        return
    if i == 1 and tokens[0].upper == "CALL":
        return
    if word in _FORBIDDEN:
        raise refused(f"{word} is not allowed", remedy="Only reading is: MATCH … WHERE … RETURN.")
    asked = tokens[i - 1].upper == "IS" or [t.upper for t in tokens[i - 2 : i]] == ["IS", "NOT"]
    if word == "NULL" and not asked:
        raise refused("NULL stands as a value", remedy="Write IS NULL or IS NOT NULL.")
    if word in _KEYWORDS and not (after == "(" and word.lower() in _INSTEAD):
        return
    if after == "(":
        name = token.text.lower()
        if name in _INSTEAD:
            raise refused(f"Kuzu has no {token.text}()", remedy=f"Use {_INSTEAD[name]}.")
        if name not in _FUNCTIONS:
            raise refused(
                f"the function {token.text}() is not allowed", remedy="Use plain patterns and WHERE."
            )
        if name == "label" and not _of_pattern(tokens, i + 2):
            raise refused("label() of something that is no node", remedy="Write label(n) for an n of MATCH.")
        if (
            name == "size"
            and tokens[i + 2].text == "("
            and any(t.text == ">" or t.text == "<" for t in tokens[i + 3 :])
        ):
            raise refused(
                "size((a)-->()) counts wrongly in Kuzu", remedy="Use COUNT { MATCH (a)-[:REL]->() }."
            )


def _of_pattern(tokens: Sequence[Token], i: int) -> bool:
    """Whether the token at i is a variable by itself, and one that no AS has made."""
    name = tokens[i].value.lower()
    alone = tokens[i].kind in ("word", "name") and tokens[i + 1].text == ")"
    made = any(t.upper == "AS" and u.value.lower() == name for t, u in pairwise(tokens))
    return alone and not made and tokens[i].upper not in _KEYWORDS


def _is_property(tokens: Sequence[Token], i: int) -> bool:
    """A word behind a dot, and neither called nor at the head of something."""
    return i > 0 and tokens[i - 1].text == "." and (i + 1 == len(tokens) or tokens[i + 1].text != "(")


def _is_operand(tokens: Sequence[Token], i: int) -> bool:
    """Whether the token can end an expression: behind it only a keyword or a symbol may come."""
    token = tokens[i]
    if token.kind == "word":
        return _is_property(tokens, i) or token.upper not in _KEYWORDS - _VALUES
    return token.kind in ("name", "string", "number", "parameter") or token.text in (")", "]", "}")


def _check_lengths(tokens: Sequence[Token]) -> None:
    """`*` between the brackets of a relationship has an upper bound, and a walk either way is a TRAIL."""
    for i, token in enumerate(tokens):
        if token.text == "[" and i and tokens[i - 1].text == "-":
            close = _closing(tokens, i)
            star = next((j for j in range(i + 1, close) if tokens[j].text == "*"), None)
            if star is not None:
                _check_length(tokens, i, star, close)


def _check_length(tokens: Sequence[Token], opening: int, star: int, close: int) -> None:
    j = star + 1
    kinds = set()
    while tokens[j].upper in _WALKS:
        kinds.add(tokens[j].upper)
        j += 1
    numbers = [t.text for t in tokens[j:close] if t.kind == "number"]
    marks = [t.text for t in tokens[j:close] if t.kind != "number"]
    if (
        not numbers
        or marks not in ([], [".."])
        or not all(n.isdigit() for n in numbers)
        or tokens[close - 1].text == ".."
    ):
        raise refused("a variable length has no upper bound", remedy=f"Write *1..2, at most *1..{MAX_HOPS}.")
    if int(numbers[-1]) > MAX_HOPS:
        raise refused(
            f"a variable length goes to {numbers[-1]}", remedy=f"Write *1..2, at most *1..{MAX_HOPS}."
        )
    directed = tokens[opening - 2].text == "<" or [t.text for t in tokens[close + 1 : close + 3]] == [
        "-",
        ">",
    ]
    if not directed and not kinds:
        raise refused("a walk either way comes back to where it began", remedy="Write -[:REL* TRAIL 1..2]-.")


def _closing(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for j in range(opening, len(tokens)):
        depth += (tokens[j].text == "[" and tokens[j].kind == "symbol") - (
            tokens[j].text == "]" and tokens[j].kind == "symbol"
        )
        if depth == 0:
            return j
    raise AssertionError("brackets were balanced before")


def _limited(text: str, tokens: Sequence[Token], limit: int) -> str:
    """The statement with a LIMIT of at most `limit` at the end of each part of a UNION."""
    cuts: list[tuple[int, int, str]] = []
    for part in _parts(tokens):
        depth = 0
        returned = limited = None
        for j, token in enumerate(part):
            if token.kind == "symbol":
                depth += (token.text in _OPEN) - (token.text in _CLOSE)
            elif depth == 0 and token.upper == "RETURN":
                if returned is not None:
                    raise refused("it returns twice", remedy="End with one RETURN.")
                returned = j
            elif depth == 0 and token.upper == "LIMIT" and returned is not None:
                limited = j
        if returned is None:
            raise refused("it has no RETURN", remedy="End with RETURN … LIMIT 20.")
        if any(t.upper in _FIRST for t in part[returned + 1 :] if t.upper != "CALL") and _clause_after(
            part, returned
        ):
            raise refused("a clause follows RETURN", remedy="End with RETURN.")
        if limited is None:
            cuts.append((part[-1].end, part[-1].end, f" LIMIT {limit}"))
            continue
        given = part[limited + 1 :]
        if len(given) != 1 or not given[0].text.isdigit():
            raise refused("LIMIT is no plain number at the end", remedy=f"End with LIMIT {limit}.")
        if int(given[0].text) > limit:
            cuts.append((given[0].start, given[0].end, str(limit)))
    for start, end, new in reversed(cuts):
        text = text[:start] + new + text[end:]
    return text.strip()


def _clause_after(part: Sequence[Token], returned: int) -> bool:
    """A clause at the top level behind RETURN (a subquery in braces has its own)."""
    depth = 0
    for token in part[returned + 1 :]:
        if token.kind == "symbol":
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
        elif depth == 0 and token.upper in ("MATCH", "OPTIONAL", "UNWIND", "RETURN"):
            return True
    return False


def _parts(tokens: Sequence[Token]) -> list[list[Token]]:
    """The statement cut at UNION and UNION ALL."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for j, token in enumerate(tokens):
        if token.kind == "symbol":
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if depth == 0 and token.upper == "UNION":
            parts.append([])
        elif not (depth == 0 and token.upper == "ALL" and tokens[j - 1].upper == "UNION"):
            parts[-1].append(token)
    for part in parts[1:]:
        if not part or part[0].upper not in _FIRST - {"CALL"}:
            raise refused("UNION joins something that reads nothing", remedy="Write MATCH … RETURN after it.")
    return parts
