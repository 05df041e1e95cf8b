"""Dagster's storage, opened while another process makes its tables."""

from __future__ import annotations

import dagster as dg
import pytest
from sqlalchemy.exc import OperationalError, ProgrammingError

from gutengraph_assets import instance as opened
from gutengraph_core.library import Library


def failing(times: int, error: Exception, calls: list[str]) -> object:
    real = dg.DagsterInstance.from_config

    def made(folder: str) -> dg.DagsterInstance:
        calls.append(folder)
        if len(calls) <= times:
            raise error
        return real(folder)

    return made


def test_tables_that_another_process_is_making_are_waited_for(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    half_made = ProgrammingError("SELECT", {}, Exception("relation does not exist"))
    monkeypatch.setattr(opened, "TABLES_WAIT_S", 0.01)
    monkeypatch.setattr(dg.DagsterInstance, "from_config", failing(2, half_made, calls))
    with opened.open_instance(library) as instance:
        assert instance.get_runs() == []
    assert len(calls) == 3


def test_and_nothing_else_is(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    gone = OperationalError("SELECT", {}, Exception("no such server"))
    monkeypatch.setattr(dg.DagsterInstance, "from_config", failing(9, gone, calls))
    with pytest.raises(OperationalError), opened.open_instance(library):
        pass
    assert len(calls) == 1
