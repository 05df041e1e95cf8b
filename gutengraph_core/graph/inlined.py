"""Statements as they are shown to people."""

from __future__ import annotations

import re
from typing import Any


def inlined(cypher: str, parameters: dict[str, Any]) -> str:
    """The statement with its parameters written out, for people to read and to run again."""
    return re.sub(
        r"\$(\w+)", lambda m: _literal(parameters[m[1]]) if m[1] in parameters else m.group(), cypher
    )


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value)
