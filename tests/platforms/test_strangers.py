"""An answer that is not a marketplace's: a sentence, and never an act that was done."""

from collections.abc import Iterator

import pytest

from domain.errors import TransientPlatformError
from domain.ids import AssignmentId
from platforms.mturk import MTurk
from platforms.virtual_clock import VirtualClock
from tests.captive_portal import CaptivePortal, captive_portal


@pytest.fixture
def stranger() -> Iterator[CaptivePortal]:
    """Another program on the port that a marketplace is looked for."""
    with captive_portal("") as portal:
        yield portal


@pytest.mark.parametrize("page", [b"", b"{}", b"[]", b"<html>Hello", b'{"HITs":[]}'])
@pytest.mark.parametrize("status", [200, 302, 403, 404])
def test_what_no_marketplace_said_is_no_answer(
    stranger: CaptivePortal, status: int, page: bytes
) -> None:
    """Neither a yes nor a no; listings are no emptier for it."""
    stranger.status, stranger.page = status, page
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    with pytest.raises(TransientPlatformError, match=f"HTTP {status}.*not a market"):
        platform.approve(AssignmentId("A1"))
    with pytest.raises(TransientPlatformError, match=f"HTTP {status}.*not a market"):
        list(platform.find_hits())


@pytest.mark.parametrize("page", [b"[]", b"<html>Bad gateway"])
def test_a_server_fault_of_a_proxy_is_asked_again(
    stranger: CaptivePortal, page: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy whose marketplace is just being started: tries, then a sentence."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", bool)
    stranger.status, stranger.page = 502, page
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    with pytest.raises(TransientPlatformError, match="busy"):
        platform.approve(AssignmentId("A1"))
    assert stranger.intercepted > 1


@pytest.mark.parametrize(
    "page", [b"", b"{}", b"[]", b"<html>Hello", b'{"now": 5}', b'{"now": "yesterday"}']
)
def test_a_clock_that_is_no_marketplaces_is_said(
    stranger: CaptivePortal, page: bytes
) -> None:
    """A rehearsal that is led to another program says so."""
    stranger.page = page
    clock = VirtualClock(stranger.url)
    with pytest.raises(TransientPlatformError, match="not a marketplace's"):
        clock.now()
