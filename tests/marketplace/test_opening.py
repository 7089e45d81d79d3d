"""Several processes may open a brand-new marketplace at the same instant."""

from pathlib import Path

from tests.at_once import PROCESSES, complaints_of_opening


def test_a_new_file_is_made_once_by_whoever_comes_first(tmp_path: Path) -> None:
    """The others find it made; none is refused, whether live or a rehearsal."""
    said = complaints_of_opening(
        "from marketplace.state.backend import Backend, Rules",
        "Backend(path, Rules(rehearsal=number % 2 == 0)).close()",
        tmp_path,
    )
    assert said == [""] * PROCESSES
