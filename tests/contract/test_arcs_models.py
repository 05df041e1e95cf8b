"""The axis of feeling on the real embedded model."""

from __future__ import annotations

from gutengraph_assets.sentiment import embedding_sentiment
from gutengraph_core.embedding import open_embedder
from gutengraph_core.settings import Settings

GLAD = [
    "The whole village came out to cheer them, and there was cake for every child.",
    '"I am the luckiest woman alive," she cried, and kissed him on both cheeks.',
    "The letter brought good news at last: her brother was well, and was coming home.",
]
SAD = [
    "They found the boat next day, bottom up among the rocks, and nobody with it.",
    '"There is nothing more to be done," said the doctor, and drew the sheet over his face.',
    "The letter brought the news that she had dreaded: her brother would not come home.",
]


def test_glad_passages_lie_above_sad_ones() -> None:
    embedder = open_embedder(Settings())
    glad = embedding_sentiment(embedder.embed_documents(GLAD), embedder)
    sad = embedding_sentiment(embedder.embed_documents(SAD), embedder)
    assert glad.min() > sad.max()
    assert abs(glad).max() < 1.5
