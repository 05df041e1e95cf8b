"""`kill -9` of a run and of everything under `dagster dev`, with fixed seeds; `make soak` does it forty times."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kills import Daemon


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path_factory.mktemp("kills"))
    try:
        yield daemon
    finally:
        daemon.close()


@pytest.mark.parametrize(("seed", "target"), [(9, "run"), (5, "everything")])
def test_killed_recovered_and_the_same(daemon: Daemon, seed: int, target: str) -> None:
    done = daemon.round(seed, target)
    assert any("Marked failed" in said for said in done.recovered), done
