"""How the text of a window is laid out in a prompt."""

from __future__ import annotations

import re

from gutengraph_core import names
from gutengraph_core.llm.profile import Layout

_PARAGRAPH = re.compile(r"\n\s*\n")


def laid_out(text: str, layout: Layout) -> str:
    """`text` without italics' underscores: in one line, a line a paragraph, or in the lines it has."""
    if layout == "flat":
        return names.squeeze(text)
    paragraphs = [one for one in _PARAGRAPH.split(text) if one.strip()]
    if layout == "turns":
        return "\n".join(names.squeeze(one) for one in paragraphs)
    return "\n".join(names.squeeze(line) for one in paragraphs for line in one.splitlines() if line.strip())
