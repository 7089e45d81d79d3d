"""The database file: made once by whichever process comes first, opened by the next."""

from contextlib import closing, suppress
from pathlib import Path

import pytest

from piecework.marketplace.state.storage import Storage
from tests.at_once import PROCESSES, complaints_of_opening


@pytest.mark.full
def test_several_processes_open_a_new_file_at_the_same_instant(tmp_path: Path) -> None:
    """One makes it, the others find it made; none is refused, live or rehearsing."""
    complaints = complaints_of_opening(
        "from piecework.marketplace.state.backend import Backend, Rules",
        "Backend(path, Rules(rehearsal=number % 2 == 0)).close()",
        tmp_path,
    )
    assert complaints == [""] * PROCESSES


@pytest.mark.parametrize("is_grouped", [True, False])
def test_a_transaction_inside_another_is_stored_with_it_or_not_at_all(
    tmp_path: Path, *, is_grouped: bool
) -> None:
    """Whether one of them writes or not."""
    with closing(Storage(tmp_path / "market.db")) as storage:
        storage.share_commits((lambda: None) if is_grouped else None)
        for name in ("kept", "lost"):
            with suppress(ZeroDivisionError), storage.transaction() as conn:
                with storage.transaction():
                    pass
                conn.execute("INSERT INTO settings (key, value) VALUES (?, '')", (name,))
                with storage.transaction() as inner:
                    inner.execute("UPDATE settings SET value = 'inner' WHERE key = ?", (name,))
                if name == "lost":
                    raise ZeroDivisionError
        storage.commit()
        assert storage.value("SELECT value FROM settings WHERE key = 'kept'") == "inner"
        assert storage.value("SELECT 1 FROM settings WHERE key = 'lost'") is None
