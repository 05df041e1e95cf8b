"""`kill -9` of a run and of everything under `dagster dev`, in the middle of it; `make soak` does it forty times, at
any moment."""

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


@pytest.mark.parametrize(("target", "once"), [("run", "chunks"), ("everything", "embeddings_table")])
def test_killed_recovered_and_the_same(daemon: Daemon, target: str, once: str) -> None:
    done = daemon.round(1, target, once=once)
    assert any("Its build was killed" in said for said in done.recovered), done
    if target == "everything":  # of a single run Dagster's own server may have seen the death first
        assert any("Marked failed" in said for said in done.recovered), done
