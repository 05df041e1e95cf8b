"""Checks of what the assets made, each with the numbers that decided it. Rates come from the ledger and the
records.

Blocking where later work would be wrong: nothing is made from it then, and the book is marked as failed.
"""

import math

from gutengraph_assets.assets.extraction import filtered_entities, window_names
from gutengraph_assets.assets.graph import enriched_graph
from gutengraph_assets.assets.library import chunks
from gutengraph_assets.assets.metadata import markdown_table
from gutengraph_assets.assets.vectors import embeddings_table
from gutengraph_assets.check_frame import WARN, Verdict, book_check
from gutengraph_assets.drift import drifted, measured
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP
from gutengraph_assets.extraction.reading.book import steps_read
from gutengraph_assets.reply_rates import PROBLEMS_SHOWN, cut_replies, grounded, parse_fails
from gutengraph_assets.resources import GutenGraph
from gutengraph_assets.status import language_reason, parked_reason
from gutengraph_core.files import read_table
from gutengraph_core.graph.schema import NOTIONS
from gutengraph_core.names import key, squeeze
from gutengraph_core.vectors import ChunkTable

# --- the library and its vectors ---


@book_check(chunks, blocking=True)
def chunk_limit(book: int, gutengraph: GutenGraph) -> Verdict:
    """No passage has more tokens than the embedding model reads: the rest of it would have no vector."""
    counts = read_table(gutengraph.library.path(book, "chunks.parquet"))["token_count"].to_pylist()
    limit = gutengraph.models.tokenizer.limit
    over = sum(count > limit for count in counts)
    longest = max(counts, default=0)
    return Verdict(
        bool(counts) and over == 0,
        f"{len(counts)} passages, the longest of {longest} tokens, {over} over the limit of {limit}.",
        {"passages": len(counts), "longest_tokens": longest, "limit_tokens": limit, "over": over},
    )


@book_check(embeddings_table, blocking=True)
def embedder_identity(book: int, gutengraph: GutenGraph) -> Verdict:
    """The book's vectors were made by the embedding model that is configured, and so was the table."""
    made, configured = gutengraph.library.record(book).embedder, str(gutengraph.models.embedder.identity)
    stored = str(ChunkTable.open(gutengraph.library, None).identity)
    return Verdict(
        made == configured == stored,
        f"The book's vectors are {made or 'unnamed'}'s, the table {stored}'s, configured is {configured}.",
        {"book": made, "table": stored, "configured": configured},
    )


@book_check(embeddings_table, blocking=True)
def vectors(book: int, gutengraph: GutenGraph) -> Verdict:
    """One vector a passage, of the model's dimension and of length 1."""
    import numpy as np

    passages = gutengraph.library.record(book).counts.get("chunks", 0)
    dimension = gutengraph.models.embedder.identity.dimension
    _, found = ChunkTable.open(gutengraph.library, None).rows(book)
    norms = np.linalg.norm(found, axis=1) if len(found) else np.zeros(0)
    off = float(np.abs(norms - 1).max()) if len(found) else math.nan
    tolerance = gutengraph.settings.norm_tolerance
    return Verdict(
        len(found) == passages and found.shape[1:] == (dimension,) and off <= tolerance,
        f"{len(found)} vectors for {passages} passages, of {found.shape[1]} dimensions ({dimension} wanted), "
        f"lengths at most {off:.1e} from 1 ({tolerance:g} allowed).",
        {"rows": len(found), "passages": passages, "dimension": dimension, "norm_off_by": off},
    )


# --- extraction ---


def _ledger(book: int, gutengraph: GutenGraph) -> Ledger:
    return Ledger(gutengraph.library.path(book, "ledger.jsonl"), book=book)


def _parked(book: int, gutengraph: GutenGraph) -> bool:
    return bool(parked_reason(gutengraph.library.record(book)))


NOTHING_ASKED = Verdict(True, "The book is parked; no model was asked.")


@book_check(window_names, severity=WARN)
def language(book: int, gutengraph: GutenGraph) -> Verdict:
    """The book is in a language in which names and relations are found; else it is parked."""
    record = gutengraph.library.record(book)
    reason = language_reason(record)
    if reason and record.forced:
        reason += " It is extracted all the same: it was built with --force."
    return Verdict(
        not reason, reason or f"Its language is '{record.language}'.", {"language": record.language}
    )


@book_check(window_names, severity=WARN)
def yield_gate(book: int, gutengraph: GutenGraph) -> Verdict:
    """The pilot, a few windows spread over the book, found enough names to go on; else the book is parked."""
    record, settings = gutengraph.library.record(book), gutengraph.settings
    windows, names = record.counts.get("pilot_windows", 0), record.counts.get("pilot_names", 0)
    numbers = {"windows": windows, "names": names, "names_a_window_wanted": settings.pilot_min_names}
    if record.gate:
        forced = " It is extracted all the same: it was built with --force." if record.forced else ""
        return Verdict(False, record.gate + forced, numbers)
    if not windows:
        return Verdict(True, "There was no pilot: a short book, a parked or a forced one.", numbers)
    return Verdict(True, f"{names} names in {windows} windows of the pilot.", numbers)


@book_check(window_names, blocking=True)
def llm_identity(book: int, gutengraph: GutenGraph) -> Verdict:
    """The names were typed by the model that is configured, as its server itself says."""
    if _parked(book, gutengraph):
        return NOTHING_ASKED
    made, served = gutengraph.library.record(book).llm, str(gutengraph.models.llm.identity)
    return Verdict(
        made == served,
        f"Names by {made or 'an unnamed model'}; served is {served}.",
        {"made": made, "served": served},
    )


@book_check(window_names)
def parse_fail_rate(book: int, gutengraph: GutenGraph) -> Verdict:
    """Few of the model's replies could not be read. A failed window is no empty one: it is asked again next
    time."""
    if _parked(book, gutengraph):
        return NOTHING_ASKED
    return parse_fails(_ledger(book, gutengraph), [STEP], most=gutengraph.settings.max_parse_fail_rate)


@book_check(window_names)
def truncation_rate(book: int, gutengraph: GutenGraph) -> Verdict:
    """Few of the model's replies were cut by the cap: what comes after the cut is lost."""
    if _parked(book, gutengraph):
        return NOTHING_ASKED
    return cut_replies(_ledger(book, gutengraph), [STEP], most=gutengraph.settings.max_truncation_rate)


@book_check(window_names)
def name_grounding(book: int, gutengraph: GutenGraph) -> Verdict:
    """Most of what the model named stands in the text. What does not is dropped, and counted here."""
    if _parked(book, gutengraph):
        return NOTHING_ASKED
    least = gutengraph.settings.min_grounding_rate
    return grounded(_ledger(book, gutengraph), [STEP], what="names", least=least)


@book_check(filtered_entities)
def filter_yield(book: int, gutengraph: GutenGraph) -> Verdict:
    """The filter left a cast in a work of fiction, and did not drop nearly everybody (of a few, all may go)."""
    record = gutengraph.library.record(book)
    if parked_reason(record):
        return NOTHING_ASKED
    cast, dropped = record.counts.get("cast", 0), record.counts.get("dropped", 0)
    persons = record.counts.get("persons", 0)
    rate = dropped / persons if persons else 0.0
    least = gutengraph.settings.min_cast if record.kind == "fiction" else 0
    most, enough = gutengraph.settings.max_drop_rate, gutengraph.settings.min_persons
    allowed = f"{most:.0%} allowed" if persons >= enough else f"of under {enough} no share is judged"
    return Verdict(
        cast >= least and (rate <= most or persons < enough),
        f"{cast} of {persons} persons are cast ({least} wanted in {record.kind}), {dropped} were dropped "
        f"({rate:.0%}, {allowed}).",
        {"persons": persons, "cast": cast, "dropped": dropped, "drop_rate": rate},
    )


# --- the reading by an instruct model ---


def _steps_read(book: int, gutengraph: GutenGraph) -> tuple[str, ...]:
    """None where the book is parked, is non-fiction, or the model follows no instructions."""
    if _parked(book, gutengraph):
        return ()
    return steps_read(gutengraph.models.llm, gutengraph.settings, gutengraph.library.record(book).kind)


NOBODY_READ = Verdict(True, "No instruct model reads the book; its themes come from its passages' vectors.")


@book_check(enriched_graph)
def reading_parse_fail_rate(book: int, gutengraph: GutenGraph) -> Verdict:
    """Few of the replies on the cast and on the chapters could not be read. Where none of the chapters' could, themes
    come from the passages' vectors instead, and events from rules alone."""
    if not (steps := _steps_read(book, gutengraph)):
        return NOBODY_READ
    return parse_fails(_ledger(book, gutengraph), steps, most=gutengraph.settings.max_parse_fail_rate)


@book_check(enriched_graph)
def reading_truncation_rate(book: int, gutengraph: GutenGraph) -> Verdict:
    """Few of the replies on the cast and on the chapters were cut by the cap."""
    if not (steps := _steps_read(book, gutengraph)):
        return NOBODY_READ
    return cut_replies(_ledger(book, gutengraph), steps, most=gutengraph.settings.max_truncation_rate)


@book_check(enriched_graph)
def reading_grounding(book: int, gutengraph: GutenGraph) -> Verdict:
    """Most quotes that the model gave for what it says of the cast and the chapters stand in the text."""
    if not (steps := _steps_read(book, gutengraph)):
        return NOBODY_READ
    least = gutengraph.settings.min_grounding_rate
    return grounded(_ledger(book, gutengraph), steps, what="quotes", least=least)


# --- graphs ---


@book_check(enriched_graph, blocking=True)
def grounding(book: int, gutengraph: GutenGraph) -> Verdict:
    """Every node has a mention and every relation a quote, and each stands in the body where it says; themes and
    atmospheres rest on whole passages."""
    library = gutengraph.library
    body = library.body(book)
    nodes, edges, evidence = (
        read_table(library.path(book, f"graph/{name}.parquet")).to_pylist()
        for name in ("nodes", "edges", "evidence")
    )
    mentioned = {row["entity"] for row in evidence}
    without = [node["name"] for node in nodes if node["id"] not in mentioned]
    notions = {node["id"] for node in nodes if node["label"] in NOTIONS}
    misplaced = [
        e["surface"]
        for e in evidence
        if e["entity"] not in notions and key(body[e["start"] : e["end"]]) != key(e["surface"])
    ]
    if notions:
        chunks = read_table(library.path(book, "chunks.parquet")).select(["id", "start", "end"]).to_pylist()
        passages = {(row["id"], row["start"], row["end"]) for row in chunks}
        misplaced += [
            f"{e['entity']} in {e['chunk_id']}"
            for e in evidence
            if e["entity"] in notions and (e["chunk_id"], e["start"], e["end"]) not in passages
        ]
    unquoted = [
        e["quote"] for e in edges if not e["quote"] or squeeze(body[e["start"] : e["end"]]) != e["quote"]
    ]
    bad = [*without, *misplaced, *unquoted]
    return Verdict(
        not bad,
        f"{len(nodes)} nodes ({len(without)} without a mention), {len(evidence)} mentions ({len(misplaced)} "
        f"not in place), {len(edges)} relations ({len(unquoted)} whose quote is not in the text).",
        {
            "nodes": len(nodes),
            "nodes_without_mention": len(without),
            "mentions": len(evidence),
            "mentions_misplaced": len(misplaced),
            "relations": len(edges),
            "relations_unquoted": len(unquoted),
            "examples": markdown_table(("text",), [(text,) for text in bad[:PROBLEMS_SHOWN]]),
        },
    )


@book_check(enriched_graph)
def orphans(book: int, gutengraph: GutenGraph) -> Verdict:
    """No node without relations has the same letters as a connected one: such a twin is one thing under two
    names. Genuine orphans are no fault; they are counted."""
    counts = gutengraph.library.record(book).counts
    twins, genuine = counts.get("orphan_twins", 0), counts.get("orphans", 0)
    return Verdict(
        twins == 0,
        f"{twins} orphans have the letters of a connected name, {genuine} stand alone.",
        {"twins": twins, "orphans": genuine},
    )


@book_check(enriched_graph, severity=WARN)
def drift(book: int, gutengraph: GutenGraph) -> Verdict:
    """Names, relations and the share of untyped relations are near those of the book's last good run. A run that
    drifts is not taken for good; `gutengraph build --force` takes it."""
    library = gutengraph.library
    record = library.record(book)
    if parked_reason(record):
        return NOTHING_ASKED
    now, before = measured(library, book), record.last_good
    found = drifted(before, now, most=gutengraph.settings.max_drift)
    if not before or not found or gutengraph.force:
        library.update(book, last_good=now)
    shown = ", ".join(f"{name} {value:g} (before: {before[name]:g})" for name, value in now.items() if before)
    return Verdict(
        not found or gutengraph.force,
        f"{'; '.join(found)}. {shown}"
        if found
        else shown or "The book's first run: nothing to compare with.",
        {f"now_{k}": v for k, v in now.items()} | {f"before_{k}": v for k, v in before.items()},
    )
