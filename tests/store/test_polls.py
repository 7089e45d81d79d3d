from datetime import UTC, datetime, timedelta
from pathlib import Path

from store.database import Store
from store.polls import LEAST, ask_again_at, asked, next_wait

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def test_a_marketplace_that_was_never_asked_may_be_asked(
    store: Store, tmp_path: Path
) -> None:
    """A fresh store knows of no wait."""
    assert store.path == tmp_path / "piecework.db"
    assert ask_again_at(tmp_path) is None


def test_the_wait_grows_while_nothing_comes_and_is_an_hour_at_most(
    store: Store, tmp_path: Path
) -> None:
    """Three days without news, asked as soon as allowed: under a hundred questions."""
    now, questions = START, 0
    while now < START + timedelta(days=3):
        asked(tmp_path, at=now, came=0)
        questions += 1
        again_at = ask_again_at(tmp_path)
        assert again_at is not None
        assert again_at - now <= timedelta(hours=1)
        now = again_at
    # 1.5 to the tenth is 57 minutes, so ten short waits come before the hours.
    assert questions < 10 + 3 * 24 + 2
    assert store.db.execute("SELECT count(*) FROM polls").fetchone() == (1,)


def test_a_question_is_worth_some_hits() -> None:
    """HITs that end every two minutes are asked for by the handful, not one by one."""
    now, known, wait, questions = 0.0, 0, LEAST, 0
    while now < 24 * 60:
        questions += 1
        came, known = int(now / 2) - known, int(now / 2)
        wait = next_wait(wait, came=came)
        now += wait.total_seconds() / 60
    assert known >= 4 * questions


def test_many_hits_shorten_the_wait_to_a_minute_at_least() -> None:
    """From an hour down: 60 minutes and a half more of each step."""
    wait, steps = timedelta(hours=1), 0
    while wait > LEAST:
        wait, steps = next_wait(wait, came=50), steps + 1
    assert (wait, steps) == (LEAST, 11)
