"""Opens the embedding model, or only its tokenizer, that the settings name."""

from __future__ import annotations

from gutengraph_core.embedding.protocol import Embedder, EmbeddingIdentity, Matrix, Tokenizer
from gutengraph_core.settings import Settings

__all__ = ["Embedder", "EmbeddingIdentity", "Matrix", "Tokenizer", "open_embedder", "open_tokenizer"]


def open_embedder(settings: Settings) -> Embedder:
    """The embedder of `settings.embedding`; local weights are loaded at the first embedding.

    Raises SettingsError, MissingExtra, ModelUnreachable or WrongModel.
    """
    kind, _, rest = settings.embedding.partition(":")
    if kind == "tei" and rest:
        from gutengraph_core.embedding.tei import TeiEmbedder

        return TeiEmbedder(rest)
    if kind == "ollama" and rest:
        from gutengraph_core.embedding.ollama import OllamaEmbedder

        return OllamaEmbedder(rest, host=settings.ollama_host)
    from gutengraph_core.embedding.folders import find_folder
    from gutengraph_core.embedding.sentence_transformers import LocalEmbedder

    return LocalEmbedder(find_folder(settings.embedding), threads=settings.threads)


def open_tokenizer(settings: Settings) -> Tokenizer:
    """The tokenizer of `settings.embedding`, without torch and without the weights.

    Raises as `open_embedder` does.
    """
    if settings.embedding.startswith(("tei:", "ollama:")):
        return open_embedder(settings).tokenizer
    from gutengraph_core.embedding.folders import find_folder

    return find_folder(settings.embedding, tokenizer_only=True).tokenizer()
