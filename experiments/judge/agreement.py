"""How far a judge agrees with those who read by hand, and whether that is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.judge.claims import Verdict

LEAST_AGREEMENT = 0.8
LEAST_KAPPA = 0.6
"""The lower end of 'substantial' (J. R. Landis, G. G. Koch, Biometrics 33, 1977): chance alone gives 0."""
_RESAMPLES, _SEED = 2000, 20


@dataclass(frozen=True)
class Agreement:
    """Over claims read by hand. A reply without a verdict agrees with nobody."""

    of: int
    share: float
    kappa: float
    interval: tuple[float, float]
    """Of kappa: the middle 95 % over resampled claims."""
    silent: int

    @property
    def enough(self) -> bool:
        return self.share >= LEAST_AGREEMENT and self.kappa >= LEAST_KAPPA


def agreement(pairs: Sequence[tuple[Verdict, Verdict | None]]) -> Agreement:
    """`pairs`: by hand, by the judge. Raises ValueError if there is none."""
    if not pairs:
        raise ValueError("no claim was judged")
    drawn = np.random.default_rng(_SEED).integers(len(pairs), size=(_RESAMPLES, len(pairs)))
    kappas = [kappa([pairs[at] for at in row]) for row in drawn]
    low, high = np.percentile(kappas, [2.5, 97.5])
    return Agreement(
        of=len(pairs),
        share=sum(hand == judge for hand, judge in pairs) / len(pairs),
        kappa=kappa(pairs),
        interval=(float(low), float(high)),
        silent=sum(judge is None for _, judge in pairs),
    )


def kappa(pairs: Sequence[tuple[str, str | None]]) -> float:
    """Cohen's kappa (J. Cohen, Educational and Psychological Measurement 20, 1960), no verdict as a third label.

    0 where both gave all the same label: nothing was told apart. The same as scikit-learn's `cohen_kappa_score`,
    which resampling would call too often.
    """
    hand = [one for one, _ in pairs]
    judge = [one or "none" for _, one in pairs]
    observed = sum(a == b for a, b in zip(hand, judge, strict=True)) / len(pairs)
    labels = {*hand, *judge}
    expected = sum(hand.count(label) * judge.count(label) for label in labels) / len(pairs) ** 2
    return (observed - expected) / (1 - expected) if expected < 1 else 0.0
