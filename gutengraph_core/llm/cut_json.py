"""The complete part of a JSON text that breaks off."""

from __future__ import annotations

import json
from typing import Any

_CLOSER = {"{": "}", "[": "]"}
_STRING_ENDS = ('"', '\\"', '0"', '00"', '000"', '0000"')
_ENDINGS = (
    *("", "null", '"":null', ":null", "0"),
    *_STRING_ENDS,
    *(f"{end}:null" for end in _STRING_ENDS),
    *("rue", "ue", "alse", "lse", "se", "e", "ull", "ll", "l"),
)
"""With one of these and its containers closed, the beginning of any JSON text is JSON."""


def close_cut(text: str) -> str:
    """A JSON text that breaks off, shortened to what is complete and closed.

    Of a list the complete items stay, of an object the complete members, and of its last member what is
    complete of a cut list or object. A cut item of a list is left out: it would lack fields. So is a number
    at the very end: digits may be missing. Raises ValueError if the text is broken elsewhere than at its
    end, or not at all.
    """
    stack: list[str] = []
    keep, closers = 0, ""
    in_string = escaped = False
    is_key = False
    for at, char in enumerate(text):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
                if not is_key and not _in_item(stack):
                    keep, closers = at + 1, _closers(stack)
        elif char == '"':
            in_string = True
        elif char in "{[":
            stack.append(char)
            is_key = char == "{"
            if not _in_item(stack):
                keep, closers = at + 1, _closers(stack)
        elif char in "}]":
            if not stack or _CLOSER[stack.pop()] != char:
                raise ValueError("brackets that do not match")
            is_key = False
            if not _in_item(stack):
                keep, closers = at + 1, _closers(stack)
        elif char == ":":
            is_key = False
        elif char == "," and stack:
            is_key = stack[-1] == "{"
            if not _in_item(stack):
                keep, closers = at, _closers(stack)
    if not stack:
        raise ValueError("not cut")
    if not any(_is_json(text + ending + _closers(stack)) for ending in _ENDINGS):
        raise ValueError("broken elsewhere than at its end")
    return text[:keep] + closers


def no_number(word: str) -> Any:
    """For `json.loads(parse_constant=…)`: NaN and Infinity are Python's and not JSON's."""
    raise ValueError(f"{word} is no JSON")


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=no_number)
    except (ValueError, RecursionError):
        return False
    return True


def _in_item(stack: list[str]) -> bool:
    """Whether the innermost open container is, or lies in, an item of a list."""
    return "[" in stack[:-1]


def _closers(stack: list[str]) -> str:
    return "".join(_CLOSER[opener] for opener in reversed(stack))
