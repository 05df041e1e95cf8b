"""Columns of the per-book Parquet files. Offsets count characters in `body.txt`; `end` is past the last."""

from __future__ import annotations

import pyarrow as pa

_STR = pa.string()
_STRS = pa.list_(pa.string())
_I32 = pa.int32()
_I64 = pa.int64()
_F32 = pa.float32()

CHUNKS = pa.schema(
    {
        "id": _STR,  # '<gutenberg_id>:<chunk_index as six digits>'
        "gutenberg_id": _I64,
        "chunk_index": _I32,
        "chapter": _I32,
        "start": _I64,
        "end": _I64,
        "text": _STR,  # body[start:end], overlap with the chunk before included
        "title": _STR,
        "authors": _STRS,
        "subjects": _STRS,
        "kind": _STR,
        "token_count": _I32,  # the embedder's own tokens, without prefix and special tokens
    }
)

WINDOWS = pa.schema(
    {"window": _I32, "chapter": _I32, "start": _I64, "end": _I64, "words": _I32, "text": _STR}
)

MENTIONS = pa.schema(
    {
        "name": _STR,  # as shown: one line, no italics' underscores
        "kind": _STR,  # person | place | thing
        "subkind": _STR,  # '' | vessel (a place) | being (a person without a proper name) | speaker (of a play)
        "margin": _F32,  # log-probability by which the kind won, to one digit; null where no model gave one
        "how": _STR,  # cloze | label | list | rule (the text itself decides: 'Mr. X', 'X Street', 'the schooner X')
        "start": _I64,
        "end": _I64,
        "window": _I32,
        "chapter": _I32,
    }
)
"""One row a verified mention: names.key(body[start:end]) == names.key(name)."""

ENTITIES = pa.schema(
    {
        "id": _STR,  # '<gutenberg_id>:<slug>', unique within the book
        "label": _STR,  # Character | Location | Object | Event
        "name": _STR,
        "aliases": _STRS,  # every surface form, most frequent first, the name included
        "standing": _STR,  # cast | mentioned | dropped (Characters); kept | dropped (others)
        "reason": _STR,  # why dropped or only mentioned
        "kind": _STR,  # '' | vessel | …
        "mentions": _I32,
        "windows": _I32,
        "first": _I64,  # offset of the first mention
    }
)

NODES = pa.schema(
    {
        "id": _STR,
        "label": _STR,
        "gutenberg_id": _I64,
        "name": _STR,
        "aliases": _STRS,
        "standing": _STR,
        "role": _STR,  # protagonist | antagonist | supporting | minor; null where unknown
        "gender": _STR,  # M | F; null where the text does not say
        "character_type": _STR,  # schema.CHARACTER_TYPES
        "social_class": _STR,  # schema.SOCIAL_CLASSES
        "motivation": _STR,
        "arc": _STR,
        "raw": _STR,  # JSON: answers as given where they were brought to an enum, quotes with their offsets; null: none
        "kind": _STR,  # '' | vessel | narrator | schema.EVENT_KINDS of an Event
        "mentions": _I32,
        "windows": _I32,
        "degree": _I32,
        "embedding": pa.list_(_F32),  # unit length, of the node's name and relations
    }
)
"""Characters, Locations, Objects, Events that survived the filter, then Themes and Atmospheres. Unknown is null, never a
guess."""

EDGES = pa.schema(
    {
        "source": _STR,
        "target": _STR,
        "rel": _STR,  # RELATED_TO | INTERACTS_WITH
        "type": _STR,  # gutengraph_core.graph.schema.RELATION_TYPES
        "quote": _STR,  # body[start:end], line wraps squeezed
        "start": _I64,
        "end": _I64,
        "chapter": _I32,
        "how": _STR,  # every way of finding, comma-joined: 'pattern:kin_apposition,pattern:mr_mrs'
        "confidence": _F32,  # measured precision of the surest way
    }
)
"""Read: source is TYPE target. Symmetric types once, source < target by id."""

EVIDENCE = pa.schema(
    {
        "entity": _STR,
        "surface": _STR,
        "start": _I64,
        "end": _I64,
        "window": _I32,
        "chapter": _I32,
        "chunk_id": _STR,  # the chunk in which the mention starts
    }
)
"""One row a mention of a node in NODES. For a Theme or an Atmosphere: one row a passage that it rests on, best first, the
whole passage and no surface."""

MERGES = pa.schema(
    {
        "entity": _STR,
        "a": _STR,  # the two names that were joined
        "b": _STR,
        "rule": _STR,  # title | surname | given_name | nickname | override | …
        "quote": _STR,
        "start": _I64,  # where `quote` stands; null where the rule needs no place
        "end": _I64,
    }
)
