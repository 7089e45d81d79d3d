"""Several processes may open a brand-new store at the same instant."""

from pathlib import Path

import pytest

from tests.at_once import PROCESSES, complaints_of_opening


@pytest.mark.full
def test_a_new_store_is_made_once_by_whoever_comes_first(tmp_path: Path) -> None:
    """The others find it created; all succeed."""
    complaints = complaints_of_opening(
        "from piecework.store.database import open_store",
        "open_store(path, create=True).close()",
        tmp_path,
    )
    assert complaints == [""] * PROCESSES
