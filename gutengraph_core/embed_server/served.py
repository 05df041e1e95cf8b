"""The model that is served: its tokens, its limits, and its vectors as TEI gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gutengraph_core.embed_server.errors import InferenceFailed, Invalid, Untokenizable
from gutengraph_core.embedding.folders import ModelFolder
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.embedding.sentence_transformers import LocalModel

Direction = Literal["left", "right"]


class ServedModel:
    """A model folder's raw vectors: prefixes and the Matryoshka cut are the client's business, as with TEI."""

    def __init__(self, folder: ModelFolder, *, threads: int = 0) -> None:
        self.folder = folder
        self.limit = folder.model_limit
        self.local = LocalModel(folder, threads=threads)
        self._raw = folder.raw_tokenizer()
        self._raw.no_truncation()
        self._raw.no_padding()
        self._special = self._raw.num_special_tokens_to_add(is_pair=False)
        self._prompts: dict[str, str] = folder.read("config_sentence_transformers.json").get("prompts") or {}

    @property
    def pooling(self) -> str:
        """How token vectors become one, in TEI's words."""
        config = self.folder.read("1_Pooling/config.json")
        modes = {"cls_token": "cls", "lasttoken": "last_token"}
        found = next((name for key, name in modes.items() if config.get(f"pooling_mode_{key}")), None)
        return found or str(config.get("pooling_mode") or "mean")

    def prompted(self, texts: Sequence[str], prompt: str | None) -> list[str]:
        """The texts behind one of the model's own prompts. Raises Invalid for an unknown one."""
        if prompt is None:
            return list(texts)
        if prompt not in self._prompts:
            known = ", ".join(sorted(self._prompts)) or "none"
            raise Invalid(f"`prompt_name` {prompt} is not one of the model's prompts ({known})")
        return [self._prompts[prompt] + text for text in texts]

    def fitted(
        self, texts: Sequence[str], *, truncate: bool, direction: Direction
    ) -> tuple[list[str], list[int]]:
        """The texts, cut to the model's limit if `truncate`, and their tokens, special ones included.

        Raises Invalid for an empty text and for one over the limit, Untokenizable.
        """
        counts, fitting = [], []
        for text, encoding in zip(texts, self._encode(texts), strict=True):
            count = len(encoding.ids)
            if count > self.limit:
                if not truncate:
                    raise Invalid(f"`inputs` must have less than {self.limit} tokens. Given: {count}")
                text = self._cut(text, encoding, direction)
                count = self.limit
            counts.append(count)
            fitting.append(text)
        return fitting, counts

    def tokens(self, texts: Sequence[str], *, special: bool) -> list[list[dict[str, Any]]]:
        """Each token as `/tokenize` gives it; offsets count bytes of UTF-8. Raises Invalid, Untokenizable."""
        answers = []
        for text, encoding in zip(texts, self._encode(texts, special=special), strict=True):
            byte = _byte_of_character(text)
            rows = zip(
                encoding.ids, encoding.tokens, encoding.special_tokens_mask, encoding.offsets, strict=True
            )
            answers.append(
                [
                    {"id": number, "text": token, "special": True, "start": None, "stop": None}
                    if mask
                    else {
                        "id": number,
                        "text": text[start:end],
                        "special": False,
                        "start": byte[start],
                        "stop": byte[end],
                    }
                    for number, token, mask, (start, end) in rows
                ]
            )
        return answers

    def check_dimensions(self, dimensions: int | None) -> None:
        """Raises Invalid for more dimensions than there are."""
        full = self.folder.full_dimension
        if dimensions is not None and not 1 <= dimensions <= full:
            raise Invalid(f"`dimensions` should be positive and at most {full}. Given: {dimensions}")

    def finished(self, vectors: Sequence[Matrix], *, normalize: bool, dimensions: int | None) -> Matrix:
        """Raw vectors as one matrix [n, dimensions], of unit length if `normalize`.

        Raises InferenceFailed if a vector has no direction.
        """
        matrix: Matrix = np.stack(vectors)[:, :dimensions]
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms)) or np.any(norms == 0):
            raise InferenceFailed("the model returned a vector of length zero or not a number")
        return np.asarray(matrix / norms if normalize else matrix, dtype=np.float32)

    def _cut(self, text: str, encoding: Any, direction: Direction) -> str:
        if direction == "right":
            return text  # the model's own tokenizer cuts there
        kept = self.limit - self._special
        spans = [
            span
            for span, mask in zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
            if not mask
        ]
        return text[spans[-kept][0] :]

    def _encode(self, texts: Sequence[str], *, special: bool = True) -> list[Any]:
        if not all(texts):
            raise Invalid("`inputs` cannot be empty")
        try:
            return self._raw.encode_batch(list(texts), add_special_tokens=special)
        # The library raises nothing more particular than Exception itself; a lone surrogate is a TypeError.
        except Exception as error:
            raise Untokenizable(str(error)) from error


def _byte_of_character(text: str) -> Sequence[int]:
    """Offset in characters -> offset in UTF-8."""
    if text.isascii():
        return range(len(text) + 1)
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode("utf-8", "surrogatepass")))
    return places
