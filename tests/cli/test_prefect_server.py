"""Prefect's temporary server, as far as a command sees to it itself."""

import sys

import pytest

from cli.prefect_server import TemporaryServer
from domain.errors import PieceworkError


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is started as Python ends at once."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setenv("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "30")


def test_a_server_that_ends_at_once_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Instead of the flow, and without waiting for what cannot come."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with (
        pytest.raises(PieceworkError, match="ended as it began"),
        TemporaryServer().in_use(),
    ):
        raise AssertionError("the flow began")


def test_a_server_of_the_user_s_is_used_and_none_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was started here would have ended, and be complained of."""
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    with TemporaryServer().in_use():
        pass
