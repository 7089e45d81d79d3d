"""docs/internals/measurements/reproduced-figures.md says what the commands compute."""

from pathlib import Path

import pytest

from tools import reproduced_figures

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def _table() -> list[list[str]]:
    lines = reproduced_figures.PAGE.read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| figure |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_the_page_has_every_figure_of_the_tool() -> None:
    """The same sources, published figures and commands, in the same order."""
    assert [(row[0], row[1], row[3]) for row in _table()] == [
        (row.source, row.published, row.command) for row in reproduced_figures.rows()
    ]


def test_figures_that_differ_have_a_reason() -> None:
    """And those that agree need none."""
    for source, published, ours, _, because in _table():
        assert bool(because) == (published != ours), source


@pytest.mark.shared
@pytest.mark.full(weeks=2)
def test_the_page_is_what_the_commands_compute() -> None:
    """If this fails: `python -m tools.reproduced_figures ../shared/data`."""
    if not _DATA.is_dir():
        pytest.skip("the published data are not beside this repository")
    page = reproduced_figures.PAGE.read_text(encoding="utf-8")
    assert reproduced_figures.page(_DATA) == page
