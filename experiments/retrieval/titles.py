"""Whether a passage is found better where its book's title and its chapter's are embedded with it.

    python -m experiments.retrieval.titles GOLD_DIR [--book 84 --book 120 …]

Cuts the bodies of a built library (GUTENGRAPH_HOME) once, with room left for a head, embeds every passage in each form
and asks the gold questions, over all these books at once. Only the text that is embedded differs: full text is searched
in the passages themselves. What is measured is kept in `titles.json` beside this file, so that a run that was stopped
goes on with the next form; the table stands in `results.md`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from experiments.retrieval.bench import Asked, found_by, questions, table_scores
from experiments.retrieval.report import write_results
from gutengraph_assets.text.chunking import Chunk, chunk_body, chunk_table
from gutengraph_core.embedding.protocol import Tokenizer
from gutengraph_core.files import write_json
from gutengraph_core.library import BookRecord, Library
from gutengraph_core.settings import load_settings
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.brains import Brains

HERE = Path(__file__).parent
HEAD_TOKENS = 30
"""The longest head; what is longer is cut. The passages are so much shorter than the embedder takes, in every form."""

Head = Callable[[BookRecord, str], str]
FORMS: dict[str, Head] = {
    "the passage alone": lambda record, chapter: "",
    "Title — Chapter": lambda record, chapter: " — ".join(part for part in (record.title, chapter) if part),
}


@click.command()
@click.argument("gold_dir", type=click.Path(exists=True, path_type=Path))
@click.option("--book", "books", type=int, multiple=True, help="Only these; default: all that are built.")
def titles(gold_dir: Path, books: tuple[int, ...]) -> None:
    """Measure every form that has not been measured yet, and write the table."""
    here = Brains(load_settings())
    chosen = books or tuple(here.table.books())
    path = HERE / "titles.json"
    document: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    size = here.embedder.tokenizer.limit - HEAD_TOKENS
    key = {"embedder": str(here.embedder.identity), "books": list(chosen), "tokens": size}
    if {name: document.get(name) for name in key} != key:
        document = {**key, "rows": {}}
    missing = [form for form in FORMS if form not in document["rows"]]
    if missing:
        asked = questions(here, gold_dir, chosen)
        document |= {"questions": len(asked), "date": time.strftime("%Y-%m-%d")}
        cut = {book: _cut(here, book, size) for book in chosen}
        for form in missing:
            document["rows"][form] = _measured(here, cut, FORMS[form], asked)
            write_json(path, document)
            click.echo(f"{form}: {json.dumps(document['rows'][form])}", err=True)
    click.echo(write_results())


def _cut(here: Brains, book: int, size: int) -> list[Chunk]:
    settings, record = here.settings, here.library.record(book)
    return chunk_body(
        here.library.body(book),
        record.chapters,
        here.embedder.tokenizer,
        target_tokens=size,
        overlap=settings.chunk_overlap,
    )


def _measured(
    here: Brains, cut: dict[int, list[Chunk]], head: Head, asked: Sequence[Asked]
) -> dict[str, Any]:
    seconds, longest = 0.0, 0
    with tempfile.TemporaryDirectory(prefix="gutengraph-titles-") as folder:
        table = ChunkTable.open(Library(Path(folder)), here.embedder.identity, create=True)
        for book, chunks in cut.items():
            record, body = here.library.record(book), here.library.body(book)
            told = {c.index: " ".join(c.title.split()) for c in record.chapters}
            texts = [
                _headed(
                    head(record, told[chunk.chapter]), body[chunk.start : chunk.end], here.embedder.tokenizer
                )
                for chunk in chunks
            ]
            longest = max(longest, *here.embedder.tokenizer.counts(texts))
            began = time.monotonic()
            vectors = here.embedder.embed_documents(texts)
            seconds += time.monotonic() - began
            table.replace_book(book, chunk_table(record, body, chunks), vectors)
        figures = table_scores(table, asked)
        return {
            **figures,
            "chunks": table.count(),
            "longest": longest,
            "embedding_s": round(seconds, 1),
            "found": found_by(table, asked),
        }


def _headed(head: str, text: str, tokenizer: Tokenizer) -> str:
    """The text under its head, of which no more than HEAD_TOKENS are kept."""
    words = head.split()
    while words and tokenizer.counts([" ".join(words)])[0] > HEAD_TOKENS - 1:
        words.pop()
    return f"{' '.join(words)}\n{text}" if words else text


if __name__ == "__main__":
    titles()
