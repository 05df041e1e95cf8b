"""What the graph says of each person: from rules, and from portraits where an instruct model drew them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gutengraph_assets.extraction.book_text import BookText
from gutengraph_assets.extraction.canon import Normaliser
from gutengraph_assets.extraction.enrichment import roles
from gutengraph_assets.extraction.entities import Person
from gutengraph_assets.extraction.reading.portraits import Drawn
from gutengraph_assets.extraction.station import nature, station
from gutengraph_core.names import squeeze

Traits = dict[str, Any]
"""Columns of NODES: role, gender, character_type, social_class, motivation, arc, raw. Absent: unknown."""


def traits(
    text: BookText, people: Sequence[Person], portraits: Mapping[str, Drawn], normaliser: Normaliser
) -> dict[str, Traits]:
    """Traits by id. A title, a pronoun and a given name in the text win over what a model says; of a role, and of whether
    somebody is human, the model knows more than a count."""
    cast = [person for person in people if person.standing == "cast"]
    role, kind, rank = roles(text, people), nature(cast), station(cast, normaliser)
    found: dict[str, Traits] = {}
    for person in people:
        drawn = portraits.get(person.id, Drawn())
        found[person.id] = {
            "role": drawn.enums.get("role") or role.get(person.id),
            "gender": person.gender or drawn.enums.get("gender"),
            "character_type": drawn.enums.get("character_type") or kind.get(person.id),
            "social_class": rank.get(person.id) or drawn.enums.get("social_class"),
            "motivation": drawn.texts.get("motivation"),
            "arc": drawn.texts.get("arc"),
            "raw": _raw(text, drawn, normaliser.raw.get(person.id, {})),
        }
    return found


def _raw(text: BookText, drawn: Drawn, answers: Mapping[str, str]) -> str | None:
    """One JSON object: `<field>`: the answer as given; `<field>_quote`: {quote, start, end}."""
    told: dict[str, object] = dict(answers)
    for name, (start, end) in drawn.quotes.items():
        told[f"{name}_quote"] = {"quote": squeeze(text.body[start:end]), "start": start, "end": end}
    return json.dumps(told, ensure_ascii=False, sort_keys=True) if told else None
