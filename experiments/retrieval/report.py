"""`results.md` of what was measured: ways of searching, and what is embedded with a passage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiments.lab.separate import chance
from experiments.retrieval.bench import FIGURES, SCORES
from gutengraph_core.files import write_text

HERE = Path(__file__).parent


def write_results() -> str:
    """Write the tables of all that lies beside this file, and give them."""
    parts = []
    for name, table in (("results.json", _ways), ("titles.json", _titles)):
        path = HERE / name
        if path.exists():
            parts.append(table(json.loads(path.read_text(encoding="utf-8"))))
    text = "\n".join(parts)
    write_text(HERE / "results.md", text)
    return text


def _ways(document: dict[str, Any]) -> str:
    rows, words = document["rows"], document["words_a_passage"]
    lines = [
        "# Which passages answer",
        "",
        f"`python -m experiments.retrieval GOLD_DIR`: {document['questions']} questions over {document['books']} books at once, "
        f"{document['led_to_one_book']} of which name people or places that lead to one book; {document['embedder']}; five passages, of "
        f"{words[0]} words each by themselves, {words[1]} with one neighbour on either side, {words[2]} with two. "
        f"2 cores, 24 GB, no GPU, {document['date']}. A difference under .05 is within what chance does to this many questions.",
        "",
        "| | hit@5 | answer@5 | hit@5, 1 neighbour | answer@5, 1 neighbour | hit@5, 2 | answer@5, 2 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        figures = " | ".join(f"{row[f'{what}_{n}']:.3f}" for n in (0, 1, 2) for what in SCORES)
        lines.append(f"| {row['way']} | {figures} |")
    return "\n".join([*lines, ""])


def _titles(document: dict[str, Any]) -> str:
    rows: dict[str, dict[str, Any]] = document["rows"]
    plain, *others = rows
    lines = [
        "## What is embedded with a passage",
        "",
        f"`python -m experiments.retrieval.titles GOLD_DIR`: {document['questions']} questions over {len(document['books'])} books at "
        f"once; {document['embedder']}; {rows[plain]['chunks']:,} passages of at most {document['tokens']} tokens, the same for every "
        "form, cut so that a head still fits; full text is searched in the passages alone; +1: with one neighbour on either side. "
        f"2 cores, 24 GB, no GPU, {document['date']}.",
        "",
        "| embedded | hit@5 vector | answer@5 | hit@5 hybrid | answer@5 | hit@5 vector +1 | answer@5 +1 | hit@5 hybrid +1 | answer@5 +1 |",
        "|" + "---|" * 9,
    ]
    for form, row in rows.items():
        lines.append(f"| {form} | " + " | ".join(f"{row[figure]:.3f}" for figure in FIGURES) + " |")
    lines.append("")
    for form in others:
        for by in rows[plain]["found"]:
            old, new = rows[plain]["found"][by], rows[form]["found"][by]
            won = sum(b > a for a, b in zip(old, new, strict=True))
            lost = sum(b < a for a, b in zip(old, new, strict=True))
            by_chance = (
                chance(new, old, tried=len(others)) if won >= lost else chance(old, new, tried=len(others))
            )
            lines.append(
                f"- {form}, answer@5 {by} +1: {won} of {len(new)} questions won, {lost} lost; so large a difference by chance: "
                f"{by_chance:.2f} (paired randomisation test, times {len(others)} for the forms tried)."
            )
    return "\n".join([*lines, ""])
