"""The columns of the files and stores as Dagster's UI shows them: each with what it holds."""

from __future__ import annotations

import dagster as dg
import pyarrow as pa

_IN_BODY = "in characters of body.txt"
_ALL = {
    "gutenberg_id": "number of the book at Project Gutenberg",
    "chapter": "number of the chapter, from 1; 0 before the first heading",
    "start": f"where it begins, {_IN_BODY}",
    "end": f"one past its last, {_IN_BODY}",
    "window": "number of the extraction window",
    "title": "the book's title",
    "authors": "the book's authors, denormalised: read far more often than written",
    "subjects": "Library of Congress subjects, denormalised",
    "name": "the name as shown, on one line",
    "aliases": "every form of the name in the text, most frequent first",
    "mentions": "mentions in the text",
    "windows": "windows of the text that have any of its names",
    "label": "Character, Location, Object or Event",
    "quote": "the sentence that says so, as in the text but for line wraps",
    "how": "the way it was found; comma-joined where several ways agree",
    "entity": "id of the node",
}
_OF = {
    "chunks": {
        "id": "<gutenberg_id>:<chunk_index>",
        "chunk_index": "place of the passage in the book, from 0",
        "text": "the passage, with its overlap with the one before",
        "kind": "kind of text: fiction, non-fiction, drama, verse, other",
        "token_count": "tokens of the embedding model, without prefix and special tokens",
        "embedding": "vector of unit length",
    },
    "mentions": {
        "kind": "person, place or thing",
        "subkind": "vessel, being (a person without a proper name), or nothing",
        "margin": "log-probability by which the kind won; null where no model gave one",
    },
    "entities": {
        "id": "<gutenberg_id>:<slug>",
        "standing": "cast, mentioned, kept or dropped",
        "reason": "why it is dropped or only mentioned",
        "kind": "vessel and the like, or nothing",
        "first": f"where it is named first, {_IN_BODY}",
    },
    "edges": {
        "source": "id of the node that is TYPE of the other",
        "target": "id of the other node",
        "rel": "RELATED_TO (persons) or INTERACTS_WITH (other pairs)",
        "type": "one of the schema's relation types; symmetric ones stand once",
        "confidence": "measured precision of the surest way of finding; stated from 0.85",
    },
}


def described(table: str, schema: pa.Schema) -> dg.TableSchema:
    """`schema` with a line on each column; `table` names whose columns they are.

    Raises KeyError for a column that nobody has described.
    """
    own = _OF[table]
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                column.name,
                str(column.type),
                description=own.get(column.name) or _ALL[column.name],
                constraints=dg.TableColumnConstraints(nullable=column.nullable),
            )
            for column in schema
        ]
    )
