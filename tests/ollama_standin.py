"""A stand-in for an Ollama server that answers with recorded exchanges, and with nothing else.

The recordings are of a real Ollama (August 2026) with Gemma 3 270M base. What the stand-in adds is a guess,
and there are two: a chat template with roles where a test needs an instruct model, and the tokens of what a
client puts behind a recorded prompt. A request without a recording is answered 599.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parent / "data" / "ollama"
INSTRUCT_TEMPLATE = "<start_of_turn>user\n{{ .Prompt }}<end_of_turn>\n<start_of_turn>model\n"
_CUT = re.compile(r"(.*)… \[(\d+) characters\]", re.DOTALL)
_FREE = {"truncate", "shift", "think", "stream", "chat_template_kwargs", "tools"}
"""What a request may have beyond the recording: none of it changed an answer while recording, but
`truncate`, which has recordings of its own."""


def recording(name: str) -> dict[str, Any]:
    """One exchange: `request` and `response`."""
    document: dict[str, Any] = json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
    return document


def recorded_prompt(name: str) -> str:
    """The prompt of a recording, filled up to its length where the recording shortens it."""
    body = recording(name)["request"]["body"]
    text = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
    found = _CUT.fullmatch(text)
    return found[1] + "and so on " * ((int(found[2]) - len(found[1])) // 10) if found else text


class OllamaStandIn:
    """The server's state: `url`, what it was asked, and how it is to behave."""

    def __init__(self, url: str, *, instruct: bool) -> None:
        self.url = url
        self.instruct = instruct
        self.asked: list[dict[str, Any]] = []
        """Every request: `path`, `body` (None for GET), `headers`."""
        self.next_answer: str | None = None
        """The recording that answers the next POST to a generating path, whatever it asks."""
        self._recordings = [recording(path.stem) for path in sorted(RECORDINGS.glob("*.json"))]

    def answer(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if self.next_answer and method == "POST" and path != "/api/show":
            forced, self.next_answer = recording(self.next_answer), None
            return forced["response"]["status"], forced["response"]["body"]
        asked = {"method": method, "path": path}
        same = [r for r in self._recordings if asked.items() <= r["request"].items()]
        found = [r for r in same if _fits(r["request"].get("body"), body)]
        if not found and method == "POST" and path == "/api/generate" and body.get("top_logprobs", 21) <= 20:
            return 200, recording("generate-raw-logprobs")["response"]["body"]
        if not found:
            return 599, {"error": f"no recording for {method} {path} {json.dumps(body)[:500]}"}
        best = max(found, key=lambda r: len(r["request"].get("body") or {}))
        answer = json.loads(json.dumps(best["response"]["body"]))
        if path == "/api/show" and self.instruct and "template" in answer:
            answer["template"] = INSTRUCT_TEMPLATE
        _count_added(answer, best["request"].get("body"), body)
        return best["response"]["status"], answer


def _fits(recorded: Any, sent: Any) -> bool:
    """Whether a request asks what was asked when recording; num_ctx is the client's own choice."""
    if recorded is None or sent is None:
        return recorded is sent
    if "truncate" in recorded and sent.get("truncate") != recorded["truncate"]:
        return False
    keys = set(recorded) - _FREE
    if set(sent) - _FREE != keys:
        return False
    return all(_same(key, recorded[key], sent[key]) for key in keys)


def _same(key: str, recorded: Any, sent: Any) -> bool:
    if key == "model":
        return bool(recorded.removesuffix(":latest") == sent.removesuffix(":latest"))
    if key == "prompt":
        return _same_text(recorded, sent, whole=True)
    if key == "messages":
        return len(recorded) == len(sent) and all(
            r["role"] == s["role"] and _same_text(r["content"], s["content"], whole=False)
            for r, s in zip(recorded, sent, strict=True)
        )
    if key == "options":
        chosen = {"num_ctx", "seed"}
        return {k: v for k, v in recorded.items() if k not in chosen} == {
            k: v for k, v in sent.items() if k not in chosen
        }
    return bool(recorded == sent)


def _same_text(recorded: str, sent: str, *, whole: bool) -> bool:
    found = _CUT.fullmatch(recorded)
    if found:
        return sent.startswith(found[1]) and abs(len(sent) - int(found[2])) < 20
    return sent == recorded if whole else sent.startswith(recorded)


def _count_added(answer: dict[str, Any], recorded: Any, sent: Any) -> None:
    if not recorded or "messages" not in recorded:
        return
    added = sum(len(m["content"]) for m in sent["messages"]) - sum(
        len(m["content"]) for m in recorded["messages"]
    )
    for place, key in ((answer, "prompt_eval_count"), (answer.get("usage", {}), "prompt_tokens")):
        if key in place and added > 0:
            place[key] += added // 3


@contextmanager
def ollama_standin(*, instruct: bool = False) -> Iterator[OllamaStandIn]:
    """Serve on a free loopback port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply("GET", None)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self._reply("POST", json.loads(self.rfile.read(length)))

        def _reply(self, method: str, body: Any) -> None:
            standin.asked.append({"path": self.path, "body": body, "headers": dict(self.headers)})
            status, answer = standin.answer(method, self.path, body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    standin = OllamaStandIn(f"http://127.0.0.1:{server.server_port}", instruct=instruct)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield standin
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
