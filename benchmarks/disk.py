"""What a library takes on disk against what the check before a run would have asked for.

python -m benchmarks.disk HOME
"""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.results import table, write
from gutengraph_assets.disk import needed_bytes
from gutengraph_core.library import Library
from gutengraph_core.vectors import ChunkTable


def size(folder: Path) -> int:
    """Bytes of the files under a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@click.command()
@click.argument("home", type=click.Path(exists=True, path_type=Path))
def main(home: Path) -> None:
    """Compare."""
    library = Library(home)
    records = list(library.records())
    text = sum(record.source.bytes for record in records if record.source)
    parts = {
        "books/": library.books_dir,
        "cache/": library.cache_dir,
        "lancedb/": library.lancedb_dir,
        "graph/ (two versions)": library.graph_dir,
        "dagster/": library.dagster_dir,
    }
    sizes = {name: size(folder) for name, folder in parts.items()}
    rows = [[name, f"{value / 1e6:.1f} MB", f"{value / text:.1f}"] for name, value in sizes.items()]
    rows.append(["together", f"{sum(sizes.values()) / 1e6:.1f} MB", f"{sum(sizes.values()) / text:.1f}"])
    needed = needed_bytes(records, dimension=ChunkTable.open(library, None).identity.dimension)
    rows.append(["asked for by the check", f"{needed / 1e6:.1f} MB", f"{needed / text:.1f}"])
    write(
        "disk",
        "Disk",
        f"{len(records)} books, {text / 1e6:.1f} MB as fetched.\n\n"
        + table(["", "on disk", "to the text"], rows),
    )


if __name__ == "__main__":
    main()
