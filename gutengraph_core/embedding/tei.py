"""Client of a Text Embeddings Inference server, or of what speaks its `/info`, `/embed`, `/tokenize`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gutengraph_core.embedding.http import EmbeddingServer, ServerError
from gutengraph_core.embedding.protocol import EmbeddingIdentity, Matrix, Tokenizer
from gutengraph_core.embedding.schemes import Scheme, scheme_for
from gutengraph_core.errors import ModelRefused

_TOKENIZE_CHARACTERS = 100_000
"""Of one text sent to `/tokenize`: TEI refuses bodies over 2 MB."""

_TOO_LONG = 413


class TeiEmbedder:
    """Asks the server what it serves when constructed. Raises ModelUnreachable, WrongModel."""

    def __init__(self, url: str) -> None:
        self._server = EmbeddingServer(
            url,
            kind="TEI",
            remedy="Start it, or correct the address in GUTENGRAPH_EMBEDDING=tei:<url>.",
        )
        try:
            info = self._server.call("GET", "/info")
        except ServerError as error:
            raise self._server.wrong(f"it has no /info ({error})") from error
        if not isinstance(info, dict) or not {"model_id", "max_input_length"} <= info.keys():
            raise self._server.wrong("its /info does not name a model and the tokens it takes")
        if "embedding" not in str(info.get("model_type", "embedding")).lower():
            raise self._server.wrong(f"{info['model_id']} is no embedding model ({info['model_type']})")
        name = str(info["model_id"])
        self._scheme = scheme_for(name)
        self._batch = int(info.get("max_client_batch_size") or 32)
        full = self._vectors(["dimension"]).shape[1]
        dimension = self._scheme.dimension(full)
        self.identity = EmbeddingIdentity(
            name, str(info.get("model_sha") or ""), dimension, self._scheme.name
        )
        self.tokenizer: Tokenizer = TeiTokenizer(
            self._server,
            model_limit=int(info["max_input_length"]),
            batch=self._batch,
            scheme=self._scheme,
        )

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.identity.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        raw = self._vectors([self._scheme.document + texts[i] for i in order])
        vectors = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        vectors[order] = self._scheme.finish(raw, model=self.identity.name)
        return vectors

    def embed_query(self, text: str) -> Matrix:
        raw = self._vectors([self._scheme.query + text])
        vector: Matrix = self._scheme.finish(raw, model=self.identity.name)[0]
        return vector

    def _vectors(self, inputs: list[str]) -> Matrix:
        rows: list[Any] = []
        for batch in _batches(inputs, self._batch):
            # Prefixes are ours: no prompt_name, and nothing cut in silence.
            body = {"inputs": batch, "truncate": False, "normalize": True}
            try:
                answer = self._server.call("POST", "/embed", body)
            except ServerError as error:
                if error.status == _TOO_LONG:
                    raise ModelRefused(
                        f"A text does not fit the TEI server's model ({error.text}).",
                        remedy="Shorten the question, or chunk the text with this model's own tokenizer.",
                    ) from error
                raise self._server.refused(error) from error
            if not isinstance(answer, list) or len(answer) != len(batch):
                raise self._server.wrong("/embed did not give one vector for each text")
            rows += answer
        return to_matrix(rows, self._server)


class TeiTokenizer:
    """The server's own tokenizer, through `/tokenize`."""

    def __init__(self, server: EmbeddingServer, *, model_limit: int, batch: int, scheme: Scheme) -> None:
        self._server = server
        self._batch = batch
        # The server refuses an empty text, hence the letter.
        samples = self._tokens([scheme.document + "a", scheme.query + "a"], special=True)
        self.limit = model_limit - max(len(tokens) for tokens in samples) + 1

    def offsets(self, text: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        pieces = list(_pieces(text))
        answers = self._tokens([text[start:end] for start, end in pieces], special=False)
        for (start, end), tokens in zip(pieces, answers, strict=True):
            piece = text[start:end]
            # The server counts bytes of UTF-8.
            place = _character_of_byte(piece)
            spans += [(start + place[int(t["start"])], start + place[int(t["stop"])]) for t in tokens]
        return spans

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [len(tokens) for tokens in self._tokens(list(texts), special=False)]

    def _tokens(self, texts: list[str], *, special: bool) -> list[list[dict[str, Any]]]:
        found: list[list[dict[str, Any]]] = []
        for batch in _batches(texts, self._batch):
            try:
                answer = self._server.call(
                    "POST", "/tokenize", {"inputs": batch, "add_special_tokens": special}
                )
            except ServerError as error:
                raise self._server.refused(error) from error
            found += answer
        return found


def to_matrix(rows: list[Any], server: EmbeddingServer) -> Matrix:
    """A server's lists as float32 [n, d]. Raises WrongModel if they are ragged or no numbers."""
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise server.wrong(f"its vectors are not numbers of one dimension ({error})") from error
    if matrix.ndim != 2:
        raise server.wrong("its vectors are not numbers of one dimension")
    return matrix


def _batches(items: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Spans of at most _TOKENIZE_CHARACTERS, cut after white space where there is any."""
    start = 0
    while start < len(text):
        end = min(start + _TOKENIZE_CHARACTERS, len(text))
        if end < len(text):
            space = max(text.rfind("\n", start, end), text.rfind(" ", start, end))
            end = space + 1 if space > start else end
        yield start, end
        start = end


def _character_of_byte(text: str) -> Sequence[int]:
    """Offset in UTF-8 -> offset in characters; a byte within a character counts as its first."""
    if text.isascii():
        return range(len(text) + 1)
    places: list[int] = []
    for index, character in enumerate(text):
        places += [index] * len(character.encode("utf-8", "surrogatepass"))
    return [*places, len(text)]
