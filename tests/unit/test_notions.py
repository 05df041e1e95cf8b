"""Themes and atmosphere: said where a book's pages are more like them than other books' are, with their passages, else not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from harbour_story import EMBEDDER, ToyEmbedder

from gutengraph_assets.extraction.notions.find import MOST, NAMED, SUPPORT, find_notions
from gutengraph_assets.extraction.notions.norms import FILE, Norms, load_norms
from gutengraph_assets.extraction.notions.vocabulary import ATMOSPHERES, DIGEST, THEMES, VOCABULARY
from gutengraph_core.embedding.protocol import EmbeddingIdentity, Matrix
from gutengraph_core.errors import SettingsError

USUAL = Norms.model_validate(
    {
        "embedder": str(EMBEDDER),
        "vocabulary": DIGEST,
        "books": [1, 2],
        "passages": 2,
        "usual": {label: dict.fromkeys(names, (0.3, 0.1)) for label, names in VOCABULARY.items()},
    }
)
PLAIN = "xylophone quartz"
"""Words of no description."""


def shelf(*texts: str) -> Matrix:
    return ToyEmbedder().embed_documents(texts)


def test_a_theme_names_the_passages_that_it_rests_on_best_first() -> None:
    sea = THEMES["the sea"]
    found = find_notions(shelf(PLAIN, sea + " " + PLAIN, sea, sea), ToyEmbedder(), USUAL)
    first = next(notion for notion in found if notion.label == "Theme")
    assert first.name == "the sea"
    assert first.passages == (2, 3, 1)
    assert first.score > 0
    assert np.linalg.norm(first.embedding) == pytest.approx(1)


def test_one_passage_is_no_theme() -> None:
    found = find_notions(shelf(THEMES["the sea"]), ToyEmbedder(), USUAL)
    assert found == []


def test_a_book_like_all_others_has_no_theme() -> None:
    assert find_notions(shelf(*[PLAIN] * 9), ToyEmbedder(), USUAL) == []
    assert find_notions(shelf(PLAIN)[:0], ToyEmbedder(), USUAL) == []


def test_no_more_are_said_than_a_book_is_about() -> None:
    everything = [*THEMES.values(), *ATMOSPHERES.values()] * 3
    low = USUAL.model_copy(
        update={"usual": {label: dict.fromkeys(names, (0.0, 0.05)) for label, names in VOCABULARY.items()}}
    )
    found = find_notions(shelf(*everything), ToyEmbedder(), low)
    for label, most in MOST.items():
        mine = [notion for notion in found if notion.label == label]
        assert 0 < len(mine) <= most
        assert all(SUPPORT <= len(notion.passages) <= NAMED for notion in mine)
        assert [n.score for n in mine] == sorted((n.score for n in mine), reverse=True)


def test_norms_are_those_of_one_embedder_and_one_vocabulary(tmp_path: Path) -> None:
    assert load_norms(EMBEDDER, tmp_path) is None
    (tmp_path / FILE).write_text(USUAL.model_dump_json())
    assert load_norms(EMBEDDER, tmp_path) == USUAL
    assert load_norms(EmbeddingIdentity("other", "1", 256, "none"), tmp_path) is None
    (tmp_path / FILE).write_text(USUAL.model_copy(update={"vocabulary": "old"}).model_dump_json())
    assert load_norms(EMBEDDER, tmp_path) is None


def test_a_broken_norms_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"embedder": 3}))
    with pytest.raises(SettingsError, match=FILE):
        load_norms(EMBEDDER, tmp_path)


def test_the_shipped_norms_are_of_the_vocabulary_as_it_is() -> None:
    path = Path(str(__import__("gutengraph_assets.extraction.notions", fromlist=["x"]).__path__[0])) / FILE
    shipped = Norms.model_validate_json(path.read_bytes())
    assert shipped.vocabulary == DIGEST
    assert {label: set(names) for label, names in shipped.usual.items()} == {
        label: set(names) for label, names in VOCABULARY.items()
    }
    assert len(shipped.books) >= 12
    assert all(0 < spread < 0.3 for names in shipped.usual.values() for _, spread in names.values())
