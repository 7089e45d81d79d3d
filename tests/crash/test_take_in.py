"""A pass dies at each transaction of taking in and dealing; no row is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from piecework.config import sources
from piecework.engine import plan, take_in
from piecework.store import dealt_items, source
from piecework.store.database import Store, writing
from tests.growing_campaign import Growing, growing, names


class _Died(BaseException):
    """The process is gone; no handler of the code may catch it."""


def _deadly(at: int, *, commits: bool) -> object:
    """Return a `writing` that dies in its n-th use, before or after the commit."""
    used = [0]

    @contextmanager
    def dying(store: Store) -> Iterator[None]:
        used[0] += 1
        with writing(store):
            yield
            if used[0] == at and not commits:
                raise _Died
        if used[0] == at:
            raise _Died

    return dying


def _dies(campaign: Growing, monkeypatch: pytest.MonkeyPatch, at: int, *, commits: bool) -> bool:
    """Make a pass that dies there; return whether it got that far."""
    deadly = _deadly(at, commits=commits)
    with monkeypatch.context() as patched:
        patched.setattr(take_in, "writing", deadly)
        patched.setattr(plan, "writing", deadly)
        try:
            campaign.advance()
        except _Died:
            return True
    return False


@pytest.mark.full
@pytest.mark.parametrize("commits", [False, True])
def test_each_row_is_dealt_once_wherever_a_pass_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, commits: bool
) -> None:
    """Chunks of two rows, and batches of four."""
    monkeypatch.setattr(sources, "CHUNK", 2)
    first = last = 0
    deaths = 0
    with growing(tmp_path, []) as campaign:
        for at in range(1, 20):
            first, last = last + 1, last + 6
            campaign.append(*names(first, last))
            died = _dies(campaign, monkeypatch, at, commits=commits)
            deaths += died
            campaign.advance()
            campaign.finish()
            if not died:
                break
        campaign.move(hours=25)
        campaign.finish()
        assert deaths >= 5  # three chunks, the watermark, the deal
        assert campaign.shown() == names(1, last)
        known = source.reading(campaign.run.store)
        assert known.fault == ""
        assert known.began_at is not None
        days = dealt_items.days(campaign.run.store, since=known.began_at)
        assert sum(arrived for _, arrived, _ in days) == last
        assert sum(dealt for _, _, dealt in days) == last
