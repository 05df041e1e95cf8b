"""Chunking and embedding a book through the pipeline's own functions, against the library's raw `encode` of the
same texts in the same run; and the memory of one book to forty.

    python -m benchmarks.embedding time --mirror FOLDER [--passages N]
    python -m benchmarks.embedding rest --mirror FOLDER
    python -m benchmarks.embedding memory --mirror FOLDER
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import numpy as np
import psutil

from benchmarks.results import table, write
from gutengraph_assets.embedding import embed_passages
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_assets.progress import Console, Meter, listening
from gutengraph_assets.text.chunking import chunk_body, chunk_table
from gutengraph_core.embedding.batches import MOST
from gutengraph_core.embedding.folders import embedded_folder
from gutengraph_core.embedding.protocol import Matrix
from gutengraph_core.embedding.sentence_transformers import LocalEmbedder
from gutengraph_core.errors import GutenGraphError
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable

LOOKED_AT = (1, 5, 10, 20, 30, 40)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the wall, and of this process's cores."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


class Bench:
    """One data folder and one embedder."""

    def __init__(self, home: Path, mirror: Path) -> None:
        self.settings = Settings(home=home, mirror=str(mirror))
        self.folder = embedded_folder()
        self.embedder = LocalEmbedder(self.folder)
        self.embedder.embed_query("the weights are loaded before anything is timed")

    def pipeline(self, book: int, *, most: int | None = None) -> list[str]:
        """Chunk, embed and write the first `most` passages of a book that has been fetched."""
        library = self.settings.library
        body, record = library.body(book), library.record(book)
        tokenizer = self.embedder.tokenizer
        found = chunk_body(body, record.chapters, tokenizer, target_tokens=300, overlap=30)
        rows = chunk_table(record, body, found[:most])
        texts: list[str] = rows["text"].to_pylist()
        vectors = embed_passages(texts, self.embedder, Meter(book, "embed"))
        ChunkTable.open(library, self.embedder.identity, create=True).replace_book(book, rows, vectors)
        return texts

    def time_against_encode(self, book: int, most: int | None) -> str:
        """Raw, pipeline, raw: a drift of the machine falls on both."""
        from sentence_transformers import SentenceTransformer

        acquire(book, self.settings)
        texts: list[str] = []
        raw_model = SentenceTransformer(str(self.folder.path))
        found = self.pipeline_texts(book)[:most]

        def raw() -> object:
            return raw_model.encode(found, batch_size=MOST, show_progress_bar=False)

        first, ours, last = (
            timed(raw),
            timed(lambda: texts.extend(self.pipeline(book, most=most))),
            timed(raw),
        )
        if texts != found:
            raise SystemExit("the two did not embed the same texts")
        wall, cpu = ((first[i] + last[i]) / 2 for i in (0, 1))
        rows = [
            ["raw `encode`, before and after", f"{first[0]:.1f} s, {last[0]:.1f} s", f"{cpu:.1f} s", "1"],
            [
                "chunk, embed, write the table",
                f"{ours[0]:.1f} s",
                f"{ours[1]:.1f} s",
                f"{ours[0] / wall:.2f} (of core time {ours[1] / cpu:.2f})",
            ],
        ]
        return f"Book {book}, {len(texts):,} passages.\n\n" + table(["", "wall", "core time", "ratio"], rows)

    def time_of_all_but_encode(self, book: int, sample: int) -> str:
        """The whole book with vectors that cost nothing, and `encode` on passages spread over it."""
        acquire(book, self.settings)
        rng = np.random.default_rng(7)
        real = self.embedder._model.encode

        def free(texts: Sequence[str], counts: Sequence[int]) -> Matrix:
            return rng.normal(size=(len(texts), self.folder.full_dimension)).astype(np.float32)

        texts: list[str] = []
        self.embedder._model.encode = free  # type: ignore[method-assign]
        _, rest = timed(lambda: texts.extend(self.pipeline(book)))
        self.embedder._model.encode = real  # type: ignore[method-assign]
        spread = [texts[i] for i in np.linspace(0, len(texts) - 1, sample).astype(int)]
        counts = self.embedder.tokenizer.counts(spread)
        real(spread[:4], counts[:4])
        _, encode = timed(lambda: real(spread, counts))
        whole = encode / sample * len(texts)
        rows = [
            [f"`encode`, from {sample} passages spread over the book", f"{whole:.1f} s", "1"],
            ["all the rest: chunk, count, finish, write the table", f"{rest:.1f} s", f"{rest / whole:.3f}"],
        ]
        return f"Book {book}, {len(texts):,} passages.\n\n" + table(["", "core time", "ratio"], rows)

    def pipeline_texts(self, book: int) -> list[str]:
        """The passages, not timed: what both are given."""
        library = self.settings.library
        body, record = library.body(book), library.record(book)
        found = chunk_body(body, record.chapters, self.embedder.tokenizer, target_tokens=300, overlap=30)
        return [str(text) for text in chunk_table(record, body, found)["text"].to_pylist()]

    def memory(self, books: list[int], *, most: int) -> str:
        """Resident size of this process after so many books."""
        process = psutil.Process()
        rows = []
        done = 0
        for book in books:
            try:
                acquire(book, self.settings)
                self.pipeline(book, most=most)
            except GutenGraphError as error:
                click.echo(f"left out: {error}", err=True)
                continue
            done += 1
            if done in LOOKED_AT:
                rows.append([done, f"{process.memory_info().rss / 1e6:,.0f} MB"])
        return f"The first {most} passages of each book.\n\n" + table(["books", "resident"], rows)


def mirror_books(mirror: Path) -> list[int]:
    """The numbers of a mirror's books, in its own layout."""
    return sorted(int(path.name) for path in (mirror / "cache" / "epub").iterdir() if path.name.isdigit())


_mirror = click.option("--mirror", type=click.Path(exists=True, path_type=Path), required=True)


@click.group()
def main() -> None:
    """Time and memory of chunking and embedding."""


@main.command("time")
@_mirror
@click.option("--book", default=2701, show_default=True)
@click.option("--passages", type=click.IntRange(min=1), help="Only so many [default: all].")
def time_one(mirror: Path, book: int, passages: int | None) -> None:
    """One book against raw `encode`."""
    with tempfile.TemporaryDirectory(prefix="gutengraph-bench-") as home, listening(Console()):
        text = Bench(Path(home), mirror).time_against_encode(book, passages)
    write("embedding", "Chunk and embed", text, into="embedding_time")


@main.command("rest")
@_mirror
@click.option("--book", default=2701, show_default=True)
@click.option("--sample", default=64, show_default=True, help="Passages that are really embedded.")
def rest(mirror: Path, book: int, sample: int) -> None:
    """All that the pipeline does besides `encode`, where the machine has no time for three rounds of it."""
    with tempfile.TemporaryDirectory(prefix="gutengraph-bench-") as home, listening(Console()):
        text = Bench(Path(home), mirror).time_of_all_but_encode(book, sample)
    write("embedding", "All but `encode`", text, into="embedding_rest")


@main.command("memory")
@_mirror
@click.option("--most", default=48, show_default=True, help="Passages of each book.")
def memory(mirror: Path, most: int) -> None:
    """Resident size over the mirror's books."""
    with tempfile.TemporaryDirectory(prefix="gutengraph-bench-") as home, listening(Console()):
        text = Bench(Path(home), mirror).memory(mirror_books(mirror), most=most)
    write("embedding", "Memory from one book to forty", text, into="embedding_memory")


if __name__ == "__main__":
    main()
