"""Relations in words."""

from __future__ import annotations

import pytest

from gutengraph_core.graph.schema import RELATION_TYPES
from gutengraph_query.understanding.relation_words import said


@pytest.mark.parametrize("kind", sorted(RELATION_TYPES))
def test_every_type_of_the_schema_is_said_in_words(kind: str) -> None:
    for gender in ("M", "F", None):
        assert "_" not in said(kind, gender=gender)
        assert "probably" in said(kind, gender=gender, sure=False)
