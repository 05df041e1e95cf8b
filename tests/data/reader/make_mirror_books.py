"""Write `mirror_books.json`: what the reader makes of every text of a mirror, to be judged by eye.

    python tests/data/reader/make_mirror_books.py MIRROR          write the table
    python tests/data/reader/make_mirror_books.py MIRROR --show   print what has to be read before it is committed:
                                                                   15 first and 8 last lines of each body, chapters

The table holds hashes and short phrases, no book's text.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from gutengraph_assets.gutenberg.catalogue import read_rdf
from gutengraph_assets.gutenberg.reader import ReadBook, read_book

TABLE = Path(__file__).with_name("mirror_books.json")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def number(path: Path) -> int:
    """The book of `cache/epub/84/pg84.txt` or `files/84/old/frank12.txt`."""
    return int(next(part for part in path.parts if part.isdigit()))


def read(mirror: Path, path: str) -> ReadBook:
    """As `acquire` reads it: collected notes stay in non-fiction."""
    book = number(Path(path))
    rdf = mirror / "cache" / "epub" / str(book) / f"pg{book}.rdf"
    kind = read_rdf(rdf.read_bytes(), book).kind if rdf.exists() else "fiction"
    return read_book((mirror / path).read_bytes(), book=book, keep_notes=kind == "non-fiction")


def row(mirror: Path, path: str) -> dict[str, Any]:
    got = read(mirror, path)
    lines = [line for line in got.body.split("\n") if line]
    return {
        "path": path,
        "source_sha256": hashlib.sha256((mirror / path).read_bytes()).hexdigest(),
        "encoding": got.encoding,
        "language": got.language,
        "first": lines[0],
        "first_sha256": digest(lines[0]),
        "last": lines[-1],
        "last_sha256": digest(lines[-1]),
        "chapters": sum(chapter.index > 0 for chapter in got.chapters),
        "parts": len({chapter.part for chapter in got.chapters} - {""}),
        "first_chapter": next((c.title for c in got.chapters if c.index), ""),
        "last_chapter": next((c.title for c in reversed(got.chapters) if c.index), ""),
    }


def texts(mirror: Path) -> list[str]:
    return sorted(str(path.relative_to(mirror)) for path in mirror.rglob("*.txt"))


def show(mirror: Path, path: str) -> None:
    got = read(mirror, path)
    lines = [line for line in got.body.split("\n") if line]
    print(f"===== {path}: {got.encoding}, {got.language}, {got.title!r} by {got.author!r} {got.notes}")
    print("\n".join([*lines[:15], "  …", *lines[-8:]]))
    print("front:", got.front, "back:", got.back)
    for chapter in got.chapters:
        print(f"  {chapter.index:3d} {chapter.end - chapter.start:7d} {chapter.part} | {chapter.title}")


if __name__ == "__main__":
    root = Path(sys.argv[1])
    if "--show" in sys.argv:
        for text in texts(root):
            show(root, text)
    else:
        rows = [row(root, text) for text in texts(root)]
        TABLE.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        print(f"{len(rows)} texts: now read them with --show before you commit.", file=sys.stderr)
