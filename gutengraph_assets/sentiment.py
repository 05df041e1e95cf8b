"""How glad or sad each passage is: by a lexicon, and by an embedding model's axis between two poles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gutengraph_assets.text.sentences import sentence_starts

if TYPE_CHECKING:
    from gutengraph_core.embedding.protocol import Embedder, Matrix

Series = npt.NDArray[np.float64]

GLAD = (
    "They were happy together, and laughed, and all was well.",
    "She smiled with delight, and her heart was full of joy.",
    "The danger was past; they were safe, and embraced one another.",
    "It was a bright and lovely morning, and everybody was in good spirits.",
    "He had never been so much in love, and she returned his affection.",
    "They sat down to supper, merry and warm, among friends.",
    "Hope returned to him, and he thanked heaven for his good fortune.",
    "The wedding was celebrated with music and dancing.",
)
SAD = (
    "They were wretched and alone, and wept, and all was lost.",
    "She cried out in terror, and her heart was full of despair.",
    "The danger was upon them; they were hunted, and one of them was killed.",
    "It was a dark and dismal night, and everybody was afraid.",
    "He hated his enemy, and swore to have his revenge.",
    "They sat hungry and cold beside the dying man.",
    "Hope left him, and he cursed the day that he was born.",
    "The funeral was held in silence and grief.",
)
"""The poles differ in feeling and agree in everything else: each sentence has its counterpart, so that the
axis between their means holds little of weather, meals and weddings as such."""


def lexicon_sentiment(texts: Sequence[str]) -> Series:
    """VADER's compound of each passage, in [-1, 1]: the mean over its sentences, since it saturates on long
    texts.

    Hutto and Gilbert 2014, made for short messages of today: it reads the irony of older novels as joy.
    """
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()
    scores = np.zeros(len(texts))
    for index, text in enumerate(texts):
        plain = " ".join(text.replace("_", "").split())
        starts = [0, *sentence_starts(plain)]
        sentences = [plain[a:b] for a, b in zip(starts, [*starts[1:], len(plain)], strict=True)]
        scores[index] = np.mean([analyser.polarity_scores(sentence)["compound"] for sentence in sentences])
    return scores


def embedding_sentiment(vectors: Matrix, embedder: Embedder) -> Series:
    """Each passage on the axis from SAD (-1) to GLAD (+1), by its vector; most lie within a third of the
    middle.
    """
    glad = embedder.embed_documents(GLAD).mean(axis=0)
    sad = embedder.embed_documents(SAD).mean(axis=0)
    half = (glad - sad) / 2
    middle = (glad + sad) / 2
    placed: Series = ((vectors - middle) @ half / (half @ half)).astype(np.float64)
    return placed


def smooth(values: npt.NDArray[np.floating], *, width: float) -> Series:
    """A Gaussian mean along the first axis, `width` (its standard deviation) in passages; edges are not
    padded.
    """
    data = np.asarray(values, dtype=np.float64)
    count = data.shape[0]
    reach = max(1, int(3 * width))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    columns = data.reshape(count, -1)
    weight = np.convolve(np.ones(count), kernel)[reach : reach + count]
    summed = [np.convolve(column, kernel)[reach : reach + count] / weight for column in columns.T]
    smoothed: Series = np.stack(summed, axis=1).reshape(data.shape)
    return smoothed
