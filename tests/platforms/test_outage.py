"""A marketplace that is away for a while: waited for once, said once, and gone on."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from piecework.domain.errors import TransientPlatformError
from piecework.platforms import calling
from piecework.platforms.calling import FIRST_SECONDS, Outage
from piecework.platforms.mturk import MTurk
from tests.crash.world import World


class _Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _heard(patience: float = 30) -> tuple[Outage, _Time]:
    time = _Time()
    away = Outage("http://m", patience, now=time)
    away.heard()
    return away, time


def test_patience_is_for_the_outage_and_not_for_each_call() -> None:
    """A call that begins late in an outage has no more time than is left of it."""
    away, time = _heard()
    first: dict[str, object] = {}
    assert away.delay(first, 1) is not None
    time.now = 29.5
    late: dict[str, object] = {}
    assert away.delay(late, 1) == pytest.approx(0.1)
    assert away.delay(late, 9) == pytest.approx(0.5)
    time.now = 30
    assert away.delay(first, 20) is None
    assert away.delay({}, 1) is None
    away.heard()
    assert away.delay({}, 1) is not None


def test_a_call_that_alone_is_never_answered_is_given_up() -> None:
    """Other calls end the outage each time; it has its own thirty seconds."""
    away, time = _heard()
    call: dict[str, object] = {}
    for second in range(30):
        time.now = second
        assert away.delay(call, second + 1) is not None
        away.heard()
    time.now = 30
    assert away.delay(call, 31) is None


def test_an_address_that_was_never_heard_is_given_up_soon() -> None:
    """It may be wrong, and whoever typed it is waiting."""
    time = _Time()
    away = Outage("http://m", 600, now=time)
    assert away.delay({}, 1) is not None
    time.now = FIRST_SECONDS
    assert away.delay({}, 2) is None


def test_waiting_is_said_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    """A reply that was lost and came with the next try is not worth a word."""
    away, time = _heard()
    with caplog.at_level(logging.WARNING):
        away.delay({}, 1)
        away.heard()
        assert not caplog.messages
        for second in range(5):
            time.now = second
            away.delay({}, 1)
        away.heard()
    assert caplog.messages == [
        "http://m does not answer; waiting for at most 29 s",
        "http://m answers again, after 4 s",
    ]


def test_many_calls_wait_together_and_all_go_on(tmp_path: Path) -> None:
    """Twenty-four under way when it dies; botocore alone would give up most of them."""
    world = World(tmp_path)
    with world.marketplace(apart=True):
        turk = MTurk(world.endpoint, access_key="R", secret_key="none")  # noqa: S106
        turk.keeps_apart()
        world.kill()
        back = threading.Timer(1.0, world.mend)
        back.start()
        with ThreadPoolExecutor(24) as pool:
            searches = [pool.submit(lambda: list(turk.find_hits())) for _ in range(96)]
            assert [search.result() for search in searches] == [[]] * 96
        back.join()


def test_an_outage_that_lasts_ends_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever."""
    monkeypatch.setattr(calling, "PATIENCE_SECONDS", 0.3)
    world = World(tmp_path)
    with world.marketplace(apart=True):
        turk = MTurk(world.endpoint, access_key="R", secret_key="none")  # noqa: S106
        turk.keeps_apart()
        world.kill()
        with pytest.raises(TransientPlatformError, match="could not be reached"):
            list(turk.find_hits())
        world.mend()
