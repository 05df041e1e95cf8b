"""The labels: one JSON object a window, every candidate a key, its kind the value."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import RootModel

LABELS: tuple[str, ...] = ("person", "place", "thing", "none")


class Labels(RootModel[dict[str, Literal["person", "place", "thing", "none"]]]):
    """Candidate -> what it names."""


_EXAMPLE_TEXT = (
    "Thessaly Crane had left Ostermouth before the tide turned, and Mr. Pellinger was at the window when her cart went by. "
    '"Presently," he said, "she will have read the Almagest."'
)
_EXAMPLE = {
    "Thessaly Crane": "person",
    "Ostermouth": "place",
    "Mr. Pellinger": "person",
    "Presently": "none",
    "Almagest": "thing",
}
_TASK = (
    "Say what each of the given names is in the text: a person (or an animal with a name), a place (towns, houses, ships, countries), a "
    "thing, or none of these (no name at all)."
)


def label_schema(candidates: list[str]) -> dict[str, Any]:
    """Every candidate required, nothing else allowed."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "enum": list(LABELS)} for name in candidates},
        "required": list(candidates),
        "additionalProperties": False,
    }


def label_prompt(text: str, candidates: list[str], *, instruct: bool) -> str:
    """The prompt for one window. Under the schema an example cannot leak: only the window's own candidates
    can be keys."""
    example = f"Text: {_EXAMPLE_TEXT}\nNames: {json.dumps(_EXAMPLE, ensure_ascii=False)}"
    given = f"Given: {json.dumps(candidates, ensure_ascii=False)}\n" if instruct else ""
    heading = "Example\n" if instruct else ""
    return f"{_TASK}\n\n{heading}{example}\n\nText: {text}\n{given}Names:"
