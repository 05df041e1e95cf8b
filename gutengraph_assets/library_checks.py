"""Checks of what is made once for the whole library."""

import dagster as dg

from gutengraph_assets.assets.graph import merged_graph
from gutengraph_assets.check_frame import ERROR, WARN, Verdict, result_of
from gutengraph_assets.resources import GutenGraph
from gutengraph_core.errors import DataFolderError
from gutengraph_core.filesystem import check_data_folder
from gutengraph_core.graph import versions
from gutengraph_core.graph.schema import LABELS, NOTIONS
from gutengraph_core.graph.stage import is_complete

SHOWN = 10
"""Books named in a check."""


@dg.asset_check(asset=merged_graph, name="up_to_date")
def up_to_date(gutengraph: GutenGraph) -> dg.AssetCheckResult:
    """The published graph was made from the books' graphs as they lie there now."""
    manifest = versions.require(gutengraph.library).manifest()
    complete = {r.id: r.graph_sha256 for r in gutengraph.library.records() if is_complete(r)}
    left_out = {left.book for left in manifest.left_out}
    behind = [b for b, files in complete.items() if manifest.books.get(b) != files and b not in left_out]
    gone = [b for b in manifest.books if b not in complete]
    text = f"{len(manifest.books)} books in it"
    if behind:
        text += f"; built since: {', '.join(map(str, behind[:SHOWN]))}"
    if gone:
        text += f"; no longer there: {', '.join(map(str, gone[:SHOWN]))}"
    return result_of(
        Verdict(not behind and not gone, f"{text}.", {"behind": len(behind), "gone": len(gone)}), WARN
    )


@dg.asset_check(asset=merged_graph, name="merged_counts")
def merged_counts(gutengraph: GutenGraph) -> dg.AssetCheckResult:
    """The published graph holds every complete book, and as many nodes and relations as the books' files
    together."""
    manifest = versions.require(gutengraph.library).manifest()
    numbers = _sums(gutengraph, list(manifest.books))
    stored = {
        "nodes": sum(manifest.counts.get(label, 0) for label in (*LABELS, *NOTIONS)),
        "relations": manifest.counts.get("RELATED_TO", 0) + manifest.counts.get("INTERACTS_WITH", 0),
        "books": manifest.counts.get("Book", 0),
    }
    damaged = [left.reason for left in manifest.left_out if left.damaged]
    return result_of(
        Verdict(
            stored == numbers and not damaged,
            f"{stored['books']} books, {stored['nodes']} nodes, {stored['relations']} relations; the books' "
            f"files hold {numbers['nodes']} and {numbers['relations']}. "
            f"{len(damaged)} damaged books were left out." + (f" {damaged[0]}" if damaged else ""),
            {f"graph_{k}": v for k, v in stored.items()} | {f"files_{k}": v for k, v in numbers.items()},
        ),
        ERROR,
    )


def _sums(gutengraph: GutenGraph, members: list[int]) -> dict[str, int]:
    """Rows as the Parquet files' own footers give them."""
    import pyarrow.parquet as pq

    def rows(book: int, name: str) -> int:
        return int(pq.read_metadata(gutengraph.library.path(book, f"graph/{name}.parquet")).num_rows)

    return {
        "nodes": sum(rows(book, "nodes") for book in members),
        "relations": sum(rows(book, "edges") for book in members),
        "books": len(members),
    }


@dg.asset_check(asset=merged_graph, name="file_system")
def file_system(gutengraph: GutenGraph) -> dg.AssetCheckResult:
    """The data folder lies on a file system that maps files into memory, which both stores need."""
    home = gutengraph.library.home
    try:
        mount = check_data_folder(home)
    except DataFolderError as error:
        return result_of(Verdict(False, str(error)), ERROR)
    kind = mount.kind if mount is not None else "unknown"
    return result_of(Verdict(True, f"{home} lies on {kind} and maps files.", {"kind": kind}), ERROR)
