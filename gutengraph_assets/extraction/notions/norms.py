"""How much any passage of fiction resembles each notion: the usual cosine and its spread, for one embedder.

A sentence about betrayal resembles nearly every page, one about travel hardly any. What a book is about is told by what its
pages resemble more than those of other books do. `experiments/themes` measures the norms over a shelf of novels; those of
the embedded model come with the package, those of another embedder lie in the data folder once they have been measured.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from gutengraph_assets.extraction.notions.vocabulary import DIGEST
from gutengraph_core.embedding.protocol import EmbeddingIdentity
from gutengraph_core.errors import SettingsError
from gutengraph_core.graph.schema import NotionLabel

FILE = "notion_norms.json"


class Norms(BaseModel):
    """`usual[label][name]` = (mean cosine of a passage, standard deviation) over `passages` passages of `books`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: str
    vocabulary: str
    books: list[int]
    passages: int
    usual: dict[NotionLabel, dict[str, tuple[float, float]]]


def load_norms(identity: EmbeddingIdentity, home: Path) -> Norms | None:
    """The norms of an embedder and of this vocabulary: from the data folder, else from the package; None if neither has them.

    Raises SettingsError if the data folder's file cannot be read.
    """
    own = home / FILE
    if own.exists():
        norms = _read(own.read_bytes(), str(own))
        if _fits(norms, identity):
            return norms
    shipped = _read(files(__package__).joinpath(FILE).read_bytes(), FILE)
    return shipped if _fits(shipped, identity) else None


def _fits(norms: Norms, identity: EmbeddingIdentity) -> bool:
    return norms.vocabulary == DIGEST and norms.embedder == str(identity)


def _read(data: bytes, shown: str) -> Norms:
    try:
        return Norms.model_validate(json.loads(data))
    except (ValueError, ValidationError) as error:
        raise SettingsError(
            f"{shown} cannot be read ({error}).",
            remedy="Delete it, or run `python -m experiments.themes norms` again.",
        ) from error
