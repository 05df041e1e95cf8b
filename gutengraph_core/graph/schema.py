"""The graph's schema: the one source that the writer, the prompts and the documentation read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SYMMETRIC: frozenset[str] = frozenset(
    "sibling_of spouse_of friend_of enemy_of cousin_of engaged_to colleague_of same_as related_to".split()
)

DIRECTED: frozenset[str] = frozenset(
    "parent_of step_parent_of grandparent_of aunt_or_uncle_of loves employer_of serves works_for owner_of "
    "captain_of first_mate_of second_mate_of third_mate_of harpooneer_of coxswain_of boatswain_of teacher_of "
    "student_at governess_of guardian_of patron_of creator_of kills patient_of lives_in born_in "
    "takes_part_in happens_at".split()
)
TAKES_PART, HAPPENS_AT = "takes_part_in", "happens_at"
"""A Character in an Event (who dies, marries, is tried), and an Event at a Location."""

RELATION_TYPES: frozenset[str] = SYMMETRIC | DIRECTED
"""Read: a is TYPE b. `related_to` where the text says no more."""

Label = Literal["Character", "Location", "Object", "Event"]
LABELS: tuple[Label, ...] = ("Character", "Location", "Object", "Event")
"""Nodes that the text mentions; the walk and the entry search see these and no others."""

NotionLabel = Literal["Theme", "Atmosphere"]
NOTIONS: dict[str, str] = {"Theme": "HAS_THEME", "Atmosphere": "HAS_ATMOSPHERE"}
"""Nodes that rest on passages and not on mentions, and how the book has them."""

ROLES: tuple[str, ...] = ("protagonist", "antagonist", "supporting", "minor")
CHARACTER_TYPES: tuple[str, ...] = ("human", "animal", "creature", "spirit")
SOCIAL_CLASSES: tuple[str, ...] = (
    "royalty", "nobility", "gentry", "clergy", "officer", "professional", "trade", "labour", "servant", "outcast",
)  # fmt: skip
EVENT_KINDS: tuple[str, ...] = (
    "death", "killing", "execution", "burial", "birth", "marriage", "elopement", "trial", "arrest", "escape", "crime",
    "battle", "gathering", "uprising", "disaster", "treaty", "journey", "meeting", "discovery", "quarrel", "illness",
)  # fmt: skip
"""What may stand in `role`, `character_type` and `social_class` of a Character and in `kind` of an Event; null (or '')
where nothing is known. A knight and his lady are of the nobility, a ship's captain is an officer."""

INTERACTS_PAIRS: tuple[tuple[Label, Label], ...] = (
    ("Character", "Location"),
    ("Character", "Object"),
    ("Character", "Event"),
    ("Object", "Location"),
    ("Event", "Location"),
    ("Object", "Event"),
)
"""The pairs that INTERACTS_WITH holds; RELATED_TO is Character to Character."""

STATED = 0.85
"""Relations of this confidence and more are shown as stated by the text, the others as likely."""

WALKED: tuple[str, str] = ("RELATED_TO", "INTERACTS_WITH")
"""What degree counts and a walk follows: through Book or Passage everybody meets everybody in two hops."""

VECTOR = "VECTOR"
"""Stands for FLOAT[d]: the dimension belongs to the embedder that built the library."""


@dataclass(frozen=True)
class NodeTable:
    """A node table: property -> Kuzu type. `id` is the primary key."""

    name: str
    properties: dict[str, str]

    def ddl(self, dimension: int) -> str:
        """The CREATE statement, with vectors of `dimension`."""
        columns = ", ".join(f"{_quoted(p)} {_typed(t, dimension)}" for p, t in self.properties.items())
        return f"CREATE NODE TABLE {self.name}({columns}, PRIMARY KEY(id))"


@dataclass(frozen=True)
class RelTable:
    """A relationship table over one or more pairs of node tables: property -> Kuzu type."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    properties: dict[str, str]

    def ddl(self) -> str:
        """The CREATE statement."""
        parts = [f"FROM {source} TO {target}" for source, target in self.pairs]
        parts += [f"{_quoted(p)} {t}" for p, t in self.properties.items()]
        return f"CREATE REL TABLE {self.name}({', '.join(parts)})"


def _quoted(name: str) -> str:
    return f"`{name}`"  # `end` is a keyword


def _typed(kind: str, dimension: int) -> str:
    return f"FLOAT[{dimension}]" if kind == VECTOR else kind


_COUNTS = {"mentions": "INT32", "windows": "INT32", "degree": "INT32", "centrality": "FLOAT"}
_THING = {
    "id": "STRING",
    "name": "STRING",
    "aliases": "STRING[]",
    "kind": "STRING",
    **_COUNTS,
    "embedding": VECTOR,
}
_NOTION = {"id": "STRING", "name": "STRING", "embedding": VECTOR}

NODE_TABLES: tuple[NodeTable, ...] = (
    NodeTable(
        "Book",
        {
            "id": "STRING",  # the number as text
            "gutenberg_id": "INT64",
            "title": "STRING",
            "authors": "STRING[]",
            "subjects": "STRING[]",
            "language": "STRING",
            "kind": "STRING",
        },
    ),
    NodeTable(
        "Character",
        {
            "id": "STRING",  # '<gutenberg_id>:<slug>', here and below
            "name": "STRING",
            "aliases": "STRING[]",
            "standing": "STRING",
            "role": "STRING",
            "gender": "STRING",
            "character_type": "STRING",
            "social_class": "STRING",
            "motivation": "STRING",
            "arc": "STRING",
            "raw": "STRING",
            **_COUNTS,
            "embedding": VECTOR,
        },
    ),
    NodeTable("Location", _THING),
    NodeTable("Object", _THING),
    NodeTable("Event", _THING),
    NodeTable("Theme", _NOTION),
    NodeTable("Atmosphere", _NOTION),
    NodeTable(
        "Passage",
        {
            "id": "STRING",
            "gutenberg_id": "INT64",
            "chapter": "INT32",
            "start": "INT64",
            "end": "INT64",
            "chunk_id": "STRING",  # the row of the vector table that holds its prose
        },
    ),
)

_EDGE = {
    "type": "STRING",
    "quote": "STRING",
    "start": "INT64",
    "end": "INT64",
    "chapter": "INT32",
    "how": "STRING",
    "confidence": "FLOAT",
}

REL_TABLES: tuple[RelTable, ...] = (
    RelTable("APPEARS_IN", (("Character", "Book"),), {}),
    RelTable("SET_IN", (("Book", "Location"),), {}),
    RelTable("FEATURES", (("Book", "Object"),), {}),
    RelTable("HAPPENS_IN", (("Event", "Book"),), {}),
    RelTable("HAS_THEME", (("Book", "Theme"),), {"passages": "STRING[]"}),
    RelTable("HAS_ATMOSPHERE", (("Book", "Atmosphere"),), {"passages": "STRING[]"}),
    RelTable("RELATED_TO", (("Character", "Character"),), _EDGE),
    RelTable("INTERACTS_WITH", INTERACTS_PAIRS, _EDGE),
    RelTable("MENTIONED_IN", tuple((label, "Passage") for label in LABELS), {"count": "INT64"}),
)

BOOK_LINKS: dict[Label, tuple[str, bool]] = {
    "Character": ("APPEARS_IN", True),
    "Location": ("SET_IN", False),
    "Object": ("FEATURES", False),
    "Event": ("HAPPENS_IN", True),
}
"""How a node hangs on its book: the relationship, and whether it points from the node to the book."""


def node_table(name: str) -> NodeTable:
    """The node table of that name. Raises KeyError."""
    return _NODE_BY_NAME[name]


def rel_table(name: str) -> RelTable:
    """The relationship table of that name. Raises KeyError."""
    return _REL_BY_NAME[name]


_NODE_BY_NAME = {table.name: table for table in NODE_TABLES}
_REL_BY_NAME = {table.name: table for table in REL_TABLES}


def ddl(dimension: int) -> list[str]:
    """All CREATE statements in order, for vectors of `dimension`."""
    return [table.ddl(dimension) for table in NODE_TABLES] + [table.ddl() for table in REL_TABLES]


def arrows() -> list[str]:
    """The schema as arrows, one a pair: `(Character)-[:RELATED_TO {type, …}]->(Character)`."""
    lines = []
    for table in REL_TABLES:
        properties = f" {{{', '.join(table.properties)}}}" if table.properties else ""
        lines += [f"({source})-[:{table.name}{properties}]->({target})" for source, target in table.pairs]
    return lines


def line(a: str, kind: str, b: str) -> str:
    """One edge as people and prompts read it: `Ahab -[CAPTAIN_OF]-> Pequod`."""
    return f"{a} -[{kind.upper()}]-> {b}"
