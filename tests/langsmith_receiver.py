"""A stand-in for LangSmith's receiving end: it answers `/info` and keeps what is sent."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_CONFIG = {
    "use_multipart_endpoint": False,  # plain JSON at /runs/batch
    "size_limit": 100,
    "size_limit_bytes": 20 << 20,
    "scale_up_qsize_trigger": 1000,
    "scale_up_nthreads_limit": 4,
    "scale_down_nempty_trigger": 4,
}


class Receiver:
    """`url` to set as the endpoint; `runs`: the runs by id, posts and patches merged; `keys`: API keys seen."""

    def __init__(self) -> None:
        self.url = ""
        self.runs: dict[str, dict[str, Any]] = {}
        self.keys: set[str] = set()

    def take(self, batch: dict[str, Any]) -> None:
        for run in [*batch.get("post", []), *batch.get("patch", [])]:
            kept = self.runs.setdefault(run["id"], {})
            kept.update({key: value for key, value in run.items() if value is not None})

    def named(self, name: str) -> list[dict[str, Any]]:
        return [run for run in self.runs.values() if run.get("name") == name]

    def path(self, run: dict[str, Any]) -> list[str]:
        """Names from the root down to a run."""
        names = [run["name"]]
        while (parent := run.get("parent_run_id")) in self.runs:
            run = self.runs[parent]
            names.insert(0, run["name"])
        return names


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on a free port of loopback."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({"version": "1", "batch_ingest_config": _CONFIG})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            receiver.keys.add(self.headers.get("x-api-key", ""))
            if self.path.endswith("/runs/batch"):
                receiver.take(json.loads(body))
            self._reply({})

        def _reply(self, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
