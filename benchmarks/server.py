"""Fifty readers at once for a minute: does the server answer each of them, and how fast?

    python -m benchmarks.server --home FOLDER [--users 50] [--seconds 60]

Starts `gutengraph serve` on the data folder FOLDER, a process of its own with its default limits. Each reader has a
loopback address of its own (so that each has the rate limit of one client), does one thing, waits half a second to a
second and a half as a reader would, and does the next: looks at the shelf, at a cast, at a network, reads a passage,
or asks a question of the graph, the passages or both. The model is scripted: a server in this process that speaks
OpenAI's protocol and answers at once, so that what is measured is everything but the model. Writes `server.md` and
`server.json` beside this file.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import httpx
import numpy as np

HERE = Path(__file__).parent
SERVE = "import sys; from gutengraph_core.cli import main; sys.argv = ['gutengraph', 'serve', '--port', '0']; main()"
PAUSE_S = (0.5, 1.5)
WEIGHTS = {
    "shelf": 1,
    "book": 1,
    "cast": 2,
    "network": 2,
    "passage": 4,
    "ask graph": 2,
    "ask vector": 1,
    "ask hybrid": 1,
}
SAID = "The books say so [1]."


class _Scripted(BaseHTTPRequestHandler):
    """As much of OpenAI's protocol as an instruct model needs. It gives no log-probabilities."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(
            {"data": [{"id": "scripted", "max_model_len": 8192}]} if self.path == "/v1/models" else None
        )

    def do_POST(self) -> None:
        read = len(self.rfile.read(int(self.headers["Content-Length"])))
        choice = {"message": {"role": "assistant", "content": SAID}, "finish_reason": "stop", "index": 0}
        told = {"choices": [choice], "usage": {"prompt_tokens": read // 4, "completion_tokens": 6}}
        self._answer(told if self.path == "/v1/chat/completions" else None)

    def _answer(self, document: dict[str, Any] | None) -> None:
        body = json.dumps(document or {"error": {"message": "no such route"}}).encode()
        self.send_response(200 if document else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@click.command()
@click.option("--home", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--users", default=50, show_default=True, type=click.IntRange(1, 250))
@click.option("--seconds", default=60.0, show_default=True)
def main(home: Path, users: int, seconds: float) -> None:
    """Exit 1 if anything but an answer came back."""
    model = ThreadingHTTPServer(("127.0.0.1", 0), _Scripted)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    spec = f"openai:scripted@http://127.0.0.1:{model.server_port}/v1"
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        env={**os.environ, "GUTENGRAPH_HOME": str(home.absolute()), "GUTENGRAPH_QUERY_LLM": spec},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        url = next(m[0] for line in process.stderr if (m := re.search(r"http://[\d.:]+", line)))
        times, errors = asyncio.run(_crowd(url, users, seconds))
    finally:
        process.terminate()
        process.wait(30)
    _report(home, users, seconds, times, errors)
    sys.exit(1 if errors else 0)


async def _crowd(url: str, users: int, seconds: float) -> tuple[dict[str, list[float]], list[str]]:
    async with httpx.AsyncClient(base_url=url, timeout=60) as first:
        while (await first.get("/health")).json()["status"] == "starting":
            await asyncio.sleep(0.5)
        ids = [b["id"] for b in (await first.get("/books")).json() if b["published"]]
        books = {id_: await _length(first, id_) for id_ in ids}
        asked = [(b, q) for b in books for q in (await first.get("/examples", params={"book": b})).json()]
    times: dict[str, list[float]] = defaultdict(list)
    errors: list[str] = []
    until = time.monotonic() + seconds
    await asyncio.gather(*(_reader(url, n, until, books, asked, times, errors) for n in range(users)))
    return times, errors


async def _length(client: httpx.AsyncClient, book: int) -> int:
    """Characters of a book up to its last chapter."""
    chapters = (await client.get(f"/books/{book}")).json()["chapters"]
    return int(chapters[-1]["start"]) + 1


async def _reader(
    url: str,
    n: int,
    until: float,
    books: dict[int, int],
    asked: list[tuple[int, str]],
    times: dict[str, list[float]],
    errors: list[str],
) -> None:
    chance = random.Random(n)
    transport = httpx.AsyncHTTPTransport(local_address=f"127.0.1.{n + 1}")
    async with httpx.AsyncClient(base_url=url, timeout=60, transport=transport) as client:
        await asyncio.sleep(chance.uniform(0, PAUSE_S[1]))
        while time.monotonic() < until:
            [kind] = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
            start = time.perf_counter()
            try:
                response = await _one(client, kind, chance, books, asked)
                if response.status_code != 200:
                    errors.append(f"{kind}: {response.status_code} {response.text[:200]}")
            except httpx.HTTPError as error:
                errors.append(f"{kind}: {type(error).__name__} {error}")
            times[kind].append(time.perf_counter() - start)
            await asyncio.sleep(chance.uniform(*PAUSE_S))


async def _one(
    client: httpx.AsyncClient,
    kind: str,
    chance: random.Random,
    books: dict[int, int],
    asked: list[tuple[int, str]],
) -> httpx.Response:
    book = chance.choice(list(books))
    if kind.startswith("ask "):
        about, question = chance.choice(asked)
        return await client.post("/ask", json={"question": question, "mode": kind[4:], "book": about})
    path = {
        "shelf": "/books",
        "book": f"/books/{book}",
        "cast": f"/books/{book}/characters",
        "network": f"/books/{book}/graph",
        "passage": f"/passages/{book}/{chance.randrange(books[book])}",
    }[kind]
    return await client.get(path)


def _report(home: Path, users: int, seconds: float, times: dict[str, list[float]], errors: list[str]) -> None:
    whole = [t for kind in times.values() for t in kind]
    rows: list[dict[str, Any]] = [
        {
            "what": kind,
            "requests": len(taken),
            **{f"p{q}_ms": round(float(np.percentile(taken, q)) * 1000) for q in (50, 95)},
            "max_ms": round(max(taken) * 1000),
        }
        for kind, taken in [*sorted(times.items()), ("all", whole)]
    ]
    books = len(list((home / "books").iterdir()))
    told = {
        "users": users,
        "seconds": seconds,
        "books": books,
        "load": os.getloadavg()[0],
        "errors": errors,
        "rows": rows,
    }
    (HERE / "server.json").write_text(json.dumps(told, indent=1) + "\n")
    lines = [
        f"# {users} readers at once",
        "",
        f"`python -m benchmarks.server --home FOLDER --users {users} --seconds {seconds:.0f}`, {books} books, "
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, no GPU; load of the machine at the end {os.getloadavg()[0]:.1f} "
        f"(other work ran beside it where that is far above 2). Server, readers and the scripted model share the machine. "
        f"**{len(whole):,} requests, {len(errors)} errors.**",
        "",
        "| | requests | p50, ms | p95, ms | longest, ms |",
        "|---|---|---|---|---|",
        *(f"| {r['what']} | {r['requests']:,} | {r['p50_ms']} | {r['p95_ms']} | {r['max_ms']} |" for r in rows),
    ]  # fmt: skip
    (HERE / "server.md").write_text("\n".join(lines) + "\n")
    click.echo("\n".join(lines))
    for error in errors[:10]:
        click.echo(error, err=True)


if __name__ == "__main__":
    main()
