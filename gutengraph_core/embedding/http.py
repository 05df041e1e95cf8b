"""One exchange with an embedding server, its failures turned into ours."""

from __future__ import annotations

from typing import Any

import httpx

from gutengraph_core.errors import ModelRefused, ModelUnreachable, WrongModel

TIMEOUT = httpx.Timeout(120.0, connect=5.0)
"""A batch of 32 long chunks takes about 3 s on two cores; a server that first loads its model far longer."""

_BUSY = (408, 425, 429, 502, 503, 504)


class ServerError(Exception):
    """A server's refusal: its status and its own words. Backends give it a meaning."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.text = text
        super().__init__(f"{status}: {text}")


class EmbeddingServer:
    """`kind` and `remedy` go into messages: 'TEI', 'Start it with …'."""

    def __init__(self, base_url: str, *, kind: str, remedy: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._kind = kind
        self._remedy = remedy
        try:
            self._client = httpx.Client(base_url=self.base_url, timeout=TIMEOUT)
        except (httpx.InvalidURL, ValueError) as error:
            raise self.wrong(f"its address is not usable ({error})") from error

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The JSON that the server answers with.

        Raises ServerError for a refusal, ModelUnreachable if it does not answer or is busy, WrongModel if
        what answers speaks no JSON.
        """
        try:
            response = self._client.request(method, path, json=body)
        except (httpx.TransportError, httpx.UnsupportedProtocol) as error:
            reason = str(error) or type(error).__name__
            raise ModelUnreachable(
                f"The {self._kind} server at {self.base_url} does not answer ({reason}).", remedy=self._remedy
            ) from error
        if response.status_code in _BUSY:
            raise ModelUnreachable(
                f"The {self._kind} server at {self.base_url} is busy or not ready ({_words(response)}).",
                remedy="Try again in a moment.",
            )
        if response.is_error:
            raise ServerError(response.status_code, _words(response))
        try:
            return response.json()
        except ValueError as error:
            raise self.wrong(f"{path} gave no JSON") from error

    def wrong(self, why: str) -> WrongModel:
        return WrongModel(
            f"The {self._kind} server at {self.base_url} cannot be used: {why}.",
            remedy="Correct GUTENGRAPH_EMBEDDING, or the server behind it.",
        )

    def refused(self, error: ServerError) -> ModelRefused:
        return ModelRefused(
            f"The {self._kind} server at {self.base_url} refused a request ({error}).",
            remedy="Its own log says more.",
        )


def _words(response: httpx.Response) -> str:
    """A server's own words for its failure, at most 300 characters."""
    try:
        document = response.json()
    except ValueError:
        return response.text[:300] or f"status {response.status_code}"
    if isinstance(document, dict) and document.get("error"):
        return str(document["error"])[:300]
    return str(document)[:300]
