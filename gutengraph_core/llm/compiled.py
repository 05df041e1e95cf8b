"""Prompts that an optimiser has compiled for one model: instructions and worked examples, as a JSON artefact.

`GUTENGRAPH_COMPILED_PROMPTS` names the folder they are loaded from. One that was compiled for another model is refused:
what moves one model misleads the next.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from gutengraph_core.errors import SettingsError, WrongModel
from gutengraph_core.files import read_text, write_json
from gutengraph_core.llm.profile import Task
from gutengraph_core.llm.protocol import ModelIdentity


class Demo(BaseModel):
    """A worked example: what was given, and the reply as the task's JSON object."""

    model_config = ConfigDict(extra="forbid")

    given: str
    reply: dict[str, Any]


class CompiledPrompt(BaseModel):
    """`<folder>/<task>.json`."""

    model_config = ConfigDict(extra="forbid")

    format: Literal[1] = 1
    task: Task
    model: str
    digest: str
    instructions: str
    demos: list[Demo] = []
    optimiser: str
    trained_on: list[int]
    """Gutenberg numbers of the books whose text it has seen; `scores` are of others."""
    scores: dict[str, Any] = {}
    date: str = ""
    command: str = ""

    def fits(self, identity: ModelIdentity) -> bool:
        """Whether it was compiled for this very model."""
        if self.digest or identity.digest:
            return self.digest == identity.digest
        return self.model == str(identity)


def load_compiled(
    folder: Path | None, task: Task, identity: ModelIdentity, *, reply: type[BaseModel] | None = None
) -> CompiledPrompt | None:
    """A folder's prompt for a task; None where no folder is set or it has none for the task. `reply` is what a reply to
    the task must be: each worked example is held against it.

    Raises SettingsError if there is no such folder or the file cannot be used, WrongModel if it was compiled for
    another model.
    """
    if folder is None:
        return None
    if not folder.is_dir():
        raise SettingsError(
            f"There is no folder {folder} of compiled prompts.",
            remedy="Correct or unset GUTENGRAPH_COMPILED_PROMPTS.",
        )
    path = compiled_path(folder, task)
    if not path.exists():
        return None
    try:
        compiled = CompiledPrompt.model_validate_json(read_text(path))
    except ValidationError as error:
        raise SettingsError(
            f"The compiled prompt {path} cannot be used ({error.errors()[0]['msg']}).",
            remedy="Compile it again, or unset GUTENGRAPH_COMPILED_PROMPTS.",
        ) from None
    if compiled.task != task or not compiled.fits(identity):
        raise WrongModel(
            f"{path} was compiled for {compiled.task} by {compiled.model}, not for {task} by {identity}.",
            remedy="Compile for this model (`make lab STUDY=dspy LLM=…`), or unset GUTENGRAPH_COMPILED_PROMPTS.",
        )
    if reply is not None:
        _check_demos(compiled.demos, reply, path)
    return compiled


def _check_demos(demos: Sequence[Demo], reply: type[BaseModel], path: Path) -> None:
    for n, demo in enumerate(demos, start=1):
        try:
            reply.model_validate(demo.reply)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise SettingsError(
                f"The compiled prompt {path} cannot be used (worked example {n}, {where}: {first['msg']}).",
                remedy="Compile it again, or unset GUTENGRAPH_COMPILED_PROMPTS.",
            ) from None


def compiled_path(folder: Path, task: Task) -> Path:
    """Where a folder keeps a task's prompt."""
    return folder / f"{task}.json"


def save_compiled(compiled: CompiledPrompt, folder: Path) -> Path:
    """Write the artefact atomically."""
    path = compiled_path(folder, compiled.task)
    write_json(path, compiled.model_dump(mode="json"))
    return path


def with_demos(
    instructions: str, demos: Sequence[Demo], given: str, *, given_label: str, reply_label: str
) -> str:
    """Instructions, worked examples, then what is given, each under the same two labels; ready to be gone on with."""
    parts = [instructions] if instructions else []
    parts += [
        f"{given_label}: {demo.given}\n{reply_label}: {json.dumps(demo.reply, ensure_ascii=False)}"
        for demo in demos
    ]
    return "\n\n".join([*parts, f"{given_label}: {given}\n{reply_label}:"])
