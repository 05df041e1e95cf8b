"""A small library to be copied to a bucket, and ways to make a bucket's server slow or silent."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import harbour_story as story
import pyarrow as pa

from gutengraph_core.files import write_text
from gutengraph_core.graph.build import build_merged
from gutengraph_core.library import Library
from gutengraph_core.tables import CHUNKS
from gutengraph_core.vectors import ChunkTable

BOOKS = (7, 8, 9, 10, 11, 12)


def embed(library: Library, book: int, texts: int | None = None) -> None:
    """The book's first `texts` passages into the table, or all of them."""
    embedder = story.ToyEmbedder()
    rows = pa.Table.from_pylist(story.chunk_rows(book), schema=CHUNKS)
    rows = rows if texts is None else rows.slice(0, texts)
    table = ChunkTable.open(library, embedder.identity, create=True)
    table.replace_book(book, rows, embedder.embed_documents(rows["text"].to_pylist()))


def fill(library: Library) -> Library:
    """Six small books with text, graph files, passages and the merged graph; one merge made by hand."""
    for book in BOOKS:
        story.write_book(library, book)
        write_text(library.path(book, "ledger.jsonl"), '{"step": "names"}\n')
        write_text(library.path(book, "raw.txt"), "the source's own bytes")
        library.update(book, status="built")
        embed(library, book)
    write_text(library.home / "overrides" / "8.toml", 'join = [["Ned", "Edmund"]]\n')
    build_merged(library)
    return library


@contextmanager
def between(endpoint: str, *, delay_s: float = 0.0, silent_after: int | None = None) -> Iterator[str]:
    """An address that passes everything on to `endpoint`, each answer `delay_s` late; after `silent_after`
    connections it accepts and never answers.
    """
    host, port = endpoint.removeprefix("http://").split(":")
    listener = socket.create_server(("127.0.0.1", 0))
    open_sockets: list[socket.socket] = [listener]
    accepted = 0

    def pump(source: socket.socket, target: socket.socket, wait: float) -> None:
        with suppress(OSError):
            while block := source.recv(1 << 16):
                time.sleep(wait)
                target.sendall(block)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        nonlocal accepted
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                open_sockets.append(client)
                accepted += 1
                if silent_after is not None and accepted > silent_after:
                    continue
                server = socket.create_connection((host, int(port)))
                open_sockets.append(server)
                threading.Thread(target=pump, args=(client, server, 0.0), daemon=True).start()
                threading.Thread(target=pump, args=(server, client, delay_s), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        for item in open_sockets:
            with suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)
            item.close()
