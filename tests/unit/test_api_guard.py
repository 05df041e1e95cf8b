"""Who may ask, under which name, and how often."""

from __future__ import annotations

import pytest

from gutengraph_core.errors import SettingsError
from gutengraph_core.settings import Settings
from gutengraph_query.api.guard import Rates, check_address, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_needs_no_token(host: str) -> None:
    check_address(Settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "books.example", ""])
def test_every_other_address_needs_one(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(SettingsError, match="GUTENGRAPH_API_TOKEN"):
        check_address(Settings(host=host))
    check_address(Settings(host=host, api_token="a long random word"))


def test_the_token_is_a_secret() -> None:
    assert "hunter" not in repr(Settings(api_token="hunter22"))


def test_a_client_that_asks_too_often_waits_and_others_do_not() -> None:
    now = [0.0]
    rates = Rates(600, clock=lambda: now[0])
    assert all(rates.wait("a") == 0 for _ in range(60))
    assert rates.wait("a") == pytest.approx(0.1)
    assert rates.wait("b") == 0
    now[0] += 1.0
    assert sum(rates.wait("a") == 0 for _ in range(20)) == 10


def test_clients_are_not_remembered_without_end() -> None:
    rates = Rates(600)
    for n in range(20_000):
        rates.wait(str(n))
    assert len(rates._buckets) <= 10_000
