"""The database file: made once by whichever process comes first, opened by the next."""

from pathlib import Path

import pytest

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
