"""Chunks rebuild the body, never exceed the limit, and are the same every time, whatever the text is like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import within

from gutengraph_assets.text.chunking import Chunk, Strategy, chunk_body, chunk_id, chunk_table
from gutengraph_core.embedding import open_tokenizer
from gutengraph_core.embedding.protocol import Matrix, Tokenizer
from gutengraph_core.library import BookRecord, Chapter
from gutengraph_core.settings import Settings
from gutengraph_core.tables import CHUNKS

STORY = """CHAPTER I

The tide was out when Mr. Harrow came down to the quay. He had walked all night from the mill,
and his boots were white with flour and dust.

"You are late," said the ferryman. "She has gone over already."

"Who has?"

"Your sister, sir. Who else?"

CHAPTER II

Nobody had crossed since noon. The rope lay slack upon the shingle; a gull stood on the bollard and
would not be moved for any man.
"""


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return open_tokenizer(Settings())


def chapters_at(body: str, *starts: int) -> list[Chapter]:
    ends = [*starts[1:], len(body)][: len(starts)]
    return [
        Chapter(index=i + 1, title="", start=start, end=end)
        for i, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def check(
    body: str,
    chapters: Sequence[Chapter],
    tokenizer: Tokenizer,
    *,
    target_tokens: int = 300,
    overlap: int = 30,
) -> list[Chunk]:
    """Everything that holds for every text."""
    chunks = chunk_body(body, chapters, tokenizer, target_tokens=target_tokens, overlap=overlap)
    limit = min(target_tokens, tokenizer.limit)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    rebuilt, reached = "", 0
    for chunk in chunks:
        assert chunk.start <= reached < chunk.end, "a gap, or a chunk that adds nothing"
        rebuilt += body[reached : chunk.end]
        reached = chunk.end
    assert rebuilt == body
    for chunk in chunks:
        text = body[chunk.start : chunk.end]
        assert chunk.token_count == len(tokenizer.offsets(text)) <= limit
    for before, after in pairwise(chunks):
        if before.end > after.start:
            shared = body[after.start : before.end]
            assert before.chapter == after.chapter
            assert len(tokenizer.offsets(shared)) <= overlap
    for chapter in chapters:
        assert not any(chunk.start < chapter.start < chunk.end for chunk in chunks), (
            "crosses a chapter border"
        )
    assert chunks == chunk_body(body, chapters, tokenizer, target_tokens=target_tokens, overlap=overlap)
    return chunks


def by_length(texts: Sequence[str]) -> Matrix:
    """Texts of one length are alike, others are not."""
    vectors = np.zeros((len(texts), 7), dtype=np.float32)
    vectors[np.arange(len(texts)), [len(text) % 7 for text in texts]] = 1
    return vectors


TALK = "The tide had turned. The boats lay low. "
LAW = "The deed was void. The heir had sued. "


def test_each_strategy_cuts_where_it_says(tokenizer: Tokenizer) -> None:
    body = f"{TALK * 3}{LAW * 6}\n\n{TALK * 2}"

    def by_subject(texts: Sequence[str]) -> Matrix:
        sea = np.array(["tide" in text or "boats" in text for text in texts])
        return np.stack([sea, ~sea], axis=1).astype(np.float32)

    def first(strategy: Strategy, target: int) -> str:
        chunk = chunk_body(
            body, [], tokenizer, target_tokens=target, overlap=0, strategy=strategy, embed=by_subject
        )[0]
        return body[chunk.start : chunk.end]

    # 30 tokens of talk, 60 of law, and talk again.
    assert first("semantic", 50) == TALK * 3
    assert len(tokenizer.offsets(first("sentence", 50))) > 45
    assert first("sentence", 50).rstrip().endswith(".")
    assert first("paragraph", 100) == f"{TALK * 3}{LAW * 6}\n\n"
    short = f"{TALK}\n\n{LAW * 9}"
    for strategy, whole in (("paragraph", True), ("recursive", False)):
        chunk = chunk_body(short, [], tokenizer, target_tokens=60, overlap=0, strategy=strategy)[0]
        assert (short[: chunk.end] == f"{TALK}\n\n") == whole
    led = f"\n\n\n\n{LAW * 9}"  # white space by itself is no paragraph
    assert (
        chunk_body(led, [], tokenizer, target_tokens=60, overlap=0, strategy="paragraph")[0].token_count > 30
    )
    with pytest.raises(ValueError, match="need `embed`"):
        chunk_body(body, [], tokenizer, target_tokens=50, overlap=0, strategy="semantic")


def test_prose_is_cut_at_paragraphs_and_neighbours_share_a_sentence(tokenizer: Tokenizer) -> None:
    body = STORY
    chapters = chapters_at(body, 0, body.index("CHAPTER II"))
    chunks = check(body, chapters, tokenizer, target_tokens=60, overlap=12)
    texts = [body[c.start : c.end] for c in chunks]
    assert [c.chapter for c in chunks] == sorted(c.chapter for c in chunks)
    assert texts[0].startswith("CHAPTER I\n")
    assert all(text.endswith("\n") for text in texts)
    assert any(text.startswith("CHAPTER II") for text in texts)
    # What the second chunk repeats is whole words from the end of the first.
    shared = texts[1][: chunks[0].end - chunks[1].start]
    assert shared
    assert texts[0].endswith(shared)
    assert body[chunks[1].start - 1].isspace()


def test_a_title_with_a_stop_ends_no_sentence(tokenizer: Tokenizer) -> None:
    body = "He saw Mr. Harrow at the door. " * 40
    chunks = check(body, [], tokenizer, target_tokens=50, overlap=20)
    assert all(body[c.start :].startswith("He saw") for c in chunks)


def test_the_target_is_lowered_to_the_model_limit(tokenizer: Tokenizer) -> None:
    body = "the cat sat on the mat and the dog lay by the fire " * 200
    chunks = check(body, [], tokenizer)
    assert tokenizer.limit == 254
    assert max(c.token_count for c in chunks) > 240


@pytest.mark.parametrize(
    "body",
    [
        "a" * 1_000_000,
        "word " * 200_000,
        "x" * 101 + " " + ("y" * 101 + " ") * 5_000,
        "😀👩‍👩‍👧‍👦🏴‍☠️" * 20_000,
        "\u200b\u200d\ufeff" * 50_000,
        "a\u200bb\u0301" * 30_000,
        "\n" * 100_000,
        " " * 50_000 + "end",
        "漢字仮名交じり文" * 10_000,
        "?!" * 50_000,
        "i̇İſẞ\u0130" * 5_000,
        "\ud7ff\ue000\U0010ffff\x00\x07" * 5_000,
        "a.b" * 30_000,
    ],
    ids=lambda body: ascii(body[:8]),
)
def test_hostile_texts(tokenizer: Tokenizer, body: str) -> None:
    chunks = within(lambda: check(body, [], tokenizer), "cutting it")
    if body.strip("\n \u200b\u200d\ufeff"):
        # A stretch without spaces is one unknown token to WordPiece, and must not be one chunk.
        assert max(c.end - c.start for c in chunks if body[c.start : c.end].strip()) < 60_000


def test_thousands_of_short_chapters(tokenizer: Tokenizer) -> None:
    parts = [f"CHAPTER {i}\n\nIt rained again.\n\n" for i in range(4_000)]
    starts = [0]
    for part in parts[:-1]:
        starts.append(starts[-1] + len(part))
    body = "".join(parts)
    chunks = within(lambda: check(body, chapters_at(body, *starts), tokenizer), "cutting it")
    assert len(chunks) == 4_000


def test_nothing_and_white_space(tokenizer: Tokenizer) -> None:
    assert check("", [], tokenizer) == []
    assert len(check("\n\n  \n", [], tokenizer)) == 1


def test_what_stands_before_the_first_chapter_is_chapter_zero(tokenizer: Tokenizer) -> None:
    body = "A motto.\n\n" + STORY
    chunks = check(body, chapters_at(body, body.index("CHAPTER I")), tokenizer)
    assert [c.chapter for c in chunks][:2] == [0, 1]


def test_overlap_must_leave_room(tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match="overlap of 30"):
        chunk_body("text", [], tokenizer, target_tokens=50, overlap=30)


_TEXT = st.text(
    alphabet=st.one_of(
        st.sampled_from("abc ABC .,!?\n\n\n'\"—_- 1é\u0301\u200b😀漢"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=400,
)


@settings(max_examples=150, deadline=None)
@given(
    pieces=st.lists(_TEXT, min_size=1, max_size=6),
    target=st.integers(4, 60),
    share=st.floats(0, 0.49),
    strategy=st.sampled_from(get_args(Strategy)),
)
def test_any_text(
    tokenizer: Tokenizer, pieces: list[str], target: int, share: float, strategy: Strategy
) -> None:
    starts, place = [], 0
    for piece in pieces:
        starts.append(place)
        place += len(piece)
    body = "".join(pieces)
    kept = sorted({s for s in starts if s < len(body) and not body[s:].isspace()})
    chapters = [c for c in chapters_at(body, *kept) if not body[c.start : c.end].isspace()] if body else []
    how = {"target_tokens": target, "overlap": int(target * share), "strategy": strategy, "embed": by_length}
    chunks = chunk_body(body, chapters, tokenizer, **how)
    assert chunks == chunk_body(body, chapters, tokenizer, **how)
    reached = 0
    for chunk in chunks:
        assert chunk.start <= reached < chunk.end
        assert chunk.token_count == len(tokenizer.offsets(body[chunk.start : chunk.end]))
        # One character can be many tokens; only then may a chunk be over.
        assert chunk.token_count <= target or chunk.end - chunk.start == 1
        reached = chunk.end
    assert reached == len(body)


def test_the_table_repeats_what_the_catalogue_says(tokenizer: Tokenizer) -> None:
    record = BookRecord(
        id=7, title="The Ferry", authors=["A. Penn", "B. Quill"], subjects=["Rivers"], kind="fiction"
    )
    chunks = chunk_body(STORY, [], tokenizer, target_tokens=300, overlap=30)
    table = chunk_table(record, STORY, chunks)
    assert table.schema.equals(CHUNKS)
    first = table.to_pylist()[0]
    assert first["id"] == chunk_id(7, 0) == "7:000000"
    assert first["authors"] == ["A. Penn", "B. Quill"]
    assert first["kind"] == "fiction"
    assert first["text"] == STORY[first["start"] : first["end"]]


class TokensOfContext:
    """A tokenizer that counts more in a short text than within a long one: what the second count is for."""

    limit = 20

    def offsets(self, text: str) -> list[tuple[int, int]]:
        spans = [m.span() for m in re.finditer(r"\S+", text)]
        return spans if len(text) > 500 else [span for span in spans for _ in (0, 1)]

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [len(self.offsets(text)) for text in texts]


def test_a_finished_text_that_is_over_the_limit_is_cut_again() -> None:
    body = "one two three four five six seven eight nine ten " * 30
    check(body, [], TokensOfContext(), overlap=4)
