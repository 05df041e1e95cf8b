"""Failures of the table of passages in our own words."""

from __future__ import annotations

import pytest

from gutengraph_core.chunk_store import store_failures
from gutengraph_core.errors import StoreError


@pytest.mark.parametrize("silent", [OSError(), RuntimeError(""), ValueError("\n")])
def test_a_failure_without_words_is_told_by_its_kind(silent: Exception) -> None:
    with pytest.raises(StoreError, match=type(silent).__name__), store_failures("read"):
        raise silent
