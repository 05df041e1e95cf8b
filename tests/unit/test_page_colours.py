"""Every colour that carries words stands out from what is behind it (WCAG 2, AA: 4.5 to 1), light and dark."""

from __future__ import annotations

import re
from itertools import product

import pytest

from gutengraph_query.api.pages import WEB

WORDS = ("ink", "quiet", "accent", "good", "warn", "bad")
PAIRS = [*product(WORDS, ("paper", "leaf")), ("ink", "mark"), ("on-accent", "accent")]


def palettes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", (WEB / "style" / "base.css").read_text(), re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in blocks)
    return {"light": light, "dark": light | dark}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("words", "behind"), PAIRS)
def test_contrast(scheme: str, words: str, behind: str) -> None:
    colours = palettes()[scheme]
    high, low = sorted((luminance(colours[words]), luminance(colours[behind])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["character", "location", "object", "event"])
def test_marks_stand_out(scheme: str, kind: str) -> None:
    colours = palettes()[scheme]
    high, low = sorted((luminance(colours[kind]), luminance(colours["paper"])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 3
