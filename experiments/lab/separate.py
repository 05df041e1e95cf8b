"""Whether one way of asking beats another by more than chance, over the same windows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

EXACT_UP_TO = 12
"""Pairs whose signs are all tried: 4,096 ways. Of more a sample is drawn."""
DRAWN = 20_000
SEED = 20
LEVEL = 0.05


def chance(better: Sequence[float], other: Sequence[float], *, tried: int = 1) -> float:
    """How often chance alone would bring so large a mean difference between pairs: 0 to 1.

    The paired randomisation test (R. A. Fisher, The Design of Experiments, 1935): were both ways the same, each
    difference could as well have the other sign. Multiplied by `tried`, the number of ways among which `better` is
    the best (Bonferroni). Raises ValueError for lists of unequal length or none.
    """
    if len(better) != len(other) or not better:
        raise ValueError("the windows are not the same")
    differences = np.asarray(better, dtype=float) - np.asarray(other, dtype=float)
    if len(differences) <= EXACT_UP_TO:
        signs = np.asarray(list(product((1, -1), repeat=len(differences))))
    else:
        signs = np.random.default_rng(SEED).choice((1, -1), (DRAWN, len(differences)))
    as_large = (signs @ differences >= differences.sum() - 1e-12).sum()
    extra = 0 if len(differences) <= EXACT_UP_TO else 1  # the signs as they are count as one of those drawn
    return min(1.0, float(as_large + extra) / (len(signs) + extra) * tried)


def separated(better: Sequence[float], other: Sequence[float], *, tried: int = 1) -> bool:
    """Whether the difference is more than noise at LEVEL."""
    return chance(better, other, tried=tried) <= LEVEL
