"""From mentions to entities: aliases merged first, then persons (not names) filtered by how often the text has them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from gutengraph_core.library import BookRecord
from gutengraph_core.settings import Settings


@dataclass(frozen=True)
class FilteredEntities:
    """What the filter step hands on."""

    entities: pa.Table
    """ENTITIES: kept, mentioned and dropped, each with its reason."""
    merges: pa.Table
    """MERGES: one row a pair of names that were joined, with the rule and, where there is one, the place."""
    counts: dict[str, int]
    """names, persons, cast, mentioned, dropped, locations, objects, merges, occurrences."""


def filter_entities(
    *, record: BookRecord, body: str, windows: pa.Table, mentions: pa.Table, settings: Settings
) -> FilteredEntities:
    """Merge the names of one person, count the windows in which the text has any of them, and decide who stays.

    `windows` is a WINDOWS table, `mentions` a MENTIONS table of `body`. Reads `overrides/<id>.toml` under
    `settings.home` if there is one. Raises SettingsError where that file is malformed.
    """
    raise NotImplementedError
