"""The arc of a book: numbers that hold, and a picture that any book gets, however odd."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gutengraph_assets.arcs import Arc, draw_arcs, main_directions, measure_arc
from gutengraph_assets.sentiment import GLAD, SAD, embedding_sentiment, lexicon_sentiment, smooth
from gutengraph_core.embedding.protocol import EmbeddingIdentity, Matrix
from gutengraph_core.errors import DataFolderError, NotBuilt
from gutengraph_core.library import Chapter
from gutengraph_core.tables import CHUNKS

PNG = b"\x89PNG\r\n\x1a\n"
D = 16


class Poles:
    """Puts glad sentences at one end of an axis and all else at the other."""

    identity = EmbeddingIdentity("poles", "r", D, "none")
    tokenizer = None

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        vectors = np.zeros((len(texts), D), dtype=np.float32)
        vectors[:, 0] = [1.0 if text in GLAD else -1.0 for text in texts]
        return vectors

    def embed_query(self, text: str) -> Matrix:
        return self.embed_documents([text])[0]


def book(n: int, *, chapters: int = 5) -> tuple[pa.Table, Matrix]:
    rows = [
        {
            "id": f"7:{i:06d}",
            "gutenberg_id": 7,
            "chunk_index": i,
            "chapter": 1 + i * chapters // max(n, 1),
            "start": 10 * i,
            "end": 10 * i + 10,
            "text": "She was happy. All was well." if i % 3 else "He wept. It was a dreadful loss.",
            "title": "The Ferry",
            "authors": [],
            "subjects": [],
            "kind": "fiction",
            "token_count": 6,
        }
        for i in range(n)
    ]
    steps = np.random.default_rng(4).normal(size=(n, D)).cumsum(axis=0) + 5
    vectors = (steps / np.linalg.norm(steps, axis=1, keepdims=True)).astype(np.float32) if n else steps
    return pa.Table.from_pylist(rows, schema=CHUNKS), vectors


def draw(path: Path, n: int = 60, *, title: str = "The Ferry", chapters: int = 5) -> dict[str, Any]:
    chunks, vectors = book(n, chapters=chapters)
    titles = [Chapter(index=2, title="Across", start=0, end=1)]
    return draw_arcs(chunks, vectors, path, title, embedder=Poles(), chapters=titles)


def test_a_picture_and_what_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "books" / "7" / "arcs.png"
    shown = draw(path)
    data = path.read_bytes()
    assert data.startswith(PNG)
    assert len(data) > 30_000
    assert json.loads(json.dumps(shown)) == shown
    assert [point["chunk_id"] for point in shown["chunks"]] == [f"7:{i:06d}" for i in range(60)]
    assert [point["start"] for point in shown["chunks"]] == [10 * i for i in range(60)]
    assert [mark["chapter"] for mark in shown["chapters"]] == [1, 2, 3, 4, 5]
    assert [mark["chunk"] for mark in shown["chapters"]] == [0, 12, 24, 36, 48]
    for mark in shown["chapters"]:
        assert shown["chunks"][mark["chunk"]]["chapter"] == mark["chapter"]
        assert shown["chunks"][mark["chunk"]]["start"] == mark["start"]
    assert shown["chapters"][1]["title"] == "Across"
    # Nothing but the picture.
    assert list(path.parent.iterdir()) == [path]


def test_the_same_book_gives_the_same_bytes(tmp_path: Path) -> None:
    draw(tmp_path / "a.png")
    draw(tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_the_shortest_books(tmp_path: Path, n: int) -> None:
    shown = draw(tmp_path / "arcs.png", n)
    assert len(shown["chunks"]) == n
    numbers = [[p[name] for name in ("x", "y", "lexicon", "embedding")] for p in shown["chunks"]]
    assert np.isfinite(numbers).all()


def test_three_hundred_chapters_and_a_title_full_of_signs(tmp_path: Path) -> None:
    title = "A $5 _Book_ of \\frac{x} & <b>Signs</b>: " + "being a very long title indeed, " * 9
    shown = draw(tmp_path / "arcs.png", 600, title=title, chapters=300)
    assert len(shown["chapters"]) == 300


def test_a_book_that_says_one_thing_over_and_over(tmp_path: Path) -> None:
    chunks, _ = book(20, chapters=1)
    vectors = np.full((20, D), 0.25, dtype=np.float32)
    shown = draw_arcs(chunks, vectors, tmp_path / "arcs.png", "Echo", embedder=Poles())
    assert shown["explained"] == [0.0, 0.0]
    assert (tmp_path / "arcs.png").read_bytes().startswith(PNG)


def test_nothing_to_draw_and_nowhere_to_draw_it(tmp_path: Path) -> None:
    with pytest.raises(NotBuilt, match="no passages"):
        draw(tmp_path / "arcs.png", 0)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderError, match="cannot be written"):
        draw(tmp_path / "file" / "arcs.png", 5)


def test_a_picture_that_stands_survives_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    path = tmp_path / "arcs.png"
    draw(path, 5)
    before = path.read_bytes()

    def fail(self: Figure, target: Path, **kwargs: object) -> None:
        Path(target).write_bytes(b"half a pict")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(DataFolderError, match="disk is full"):
        draw(path, 9)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_no_global_state_of_matplotlib(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\n"
        "import test_arcs as t\n"
        "assert 'matplotlib' not in sys.modules\n"
        f"t.draw(Path({str(tmp_path / 'arcs.png')!r}), 5)\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_main_directions_are_the_principal_components() -> None:
    from sklearn.decomposition import PCA

    vectors = book(80)[1]
    points, explained = main_directions(vectors)
    reference = PCA(n_components=2, svd_solver="full").fit(vectors.astype(np.float64))
    np.testing.assert_allclose(np.abs(points), np.abs(reference.transform(vectors)), atol=1e-6)
    np.testing.assert_allclose(explained, reference.explained_variance_ratio_, atol=1e-6)
    # A mirrored book is drawn the same way round.
    np.testing.assert_allclose(main_directions(-vectors)[0], points, atol=1e-6)
    assert (points[:4].mean(axis=0) <= 0).all()


def test_smoothing_keeps_a_constant_and_the_order_and_does_not_sag_at_the_ends() -> None:
    np.testing.assert_allclose(smooth(np.full(40, 3.0), width=5), 3.0)
    ramp = smooth(np.arange(100.0), width=4)
    assert (np.diff(ramp) > 0).all()
    np.testing.assert_allclose(ramp[20:80], np.arange(20, 80), atol=1e-9)
    assert smooth(np.random.default_rng(1).normal(size=(500, 2)), width=10).std() < 0.4
    assert smooth(np.array([2.0]), width=3).tolist() == [2.0]


def test_the_lexicon_reads_sentence_by_sentence() -> None:
    glad, sad, mixed = lexicon_sentiment(
        [
            "They were happy.\nIt was _wonderful_.",
            "He was miserable. It was a horrible death.",
            "They were happy. It was a horrible death.",
        ]
    )
    assert glad > mixed > sad
    assert -1 <= sad < 0 < glad <= 1
    assert lexicon_sentiment(["", "...", "1851"]).tolist() == [0, 0, 0]


def test_the_axis_runs_from_sad_to_glad() -> None:
    poles = Poles()
    ends = poles.embed_documents([GLAD[0], SAD[0]])
    np.testing.assert_allclose(embedding_sentiment(ends, poles), [1, -1])
    np.testing.assert_allclose(embedding_sentiment(ends.mean(axis=0, keepdims=True), poles), [0])


def test_chapter_starts() -> None:
    chunks, vectors = book(6, chapters=3)
    arc = measure_arc(chunks, vectors, embedder=Poles())
    assert arc.chapter_starts == [0, 2, 4]
    nothing = np.zeros((0, 2))
    assert Arc([], nothing, nothing, nothing[:, 0], nothing[:, 0], (0, 0)).chapter_starts == []
