"""Intervals for shares over few questions, by resampling the questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RESAMPLES = 4000
SEED = 20
"""Any; fixed, so that the same answers give the same interval."""


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The middle 95 % of the mean over resampled questions (B. Efron, Annals of Statistics 7, 1979).

    For a difference between two modes give each question's difference: the questions are paired. Raises
    ValueError if there is no value.
    """
    if not values:
        raise ValueError("no question to resample")
    drawn = np.random.default_rng(SEED).choice(np.asarray(values, dtype=float), (RESAMPLES, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
