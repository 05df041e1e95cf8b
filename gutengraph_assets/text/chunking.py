"""Chunks: what is embedded. Cut at the best place that keeps each within the embedding model's limit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from gutengraph_assets.text.sections import Section, split_sections
from gutengraph_assets.text.sentences import sentence_starts
from gutengraph_core.embedding.protocol import Matrix, Tokenizer
from gutengraph_core.library import BookRecord, Chapter

if TYPE_CHECKING:
    import pyarrow as pa

Strategy = Literal["recursive", "paragraph", "sentence", "semantic"]

AROUND = 3
"""Sentences on either side that are compared where a semantic cut is looked for: one says too little."""

SEPARATORS = ("\n\n", "\n", ". ", " ", "")
"""From the best place to cut to the worst; a separator stays with what it ends."""

CHARACTERS_PER_TOKEN = 16
"""A stretch of this many characters counts as a token at least. English has 4.3 characters a token; without
this rule a megabyte without a space, which WordPiece counts as one unknown token, would be one chunk."""


@dataclass(frozen=True)
class Chunk:
    """`body[start:end]`; it may begin with the last words of the chunk before it in the same chapter."""

    index: int
    chapter: int
    start: int
    end: int
    token_count: int


@dataclass(frozen=True)
class _Span:
    """A chunk in the making: `core` is where what is new in it begins."""

    chapter: int
    start: int
    core: int
    end: int


def chunk_body(
    body: str,
    chapters: Sequence[Chapter],
    tokenizer: Tokenizer,
    *,
    target_tokens: int,
    overlap: int,
    strategy: Strategy = "recursive",
    embed: Callable[[Sequence[str]], Matrix] | None = None,
) -> list[Chunk]:
    """Split a body into chunks of at most `target_tokens` tokens, overlap included.

    Strategies say where a chunk that is full is cut:

    - `recursive`: in its second half, at the best of SEPARATORS
    - `paragraph`: at the last border of paragraphs in it, wherever that is
    - `sentence`: at the last border of sentences
    - `semantic`: in its second half, at the border of sentences whose neighbours are least alike; `embed` gives
      their vectors (unit length), and is called once for the sentences of a body

    `target_tokens` is lowered to the tokenizer's limit. No chunk crosses a chapter border; every character is
    in a chunk; neighbours within a chapter share at most `overlap` tokens, whole words and where possible
    whole sentences. The same body gives the same chunks. Tokens are counted once over the body, then again on
    every finished text, and a text that is over after all is cut again.

    Raises ValueError if the overlap is no less than half the target, or `semantic` has no `embed`.
    """
    target = min(target_tokens, tokenizer.limit)
    if not 0 <= overlap < target / 2:
        raise ValueError(f"an overlap of {overlap} tokens does not fit chunks of {target}")
    if strategy == "semantic" and embed is None:
        raise ValueError("semantic chunks need `embed`")
    measure = _Measure(body, tokenizer)
    sections = split_sections(body, chapters)
    likeness = sentence_likeness(body, sections, tokenizer, embed) if strategy == "semantic" and embed else {}
    spans: list[_Span] = []
    for section in sections:
        spans += _chunk_section(
            measure, section, target=target, overlap=overlap, strategy=strategy, likeness=likeness
        )
    counts = tokenizer.counts([body[span.start : span.end] for span in spans])
    chunks: list[Chunk] = []
    for span, count in zip(spans, counts, strict=True):
        for fitting, tokens in _fit(body, span, count, tokenizer, target):
            chunks.append(Chunk(len(chunks), fitting.chapter, fitting.start, fitting.end, tokens))
    return chunks


def chunk_id(book: int, index: int) -> str:
    """The id of a book's chunk, in the table and in the graph."""
    return f"{book}:{index:06d}"


def chunk_table(record: BookRecord, body: str, chunks: Sequence[Chunk]) -> pa.Table:
    """The chunks with what the catalogue says of the book, as a table of `tables.CHUNKS`."""
    import pyarrow as pa

    from gutengraph_core.tables import CHUNKS

    rows = [
        {
            "id": chunk_id(record.id, chunk.index),
            "gutenberg_id": record.id,
            "chunk_index": chunk.index,
            "chapter": chunk.chapter,
            "start": chunk.start,
            "end": chunk.end,
            "text": body[chunk.start : chunk.end],
            "title": record.title,
            "authors": record.authors,
            "subjects": record.subjects,
            "kind": record.kind,
            "token_count": chunk.token_count,
        }
        for chunk in chunks
    ]
    return pa.Table.from_pylist(rows, schema=CHUNKS)


class _Measure:
    """How many tokens a stretch of the body costs, from one pass of the tokenizer over the whole."""

    def __init__(self, body: str, tokenizer: Tokenizer) -> None:
        self.body = body
        self.token_starts = [start for start, _ in tokenizer.offsets(body)]

    def tokens(self, start: int, end: int) -> int:
        starts = self.token_starts
        return bisect_left(starts, end) - bisect_left(starts, start)

    def cost(self, start: int, end: int) -> int:
        return max(self.tokens(start, end), (end - start) // CHARACTERS_PER_TOKEN)


def sentence_likeness(
    body: str, sections: Sequence[Section], tokenizer: Tokenizer, embed: Callable[[Sequence[str]], Matrix]
) -> dict[int, float]:
    """Start of each sentence -> cosine of what goes before (its mean over AROUND sentences) and what comes after."""
    found: dict[int, float] = {}
    spans = [_sentences(body, section.start, section.end) for section in sections]
    texts = [body[a:b] for borders in spans for a, b in pairwise(borders)]
    for i, count in enumerate(tokenizer.counts(texts)):
        if count > tokenizer.limit:  # a sentence longer than the model takes is known by its opening
            texts[i] = texts[i][: tokenizer.offsets(texts[i])[tokenizer.limit // 2][0]]
    vectors = iter(embed(texts))
    for borders in spans:
        matrix = np.stack([next(vectors) for _ in borders[1:]])
        for i in range(1, len(matrix)):
            before, after = matrix[max(0, i - AROUND) : i].mean(axis=0), matrix[i : i + AROUND].mean(axis=0)
            norm = float(np.linalg.norm(before) * np.linalg.norm(after)) or 1.0
            found[borders[i]] = float(before @ after) / norm
    return found


def _sentences(body: str, start: int, end: int) -> list[int]:
    """Borders of the sentences of [start, end), both ends included; a paragraph ends one too."""
    inner = {*sentence_starts(body, start, end), *_borders(body, start, end, "\n\n")[1:-1]}
    return [start, *sorted(place for place in inner if start < place < end), end]


def _sentence_pieces(measure: _Measure, start: int, end: int, *, room: int) -> Iterator[_Piece]:
    """The sentences of [start, end), those that are too long split recursively."""
    for a, b in pairwise(_sentences(measure.body, start, end)):
        for piece in _pieces(measure, a, b, room=room):
            yield replace(piece, rank=0 if piece.start == a else piece.rank + 1)


def _chunk_section(
    measure: _Measure,
    section: Section,
    *,
    target: int,
    overlap: int,
    strategy: Strategy,
    likeness: Mapping[int, float],
) -> Iterator[_Span]:
    # A piece and the overlap before it must fit together.
    split = _pieces if strategy in ("recursive", "paragraph") else _sentence_pieces
    pieces = list(split(measure, section.start, section.end, room=target - overlap))
    start = core = section.start
    first = 0  # the piece at which the chunk in the making has its core
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        fits = index == first or measure.cost(start, piece.end) <= target
        # White space makes no chunk of its own, however much of it there is.
        if fits or measure.body[piece.start : piece.end].isspace():
            index += 1
            continue
        # 0: the last of the best places anywhere in the chunk; else only from this share of it on.
        least = 0 if strategy == "paragraph" else target / 2
        places = _places(measure, pieces, first, index, start=start, least=least)
        if strategy == "semantic":
            cut = min(places, key=lambda i: (pieces[i].rank, likeness.get(pieces[i].start, 1.0), -i))
        else:
            cut = min(places, key=lambda i: (_rank(measure.body, pieces[i]), -i))
        border = pieces[cut].start
        yield _Span(section.chapter, start, core, border)
        start = _overlap_start(measure, core, border, overlap)
        core, first, index = border, cut, cut
    yield _Span(section.chapter, start, core, section.end)


@dataclass(frozen=True)
class _Piece:
    """A stretch that is cut no further. `rank` is that of the separator before it: 0 is the best place."""

    start: int
    end: int
    rank: int


def _pieces(measure: _Measure, start: int, end: int, *, room: int) -> Iterator[_Piece]:
    """The recursive split of [start, end) into pieces of at most `room` tokens."""
    stack = [(start, end, 0, 0)]
    while stack:
        start, end, level, rank = stack.pop()
        if measure.cost(start, end) <= room:
            yield _Piece(start, end, rank)
            continue
        if SEPARATORS[level]:
            borders = _borders(measure.body, start, end, SEPARATORS[level])
            next_level = level + 1
        else:
            borders = _hard_borders(measure, start, end, room)
            if len(borders) == 2:
                yield _Piece(start, end, rank)
                continue
            next_level = level
        parts = [(a, b, next_level, rank if a == start else level) for a, b in pairwise(borders)]
        stack += reversed(parts)


def _borders(body: str, start: int, end: int, separator: str) -> list[int]:
    borders = [start]
    place = body.find(separator, start, end)
    while place != -1:
        after = place + len(separator)
        if after < end:
            borders.append(after)
        place = body.find(separator, after, end)
    return [*borders, end]


def _hard_borders(measure: _Measure, start: int, end: int, room: int) -> list[int]:
    """Where no separator helps: borders of tokens, and of characters within a token too long by itself."""
    starts = measure.token_starts
    borders = [start]
    while measure.cost(borders[-1], end) > room:
        here = borders[-1]
        index = bisect_left(starts, here) + room
        by_tokens = starts[index] if index < len(starts) else end
        by_length = here + room * CHARACTERS_PER_TOKEN
        border = min(by_tokens, by_length)
        if not here < border < end:
            break
        borders.append(border)
    return [*borders, end]


def _places(
    measure: _Measure, pieces: list[_Piece], first: int, overflow: int, *, start: int, least: float
) -> list[int]:
    """The pieces before which a chunk may be cut: the one that does not fit, and those before it as long as what
    is left has `least` tokens, and is more than white space.
    """
    places = [overflow]
    for index in range(overflow - 1, first, -1):
        left = measure.body[start : pieces[index].start]
        if left.isspace() or measure.cost(start, pieces[index].start) < least:
            break
        places.append(index)
    return places


_SENTENCE_CLOSERS = "\"'”’)]_"


def _rank(body: str, piece: _Piece) -> float:
    """How good a place it is: between the ends of two wrapped lines, one at which a sentence ends is better."""
    before = body[max(0, piece.start - 8) : piece.start].rstrip().rstrip(_SENTENCE_CLOSERS)
    return piece.rank - 0.5 if piece.rank == 1 and before.endswith((".", "!", "?")) else piece.rank


def _overlap_start(measure: _Measure, core: int, border: int, overlap: int) -> int:
    """Where the chunk after `border` begins: at a sentence at least half the overlap back, else at a word."""
    if overlap == 0:
        return border
    body, starts = measure.body, measure.token_starts
    after = bisect_left(starts, border)
    reach = [s for s in starts[max(0, after - overlap) : after] if s > core]
    reach = [s for s in reach if (border - s) // CHARACTERS_PER_TOKEN <= overlap]
    words = [s for s in reach if body[s - 1].isspace()] or reach
    if not words:
        return border
    sentences = set(sentence_starts(body, core, border)) | {s for s in words if body[s - 2 : s] == "\n\n"}
    far = [s for s in words if s in sentences and 2 * measure.tokens(s, border) >= overlap]
    return (far or words)[0]


def _fit(
    body: str, span: _Span, count: int, tokenizer: Tokenizer, target: int
) -> Iterator[tuple[_Span, int]]:
    """The span, or its parts if its text alone has more tokens than it had within the body."""
    if count <= target or span.end - span.start <= 1:
        yield span, count
        return
    if span.start < span.core:
        parts = [_Span(span.chapter, span.core, span.core, span.end)]
    else:
        middle = (span.start + span.end) // 2
        space = body.rfind(" ", span.start + 1, middle)
        cut = space + 1 if space != -1 else middle
        parts = [
            _Span(span.chapter, span.start, span.start, cut),
            _Span(span.chapter, cut, cut, span.end),
        ]
    for part in parts:
        again = len(tokenizer.offsets(body[part.start : part.end]))
        yield from _fit(body, part, again, tokenizer, target)
