"""From the text of a reply to a checked pydantic model, with every deviation counted.

Repair is structural only: it loses nothing and invents nothing. It strips a code fence, decodes a JSON
string, adds a missing envelope, and keeps the complete items of a list that was cut. Echoes of the schema
and items without their required fields are dropped and counted. What a reply claims is not judged here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from gutengraph_core.llm.cut_json import close_cut, no_number

M = TypeVar("M", bound=BaseModel)

Outcome = Literal["no JSON", "other shape", "valid"]

FENCE, STRING, ENVELOPE, CUT = "code fence", "JSON string", "envelope", "cut list"
"""The repairs, as they are named in `Parsed.repairs`."""
ECHOED, DROPPED, DUPLICATE = "echoed", "dropped", "duplicate keys"
"""The counts of `Parsed.counts`."""

_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n?```|\Z)", re.DOTALL)
_TYPE_WORDS = {"string", "number", "integer", "boolean", "array", "object", "null"}
_SCHEMA_WORDS = frozenset(
    "type properties items prefixItems enum const anyOf oneOf allOf $ref $defs $schema additionalProperties "
    "required title description default examples format pattern minItems maxItems uniqueItems minLength "
    "maxLength minimum maximum".split()
)


@dataclass(frozen=True)
class Parsed(Generic[M]):
    """What became of one reply. `value` is None unless `outcome` is 'valid'."""

    value: M | None
    outcome: Outcome
    problem: str = ""
    """Why there is no value, in a few words."""
    repairs: tuple[str, ...] = ()
    """What was mended, in order; empty for a reply that came as it should."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """`echoed`: objects that repeat the schema, dropped; `dropped`: items that are not what the list holds;
    `duplicate keys`: keys given twice in one object (the last one counts). Absent: zero."""

    @property
    def cut(self) -> bool:
        """The reply broke off: there may be more than `value` holds."""
        return CUT in self.repairs


def parse(text: str, model: type[M], *, repair: bool = True) -> Parsed[M]:
    """Check a reply against `model`. With `repair` off, only a reply that conforms as it stands is valid.

    A reply of nothing but echoes, or of which no item is left, is of another shape and not an empty answer.
    """
    repairs: list[str] = []
    counts: Counter[str] = Counter()
    try:
        document = _loads(text.strip(), counts)
    except ValueError as error:
        if not repair:
            return Parsed(None, "no JSON", str(error))
        try:
            document = _decoded(text, counts, repairs)
        except ValueError as still:
            return Parsed(None, "no JSON", str(still), tuple(repairs))
    else:
        if _error(document, model) is None and not (repair and _is_schema(document)):
            return Parsed(model.model_validate(document), "valid", counts=dict(+counts))
    if repair:
        document = _unquoted(document, counts, repairs)
        document = _enveloped(document, model, repairs)
        document = _without_echoes(document, counts)
        if CUT in repairs:
            document = _with_empty_lists(document, model)
    value, problem = _validate(document, model, counts, repair=repair)
    lost = counts[ECHOED] + counts[DROPPED] > 0 or CUT in repairs
    if value is not None and lost and not _items(value.model_dump()):
        value, problem = None, "no complete item is left"
    outcome: Outcome = "other shape" if value is None else "valid"
    return Parsed(value, outcome, problem, tuple(repairs), dict(+counts))


# --- from text to a document ---
def _decoded(text: str, counts: Counter[str], repairs: list[str]) -> Any:
    """The JSON document in a fence, or the complete part of one. Raises ValueError if there is none."""
    counts.clear()
    fenced = _FENCED.search(text)
    if fenced and fenced[1].strip():
        repairs.append(FENCE)
        text = fenced[1]
    try:
        return _loads(text.strip(), counts)
    except ValueError:
        counts.clear()
        document = _loads(close_cut(text.strip()), counts)
        repairs.append(CUT)
        return document


def _unquoted(document: Any, counts: Counter[str], repairs: list[str]) -> Any:
    """A JSON string that holds JSON: what it holds."""
    if not isinstance(document, str):
        return document
    try:
        inner = _loads(document.strip(), counts)
    except ValueError:
        try:
            inner = _decoded(document, counts, repairs)
        except ValueError:
            return document
    repairs.append(STRING)
    return _unquoted(inner, counts, repairs)


def _loads(text: str, counts: Counter[str]) -> Any:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(pairs)
        counts[DUPLICATE] += len(pairs) - len(document)
        return document

    try:
        document = json.loads(text, object_pairs_hook=members, parse_constant=no_number)
        # Half a surrogate pair passes json and pydantic, and breaks whoever writes it as UTF-8.
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return document


# --- structural repair ---
def _enveloped(document: Any, model: type[BaseModel], repairs: list[str]) -> Any:
    """A bare list, or a bare item, where the model has one list field: put into that field."""
    lists = _list_fields(model)
    if len(model.model_fields) != 1 or len(lists) != 1 or issubclass(model, RootModel):
        return document
    (name,) = lists
    if isinstance(document, list):
        repairs.append(ENVELOPE)
        return {name: document}
    if isinstance(document, dict) and name not in document and not _is_schema(document):
        wrapped = {name: [document]}
        if _error(wrapped, model) is None:
            repairs.append(ENVELOPE)
            return wrapped
    return document


def _with_empty_lists(document: Any, model: type[BaseModel]) -> Any:
    """A cut reply has not come to its later lists: they are empty so far, and the reply is known to be
    cut."""
    if isinstance(document, dict):
        return document | {name: [] for name in _list_fields(model) if name not in document}
    return document


def _list_fields(model: type[BaseModel]) -> list[str]:
    properties = reply_schema(model).get("properties", {})
    return [name for name, schema in properties.items() if schema.get("type") == "array"]


def _without_echoes(document: Any, counts: Counter[str]) -> Any:
    """The document without what repeats the schema: at the top, as a field's value, as an item."""
    if _is_schema(document):
        counts[ECHOED] += 1
        return None
    if isinstance(document, dict):
        kept = {key: _items_without_echoes(v, counts) for key, v in document.items() if not _is_schema(v)}
        counts[ECHOED] += len(document) - len(kept)
        return kept
    return _items_without_echoes(document, counts)


def _items_without_echoes(value: Any, counts: Counter[str]) -> Any:
    if not isinstance(value, list):
        return value
    kept = [item for item in value if not _is_schema(item)]
    counts[ECHOED] += len(value) - len(kept)
    return kept


def _is_schema(value: Any) -> bool:
    """Whether an object says nothing but a JSON schema."""
    if not isinstance(value, dict) or not value or not value.keys() <= _SCHEMA_WORDS:
        return False
    kind = value.get("type")
    typed = isinstance(kind, str) and kind in _TYPE_WORDS
    return typed or isinstance(value.get("properties"), dict) or "$ref" in value


# --- validation ---
def _validate(document: Any, model: type[M], counts: Counter[str], *, repair: bool) -> tuple[M | None, str]:
    """The model, dropping list items and mapping entries that do not fit; or None and what is wrong."""
    schema = reply_schema(model)
    while True:
        error = _error(document, model)
        if error is None:
            return model.model_validate(document), ""
        places = {_item_of(schema, tuple(e["loc"])) for e in error.errors()} if repair else {None}
        if None in places:
            first = error.errors()[0]
            return None, f"{'.'.join(map(str, first['loc'])) or 'the reply'}: {first['msg']}"
        # From the back, so that the positions of the earlier ones stay right.
        for place in sorted((p for p in places if p is not None), key=_from_the_back):
            _drop(document, place)
            counts[DROPPED] += 1


def _error(document: Any, model: type[BaseModel]) -> ValidationError | None:
    try:
        model.model_validate(document)
    except ValidationError as error:
        return error
    return None


def _item_of(schema: dict[str, Any], place: tuple[int | str, ...]) -> tuple[int | str, ...] | None:
    """The path of the outermost list item or mapping entry that an error lies in; None if it lies in none."""
    for depth, step in enumerate(place):
        shapes = [schema, *schema.get("anyOf", [])]
        if isinstance(step, int):
            return place[: depth + 1] if any(s.get("type") == "array" for s in shapes) else None
        fields = [s["properties"][step] for s in shapes if step in s.get("properties", {})]
        if fields:
            schema = fields[0]
        elif any(isinstance(s.get("additionalProperties"), dict) for s in shapes):
            return place[: depth + 1]
        else:
            return None
    return None


def _from_the_back(place: tuple[int | str, ...]) -> tuple[tuple[str, ...], int, str]:
    last = place[-1]
    return tuple(map(str, place[:-1])), -last if isinstance(last, int) else 0, str(last)


def _drop(document: Any, place: tuple[int | str, ...]) -> None:
    for step in place[:-1]:
        document = document[step]
    del document[place[-1]]


def _items(dumped: Any) -> int:
    """List items and other leaves that say something."""
    if isinstance(dumped, dict):
        return sum(_items(value) for value in dumped.values())
    if isinstance(dumped, list):
        return len(dumped)
    return int(dumped not in (None, ""))


def reply_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema to send with a request: references resolved, no further keys allowed, no titles or
    defaults.

    Without `additionalProperties: false` a small model invents keys without end.
    """
    full = model.model_json_schema()
    return dict(_plain(full, full.get("$defs", {})))


def _plain(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_plain(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(part, definitions) for name, part in value.items()}
        elif key in ("enum", "const", "required"):
            plain[key] = value
        elif key not in ("title", "description", "default", "$defs"):
            plain[key] = _plain(value, definitions)
    if plain.get("type") == "object" and "properties" in plain:
        plain["additionalProperties"] = False
    return plain
