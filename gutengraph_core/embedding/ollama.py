"""Embedding by Ollama's `/api/embed`, over plain HTTP: an overflow must be refused, and prefixes are ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gutengraph_core.embedding.http import EmbeddingServer, ServerError
from gutengraph_core.embedding.protocol import EmbeddingIdentity, Matrix, Tokenizer
from gutengraph_core.embedding.schemes import Scheme, scheme_for
from gutengraph_core.embedding.tei import to_matrix
from gutengraph_core.embedding.tokenizer_file import FileTokenizer
from gutengraph_core.errors import ModelRefused, WrongModel

_BATCH = 32
_WORD_START = "▁"  # how GGUF marks a WordPiece token that starts a word; the others lost their '##'
_BERT_SPECIAL_TOKENS = 2


class OllamaEmbedder:
    """Asks the server for the model when constructed. Raises ModelUnreachable, WrongModel."""

    def __init__(self, model: str, *, host: str) -> None:
        self._model = model
        self._server = EmbeddingServer(
            host, kind="Ollama", remedy="Start it with `ollama serve`, or set GUTENGRAPH_OLLAMA_HOST."
        )
        tagged = model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"
        digest = self._digest(tagged)
        self._scheme = scheme_for(model)
        self._show = self._ask("/api/show", {"model": model, "verbose": True})
        full = self._vectors(["dimension"]).shape[1]
        dimension = self._scheme.dimension(full)
        self.identity = EmbeddingIdentity(f"ollama:{tagged}", digest, dimension, self._scheme.name)
        self.tokenizer: Tokenizer = self._tokenizer()

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.identity.dimension), dtype=np.float32)
        # Texts of one length share a request: the server pads a batch to its longest.
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        raw = self._vectors([self._scheme.document + texts[i] for i in order])
        vectors = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        vectors[order] = self._scheme.finish(raw, model=self.identity.name)
        return vectors

    def embed_query(self, text: str) -> Matrix:
        raw = self._vectors([self._scheme.query + text])
        vector: Matrix = self._scheme.finish(raw, model=self.identity.name)[0]
        return vector

    def _digest(self, tagged: str) -> str:
        try:
            models = self._server.call("GET", "/api/tags")["models"]
            digests = {str(m["name"]): str(m["digest"]) for m in models}
        except ServerError as error:
            raise self._server.refused(error) from error
        except (KeyError, TypeError) as error:
            raise self._server.wrong("its /api/tags lists no models") from error
        if tagged not in digests:
            raise self._missing()
        return digests[tagged]

    def _missing(self) -> WrongModel:
        return WrongModel(
            f"Ollama at {self._server.base_url} has no model {self._model}.",
            remedy=f"Run `ollama pull {self._model}`.",
        )

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = self._server.call("POST", path, body)
        except ServerError as error:
            raise self._meaning(error) from error
        if not isinstance(answer, dict):
            raise self._server.wrong(f"{path} gave another shape than Ollama's")
        return answer

    def _meaning(self, error: ServerError) -> ModelRefused | WrongModel:
        text = error.text.lower()
        if error.status == 404:
            return self._missing()
        # 501 from Ollama's new engine, a 400 or 500 with these words from others.
        if error.status == 501 or "does not support embed" in text:
            return WrongModel(
                f"The model {self._model} of Ollama at {self._server.base_url} gives no embeddings "
                f"({error.text}).",
                remedy="Set GUTENGRAPH_EMBEDDING to an embedding model, such as ollama:nomic-embed-text.",
            )
        if "context" in text or "too large" in text or "exceed" in text:
            return ModelRefused(
                f"A text does not fit {self._model} ({error.text}).",
                remedy="Shorten the question, or set GUTENGRAPH_CHUNK_TOKENS lower and build again.",
            )
        return self._server.refused(error)

    def _vectors(self, inputs: list[str]) -> Matrix:
        rows: list[Any] = []
        for start in range(0, len(inputs), _BATCH):
            batch = inputs[start : start + _BATCH]
            answer = self._ask("/api/embed", {"model": self._model, "input": batch, "truncate": False})
            vectors = answer.get("embeddings")
            if not isinstance(vectors, list) or len(vectors) != len(batch):
                raise self._server.wrong("/api/embed did not give one vector for each text")
            rows += vectors
        return to_matrix(rows, self._server)

    def _tokenizer(self) -> Tokenizer:
        info = self._show.get("model_info") or {}
        limits = [int(value) for key, value in info.items() if key.endswith(".context_length") and value]
        if not limits:
            raise self._server.wrong(f"/api/show does not say how many tokens {self._model} takes")
        tokens = info.get("tokenizer.ggml.tokens")
        if info.get("tokenizer.ggml.model") == "bert" and tokens:
            return wordpiece_tokenizer(tokens, model_limit=limits[0], scheme=self._scheme)
        return EstimatingTokenizer(model_limit=limits[0], scheme=self._scheme)


def wordpiece_tokenizer(tokens: list[str], *, model_limit: int, scheme: Scheme) -> FileTokenizer:
    """BERT's uncased tokenizer from a GGUF's token list, the form that `/api/show` gives verbosely."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.startswith(_WORD_START):
            plain = token.removeprefix(_WORD_START)
        else:
            plain = token if token.startswith("[") and token.endswith("]") else f"##{token}"
        vocabulary.setdefault(plain, index)
    raw = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    raw.normalizer = normalizers.BertNormalizer(lowercase=True)
    raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return FileTokenizer(raw, model_limit=model_limit - _BERT_SPECIAL_TOKENS, scheme=scheme)


class EstimatingTokenizer:
    """For a model whose tokenizer Ollama does not give: counts a token every three letters of a word, and one
    for each other character's byte. English words take about half of that, so it errs to the safe side; what
    still does not fit is refused by the server.
    """

    _TOKEN = re.compile(r"[A-Za-z]{1,3}|[0-9]|\s+|[^A-Za-z0-9\s]")

    def __init__(self, *, model_limit: int, scheme: Scheme) -> None:
        prefix = max(self.counts([scheme.document, scheme.query]))
        self.limit = model_limit - _BERT_SPECIAL_TOKENS - prefix

    def offsets(self, text: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for match in self._TOKEN.finditer(text):
            token = match.group()
            if token.isspace():
                continue
            spans += [match.span()] * (1 if token.isascii() else len(token.encode("utf-8", "surrogatepass")))
        return spans

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [len(self.offsets(text)) for text in texts]
