"""How near a path of the graph must be to a question, kept for each embedding model: their cosines do not compare.

What is set (`GUTENGRAPH_PATH_THRESHOLD`) wins; then what `make lab STUDY=walk` found on this data folder with
this embedder; then what was measured for it here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from gutengraph_core.embedding.protocol import EmbeddingIdentity
from gutengraph_core.errors import SettingsError
from gutengraph_core.files import read_text, write_json

if TYPE_CHECKING:
    from gutengraph_core.settings import Settings


class PathThreshold(BaseModel):
    """A cosine, and where it comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float
    source: str


MEASURED: dict[tuple[str, int], PathThreshold] = {
    ("all-MiniLM-L6-v2", 384): PathThreshold(
        value=0.43,
        source="the default: foreign questions peaked at .37 (nodes) and .42 (edges); experiments/walk measures it anew",
    ),
}
"""By name and dimension."""
_NEAREST_KNOWN = MEASURED["all-MiniLM-L6-v2", 384]


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid")

    paths: dict[str, PathThreshold] = {}


def _file(home: Path) -> Path:
    return home / "profiles" / "thresholds.json"


def path_threshold(settings: Settings, identity: EmbeddingIdentity) -> PathThreshold:
    """The threshold in force for an embedder. One that was never measured gets MiniLM's, and its source says so.

    Raises SettingsError if what the data folder keeps cannot be read.
    """
    if settings.path_threshold is not None:
        return PathThreshold(value=settings.path_threshold, source="GUTENGRAPH_PATH_THRESHOLD")
    kept = _read(settings.home).paths.get(str(identity))
    known = kept or MEASURED.get((identity.name, identity.dimension))
    if known is not None:
        return known
    return PathThreshold(
        value=_NEAREST_KNOWN.value,
        source=f"all-MiniLM-L6-v2's, never measured for {identity}: run `make lab STUDY=walk`",
    )


def note_path_threshold(
    settings: Settings, identity: EmbeddingIdentity, value: float, *, source: str
) -> Path:
    """Keep what a study found for an embedder. Raises SettingsError, DataFolderError."""
    path = _file(settings.home)
    with settings.library.lock("profiles"):
        kept = _read(settings.home)
        kept.paths[str(identity)] = PathThreshold(value=value, source=source)
        write_json(path, kept.model_dump())
    return path


def _read(home: Path) -> _Kept:
    path = _file(home)
    if not path.exists():
        return _Kept()
    try:
        return _Kept.model_validate_json(read_text(path))
    except ValidationError as error:
        raise SettingsError(
            f"The thresholds in {path} cannot be used ({error.errors()[0]['msg']}).",
            remedy="Correct or delete the file; `make lab STUDY=walk` writes it anew.",
        ) from None
