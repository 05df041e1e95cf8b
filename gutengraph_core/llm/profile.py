"""What the studies found to serve a model, kept in the data folder under the model's digest.

The pipeline loads it when it meets that model (`fitted`), so that a changed profile rebuilds what depends on the
changed knob and nothing else. A setting of the environment wins over the profile.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gutengraph_core import names
from gutengraph_core.errors import SettingsError
from gutengraph_core.files import read_text, write_json
from gutengraph_core.llm.protocol import ModelIdentity

if TYPE_CHECKING:
    from gutengraph_core.settings import Settings

Task = Literal["names", "relations", "cypher"]
Layout = Literal["flat", "turns", "wrapped"]
"""A window in one line; a line a paragraph, which in a novel is a speaker's turn; the edition's own lines."""
Style = Literal["terse", "exhaustive"]
"""What is asked for in a few words, or with the rules of what counts and the wish to leave nothing out."""


class Knobs(BaseModel):
    """What a task can be given with; None: no study has separated it from the default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: Literal["cloze", "label", "list"] | None = None
    window_words: int | None = Field(default=None, ge=20)
    reply_tokens: int | None = Field(default=None, ge=16)
    layout: Layout | None = None
    prompt: Style | None = None

    def known(self) -> dict[str, Any]:
        """The knobs that a study has set."""
        return self.model_dump(exclude_none=True)


SETTING_OF: dict[Task, dict[str, str]] = {
    "names": {
        "strategy": "naming",
        "window_words": "window_words",
        "reply_tokens": "list_reply_tokens",
        "layout": "list_layout",
        "prompt": "list_prompt",
    },
    # Relations are found by patterns and Cypher has no such knob: what is known of them serves the studies.
    "relations": {},
    "cypher": {},
}
"""The setting that each knob stands for, by task."""


class TaskProfile(BaseModel):
    """The knobs of one task, and for each the study, date and sample that it comes from."""

    model_config = ConfigDict(extra="forbid")

    knobs: Knobs = Knobs()
    sources: dict[str, str] = {}


class ModelProfile(BaseModel):
    """`profiles/<digest>.json`."""

    model_config = ConfigDict(extra="forbid")

    format: Literal[1] = 1
    model: str
    digest: str
    tasks: dict[Task, TaskProfile] = {}


def profile_path(home: Path, identity: ModelIdentity) -> Path:
    """Where a model's profile lies: by its digest; by server and name where the server gives none."""
    served = identity.digest or f"{identity.backend} {identity.name} {identity.base_url}"
    return home / "profiles" / f"{names.slug(served)}.json"


def load_profile(home: Path, identity: ModelIdentity) -> ModelProfile | None:
    """What is known of a model; None before any study. Raises SettingsError if the file cannot be used."""
    path = profile_path(home, identity)
    if not path.exists():
        return None
    try:
        return ModelProfile.model_validate_json(read_text(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SettingsError(
            f"The profile of {identity} cannot be used ({where}: {first['msg']}).",
            remedy=f"Correct or delete {path}; `make lab` lists the studies that write it.",
        ) from None


def note(
    settings: Settings, identity: ModelIdentity, found: dict[Task, dict[str, Any]], *, source: str
) -> Path:
    """Enter what a study found. A knob given as None is taken out: the study saw no difference from the default.

    Returns the profile's path. Raises SettingsError if the profile that stands cannot be used, ValueError for a
    value that a knob cannot take.
    """
    home = settings.home
    with settings.library.lock("profiles"):
        profile = load_profile(home, identity) or ModelProfile(model=str(identity), digest=identity.digest)
        for task, knobs in found.items():
            standing = profile.tasks.get(task, TaskProfile())
            merged = Knobs(**{**standing.knobs.known(), **knobs})
            sources = {**standing.sources, **dict.fromkeys(knobs, source)}
            profile.tasks[task] = TaskProfile(
                knobs=merged, sources={knob: sources[knob] for knob in sorted(merged.known())}
            )
        path = profile_path(home, identity)
        write_json(path, profile.model_dump(mode="json", exclude_none=True))
    return path


def fitted(settings: Settings, identity: ModelIdentity) -> Settings:
    """The settings with what is known of this model; those that the user has set stay. Compiled prompts are set by the
    user: where there is one for names, no strategy takes its place.

    Raises SettingsError if the profile cannot be used.
    """
    profile = load_profile(settings.home, identity)
    chosen = {} if profile is None else _settings_of(profile)
    stay = set(settings.model_fields_set)
    if settings.compiled_prompts is not None and (settings.compiled_prompts / "names.json").exists():
        stay.add("naming")
    changes = {name: value for name, value in chosen.items() if name not in stay}
    served = settings.model_copy(update=changes)
    served.model_fields_set.difference_update(changes)  # a study set them, no user: they neither win nor stay
    return served


def _settings_of(profile: ModelProfile) -> dict[str, Any]:
    return {
        SETTING_OF[task][knob]: value
        for task, known in profile.tasks.items()
        for knob, value in known.knobs.known().items()
        if knob in SETTING_OF[task]
    }


def told(profile: ModelProfile, settings: Settings) -> str:
    """A profile in a line: each knob with the study it is from, and what wins over it."""
    lines = []
    for task, known in profile.tasks.items():
        for knob, value in known.knobs.known().items():
            setting = SETTING_OF[task].get(knob, "")
            wins = setting in settings.model_fields_set
            over = f"; GUTENGRAPH_{setting.upper()} is set and wins" if wins else ""
            lines.append(f"{task} {knob} {value} ({known.sources.get(knob, 'no source')}{over})")
    return ", ".join(lines) or "the studies saw no difference from the defaults"
