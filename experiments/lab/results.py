"""What a study leaves behind: `results.json` beside it, and its rows in one table made from all of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from gutengraph_core import names
from gutengraph_core.files import write_text
from gutengraph_core.library import now
from gutengraph_core.llm.llamacpp import cores
from gutengraph_core.llm.profile import Task
from gutengraph_core.llm.protocol import ModelIdentity

EXPERIMENTS = Path(__file__).parent.parent
BEGIN, END = "<!-- results: written by `python -m experiments.lab table` -->", "<!-- end of results -->"


@dataclass(frozen=True)
class Results:
    """One study on one model. `table` is a list of rows of the same keys; `finding` says in a sentence what they show;
    `profile` is what the model's profile is to hold, knobs by task (`gutengraph_core.llm.profile`)."""

    study: str
    model: str
    digest: str
    instruct: bool
    command: str
    date: str
    machine: str
    sample: str
    finding: str
    table: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    profile: dict[Task, dict[str, Any]] = field(default_factory=dict)


def results(
    study: str,
    identity: ModelIdentity,
    *,
    command: str,
    sample: str,
    finding: str,
    table: list[dict[str, Any]],
    details: dict[str, Any] | None = None,
    profile: dict[Task, dict[str, Any]] | None = None,
) -> Results:
    """The results with the date, the machine's shape and the model's identity filled in."""
    return Results(
        study=study,
        model=str(identity),
        digest=identity.digest,
        instruct=identity.instruct,
        command=command,
        date=now()[:10],
        machine=machine_shape(),
        sample=sample,
        finding=finding,
        table=table,
        details=details or {},
        profile=profile or {},
    )


def machine_shape() -> str:
    """Cores that this process may use and the machine's memory."""
    return f"{cores()} cores, {round(psutil.virtual_memory().total / 2**30)} GB"


def save(found: Results, folder: Path) -> Path:
    """Write `results.json` of a study's folder, keeping the results of other models; the newest of a model counts."""
    path = folder / "results.json"
    others = [one for one in load(folder) if one.digest != found.digest or one.model != found.model]
    document = [asdict(one) for one in sorted([*others, found], key=lambda one: one.model)]
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return path


def load(folder: Path) -> list[Results]:
    """Every model's results of one study; none where it was never run."""
    path = folder / "results.json"
    if not path.exists():
        return []
    return [Results(**document) for document in json.loads(path.read_text(encoding="utf-8"))]


def plot_path(study: str, model: str, folder: Path) -> Path:
    """Where a study keeps its plot of a model."""
    return folder / f"{study}-{names.slug(model)}.png"


def markdown(found: Results, folder: Path | None = None) -> str:
    """One study's results: what it found, its plot if `folder` has one, its table, and all that is needed to run it again."""
    lines = [f"**{found.study}**, {found.model}: {found.finding}", ""]
    if folder and (plot := plot_path(found.study, found.model, folder)).exists():
        lines += [f"![{found.study}]({folder.name}/{plot.name})", ""]
    if found.table:
        head = list(found.table[0])
        lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(_cell(row[name]) for name in head) + " |" for row in found.table]
        lines.append("")
    lines.append(f"`{found.command}`, {found.sample}, {found.machine}, {found.date}.")
    if not found.instruct:
        lines.append("Not run with a real instruct model.")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def rewrite_tables(readme: Path, folders: list[Path]) -> None:
    """Put the results of all studies between the two marks of the README, which must hold both.

    Raises ValueError if it does not.
    """
    text = readme.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{readme} lacks the marks between which the results go")
    parts = [markdown(found, folder) for folder in folders for found in load(folder)]
    if missing := [folder.name for folder in folders if not load(folder)]:
        parts.append(f"Not run yet on any model for this table: {', '.join(missing)}.")
    body = "\n\n".join(parts)
    write_text(readme, f"{before}{BEGIN}\n\n{body}\n\n{END}{after}")
