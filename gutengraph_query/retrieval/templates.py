"""Ready queries for the questions that are asked most, so that no model need write Cypher for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_core import names
from gutengraph_core.graph.inlined import inlined
from gutengraph_query.retrieval.any_graph import AnyGraph
from gutengraph_query.retrieval.entry import NameIndex
from gutengraph_query.understanding.question import Question

_NAMESAKES = 3
_IN_BOOK = "b.gutenberg_id = $book"
_TITLED = "lower(b.title) CONTAINS lower($title)"


@dataclass(frozen=True)
class Template:
    """A query with slots: `name`s are looked up and bound as ids `$a` and `$b`, `title`s as `$title` and `$other`.

    It returns `id` and `name` of its answers, best first; themes also the `passages` that they rest on.
    """

    name: str
    says: str
    slots: tuple[str, ...]
    cypher: str


@dataclass(frozen=True)
class Call:
    """A template with its arguments, in the order of its slots."""

    template: Template
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class TemplateRow:
    """One answer."""

    id: str
    name: str
    passages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Filled:
    """What a template found. `anchors`: the nodes that its names led to; `statement`: with its values."""

    rows: list[TemplateRow]
    anchors: list[str]
    statement: str


def _template(name: str, says: str, slots: str, cypher: str) -> Template:
    return Template(name, says, tuple(slots.split()), " ".join(cypher.split()))


_ALL = (
    _template(
        "who_is_in", "the characters of a book", "title",
        f"""MATCH (c:Character)-[:APPEARS_IN]->(b:Book) WHERE {_TITLED} AND c.standing = 'cast'
        RETURN c.id AS id, c.name AS name ORDER BY c.mentions DESC, c.id""",
    ),
    _template(
        "who_is_at", "who lives in, was born in or serves on a place or ship", "name",
        """MATCH (c:Character)-[r:INTERACTS_WITH]->(l:Location) WHERE l.id IN $a
        RETURN c.id AS id, c.name AS name, max(r.confidence) AS sure ORDER BY sure DESC, id""",
    ),
    _template(
        "related_to", "everybody who is related to a character", "name",
        """MATCH (a:Character)-[r:RELATED_TO]-(c:Character) WHERE a.id IN $a
        RETURN c.id AS id, c.name AS name, max(r.confidence) AS sure ORDER BY sure DESC, id""",
    ),
    _template(
        "shared_acquaintances", "whom two characters both are related to", "name name",
        """MATCH (a:Character)-[:RELATED_TO]-(c:Character)-[:RELATED_TO]-(x:Character)
        WHERE a.id IN $a AND x.id IN $b AND NOT c.id IN $a AND NOT c.id IN $b
        RETURN DISTINCT c.id AS id, c.name AS name, c.mentions AS n ORDER BY n DESC, id""",
    ),
    _template(
        "in_both_books", "characters of one name in two books", "title title",
        """MATCH (c:Character)-[:APPEARS_IN]->(b:Book), (d:Character)-[:APPEARS_IN]->(e:Book)
        WHERE contains(lower(b.title), lower($title)) AND contains(lower(e.title), lower($other))
        AND b.id <> e.id AND lower(c.name) = lower(d.name)
        RETURN DISTINCT c.id AS id, c.name AS name, c.mentions AS n ORDER BY n DESC, id""",
    ),
    _template(
        "themes_of", "the themes of a book", "title",
        f"""MATCH (b:Book)-[r:HAS_THEME]->(t:Theme) WHERE {_TITLED}
        RETURN t.id AS id, t.name AS name, r.passages AS passages ORDER BY size(r.passages) DESC, id""",
    ),
    _template(
        "atmosphere_of", "the atmosphere of a book", "title",
        f"""MATCH (b:Book)-[r:HAS_ATMOSPHERE]->(t:Atmosphere) WHERE {_TITLED}
        RETURN t.id AS id, t.name AS name, r.passages AS passages ORDER BY size(r.passages) DESC, id""",
    ),
    _template(
        "where_set", "the places of a book", "title",
        f"""MATCH (b:Book)-[:SET_IN]->(l:Location) WHERE {_TITLED}
        RETURN l.id AS id, l.name AS name ORDER BY l.mentions DESC, l.id""",
    ),
    _template(
        "where_is", "the places that a character lives in, was born in or serves on", "name",
        """MATCH (c:Character)-[r:INTERACTS_WITH]->(l:Location) WHERE c.id IN $a
        RETURN l.id AS id, l.name AS name, max(r.confidence) AS sure ORDER BY sure DESC, id""",
    ),
    _template(
        "books_with", "the books in which somebody of that name appears", "name",
        """MATCH (c:Character)-[:APPEARS_IN]->(b:Book) WHERE c.id IN $a
        RETURN b.id AS id, b.title AS name ORDER BY id""",
    ),
)  # fmt: skip
TEMPLATES: dict[str, Template] = {template.name: template for template in _ALL}

NEEDS_EDGE = frozenset(("who_is_at", "related_to", "shared_acquaintances", "where_is"))
"""Answers of these rest on an edge: one that may not be told (`up_to`) takes its answer with it."""

_BY_SHAPE: tuple[tuple[str, str], ...] = (
    (r"\b(what|which) (are |is )?(the )?(main |central )?themes?\b|\bthemes? (of|in)\b", "themes_of"),
    (r"\b(atmosphere|mood) (of|in) (the (book|novel|story)|this)\b", "atmosphere_of"),
    (r"^where (is|are|does|do|was) .*\b(set|take place|happen)\b", "where_set"),
    (
        r"^(which|what|whom?) (characters? |people )?(do|does|are|is)\b.*\b(share|in common|both)\b",
        "shared_acquaintances",
    ),
    (
        r"^(in )?(which|what) (books?|novels?|story|stories) (does|do|is|are|has|have|mentions?)\b",
        "books_with",
    ),
    (r"^(who|which characters) (is|are|lives?|live) (in|at|on|aboard)\b", "who_is_at"),
    (r"^(who|which people|which characters) (is|are) (related|connected) to\b", "related_to"),
    (r"^where (is|does|do|was|were|are)\b", "where_is"),
)


def by_shape(question: Question, *, title: str) -> Call | None:
    """The template for a question of a common shape; None where none fits or a name is missing.

    `title`: of the book that is asked about, '' for all.
    """
    text = " ".join(names.fold(question.text).split())
    told = [name.text for name in question.names]
    for pattern, name in _BY_SHAPE:
        if not re.search(pattern, text):
            continue
        template = TEMPLATES[name]
        wanted = template.slots.count("name")
        if template.slots == ("title",):
            return Call(template, (title,)) if title else None
        if len(told) == wanted:
            return Call(template, tuple(told))
    return None


def fill(call: Call, graph: AnyGraph, index: NameIndex, *, book: int | None) -> Filled:
    """Run a template on the published graph. Raises StoreError if Kuzu refuses."""
    titles = [a for slot, a in zip(call.template.slots, call.arguments, strict=False) if slot == "title"]
    ids = [
        [node.id for node in index.find(a, book)[:_NAMESAKES]]
        for slot, a in zip(call.template.slots, call.arguments, strict=False)
        if slot == "name"
    ]
    cypher = call.template.cypher
    if book is not None:  # the very book, and not one whose title sounds like it
        cypher = cypher.replace(_TITLED, _IN_BOOK)
    values = {
        "book": book,
        "title": titles[0] if titles else "",
        "other": titles[1] if len(titles) > 1 else "",
        "a": ids[0] if ids else [],
        "b": ids[1] if len(ids) > 1 else [],
    }
    used = {name: value for name, value in values.items() if re.search(rf"\${name}\b", cypher)}
    anchors = [node for found in ids for node in found]
    statement = inlined(cypher, used)
    if ids and not all(ids):
        return Filled([], anchors, statement)
    rows = [
        TemplateRow(row["id"], row["name"], tuple(row.get("passages") or ()))
        for row in graph.rows(cypher, used)
    ]
    return Filled(_distinct(rows, set(anchors)), anchors, statement)


def _distinct(rows: Sequence[TemplateRow], anchors: set[str]) -> list[TemplateRow]:
    once = {row.id: row for row in reversed(rows) if row.id not in anchors}
    return [row for row in rows if once.get(row.id) is row]
