"""How the environment and a `.env` are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gutengraph_core.errors import SettingsError
from gutengraph_core.settings import LIVE_SITE, load_settings


def test_an_empty_value_counts_as_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("MIRROR", "QUERY_LLM", "S3_URI", "CATALOGUE", "TOP_K", "THREADS", "STORE"):
        monkeypatch.setenv(f"GUTENGRAPH_{name}", "")
    (tmp_path / ".env").write_text("GUTENGRAPH_LLM=\nGUTENGRAPH_MIN_CAST=\n")
    settings = load_settings()
    assert (settings.mirror, settings.query_llm, settings.s3_uri) == (LIVE_SITE, None, None)
    assert (settings.catalogue, settings.top_k, settings.store) == (None, 5, "local")
    assert (settings.llm, settings.min_cast) == ("embedded", 1)
    assert not settings.model_fields_set & {"mirror", "top_k", "llm"}


def test_what_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUTENGRAPH_TOP_K", "many")
    with pytest.raises(SettingsError, match="GUTENGRAPH_TOP_K"):
        load_settings()
