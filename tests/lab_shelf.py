"""A mirror and a gold folder that hold the sample book alone, and a bench to try a study on them."""

from __future__ import annotations

from pathlib import Path

from places import ROOT

from experiments.lab.study import Bench
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.settings import Settings

SAMPLE = ROOT / "data" / "sample"


def put_sample_book(folder: Path) -> Path:
    """`folder` as the mirror and the gold folder of book 0."""
    for name in ("cache/epub/0/pg0.txt", "novels/0.json", "questions/0.json"):
        source = SAMPLE / name if name.startswith("cache") else SAMPLE / "gold" / name
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    return folder


def bench_on(
    shelf: Path, llm: LLM, settings: Settings, *, passages: int = 4, said: list[str] | None = None
) -> Bench:
    """A bench whose plots go onto the shelf; what it says goes into `said`."""
    return Bench(
        llm=llm,
        settings=settings,
        gold=shelf,
        mirror=shelf,
        passages=passages,
        out=shelf,
        command="run",
        say=(said if said is not None else []).append,
    )
