"""Sixteen clients of `gutengraph-embed` against raw `encode` of the same texts, in one run.

python -m benchmarks.embed_server --mirror FOLDER
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import click
import numpy as np
import psutil

from benchmarks.results import table, write
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_assets.text.chunking import chunk_body, chunk_table
from gutengraph_core.embedding.batches import MOST
from gutengraph_core.embedding.folders import embedded_folder
from gutengraph_core.embedding.tei import TeiEmbedder
from gutengraph_core.settings import Settings


@contextmanager
def served() -> Iterator[tuple[str, psutil.Process]]:
    """A server in a process of its own, and its URL."""
    command = [Path(sys.executable).parent / "gutengraph-embed", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if "running on" in line:
                url = next(word for word in line.split() if word.startswith("http://"))
                yield url, psutil.Process(process.pid)
                break
        else:
            raise SystemExit("the server did not start")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def passages(mirror: Path, book: int, count: int) -> list[str]:
    """`count` passages of a book, as the pipeline cuts them."""
    with tempfile.TemporaryDirectory(prefix="gutengraph-bench-") as home:
        settings = Settings(home=Path(home), mirror=str(mirror))
        record = acquire(book, settings)
        body = settings.library.body(book)
        found = chunk_body(
            body, record.chapters, embedded_folder().tokenizer(), target_tokens=300, overlap=30
        )
        return [str(text) for text in chunk_table(record, body, found[:count])["text"].to_pylist()]


def ask_all(opened: list[TeiEmbedder], texts: list[str], *, at_once: int) -> tuple[float, list[float]]:
    """Seconds until all texts are embedded, and of each request; the clients share the requests."""
    clients = len(opened)
    requests = [texts[start : start + at_once] for start in range(0, len(texts), at_once)]
    waits: list[float] = []

    def work(client: int) -> None:
        for request in requests[client::clients]:
            began = time.perf_counter()
            opened[client].embed_documents(request)
            waits.append(time.perf_counter() - began)

    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, range(clients)))
    return time.perf_counter() - began, waits


def _core_seconds(server: psutil.Process) -> float:
    """Of the server and of its clients, which are this process."""
    times = server.cpu_times()
    return float(times.user + times.system) + time.process_time()


@click.command()
@click.option("--mirror", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--book", default=2701, show_default=True)
@click.option("--texts", default=512, show_default=True, help="Passages that each way embeds.")
@click.option("--clients", default=16, show_default=True)
@click.option("--most", default=32, show_default=True, help="Texts of the largest requests.")
@click.option("--least", default=1, show_default=True, help="Texts of the smallest requests.")
def main(mirror: Path, book: int, texts: int, clients: int, most: int, least: int) -> None:
    """Throughput as a ratio to raw `encode`, and the 95th percentile of a request's wait."""
    from sentence_transformers import SentenceTransformer

    given = passages(mirror, book, texts)
    model = SentenceTransformer(str(embedded_folder().path))
    model.encode(given[:2], show_progress_bar=False)

    def raw() -> tuple[float, float]:
        began, cores = time.perf_counter(), time.process_time()
        model.encode(given, batch_size=MOST, show_progress_bar=False)
        return time.perf_counter() - began, time.process_time() - cores

    rows = []
    with served() as (url, server):
        # Each asks for what is served, and embeds a word: not what is measured.
        opened = [TeiEmbedder(url) for _ in range(clients)]
        before = raw()
        for at_once in (n for n in (32, 8, 4, 1) if least <= n <= most and n * clients <= len(given)):
            used = _core_seconds(server)
            seconds, waits = ask_all(opened, given, at_once=at_once)
            used = _core_seconds(server) - used
            after = raw()
            # Raw before and after each: a drift of the machine falls on both.
            wall, cores = ((before[i] + after[i]) / 2 for i in (0, 1))
            rows.append(
                [
                    at_once,
                    f"{len(given) / seconds:.1f}",
                    f"{len(given) / wall:.1f}",
                    f"{wall / seconds:.2f}",
                    f"{cores / used:.2f}",
                    f"{float(np.percentile(waits, 95)):.2f} s",
                ]
            )
            before = after
    head = ["texts a request", "server, texts/s", "raw `encode`, texts/s", "ratio by the wall"]
    head += ["ratio by core time", "p95 of a request"]
    write(
        "embed_server",
        f"The embedding server with {clients} clients",
        f"{len(given)} passages of book {book}, all-MiniLM-L6-v2; the clients run on the same cores, and their core "
        "time counts as the server's.\n\n" + table(head, rows),
    )


if __name__ == "__main__":
    main()
